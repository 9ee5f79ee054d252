// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// padding.c: finds the padding bytes of a structure. They never have a value,
// and copying the structure does not count as a use of them.
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"

// True if an element of a structure is bytes that clang has put there to align
// the next, or the structure's end: it does so where a structure that is not
// plain data ends in a smaller member. A member that looks alike counts as set.
static bool is_filling(LLVMTargetDataRef layout, LLVMTypeRef type,
                       unsigned element) {
  LLVMTypeRef own = LLVMStructGetTypeAtIndex(type, element);
  const unsigned count = LLVMCountStructElementTypes(type);
  if (!LLVMIsPackedStruct(type) || element == 0 ||
      LLVMGetTypeKind(own) != LLVMArrayTypeKind ||
      LLVMABISizeOfType(layout, LLVMGetElementType(own)) != 1) {
    return false;
  }
  const bool is_last = element + 1 == count;
  unsigned align = 1;
  for (unsigned i = is_last ? 0 : element + 1;
       i < (is_last ? count : element + 2); ++i) {
    const unsigned other =
        LLVMABIAlignmentOfType(layout, LLVMStructGetTypeAtIndex(type, i));
    align = other > align ? other : align;
  }
  const uint64_t begin = LLVMOffsetOfElement(layout, type, element);
  const uint64_t bytes = LLVMABISizeOfType(layout, own);
  return begin % align != 0 && bytes < align && (begin + bytes) % align == 0;
}

// Sets data[i] for each byte that a member has, of a value at offset.
static void find_data(LLVMTargetDataRef layout, LLVMTypeRef type,
                      uint64_t offset, bool *data) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); ++i) {
        if (is_filling(layout, type, i)) {
          continue;
        }
        find_data(layout, LLVMStructGetTypeAtIndex(type, i),
                  offset + LLVMOffsetOfElement(layout, type, i), data);
      }
      return;
    case LLVMArrayTypeKind: {
      LLVMTypeRef element = LLVMGetElementType(type);
      for (uint64_t i = 0; i < LLVMGetArrayLength2(type); ++i) {
        find_data(layout, element,
                  offset + i * LLVMABISizeOfType(layout, element), data);
      }
      return;
    }
    default: memset(data + offset, true, LLVMStoreSizeOfType(layout, type));
  }
}

// Returns the length of the run at an offset of bytes that are, or are not,
// data.
static uint64_t run_at(const bool *data, uint64_t at, uint64_t bytes) {
  uint64_t end = at + 1;
  while (end < bytes && data[end] == data[at]) {
    ++end;
  }
  return end - at;
}

// Returns the widest integer that fits into a run and is aligned in the
// structure.
static LLVMTypeRef part_at(LLVMContextRef context, uint64_t at, uint64_t left) {
  const mtlc_types types = mtlc_types_of(context);
  return at % 4 == 0 && left >= 4   ? types.i32
         : at % 2 == 0 && left >= 2 ? types.i16
                                    : types.i8;
}

static bool is_packed(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMStructTypeKind &&
         LLVMIsPackedStruct(type);
}

// True if a type of that size has padding; then *out is [bytes], malloc'ed. A
// copy may leave out bytes that fill a structure's end.
static bool has_padding(LLVMTargetDataRef layout, LLVMTypeRef type,
                        uint64_t bytes, bool **out) {
  if (!type || !LLVMTypeIsSized(type) || !bytes) {
    return false;
  }
  const uint64_t size = LLVMABISizeOfType(layout, type);
  if (bytes > size || (bytes < size && !is_packed(type))) {
    return false;
  }
  bool *data = calloc(size, sizeof *data);
  if (!data) {
    abort();
  }
  find_data(layout, type, 0, data);
  if (!memchr(data, false, bytes)) {
    free(data);
    return false;
  }
  *out = data;
  return true;
}

