// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mask_as_integers.h: widens masks to 32 bits a lane on machines without mask
// registers.
#ifndef MTLC_MASK_AS_INTEGERS_H
#define MTLC_MASK_AS_INTEGERS_H

#include "compiler/ir/kernel/kernel.h"

mtlc_pass mtlc_mask_as_integers;

#endif
