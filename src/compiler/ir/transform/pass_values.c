// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pass_values.c: replaces functions that take addresses of variables by
// functions that take and return values. `multiply(result, a, b)` of numbers of
// eight words becomes { i32 x 8 } multiply(i32 x 16): a wrapper around the old
// body, with local variables for the parameters that LLVM promotes to
// registers.
//
// Copies are equivalent unless a variable that is written is known by two
// addresses. If a call passes one variable for two parameters, it gets a
// version of the function in which both are one.
#include "compiler/ir/transform/pass_values.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/analysis/variable_use.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"

enum {
  MOST_PARAMETERS = 16,
  MOST_ELEMENTS = 160,  // passed and returned in all
  MOST_BYTES = 1024,    // of one variable
};

// --- How it is called --------------------------------------------------------

typedef struct address {
  LLVMValueRef base;
  int64_t offset;  // in bytes, if fixed
  bool is_fixed;
} address;

static LLVMTargetDataRef data_of(LLVMValueRef function) {
  return LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
}

// True if a function's parameters and result can be passed as values.
static bool has_values(LLVMValueRef function) {
  LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  bool all =
      LLVMGetTypeKind(result) == LLVMVoidTypeKind || mtlc_is_value(result);
  for (unsigned i = 0; i < LLVMCountParams(function); ++i) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
    all &= LLVMGetTypeKind(type) == LLVMPointerTypeKind || mtlc_is_value(type);
  }
  return all && LLVMCountParams(function) <= MOST_PARAMETERS;
}

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

// The variables passed in one call, and which of them are equal.
typedef struct site {
  LLVMValueRef call;
  address variables[MOST_PARAMETERS];
  unsigned leader[MOST_PARAMETERS];  // the first parameter with the same
                                     // variable
} site;

// Returns a signature in which equal parameters are one.
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

// Returns how many bytes of a variable follow an address; unlimited for other
// memory.
static uint64_t bytes_behind(LLVMTargetDataRef data, address at) {
  if (!LLVMIsAAllocaInst(at.base) || !at.is_fixed) {
    return UINT64_MAX;
  }
  const uint64_t bytes = variable_bytes(data, at.base);
  return at.offset >= 0 && (uint64_t)at.offset < bytes
             ? bytes - (uint64_t)at.offset
             : 0;
}

// True if an argument can be loaded before the call and stored after it.
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

static void set_size(passed *p, const mtlc_variable_use *use, uint64_t bytes) {
  p->unit = 1;
  while (p->unit < 8 && !(use->bits & p->unit)) {
    p->unit *= 2;
  }
  p->bytes = (bytes + p->unit - 1) / p->unit * p->unit;
}

// Returns the most that calls have of a variable that the function has the
// start of.
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
    mtlc_variable_use use = {0};
    mtlc_survey_parameter(function, i, &use);
    p->is_variable = true;
    p->is_copy = mtlc_parameter_attribute(function, i, "byval") != NULL;
    p->is_result = mtlc_parameter_attribute(function, i, "sret") != NULL;
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

// Fills variables, calls the function, and returns the results left in them.
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
  // Inlined code keeps its lines only in a function that has debug information.
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  if (subprogram) {
    LLVMGlobalEraseMetadata(
        function, LLVMGetMDKindIDInContext(kernel->context, "dbg", 3));
    LLVMSetSubprogram(made, subprogram);
  }
  return made;
}

// --- The calls ---------------------------------------------------------------

// True if the variable of a call has an element.
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
  enum { MOST_VARIANTS = 4 };  // variants for other sets of equal variables
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