void mtlc_set_padding(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                      LLVMValueRef variable) {
  LLVMTypeRef type = LLVMGetAllocatedType(variable);
  LLVMContextRef context = LLVMGetTypeContext(type);
  const uint64_t bytes = LLVMABISizeOfType(layout, type);
  bool *data = NULL;
  if (!has_padding(layout, type, bytes, &data)) {
    return;
  }
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t run = run_at(data, at, bytes);
    LLVMTypeRef part = data[at] ? NULL : part_at(context, at, run);
    if (part) {
      LLVMBuildStore(builder, LLVMConstNull(part),
                     mtlc_offset(builder, variable, at));
    }
    at += part ? LLVMABISizeOfType(layout, part) : run;
  }
  free(data);
}

// --- copies ------------------------------------------------------------------

static LLVMTypeRef type_at(LLVMValueRef address) {
  if (LLVMIsAAllocaInst(address)) {
    return LLVMGetAllocatedType(address);
  }
  if (LLVMIsAGlobalVariable(address)) {
    return LLVMGlobalGetValueType(address);
  }
  if (!mtlc_is_opcode(address, LLVMGetElementPtr)) {
    return NULL;
  }
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(address); ++i) {
    type =
        LLVMGetTypeKind(type) == LLVMStructTypeKind
            ? LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(
                                                 LLVMGetOperand(address, i)))
            : LLVMGetElementType(type);
  }
  return type;
}

static unsigned alignment_at(uint64_t at) {
  return at % 4 == 0 ? 4 : at % 2 == 0 ? 2 : 1;
}

static void copy_run(LLVMBuilderRef builder, LLVMValueRef copy, uint64_t at,
                     uint64_t bytes) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(copy));
  const unsigned align = alignment_at(at);
  LLVMBuildMemCpy(builder, mtlc_offset(builder, LLVMGetOperand(copy, 0), at),
                  align, mtlc_offset(builder, LLVMGetOperand(copy, 1), at),
                  align, mtlc_i64(context, bytes));
}

static uint64_t copy_padding(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                             LLVMValueRef copy, uint64_t at, uint64_t run) {
  LLVMTypeRef part = part_at(LLVMGetTypeContext(LLVMTypeOf(copy)), at, run);
  LLVMValueRef value = LLVMBuildLoad2(
      builder, part, mtlc_offset(builder, LLVMGetOperand(copy, 1), at), "");
  mtlc_mark(value, MTLC_PADDING_MARK);
  LLVMBuildStore(builder, value,
                 mtlc_offset(builder, LLVMGetOperand(copy, 0), at));
  return LLVMABISizeOfType(layout, part);
}

static void split_copy(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                       LLVMValueRef copy, const bool *data, uint64_t bytes) {
  LLVMPositionBuilderBefore(builder, copy);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(copy));
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t run = run_at(data, at, bytes);
    if (data[at]) {
      copy_run(builder, copy, at, run);
      at += run;
    } else {
      at += copy_padding(builder, layout, copy, at, run);
    }
  }
  LLVMInstructionEraseFromParent(copy);
}

void mtlc_collect_copy(LLVMValueRef instruction, void *copies) {
  if (mtlc_is_call_of(instruction, "llvm.memcpy") &&
      LLVMIsAConstantInt(LLVMGetOperand(instruction, 2)) &&
      LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 2)) <=
          MTLC_LONGEST_COPY_BYTES) {
    mtlc_values_add(copies, instruction);
  }
}

void mtlc_split_padded_copies(mtlc_kernel *kernel) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(kernel->module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_values copies = {0};
  mtlc_for_each_in_module(kernel->module, mtlc_collect_copy, &copies);
  for (size_t i = 0; i < copies.count; ++i) {
    LLVMValueRef copy = copies.items[i];
    LLVMValueRef from = LLVMGetOperand(copy, 1);
    const uint64_t bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(copy, 2));
    bool *data = NULL;
    if (!LLVMIsAAllocaInst(from) &&  // whose padding is set
        (has_padding(layout, type_at(from), bytes, &data) ||
         has_padding(layout, type_at(LLVMGetOperand(copy, 0)), bytes, &data))) {
      split_copy(builder, layout, copy, data, bytes);
    }
    free(data);
  }
  free(copies.items);
  LLVMDisposeBuilder(builder);
}
