// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// single_simdgroup_regions.c: finds regions between two barriers that write
// only values uniform in the threadgroup, such as a sum of threadgroup memory.
// All simdgroups would write the same, and none changes what the next reads: so
// one of them runs the region for all.
#include "compiler/vectorize/finish/simdgroups/single_simdgroup_regions.h"

#include <stdbool.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns the base of an address, before constant and variable steps.
static LLVMValueRef base_of(LLVMValueRef address) {
  while (LLVMIsAGetElementPtrInst(address) || LLVMIsABitCastInst(address)) {
    address = LLVMGetOperand(address, 0);
  }
  return address;
}

static bool is_for_all(LLVMValueRef function, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
      return lanes_is_plain(i);
    case LLVMStore: {
      LLVMValueRef base = base_of(LLVMGetOperand(i, 1));
      return lanes_is_plain(i) &&
             (base == LLVMGetParam(function, LANES_COMMON_OUT) ||
              LLVMIsAAllocaInst(base));
    }
    case LLVMCall:
      return mtlc_is_call_of(i, "llvm.") &&
             LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind;
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMInvoke:
    case LLVMUnreachable: return false;
    default: return true;
  }
}

static bool block_is_for_all(LLVMValueRef function, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (!is_for_all(function, i)) {
      return false;
    }
  }
  return true;
}

// True if all code that may run from first on can be run by one simdgroup.
static bool rest_is_for_all(LLVMValueRef function, LLVMBasicBlockRef first,
                            mtli_arena *arena) {
  const uint32_t count = LLVMCountBasicBlocks(function);
  LLVMBasicBlockRef *found = lanes_allocate(arena, count, sizeof *found);
  uint32_t found_count = 0;
  found[found_count++] = first;
  for (uint32_t n = 0; n < found_count; n++) {
    if (!block_is_for_all(function, found[n])) {
      return false;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(found[n]);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
      uint32_t known = 0;
      while (known < found_count && found[known] != next) {
        known++;
      }
      if (known == found_count) {
        found[found_count++] = next;
      }
    }
  }
  return true;
}

uint64_t lanes_single_simdgroup_states(LLVMValueRef function, mtli_arena *arena) {
  uint64_t states = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(LLVMGetParam(function, LANES_STATE));
       use; use = LLVMGetNextUse(use)) {
    LLVMValueRef choice = LLVMGetUser(use);
    if (!LLVMIsASwitchInst(choice)) {
      return 0;  // it depends on more than the values at its start
    }
    for (int k = 2; k < LLVMGetNumOperands(choice); k += 2) {
      const uint64_t state =
          LLVMConstIntGetZExtValue(LLVMGetOperand(choice, (unsigned)k));
      LLVMBasicBlockRef first =
          LLVMValueAsBasicBlock(LLVMGetOperand(choice, (unsigned)k + 1));
      if (state < 64 && rest_is_for_all(function, first, arena)) {
        states |= (uint64_t)1 << state;
      }
    }
  }
  return states;
}
