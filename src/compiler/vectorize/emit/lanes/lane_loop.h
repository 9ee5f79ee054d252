// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_loop.h: gathers and scatters that the machine has no instruction for.
#ifndef MTLC_LANE_LOOP_H
#define MTLC_LANE_LOOP_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// Load and store as lanes_gather and lanes_scatter do, without such
// instructions.
LLVMValueRef lanes_load_by_lane(lanes_emitter *e, const lanes_access *a,
                             LLVMValueRef pointers, uint64_t offset);
void lanes_store_by_lane(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef pointers, uint64_t offset,
                      LLVMValueRef value);
// Returns the vector with the last running lane's value in all lanes that do
// not run.
LLVMValueRef lanes_filled(lanes_emitter *e, LLVMValueRef vector);
// Load and store in little code, for paths that rarely run or run with few
// lanes. If lane 0's address is given, lanes are the address's stride apart.
LLVMValueRef lanes_load_lane_loop(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef first, uint64_t offset);
void lanes_store_lane_loop(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef pointers, uint64_t offset,
                         LLVMValueRef value);
// Stores for a few lanes: those of the set `lanes`, or any if all its bits are
// set, which means that the lanes are not known.
void lanes_store_few(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef pointers, uint64_t offset, LLVMValueRef value,
                     uint32_t lanes);

// A value that is stored lane by lane with others.
typedef struct lanes_own_value {
  LLVMValueRef value;     // <32 x T>
  LLVMValueRef pointers;  // <32 x ptr>
  uint32_t alignment;
} lanes_own_value;
void lanes_store_own_values(lanes_emitter *e, const lanes_own_value *values,
                            uint32_t count);

#endif
