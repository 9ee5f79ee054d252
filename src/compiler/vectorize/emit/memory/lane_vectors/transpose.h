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

// Transposes four vectors, each of four lanes' units where the lanes are 4
// apart, to four words of 16 lanes in order; and back. For 8 lanes, vectors of
// two units.
void lanes_transpose(lanes_emitter *e, LLVMValueRef parts[4],
                     LLVMValueRef out_words[4]);

#endif
