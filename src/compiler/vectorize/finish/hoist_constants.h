// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_constants.h: keeps constant factors and addends of loops in registers,
// hidden from code generation.
#ifndef MTLC_HOIST_CONSTANTS_H
#define MTLC_HOIST_CONSTANTS_H

#include "compiler/ir/kernel/kernel.h"

mtlc_pass mtlc_hoist_constants;

#endif
