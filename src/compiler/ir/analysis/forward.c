// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// forward.c: walks back from a load to the store that it reads.
#include "compiler/ir/analysis/forward.h"

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"

typedef mtlc_private location;

// Limits of a search, in instructions and in uses of an address; beyond them
// nothing is known. Without a limit, long straight-line code took quadratic
// time.
enum { WALK_LIMIT = 512, USES_LIMIT = 256 };

typedef enum overlap { APART, SAME, PARTLY } overlap;

// The bytes that constant indices add to an address.
static bool constant_offset(LLVMTargetDataRef layout, LLVMValueRef address,
                            int64_t *out_offset) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  int64_t offset = 0;
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); ++i) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    if (!LLVMIsAConstantInt(index)) {
      return false;
    }
    const int64_t number = LLVMConstIntGetSExtValue(index);
    if (i == 1) {
      offset += number * (int64_t)LLVMABISizeOfType(layout, type);
    } else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      offset += (int64_t)LLVMOffsetOfElement(layout, type, (unsigned)number);
      type = LLVMStructGetTypeAtIndex(type, (unsigned)number);
    } else {
      type = LLVMGetElementType(type);
      offset += number * (int64_t)LLVMABISizeOfType(layout, type);
    }
  }
  *out_offset = offset;
  return true;
}

// Finds where an address points. If only the alloca is known, memory is set and
// bytes is 0.
static location locate(LLVMTargetDataRef layout, LLVMValueRef address,
                       uint64_t bytes) {
  location result = {.bytes = (int64_t)bytes};
  bool is_exact = true;
  while (LLVMIsAGetElementPtrInst(address)) {
    int64_t offset = 0;
    is_exact = constant_offset(layout, address, &offset) && is_exact;
    result.offset += offset;
    address = LLVMGetOperand(address, 0);
  }
  if (LLVMIsAAllocaInst(address)) {
    result.memory = address;
  }
  if (!is_exact) {
    result.bytes = 0;
  }
  return result;
}

static overlap compare(const location *a, const location *b) {
  if (a->memory != b->memory) {
    return a->memory && b->memory ? APART : PARTLY;
  }
  if (a->bytes == 0 || b->bytes == 0) {
    return PARTLY;
  }
  if (a->offset == b->offset && a->bytes == b->bytes) {
    return SAME;
  }
  const bool is_apart =
      a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
  return is_apart ? APART : PARTLY;
}

static bool is_copy(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && (mtlc_starts_with(mtlc_name(callee), "llvm.memcpy.") ||
                    mtlc_starts_with(mtlc_name(callee), "llvm.memmove."));
}

static bool is_marker(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && (mtlc_starts_with(mtlc_name(callee), "llvm.lifetime.") ||
                    mtlc_starts_with(mtlc_name(callee), "llvm.dbg."));
}

// True if an address may become known outside this function's loads, stores and
// copies.
static bool escapes_within(LLVMValueRef address, int *left) {
  for (LLVMUseRef use = LLVMGetFirstUse(address); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (--*left < 0) {
      return true;
    }
    if (LLVMIsALoadInst(user) || is_copy(user) || is_marker(user) ||
        (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != address)) {
      continue;
    }
    if (!LLVMIsAGetElementPtrInst(user) || escapes_within(user, left)) {
      return true;
    }
  }
  return false;
}

static bool escapes(LLVMValueRef address) {
  int left = USES_LIMIT;
  return escapes_within(address, &left);
}

// The result of one step backwards, over one instruction.
typedef enum step { PASSED, FOUND_VALUE, FOUND_COPY, BLOCKED } step;

static step step_over(LLVMTargetDataRef layout, LLVMValueRef instruction,
                      location *wanted, LLVMValueRef *out_value) {
  if (LLVMIsAStoreInst(instruction)) {
    LLVMValueRef value = LLVMGetOperand(instruction, 0);
    const location written =
        locate(layout, LLVMGetOperand(instruction, 1),
               LLVMStoreSizeOfType(layout, LLVMTypeOf(value)));
    if (!written.memory) {
      return PASSED;  // the wanted memory does not escape
    }
    const overlap both = compare(&written, wanted);
    *out_value = value;
    return both == SAME ? FOUND_VALUE : both == APART ? PASSED : BLOCKED;
  }
  if (!is_copy(instruction)) {
    return PASSED;  // a call cannot reach the wanted memory
  }
  LLVMValueRef length = LLVMGetOperand(instruction, 2);
  const uint64_t bytes =
      LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : 0;
  const location written =
      locate(layout, LLVMGetOperand(instruction, 0), bytes);
  if (!written.memory || compare(&written, wanted) == APART) {
    return PASSED;
  }
  const location read = locate(layout, LLVMGetOperand(instruction, 1), bytes);
  const bool is_inside =
      written.bytes > 0 && read.memory && read.bytes > 0 &&
      wanted->offset >= written.offset &&
      wanted->offset + wanted->bytes <= written.offset + written.bytes;
  if (!is_inside) {
    return BLOCKED;
  }
  wanted->memory = read.memory;
  wanted->offset += read.offset - written.offset;
  return FOUND_COPY;
}

// Returns the value of one load, or NULL. Leaves in *out_memory where it lies
// when the block begins, if it does.
static LLVMValueRef stored_value(LLVMTargetDataRef layout, LLVMValueRef load,
                                 location *out_memory) {
  *out_memory = (location){0};
  location wanted = locate(layout, LLVMGetOperand(load, 0),
                           LLVMStoreSizeOfType(layout, LLVMTypeOf(load)));
  if (!wanted.memory || wanted.bytes == 0 || escapes(wanted.memory)) {
    return NULL;
  }
  int left = WALK_LIMIT;
  for (LLVMValueRef at = LLVMGetPreviousInstruction(load); at;
       at = LLVMGetPreviousInstruction(at)) {
    LLVMValueRef value = NULL;
    switch (left-- > 0 ? step_over(layout, at, &wanted, &value) : BLOCKED) {
      case PASSED: break;
      case FOUND_VALUE: return value;
      case FOUND_COPY:
        if (escapes(wanted.memory)) {
          return NULL;
        }
        break;
      case BLOCKED: return NULL;
    }
  }
  *out_memory = wanted;
  return NULL;
}

LLVMValueRef mtlc_forward(LLVMModuleRef module, LLVMValueRef value) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  while (LLVMIsALoadInst(value) && !LLVMGetVolatile(value)) {
    location memory;
    LLVMValueRef stored = stored_value(layout, value, &memory);
    if (!stored) {
      break;
    }
    value = stored;
  }
  return value;
}

mtlc_private mtlc_forward_memory(LLVMModuleRef module, LLVMValueRef load) {
  location memory = {0};
  if (!LLVMGetVolatile(load)) {
    stored_value(LLVMGetModuleDataLayout(module), load, &memory);
  }
  return memory;
}

static bool changes_life(LLVMValueRef instruction, LLVMValueRef memory) {
  return mtlc_is_call_of(instruction, "llvm.lifetime.") &&
         LLVMGetOperand(instruction, 1) == memory;
}

bool mtlc_changes(LLVMModuleRef module, LLVMValueRef instruction,
                  const mtlc_private *memory) {
  location wanted = *memory;
  LLVMValueRef value = NULL;
  return changes_life(instruction, memory->memory) ||
         step_over(LLVMGetModuleDataLayout(module), instruction, &wanted,
                   &value) != PASSED;
}
