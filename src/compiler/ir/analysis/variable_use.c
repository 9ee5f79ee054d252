// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variable_use.c: finds how a function uses variables whose addresses it gets,
// and whether it has other effects.
#include "compiler/ir/analysis/variable_use.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"

// --- What a function does with a variable ------------------------------------

typedef struct address {
  int64_t offset;  // in bytes, if fixed
  bool is_fixed;
} address;

static LLVMTargetDataRef data_of(LLVMValueRef function) {
  return LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
}

LLVMAttributeRef mtlc_parameter_attribute(LLVMValueRef function,
                                          unsigned parameter,
                                          const char *name) {
  return LLVMGetEnumAttributeAtIndex(
      function, parameter + 1,
      LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

// Returns the size that a parameter's declaration promises, or 0.
static uint64_t declared_bytes(LLVMValueRef function, unsigned parameter) {
  static const char *const types[] = {"byval", "sret"};
  for (size_t i = 0; i < 2; ++i) {
    LLVMAttributeRef found =
        mtlc_parameter_attribute(function, parameter, types[i]);
    if (found) {
      return LLVMABISizeOfType(data_of(function),
                               LLVMGetTypeAttributeValue(found));
    }
  }
  LLVMAttributeRef bytes =
      mtlc_parameter_attribute(function, parameter, "dereferenceable");
  return bytes ? LLVMGetEnumAttributeValue(bytes) : 0;
}

typedef struct survey {
  LLVMTargetDataRef data;
  uint64_t declared;
  mtlc_variable_use *use;
} survey;

static void survey_users(const survey *s, LLVMValueRef pointer, address at);

static void note_range(const survey *s, address at, uint64_t bytes,
                       uint64_t unit) {
  s->use->bits |= unit | (uint64_t)at.offset;
  const uint64_t end = (uint64_t)at.offset + bytes;
  s->use->escapes |= at.is_fixed && at.offset < 0;
  if (at.is_fixed && end > s->use->end) {
    s->use->end = end;
  }
}

static void note_access(const survey *s, LLVMValueRef access, LLVMTypeRef type,
                        address at) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  LLVMTypeRef element =
      kind == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
  const LLVMTypeKind part = LLVMGetTypeKind(element);
  if (LLVMGetVolatile(access) ||
      LLVMGetOrdering(access) != LLVMAtomicOrderingNotAtomic ||
      part == LLVMPointerTypeKind || part == LLVMStructTypeKind ||
      part == LLVMArrayTypeKind) {
    s->use->escapes = true;
  }
  note_range(s, at, LLVMStoreSizeOfType(s->data, type),
             LLVMStoreSizeOfType(s->data, element));
}

// Adds a getelementptr's offset. A varying index may reach anywhere in the type
// that it indexes, which is inside the variable if the variable is as large.
static void survey_element(const survey *s, LLVMValueRef element, address at) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(element);
  const uint64_t whole = LLVMABISizeOfType(s->data, type);
  const address start = at;
  bool varies_first = false;
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(element); ++i) {
    LLVMValueRef index = LLVMGetOperand(element, i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      at.offset += (int64_t)LLVMOffsetOfElement(s->data, type, field);
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    type = i > 1 ? LLVMGetElementType(type) : type;
    const uint64_t bytes = LLVMABISizeOfType(s->data, type);
    if (LLVMIsAConstantInt(index)) {
      at.offset += LLVMConstIntGetSExtValue(index) * (int64_t)bytes;
    } else {
      at.is_fixed = false;
      varies_first |= i == 1;
      s->use->bits |= bytes;
    }
  }
  if (!at.is_fixed) {
    const uint64_t end = (uint64_t)start.offset + whole;
    const bool is_inside = start.is_fixed && !varies_first &&
                           start.offset >= 0 && end <= s->declared;
    s->use->is_open |= !is_inside && start.is_fixed;
    s->use->end = is_inside && end > s->use->end ? end : s->use->end;
  }
  survey_users(s, element, at);
}

// The variable is another function's as well.
static void survey_passed(const survey *s, LLVMValueRef call, unsigned argument,
                          address at) {
  mtlc_variable_use theirs = {0};
  mtlc_survey_parameter(mtlc_callee(call), argument, &theirs);
  s->use->is_read |= theirs.is_read;
  s->use->is_written |= theirs.is_written;
  s->use->escapes |= theirs.escapes;
  s->use->is_open |= theirs.is_open;
  note_range(s, at, theirs.end, theirs.bits);
}

static bool is_intrinsic(LLVMValueRef function, const char *name) {
  return mtlc_starts_with(mtlc_name(function), name);
}

