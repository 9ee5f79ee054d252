// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_fminmax.h: fmin and fmax are a minimum or maximum, one instruction of
// the machine, and a choice where one of the two is a NaN.
#ifndef MTLC_SPLIT_FMINMAX_H
#define MTLC_SPLIT_FMINMAX_H

#include "compiler/ir/kernel/kernel.h"

mtlc_pass mtlc_split_fminmax;

#endif
