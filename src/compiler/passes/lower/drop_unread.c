// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// drop_unread.c: drops stores to threadgroup variables that nobody reads. A sum
// that each thread keeps in such a variable is in a register by now, and yet is
// stored in each iteration.
//
// Requires  simplify_thread; threadgroup variables are still variables
// Leaves    no store to a variable that is never read
#include <stdbool.h>
#include <stdlib.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

static bool is_address(LLVMValueRef user) {
  return LLVMIsAGetElementPtrInst(user) ||
         (LLVMIsAConstantExpr(user) &&
          LLVMGetConstOpcode(user) == LLVMGetElementPtr);
}

static bool is_store_to(LLVMValueRef user, LLVMValueRef address) {
  return LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == address &&
         LLVMGetOperand(user, 0) != address && !LLVMGetVolatile(user) &&
         LLVMGetOrdering(user) == LLVMAtomicOrderingNotAtomic;
}

// Adds the stores to an address. False if anything else is done with it.
static bool find_stores(LLVMValueRef address, mtlc_values *stores) {
  for (LLVMUseRef use = LLVMGetFirstUse(address); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (is_store_to(user, address)) {
      mtlc_values_add(stores, user);
    } else if (!is_address(user) || !find_stores(user, stores)) {
      return false;
    }
  }
  return true;
}

mtl_status mtlc_drop_unread(mtlc_kernel *kernel) {
  bool any = false;
  for (LLVMValueRef variable = LLVMGetFirstGlobal(kernel->module);
       variable && kernel->tier == MTLI_TIER_1;
       variable = LLVMGetNextGlobal(variable)) {
    mtlc_values stores = {0};
    if (mtlc_names_threadgroup_memory(variable) &&
        find_stores(variable, &stores)) {
      for (size_t i = 0; i < stores.count; i++) {
        LLVMInstructionEraseFromParent(stores.items[i]);
      }
      any |= stores.count > 0;
    }
    free(stores.items);
  }
  return any ? mtlc_run_llvm_passes(kernel, "function(adce)") : MTL_OK;
}
