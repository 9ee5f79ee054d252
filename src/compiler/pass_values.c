// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pass_values.c: functions that get values and return values in the place of
// functions that get addresses of variables. `multiply(result, a, b)` of
// numbers of eight words becomes { i32 x 8 } multiply(i32 x 16), around the
// body as it was: variables of its own, filled from the parameters, that LLVM
// makes values of.
//
// Copies are as good as the variables themselves where none that is written is
// known by two addresses. Two parameters that are the same variable in a call
// are one in the function made for such calls.
#include "compiler/pass_values.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/module.h"

enum {
  MOST_PARAMETERS = 16,
  MOST_ELEMENTS = 160,  // passed and returned in all
  MOST_BYTES = 1024,    // of one variable
};

// --- What a function does with a variable ------------------------------------

typedef struct variable_use {
  bool is_read;
  bool is_written;
  bool escapes;   // does more than load and store
  bool is_open;   // its size is known to callers only
  uint64_t end;   // bytes that it touches
  uint64_t bits;  // all offsets and sizes or-ed
} variable_use;

typedef struct address {
  LLVMValueRef base;
  int64_t offset;  // in bytes, if fixed
  bool is_fixed;
} address;

static LLVMTargetDataRef data_of(LLVMValueRef function) {
  return LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
}

