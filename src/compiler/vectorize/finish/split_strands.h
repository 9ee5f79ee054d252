// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_strands.h: computes long formulas of 32 lanes a register's lanes at a
// time.
#ifndef MTLC_SPLIT_STRANDS_H
#define MTLC_SPLIT_STRANDS_H

#include "compiler/ir/kernel/kernel.h"

mtlc_pass mtlc_split_strands;

#endif
