// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// members.c: analyses an address's subscripts: which member it lies in, and
// whether the place is known.
#include <stdlib.h>

#include "compiler/check/check.h"

// Finds the member that one getelementptr steps into last, if it is an array.
static mtlc_member member_in(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                             LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  const unsigned count = (unsigned)LLVMGetNumOperands(address);
  unsigned last = 0;
  LLVMTypeRef last_type = NULL;
  for (unsigned i = 2; i < count; ++i) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      type = LLVMStructGetTypeAtIndex(
          type, (unsigned)LLVMConstIntGetZExtValue(index));
      last = i;
      last_type = type;
    } else {
      type = LLVMGetElementType(type);
    }
  }
  if (!last_type || LLVMGetTypeKind(last_type) != LLVMArrayTypeKind ||
      LLVMGetArrayLength2(last_type) <= 1) {
    return (mtlc_member){NULL, 0};
  }
  const uint64_t bytes = LLVMABISizeOfType(layout, last_type);
  if (last + 1 == count) {
    return (mtlc_member){address, bytes};
  }
  LLVMValueRef *indices = calloc(count, sizeof *indices);
  for (unsigned i = 1; i <= last; ++i) {
    indices[i - 1] = LLVMGetOperand(address, i);
  }
  LLVMValueRef base =
      LLVMBuildGEP2(builder, LLVMGetGEPSourceElementType(address),
                    LLVMGetOperand(address, 0), indices, last, "");
  free(indices);
  return (mtlc_member){base, bytes};
}

// True for a subscript of an array, as opposed to a pointer to its elements.
static bool is_subscript(LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  LLVMValueRef first = LLVMGetOperand(address, 1);
  return LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
         LLVMGetNumOperands(address) > 2 && LLVMIsAConstantInt(first) &&
         LLVMConstIntGetZExtValue(first) == 0;
}

mtlc_member mtlc_find_row(LLVMTargetDataRef layout, LLVMValueRef address) {
  const mtlc_member none = {NULL, 0};
  if (!mtlc_is_opcode(address, LLVMGetElementPtr) || !is_subscript(address)) {
    return none;
  }
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  LLVMValueRef rows = LLVMGetOperand(address, 0);
  const bool is_row =
      LLVMGetNumOperands(address) == 3 && LLVMGetArrayLength2(type) > 1 &&
      LLVMGetTypeKind(LLVMGetElementType(type)) != LLVMArrayTypeKind &&
      mtlc_is_opcode(rows, LLVMGetElementPtr) && is_subscript(rows);
  return is_row ? (mtlc_member){rows, LLVMABISizeOfType(layout, type)} : none;
}

// Returns the type of the element that an address into arrays points to.
static LLVMTypeRef element_at(LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  for (int i = 2; i < LLVMGetNumOperands(address); ++i) {
    if (LLVMGetTypeKind(type) != LLVMArrayTypeKind) {
      return NULL;
    }
    type = LLVMGetElementType(type);
  }
  return type;
}

// Returns the outermost of nested arrays: a pointer may walk over all its rows.
mtlc_member mtlc_find_member(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                             LLVMValueRef address) {
  mtlc_member found = {NULL, 0};
  LLVMTypeRef found_type = NULL;
  for (; mtlc_is_opcode(address, LLVMGetElementPtr);
       address = LLVMGetOperand(address, 0)) {
    const mtlc_member inner = member_in(builder, layout, address);
    if (inner.base) {
      return inner;
    }
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    if (found.base && element_at(address) != found_type) {
      return found;  // the first member of a structure
    }
    if (is_subscript(address)) {
      found_type = type;
      found = LLVMGetArrayLength2(type) > 1
                  ? (mtlc_member){LLVMGetOperand(address, 0),
                                  LLVMABISizeOfType(layout, type)}
                  : (mtlc_member){NULL, 0};
    } else if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
      return (mtlc_member){NULL, 0};  // rows behind a pointer
    } else if (found.base) {
      return found;
    }
  }
  return found;
}

// True for a variable of rows. A subscript of its first row by a constant is
// one of the variable itself: `rows[0][i]`, the usual way to go through all of
// them.
static bool is_of_rows(LLVMValueRef base) {
  LLVMTypeRef type = LLVMIsAGlobalVariable(base) ? LLVMGlobalGetValueType(base)
                     : LLVMIsAAllocaInst(base)   ? LLVMGetAllocatedType(base)
                                                 : NULL;
  return type && LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
         LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMArrayTypeKind;
}

bool mtlc_is_all_of(const mtlc_member *member, const mtlc_root *root) {
  return member->base == root->base &&
         (is_of_rows(root->base) ||
          (root->bytes != 0 && member->bytes >= root->bytes));
}

bool mtlc_is_constant_inside(LLVMTargetDataRef layout, const mtlc_root *root,
                             LLVMValueRef address, uint64_t size) {
  uint64_t offset = 0;
  for (; mtlc_is_opcode(address, LLVMGetElementPtr);
       address = LLVMGetOperand(address, 0)) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); ++i) {
      LLVMValueRef index = LLVMGetOperand(address, i);
      if (!LLVMIsAConstantInt(index) || LLVMConstIntGetSExtValue(index) < 0) {
        return false;
      }
      const uint64_t n = LLVMConstIntGetZExtValue(index);
      if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        offset += LLVMOffsetOfElement(layout, type, (unsigned)n);
        type = LLVMStructGetTypeAtIndex(type, (unsigned)n);
        continue;
      }
      if (i > 1 && LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
          n >= LLVMGetArrayLength2(type)) {
        return false;
      }
      type = i > 1 ? LLVMGetElementType(type) : type;
      offset += n * LLVMABISizeOfType(layout, type);
    }
  }
  return address == root->base && offset + size <= root->bytes;
}