static LLVMAttributeRef attribute_of(LLVMValueRef function, unsigned parameter,
                                     const char *name) {
  return LLVMGetEnumAttributeAtIndex(
      function, parameter + 1,
      LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

// The size that a parameter's declaration promises, or 0.
static uint64_t declared_bytes(LLVMValueRef function, unsigned parameter) {
  static const char *const types[] = {"byval", "sret"};
  for (size_t i = 0; i < 2; ++i) {
    LLVMAttributeRef found = attribute_of(function, parameter, types[i]);
    if (found) {
      return LLVMABISizeOfType(data_of(function),
                               LLVMGetTypeAttributeValue(found));
    }
  }
  LLVMAttributeRef bytes = attribute_of(function, parameter, "dereferenceable");
  return bytes ? LLVMGetEnumAttributeValue(bytes) : 0;
}

typedef struct survey {
  LLVMTargetDataRef data;
  uint64_t declared;
  variable_use *use;
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

// Adds what a getelementptr adds. An index that varies may lead anywhere in the
// type that it is an index of, which is inside the variable if that is declared
// so large.
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

static void survey_parameter(LLVMValueRef function, unsigned parameter,
                             variable_use *use);

// The variable is another function's as well.
static void survey_passed(const survey *s, LLVMValueRef call, unsigned argument,
                          address at) {
  variable_use theirs = {0};
  survey_parameter(mtlc_callee(call), argument, &theirs);
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

static void survey_parameter(LLVMValueRef function, unsigned parameter,
                             variable_use *use) {
  const survey s = {.data = data_of(function),
                    .declared = declared_bytes(function, parameter),
                    .use = use};
  LLVMValueRef pointer = LLVMGetParam(function, parameter);
  survey_users(&s, pointer, (address){.base = pointer, .is_fixed = true});
  const bool is_whole = attribute_of(function, parameter, "byval") ||
                        attribute_of(function, parameter, "sret");
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

// A number, or a structure of numbers.
static bool is_value(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    return is_value(LLVMGetElementType(type));
  }
  if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
    return is_number(type);
  }
  bool all = true;
  for (unsigned i = 0; i < LLVMCountStructElementTypes(type); ++i) {
    all &= is_value(LLVMStructGetTypeAtIndex(type, i));
  }
  return all;
}

// Its own variable, a caller's, or constant data.
static bool is_known_memory(LLVMValueRef pointer) {
  LLVMValueRef root = mtlc_root_of(pointer);
  if (LLVMIsAConstantExpr(root)) {
    root = LLVMGetOperand(root, 0);
  }
  return LLVMIsAAllocaInst(root) || LLVMIsAArgument(root) ||
         (LLVMIsAGlobalVariable(root) && LLVMIsGlobalConstant(root));
}

// A text attribute of functions that were asked before.
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
      return is_value(LLVMTypeOf(i)) && is_known_memory(LLVMGetOperand(i, 0));
    case LLVMStore:
      return is_value(LLVMTypeOf(LLVMGetOperand(i, 0))) &&
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

// Whether a function's parameters and result can be passed as values.
static bool has_values(LLVMValueRef function) {
  LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  bool all =
      LLVMGetTypeKind(result) == LLVMVoidTypeKind || is_value(result);
  for (unsigned i = 0; i < LLVMCountParams(function); ++i) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
    all &= LLVMGetTypeKind(type) == LLVMPointerTypeKind || is_value(type);
  }
  return all && LLVMCountParams(function) <= MOST_PARAMETERS;
}

static bool keeps_addresses(LLVMValueRef function) {
  bool any = false;
  for (unsigned i = 0; i < LLVMCountParams(function); ++i) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
      variable_use use = {0};
      survey_parameter(function, i, &use);
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

// --- How it is called --------------------------------------------------------

typedef struct passed {
  bool is_variable;
  bool is_copy;     // the callee's own: byval
  bool is_result;   // holds nothing before the call: sret
  bool is_input;    // its elements are passed
  bool is_output;   // and returned
  bool is_open;     // known from its beginning on, to its end
  unsigned unit;    // bytes of an element
  uint64_t bytes;   // a multiple of it
} passed;

typedef struct signature {
  unsigned count;  // of parameters
  passed parameters[MOST_PARAMETERS];
} signature;

// One call's variables, and which are the same.
typedef struct site {
  LLVMValueRef call;
  address variables[MOST_PARAMETERS];
  unsigned leader[MOST_PARAMETERS];  // the first parameter that is the same
} site;

// Of parameters that are the same variable the first one stands for all.
static signature joined(const signature *s, const unsigned *leader) {
  signature all = *s;
  for (unsigned i = 0; i < s->count; ++i) {
    passed *first = &all.parameters[leader[i]];
    if (leader[i] != i) {
      first->is_input |= all.parameters[i].is_input;
      first->is_output |= all.parameters[i].is_output;
      all.parameters[i].is_input = all.parameters[i].is_output = false;
    }
  }
  return all;
}

typedef struct variant {
  LLVMValueRef function;
  unsigned leader[MOST_PARAMETERS];
} variant;

static uint64_t variable_bytes(LLVMTargetDataRef data, LLVMValueRef variable) {
  LLVMValueRef count = LLVMGetOperand(variable, 0);
  return LLVMIsAConstantInt(count)
             ? LLVMABISizeOfType(data, LLVMGetAllocatedType(variable)) *
                   LLVMConstIntGetZExtValue(count)
             : 0;
}

static address find_address(LLVMTargetDataRef data, LLVMValueRef pointer) {
  address at = {.base = pointer, .is_fixed = true};
  while (LLVMIsAGetElementPtrInst(at.base)) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(at.base);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(at.base); ++i) {
      LLVMValueRef index = LLVMGetOperand(at.base, i);
      if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
        at.offset += (int64_t)LLVMOffsetOfElement(data, type, field);
        type = LLVMStructGetTypeAtIndex(type, field);
        continue;
      }
      type = i > 1 ? LLVMGetElementType(type) : type;
      at.is_fixed &= LLVMIsAConstantInt(index) != NULL;
      if (LLVMIsAConstantInt(index)) {
        at.offset += LLVMConstIntGetSExtValue(index) *
                     (int64_t)LLVMABISizeOfType(data, type);
      }
    }
    at.base = LLVMGetOperand(at.base, 0);
  }
  return at;
}

// What is left of a variable behind an address; as much as one likes of others.
static uint64_t bytes_behind(LLVMTargetDataRef data, address at) {
  if (!LLVMIsAAllocaInst(at.base) || !at.is_fixed) {
    return UINT64_MAX;
  }
  const uint64_t bytes = variable_bytes(data, at.base);
  return at.offset >= 0 && (uint64_t)at.offset < bytes
             ? bytes - (uint64_t)at.offset
             : 0;
}

// Whether a call's argument can be loaded before the call and stored behind it.
static bool is_variable(const passed *p, address at) {
  if (p->is_open && (!at.is_fixed || at.offset != 0)) {
    return false;
  }
  return LLVMIsAAllocaInst(at.base) || p->is_copy ||
         (!p->is_output && LLVMIsAGlobalVariable(at.base) &&
          LLVMIsGlobalConstant(at.base));
}

typedef enum overlap { APART, SAME, MIXED } overlap;

