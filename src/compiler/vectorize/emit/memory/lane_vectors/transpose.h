// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// transpose.h: vectors of lanes turned into lanes' vectors, and back.
#ifndef MTLC_TRANSPOSE_H
#define MTLC_TRANSPOSE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// Words of 16 lanes, lane by lane, from four vectors of four lanes' units,
// those of lanes 4 apart in one; and back. Of 8 lanes from vectors of two.
void lanes_transpose(lanes_emitter *e, LLVMValueRef parts[4],
                     LLVMValueRef out_words[4]);

#endif
