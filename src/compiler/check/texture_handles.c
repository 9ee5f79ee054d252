// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_handles.c: keeps known which addresses are of textures' descriptors.
// A texture in an argument buffer is one of its pointers, which leads to no
// buffer.
//
// Requires  the struct types of textures in address computations, as the front
//           end emits them ("struct.metal::texture2d"): before SROA
// Leaves    calls of HANDLE_MARK around the handles that textures hold
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/check/check.h"

#define HANDLE_MARK "mettle.marked.texture"  // ptr(ptr handle)

static LLVMValueRef declare_mark(mtlc_kernel *kernel) {
  LLVMTypeRef pointer = mtlc_types_of(kernel->context).pointer;
  LLVMValueRef mark =
      mtlc_declare(kernel->module, HANDLE_MARK,
                   LLVMFunctionType(pointer, &pointer, 1, false));
  mtlc_set_attribute(mark, "nounwind", 0);
  mtlc_set_attribute(mark, "willreturn", 0);
  mtlc_set_attribute(mark, "memory", 0);  // it accesses none
  return mark;
}

// True for an address of the handle in a texture2d, a depth2d and their like.
static bool is_handle_address(LLVMValueRef address) {
  if (!mtlc_is_opcode(address, LLVMGetElementPtr)) {
    return false;
  }
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind
                         ? LLVMGetStructName(type)
                         : NULL;
  return name && (mtlc_starts_with(name, "struct.metal::texture") ||
                  mtlc_starts_with(name, "struct.metal::depth"));
}

static void collect_handles(LLVMValueRef instruction, void *handles) {
  if (LLVMIsALoadInst(instruction) &&
      LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMPointerTypeKind &&
      is_handle_address(LLVMGetOperand(instruction, 0))) {
    mtlc_values_add(handles, instruction);
  }
}

mtl_status mtlc_mark_texture_handles(mtlc_kernel *kernel) {
  mtlc_values handles = {0};
  mtlc_for_each_in_module(kernel->module, collect_handles, &handles);
  LLVMValueRef mark = handles.count ? declare_mark(kernel) : NULL;
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < handles.count; ++i) {
    LLVMValueRef handle = handles.items[i];
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(handle));
    LLVMValueRef marked = mtlc_call(builder, mark, &handle, 1);
    LLVMReplaceAllUsesWith(handle, marked);
    LLVMSetOperand(marked, 0, handle);
  }
  LLVMDisposeBuilder(builder);
  free(handles.items);
  return MTL_OK;
}

LLVMValueRef mtlc_marked_handle(LLVMValueRef value) {
  LLVMValueRef callee = mtlc_callee(value);
  return callee && strcmp(mtlc_name(callee), HANDLE_MARK) == 0
             ? LLVMGetOperand(value, 0)
             : NULL;
}

void mtlc_drop_handle_marks(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, HANDLE_MARK, &calls);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMReplaceAllUsesWith(calls.items[i], LLVMGetOperand(calls.items[i], 0));
    LLVMInstructionEraseFromParent(calls.items[i]);
  }
  free(calls.items);
}