static overlap compare(const signature *s, const site *where, unsigned i,
                       unsigned k) {
  const passed *a = &s->parameters[i], *b = &s->parameters[k];
  const address at = where->variables[i], other = where->variables[k];
  if (a->is_copy || b->is_copy || (!a->is_output && !b->is_output) ||
      at.base != other.base) {
    return APART;
  }
  if (!at.is_fixed || !other.is_fixed) {
    return MIXED;
  }
  if (at.offset == other.offset) {
    return a->unit == b->unit && a->bytes == b->bytes &&
                   !a->is_result && !b->is_result
               ? SAME
               : MIXED;
  }
  return at.offset + (int64_t)a->bytes <= other.offset ||
                 other.offset + (int64_t)b->bytes <= at.offset
             ? APART
             : MIXED;
}

static bool find_variables(const signature *s, LLVMTargetDataRef data,
                           site *where) {
  for (unsigned i = 0; i < s->count; ++i) {
    where->leader[i] = i;
    if (!s->parameters[i].is_variable) {
      continue;
    }
    where->variables[i] =
        find_address(data, LLVMGetOperand(where->call, i));
    if (!is_variable(&s->parameters[i], where->variables[i])) {
      return false;
    }
    for (unsigned k = i; k-- > 0;) {
      const overlap how = s->parameters[k].is_variable
                              ? compare(s, where, i, k)
                              : APART;
      if (how == MIXED) {
        return false;
      }
      where->leader[i] = how == SAME ? where->leader[k] : where->leader[i];
    }
  }
  return true;
}

static unsigned element_count(const passed *p) {
  return (unsigned)(p->bytes / p->unit);
}

static unsigned count_elements(LLVMTypeRef type) {
  unsigned count = 0;
  switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: return LLVMGetVectorSize(type);
    case LLVMArrayTypeKind:
      return (unsigned)LLVMGetArrayLength2(type) *
             count_elements(LLVMGetElementType(type));
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); ++i) {
        count += count_elements(LLVMStructGetTypeAtIndex(type, i));
      }
      return count;
    default: return 1;
  }
}

static void set_size(passed *p, const variable_use *use, uint64_t bytes) {
  p->unit = 1;
  while (p->unit < 8 && !(use->bits & p->unit)) {
    p->unit *= 2;
  }
  p->bytes = (bytes + p->unit - 1) / p->unit * p->unit;
}

// The most that calls have of a variable that the function has the start of.
static uint64_t most_bytes(LLVMValueRef function, unsigned parameter) {
  LLVMTargetDataRef data = data_of(function);
  uint64_t most = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    if (mtlc_callee(LLVMGetUser(use)) == function) {
      const uint64_t bytes = bytes_behind(
          data,
          find_address(data, LLVMGetOperand(LLVMGetUser(use), parameter)));
      most = bytes > most ? bytes : most;
    }
  }
  return most;
}

// Returns false if it has too many elements.
static bool find_signature(LLVMValueRef function, signature *out) {
  *out = (signature){.count = LLVMCountParams(function)};
  uint64_t elements = 0;
  for (unsigned i = 0; i < out->count; ++i) {
    passed *p = &out->parameters[i];
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
    if (LLVMGetTypeKind(type) != LLVMPointerTypeKind) {
      elements += count_elements(type);
      continue;
    }
    variable_use use = {0};
    survey_parameter(function, i, &use);
    p->is_variable = true;
    p->is_copy = attribute_of(function, i, "byval") != NULL;
    p->is_result = attribute_of(function, i, "sret") != NULL;
    p->is_output = use.is_written && !p->is_copy;
    p->is_input = (use.is_read || use.is_written) && !p->is_result;
    p->is_open = use.is_open;
    const uint64_t bytes = use.is_open ? most_bytes(function, i) : use.end;
    if (bytes > MOST_BYTES) {
      return false;
    }
    set_size(p, &use, bytes);
    elements += element_count(p) * (p->is_input + p->is_output);
  }
  return elements <= MOST_ELEMENTS;
}

// --- The new function --------------------------------------------------------

typedef struct types_list {
  LLVMTypeRef items[2 * MOST_ELEMENTS];
  unsigned count;
} types_list;

static LLVMTypeRef element_type(LLVMContextRef context, const passed *p) {
  return LLVMIntTypeInContext(context, p->unit * 8);
}

