// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_fminmax.h: splits fmin and fmax into a minimum or maximum and a select
// for NaN.
#ifndef MTLC_SPLIT_FMINMAX_H
#define MTLC_SPLIT_FMINMAX_H

#include "compiler/ir/kernel/kernel.h"

mtlc_pass mtlc_split_fminmax;

#endif
