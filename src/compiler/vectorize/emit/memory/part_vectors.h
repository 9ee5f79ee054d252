// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// part_vectors.h: vectors as elements of each lane, and back.
#ifndef MTLC_PART_VECTORS_H
#define MTLC_PART_VECTORS_H

#include "compiler/vectorize/emit/values/emitter.h"

// Takes apart what lies in count vectors of 32 as the machine does it best.
void lanes_part_vectors(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                        uint64_t size_bytes, uint32_t wanted,
                        LLVMValueRef *out_components);
void lanes_join_vectors(lanes_emitter *e, LLVMValueRef *components,
                        uint32_t wanted, uint64_t size_bytes, uint32_t count,
                        LLVMValueRef *out_parts);

#endif