static void add_elements(LLVMContextRef context, types_list *list,
                         const passed *p) {
  for (unsigned k = 0; k < element_count(p); ++k) {
    list->items[list->count++] = element_type(context, p);
  }
}

static LLVMTypeRef result_of(LLVMValueRef function) {
  return LLVMGetReturnType(LLVMGlobalGetValueType(function));
}

static bool returns(LLVMValueRef function) {
  return LLVMGetTypeKind(result_of(function)) != LLVMVoidTypeKind;
}

static LLVMTypeRef new_type(LLVMContextRef context, LLVMValueRef function,
                            const signature *s) {
  types_list inputs = {.count = 0}, outputs = {.count = 0};
  if (returns(function)) {
    outputs.items[outputs.count++] = result_of(function);
  }
  for (unsigned i = 0; i < s->count; ++i) {
    const passed *p = &s->parameters[i];
    if (!p->is_variable) {
      inputs.items[inputs.count++] = LLVMTypeOf(LLVMGetParam(function, i));
      continue;
    }
    if (p->is_input) {
      add_elements(context, &inputs, p);
    }
    if (p->is_output) {
      add_elements(context, &outputs, p);
    }
  }
  return LLVMFunctionType(
      LLVMStructTypeInContext(context, outputs.items, outputs.count, false),
      inputs.items, inputs.count, false);
}

static LLVMValueRef load_element(LLVMBuilderRef builder, const passed *p,
                                 LLVMValueRef variable, unsigned k) {
  LLVMTypeRef type =
      element_type(LLVMGetTypeContext(LLVMTypeOf(variable)), p);
  LLVMValueRef value = LLVMBuildLoad2(
      builder, type, mtlc_offset(builder, variable, (uint64_t)k * p->unit), "");
  LLVMSetAlignment(value, 1);
  return value;
}

static void store_element(LLVMBuilderRef builder, const passed *p,
                          LLVMValueRef variable, unsigned k,
                          LLVMValueRef value) {
  LLVMSetAlignment(
      LLVMBuildStore(builder, value,
                     mtlc_offset(builder, variable, (uint64_t)k * p->unit)),
      1);
}

// Variables, filled; the call; what it left in them.
static void build_body(mtlc_kernel *kernel, LLVMValueRef made,
                       LLVMValueRef function, const signature *s,
                       const unsigned *leader) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  LLVMTypeRef byte = LLVMInt8TypeInContext(kernel->context);
  LLVMPositionBuilderAtEnd(
      builder, LLVMAppendBasicBlockInContext(kernel->context, made, ""));
  LLVMValueRef arguments[MOST_PARAMETERS];
  unsigned at = 0;
  for (unsigned i = 0; i < s->count; ++i) {
    const passed *p = &s->parameters[i];
    if (!p->is_variable) {
      arguments[i] = LLVMGetParam(made, at++);
      continue;
    }
    if (leader[i] != i) {
      arguments[i] = arguments[leader[i]];
      continue;
    }
    arguments[i] =
        LLVMBuildAlloca(builder, LLVMArrayType2(byte, p->bytes), "");
    LLVMSetAlignment(arguments[i], 16);
    for (unsigned k = 0; p->is_input && k < element_count(p); ++k) {
      store_element(builder, p, arguments[i], k, LLVMGetParam(made, at++));
    }
  }
  LLVMValueRef result = mtlc_call(builder, function, arguments, s->count);
  LLVMValueRef all = LLVMGetPoison(result_of(made));
  at = 0;
  if (returns(function)) {
    all = LLVMBuildInsertValue(builder, all, result, at++, "");
  }
  for (unsigned i = 0; i < s->count; ++i) {
    const passed *p = &s->parameters[i];
    for (unsigned k = 0; p->is_output && k < element_count(p); ++k) {
      all = LLVMBuildInsertValue(
          builder, all, load_element(builder, p, arguments[i], k), at++, "");
    }
  }
  LLVMBuildRet(builder, all);
  LLVMDisposeBuilder(builder);
}