static void survey_call(const survey *s, LLVMValueRef call,
                        LLVMValueRef pointer, address at) {
  LLVMValueRef callee = mtlc_callee(call);
  if (!callee || is_intrinsic(callee, "llvm.lifetime.")) {
    s->use->escapes |= !callee;
    return;
  }
  const bool copies = is_intrinsic(callee, "llvm.memcpy.") ||
                      is_intrinsic(callee, "llvm.memmove.");
  if (copies || is_intrinsic(callee, "llvm.memset.")) {
    LLVMValueRef bytes = LLVMGetOperand(call, 2);
    s->use->is_written |= LLVMGetOperand(call, 0) == pointer;
    s->use->is_read |= LLVMGetOperand(call, 1) == pointer;
    if (!LLVMIsAConstantInt(bytes)) {
      s->use->escapes = true;
      return;
    }
    const uint64_t count = LLVMConstIntGetZExtValue(bytes);
    note_range(s, at, count, count);
    return;
  }
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); ++i) {
    if (LLVMGetOperand(call, i) == pointer) {
      if (LLVMIsDeclaration(callee)) {
        s->use->escapes = true;
      } else {
        survey_passed(s, call, i, at);
      }
    }
  }
}

static void survey_users(const survey *s, LLVMValueRef pointer, address at) {
  for (LLVMUseRef use = LLVMGetFirstUse(pointer); use && !s->use->escapes;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    switch (LLVMGetInstructionOpcode(user)) {
      case LLVMLoad:
        s->use->is_read = true;
        note_access(s, user, LLVMTypeOf(user), at);
        break;
      case LLVMStore:
        s->use->is_written = true;
        s->use->escapes |= LLVMGetOperand(user, 0) == pointer;
        note_access(s, user, LLVMTypeOf(LLVMGetOperand(user, 0)), at);
        break;
      case LLVMGetElementPtr: survey_element(s, user, at); break;
      case LLVMCall: survey_call(s, user, pointer, at); break;
      default: s->use->escapes = true; break;
    }
  }
}

void mtlc_survey_parameter(LLVMValueRef function, unsigned parameter,
                             mtlc_variable_use *use) {
  const survey s = {.data = data_of(function),
                    .declared = declared_bytes(function, parameter),
                    .use = use};
  LLVMValueRef pointer = LLVMGetParam(function, parameter);
  survey_users(&s, pointer, (address){.is_fixed = true});
  const bool is_whole =
      mtlc_parameter_attribute(function, parameter, "byval") ||
      mtlc_parameter_attribute(function, parameter, "sret");
  if (use->is_open && is_whole) {
    use->is_open = false;
    use->end = s.declared;
  }
}

// --- What a function does altogether -----------------------------------------

static bool is_number(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    type = LLVMGetElementType(type);
  }
  switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind: return true;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) <= 64;
    default: return false;
  }
}

// True for a number or a structure of numbers.
bool mtlc_is_value(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    return mtlc_is_value(LLVMGetElementType(type));
  }
  if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
    return is_number(type);
  }
  bool all = true;
  for (unsigned i = 0; i < LLVMCountStructElementTypes(type); ++i) {
    all &= mtlc_is_value(LLVMStructGetTypeAtIndex(type, i));
  }
  return all;
}

// True for the function's own variable, a caller's, or constant data.
static bool is_known_memory(LLVMValueRef pointer) {
  LLVMValueRef root = mtlc_root_of(pointer);
  if (LLVMIsAConstantExpr(root)) {
    root = LLVMGetOperand(root, 0);
  }
  return LLVMIsAAllocaInst(root) || LLVMIsAArgument(root) ||
         (LLVMIsAGlobalVariable(root) && LLVMIsGlobalConstant(root));
}

// Text attribute of functions that have been analysed.
static const char computes[] = "mettle-computes";

static bool is_harmless_call(LLVMValueRef call) {
  LLVMValueRef callee = mtlc_callee(call);
  if (!callee) {
    return false;
  }
  if (!LLVMIsDeclaration(callee)) {
    return LLVMGetStringAttributeAtIndex(
               callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, computes,
               sizeof computes - 1) != NULL;
  }
  return is_intrinsic(callee, "llvm.") && !is_intrinsic(callee, "llvm.trap");
}

static bool is_computation(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
      return mtlc_is_value(LLVMTypeOf(i)) &&
             is_known_memory(LLVMGetOperand(i, 0));
    case LLVMStore:
      return mtlc_is_value(LLVMTypeOf(LLVMGetOperand(i, 0))) &&
             is_known_memory(LLVMGetOperand(i, 1));
    case LLVMCall: return is_harmless_call(i);
    case LLVMPHI:
    case LLVMSelect:
      return LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind;
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMIndirectBr:
    case LLVMVAArg:
    case LLVMIntToPtr:
    case LLVMPtrToInt: return false;
    default: return true;
  }
}

static bool keeps_addresses(LLVMValueRef function) {
  bool any = false;
  for (unsigned i = 0; i < LLVMCountParams(function); ++i) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
      mtlc_variable_use use = {0};
      mtlc_survey_parameter(function, i, &use);
      any |= use.escapes;
    }
  }
  return any;
}

bool mtlc_only_computes(LLVMValueRef function) {
  if (keeps_addresses(function)) {
    return false;
  }
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (!is_computation(i)) {
        return false;
      }
    }
  }
  mtlc_set_text_attribute(function, computes, "");
  return true;
}
