// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// execute_functions.h: a part of make_coroutines.c.
#ifndef MTLC_EXECUTE_FUNCTIONS_H
#define MTLC_EXECUTE_FUNCTIONS_H

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/value_list.h"

// Defines mettle.execute of schedule.ll for simdgroup functions, which it knows
// by their place in the list.
mtl_status mtlc_define_execute(mtlc_kernel *kernel,
                               const mtlc_values *functions);

#endif
