// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_accesses.c: in a kernel that is made for debugging, has each access ask
// whether its bytes are there. On an NVIDIA GPU a wild one ends CUDA for the
// process, and nobody is told where it was.
//
// Requires  lower_simdgroups; the source's functions are inlined, and those of
//           texels keep inside of their textures
// Leaves    in front of the thread's accesses of device and threadgroup memory
//           calls of MTLC_PTX_ASK, whose body enter_block makes; private arrays
//           are bound_private's
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "code/ptx_abi.h"
#include "compiler/check/check.h"
#include "compiler/ptx/ptx.h"

typedef struct asking {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  LLVMValueRef function;
  mtlc_values asked;  // accesses
} asking;

// True if nothing but a variable of the program's can be there.
static bool is_own(const mtlc_root *root) {
  return root->space == MTLI_CHECK_PRIVATE ||
         root->space == MTLI_CHECK_CONSTANT;
}

static void ask(const asking *a, LLVMValueRef access, LLVMValueRef address,
                LLVMValueRef bytes, bool is_write) {
  const mtlc_root root = mtlc_find_root(a->kernel, address);
  if (is_own(&root)) {
    return;
  }
  LLVMContextRef context = a->kernel->context;
  const bool has_slot =
      root.space == MTLI_CHECK_DEVICE && root.slot != MTLI_CHECK_NO_SLOT;
  LLVMPositionBuilderBefore(a->builder, access);
  LLVMSetCurrentDebugLocation2(a->builder, LLVMInstructionGetDebugLoc(access));
  LLVMValueRef arguments[] = {
      address, bytes,
      mtlc_i32(context, has_slot ? root.slot : MTLI_PTX_NO_SLOT),
      mtlc_i32(context, is_write)};
  mtlc_call(a->builder, a->function, arguments, 4);
}

static LLVMValueRef size_of(const asking *a, LLVMTypeRef type) {
  return mtlc_i64(a->kernel->context, LLVMStoreSizeOfType(a->layout, type));
}

// Checks one piece of a copy or fill.
static void ask_piece(const asking *a, LLVMValueRef call, const char *name) {
  LLVMValueRef bytes = LLVMGetOperand(call, 2);
  LLVMPositionBuilderBefore(a->builder, call);
  bytes = LLVMBuildZExtOrBitCast(a->builder, bytes, a->types.i64, "");
  ask(a, call, LLVMGetOperand(call, 0), bytes, true);
  if (!mtlc_starts_with(name, "llvm.memset.")) {
    ask(a, call, LLVMGetOperand(call, 1), bytes, false);
  }
}

static void ask_access(const asking *a, LLVMValueRef i) {
  if (LLVMIsALoadInst(i)) {
    ask(a, i, LLVMGetOperand(i, 0), size_of(a, LLVMTypeOf(i)), false);
  } else if (LLVMIsAStoreInst(i)) {
    ask(a, i, LLVMGetOperand(i, 1),
        size_of(a, LLVMTypeOf(LLVMGetOperand(i, 0))), true);
  } else if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
    ask(a, i, LLVMGetOperand(i, 0),
        size_of(a, LLVMTypeOf(LLVMGetOperand(i, 1))), true);
  } else {
    ask_piece(a, i, mtlc_name(mtlc_callee(i)));
  }
}

static void collect(LLVMValueRef i, void *context) {
  asking *a = context;
  LLVMValueRef callee = mtlc_callee(i);
  const char *name = callee ? mtlc_name(callee) : "";
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
      LLVMIsAAtomicCmpXchgInst(i) || mtlc_starts_with(name, "llvm.memcpy.") ||
      mtlc_starts_with(name, "llvm.memmove.") ||
      mtlc_starts_with(name, "llvm.memset.")) {
    mtlc_values_add(&a->asked, i);
  }
}

mtl_status mtlc_ptx_check_accesses(mtlc_kernel *kernel) {
  if (kernel->tier != MTLI_TIER_0) {
    return MTL_OK;
  }
  asking a = {.kernel = kernel,
              .types = mtlc_types_of(kernel->context),
              .builder = LLVMCreateBuilderInContext(kernel->context),
              .layout = LLVMGetModuleDataLayout(kernel->module)};
  LLVMTypeRef types[] = {a.types.pointer, a.types.i64, a.types.i32,
                         a.types.i32};
  a.function = mtlc_declare(kernel->module, MTLC_PTX_ASK,
                            LLVMFunctionType(a.types.nothing, types, 4, false));
  mtlc_for_each_instruction(kernel->thread, collect, &a);
  for (size_t i = 0; i < a.asked.count; i++) {
    ask_access(&a, a.asked.items[i]);
  }
  free(a.asked.items);
  LLVMDisposeBuilder(a.builder);
  return MTL_OK;
}
