// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// transpose.h: transposes between vectors of one component and vectors of one
// lane.
#ifndef MTLC_TRANSPOSE_H
#define MTLC_TRANSPOSE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

enum { LANES_MOST_TRANSPOSED = 8 };

// Transposes vectors, as many as a unit has elements (4 words or 8 halves),
// each of the units of lanes that are so many apart, to vectors of one element
// of these lanes in order; and back.
void lanes_transpose(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                     LLVMValueRef *out_elements);

#endif
