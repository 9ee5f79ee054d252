// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// part_vectors.h: deinterleaves vectors into components, and interleaves them.
#ifndef MTLC_PART_VECTORS_H
#define MTLC_PART_VECTORS_H

#include "compiler/vectorize/emit/values/emitter.h"

// Deinterleaves count vectors of one element a lane, as they lie in memory side
// by side, into `wanted` vectors: one for each component of a lane. The second
// function is the reverse. Both take the shuffles that cost the machine least.
void lanes_part_vectors(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                        uint64_t size_bytes, uint32_t wanted,
                        LLVMValueRef *out_components);
void lanes_join_vectors(lanes_emitter *e, LLVMValueRef *components,
                        uint32_t wanted, uint64_t size_bytes, uint32_t count,
                        LLVMValueRef *out_parts);

#endif
