// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segment_vectors.h: loads and stores of segments shorter than a simdgroup, one
// vector for each segment.
#ifndef MTLC_SEGMENT_VECTORS_H
#define MTLC_SEGMENT_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

void lanes_load_segments(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef *out_components);
void lanes_store_segments(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef *components);
// Loads the same as one vector, in memory order.
LLVMValueRef lanes_load_packed_segments(lanes_emitter *e, const lanes_access *a);
void lanes_store_packed_segments(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef all);
// Loads one element for each segment (lanes_loads_by_segments), as a vector of
// them.
LLVMValueRef lanes_load_segment_firsts(lanes_emitter *e, const lanes_access *a);
// Loads the same from given first addresses, offset bytes further on.
LLVMValueRef lanes_load_firsts(lanes_emitter *e, const lanes_access *a,
                               uint64_t offset);

#endif
