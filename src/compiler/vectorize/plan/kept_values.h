// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kept_values.h: finds values that another block of the thread function reads.
#ifndef MTLC_KEPT_VALUES_H
#define MTLC_KEPT_VALUES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/memory/arena.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if a value is computed again where it is read.
bool lanes_is_rematerialised(const lanes_values *values,
                             LLVMValueRef instruction);
// Returns [values->count]. single_simdgroup: there is no other simdgroup to
// wait for at barriers.
bool *lanes_kept_values(const lanes_values *values, bool single_simdgroup,
                        mtli_arena *arena);

#endif
