// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_loop.h: gathers and scatters that the machine has no instruction for.
#ifndef MTLC_LANE_LOOP_H
#define MTLC_LANE_LOOP_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// The same on machines that have no instruction for it.
LLVMValueRef lanes_load_by_lane(lanes_emitter *e, const lanes_access *a,
                             LLVMValueRef pointers, uint64_t offset);
void lanes_store_by_lane(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef pointers, uint64_t offset,
                      LLVMValueRef value);
// The vector where lanes that do not run have what the last that does has.
LLVMValueRef lanes_filled(lanes_emitter *e, LLVMValueRef vector);
// The same in little code, where it hardly ever comes to it or few run. Lanes
// are the address's stride apart if lane 0's is given, anywhere if it is NULL.
LLVMValueRef lanes_load_lane_loop(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef first, uint64_t offset);
void lanes_store_lane_loop(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef pointers, uint64_t offset,
                         LLVMValueRef value);
// The same where only a few of the lanes run, a set of which is given; all bits
// if it is not known which.
void lanes_store_few(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef pointers, uint64_t offset, LLVMValueRef value,
                     uint32_t lanes);

// Several values, lane by lane.
typedef struct lanes_own_value {
  LLVMValueRef value;     // <32 x T>
  LLVMValueRef pointers;  // <32 x ptr>
  uint32_t alignment;
} lanes_own_value;
void lanes_store_own_values(lanes_emitter *e, const lanes_own_value *values,
                            uint32_t count);

#endif