static LLVMValueRef make_function(mtlc_kernel *kernel, LLVMValueRef function,
                                  const signature *s, const unsigned *leader,
                                  const char *prefix) {
  char name[512];
  snprintf(name, sizeof name, "%s%s", prefix, mtlc_name(function));
  LLVMValueRef made =
      LLVMAddFunction(kernel->module, name,
                      new_type(kernel->context, function, s));
  LLVMSetLinkage(made, LLVMInternalLinkage);
  mtlc_set_attribute(made, "nounwind", 0);
  mtlc_set_attribute(made, "noinline", 0);
  build_body(kernel, made, function, s, leader);
  // What is inlined keeps its lines in a function that has them.
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  if (subprogram) {
    LLVMGlobalEraseMetadata(
        function, LLVMGetMDKindIDInContext(kernel->context, "dbg", 3));
    LLVMSetSubprogram(made, subprogram);
  }
  return made;
}

// --- The calls ---------------------------------------------------------------

// A call's element; of what the variable does not have, nothing.
static bool has_element(const passed *p, uint64_t behind, unsigned k) {
  return ((uint64_t)k + 1) * p->unit <= behind;
}

static void replace_call(mtlc_kernel *kernel, const signature *s,
                         const site *where, LLVMValueRef made) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(kernel->module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  LLVMPositionBuilderBefore(builder, where->call);
  LLVMValueRef arguments[MOST_ELEMENTS];
  unsigned at = 0;
  for (unsigned i = 0; i < s->count; ++i) {
    const passed *p = &s->parameters[i];
    LLVMValueRef argument = LLVMGetOperand(where->call, i);
    if (!p->is_variable) {
      arguments[at++] = argument;
      continue;
    }
    const uint64_t behind = bytes_behind(data, where->variables[i]);
    for (unsigned k = 0; p->is_input && k < element_count(p); ++k) {
      arguments[at++] =
          has_element(p, behind, k)
              ? load_element(builder, p, argument, k)
              : LLVMGetUndef(element_type(kernel->context, p));
    }
  }
  LLVMValueRef results = mtlc_call(builder, made, arguments, at);
  LLVMInstructionSetDebugLoc(results, LLVMInstructionGetDebugLoc(where->call));
  at = 0;
  if (LLVMGetTypeKind(LLVMTypeOf(where->call)) != LLVMVoidTypeKind) {
    LLVMReplaceAllUsesWith(where->call,
                           LLVMBuildExtractValue(builder, results, at++, ""));
  }
  for (unsigned i = 0; i < s->count; ++i) {
    const passed *p = &s->parameters[i];
    const uint64_t behind =
        p->is_output ? bytes_behind(data, where->variables[i]) : 0;
    for (unsigned k = 0; p->is_output && k < element_count(p); ++k, ++at) {
      if (has_element(p, behind, k)) {
        store_element(builder, p, LLVMGetOperand(where->call, i), k,
                      LLVMBuildExtractValue(builder, results, at, ""));
      }
    }
  }
  LLVMInstructionEraseFromParent(where->call);
  LLVMDisposeBuilder(builder);
}

static mtlc_values calls_of(LLVMValueRef function) {
  mtlc_values calls = {0};
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    if (mtlc_callee(LLVMGetUser(use)) == function) {
      mtlc_values_add(&calls, LLVMGetUser(use));
    }
  }
  return calls;
}

uint32_t mtlc_pass_values(mtlc_kernel *kernel, LLVMValueRef function,
                          const char *prefix) {
  enum { MOST_VARIANTS = 4 };  // for other variables that are the same
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(kernel->module);
  variant variants[MOST_VARIANTS];
  unsigned variant_count = 0;
  uint32_t changed = 0;
  signature s;
  if (!has_values(function) || !find_signature(function, &s)) {
    return 0;
  }
  mtlc_values calls = calls_of(function);
  for (size_t i = 0; i < calls.count; ++i) {
    site where = {.call = calls.items[i]};
    if (!find_variables(&s, data, &where)) {
      continue;
    }
    unsigned m = 0;
    while (m < variant_count && memcmp(variants[m].leader, where.leader,
                                    s.count * sizeof *where.leader) != 0) {
      ++m;
    }
    if (m == MOST_VARIANTS) {
      continue;
    }
    const signature all = joined(&s, where.leader);
    if (m == variant_count) {
      variants[m].function =
          make_function(kernel, function, &all, where.leader, prefix);
      memcpy(variants[m].leader, where.leader, sizeof where.leader);
      variant_count++;
    }
    replace_call(kernel, &all, &where, variants[m].function);
    changed++;
  }
  free(calls.items);
  return changed;
}
