// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kept_values.h: which values of the thread function another block reads.
#ifndef MTLC_KEPT_VALUES_H
#define MTLC_KEPT_VALUES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/memory/arena.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if a value is computed again where it is read, not kept.
bool lanes_is_rematerialised(const lanes_values *values,
                             LLVMValueRef instruction);
// Returns [values->count]. single_simdgroup: nobody waits at barriers.
bool *lanes_kept_values(const lanes_values *values, bool single_simdgroup,
                        mtli_arena *arena);

#endif
