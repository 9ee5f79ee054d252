// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// effects.c: which memory instructions may write, and which memory an address
// is in.
#include "compiler/vectorize/analysis/effects.h"

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/uniformity.h"

bool lanes_may_write(LLVMValueRef instruction) {
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return true;
    case LLVMLoad: return !lanes_is_plain(instruction);
    case LLVMCall: {
      const lanes_callee callee = lanes_callee_of(instruction);
      return callee != LANES_CALLEE_NOTHING && callee != LANES_CALLEE_APART &&
             callee != LANES_CALLEE_ALL && callee != LANES_CALLEE_FIRST &&
             callee != LANES_CALLEE_ELEMENTWISE &&
             callee != LANES_CALLEE_POSITION &&
             callee != LANES_CALLEE_ARGUMENT &&
             callee != LANES_CALLEE_CHECK_MEMORY &&
             callee != LANES_CALLEE_SHARED;
    }
    default: return false;
  }
}

bool lanes_is_in_threadgroup(const mtlc_kernel *kernel, LLVMValueRef address) {
  address = mtlc_root_of(address);
  if (!LLVMIsACallInst(address)) {
    return false;
  }
  const lanes_callee callee = lanes_callee_of(address);
  if (callee != LANES_CALLEE_ARGUMENT) {
    return callee == LANES_CALLEE_THREADGROUP_MEMORY;
  }
  const uint64_t slot = LLVMConstIntGetZExtValue(LLVMGetOperand(address, 0));
  const mtli_kernel *interface = kernel->kernel;
  return slot < interface->parameter_count &&
         interface->parameters[slot].argument.kind ==
             MTL_ARGUMENT_THREADGROUP_MEMORY &&
         interface->parameters[slot].builtin == MTLI_BUILTIN_NONE;
}
