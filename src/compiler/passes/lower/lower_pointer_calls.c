// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_pointer_calls.c: turns a call through a function pointer into a choice
// among the functions that the pointer may be: those of its type whose address
// the program takes, and those that the pipeline's tables may hold. What a
// function does with its simdgroup or at a barrier can then be inlined, as it
// must be, and threads that call the same function run it together.
//
// A function of a table is known by its number among the linked functions,
// which is what the table holds. Where there are tables, a pointer may be none
// of the choices: that stops the kernel.
//
// Requires  link_functions
// Leaves    calls by name alone, but for types that no function has in kernels
//           without tables
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/link/link_functions.h"
#include "compiler/passes/passes.h"

static bool is_chosen(LLVMValueRef function) {
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    if (mtlc_callee(LLVMGetUser(use)) != function) {
      return true;
    }
  }
  return false;
}

// The functions that a pointer may be.
typedef struct choices {
  mtlc_values functions;
  mtlc_values addresses;  // [addresses.count] the values that the pointer is
                          // compared with
  bool may_be_none;  // it may come from a table
  bool is_too_deep;  // functions of tables must not be called at this depth
} choices;

static void add_choice(choices *c, LLVMValueRef function,
                       LLVMValueRef address) {
  mtlc_values_add(&c->functions, function);
  mtlc_values_add(&c->addresses, address);
}

static bool has_tables(LLVMModuleRef module) {
  mtlc_values calls = {0};
  mtlc_collect_calls(module, "mettle.function_at", &calls);
  free(calls.items);
  return calls.count > 0;
}

// Collects the linked functions that a call of that type may find in a table.
static void collect_linked(const mtlc_kernel *kernel, LLVMTypeRef type,
                           LLVMValueRef caller, choices *c) {
  const uint32_t level = mtlc_level_of(caller) + 1;
  LLVMTypeRef pointer = LLVMPointerTypeInContext(kernel->context, 0);
  c->is_too_deep = level > kernel->call_depth && kernel->linked_count > 0;
  for (size_t i = 1; i <= kernel->linked_count; ++i) {
    LLVMValueRef function = mtlc_linked_function(kernel->module, level, i);
    if (function && LLVMGlobalGetValueType(function) == type) {
      add_choice(c, function,
                 LLVMConstIntToPtr(mtlc_i64(kernel->context, i), pointer));
    }
  }
}

static bool is_linked(LLVMValueRef function) {
  return mtlc_starts_with(mtlc_name(function), MTLC_LINKED_PREFIX);
}

// Adds functions of the type whose address is used. The caller is among them
// only if there is no other: Metal has no recursion.
static void collect_addressed(const mtlc_kernel *kernel, LLVMTypeRef type,
                              LLVMValueRef caller, choices *c) {
  bool has_caller = false;
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (LLVMIsDeclaration(function) || is_linked(function) ||
        LLVMGlobalGetValueType(function) != type || !is_chosen(function)) {
      continue;
    }
    if (function == caller) {
      has_caller = true;
    } else {
      add_choice(c, function, function);
    }
  }
  if (has_caller && !c->functions.count) {
    add_choice(c, caller, caller);
  }
}

// Attributes of parameters determine how they are passed.
static void copy_attributes(LLVMValueRef call, LLVMValueRef function,
                            LLVMAttributeIndex index) {
  const unsigned count = LLVMGetAttributeCountAtIndex(function, index);
  LLVMAttributeRef *attributes = calloc(count + 1, sizeof attributes[0]);
  if (!attributes) {
    abort();
  }
  LLVMGetAttributesAtIndex(function, index, attributes);
  for (unsigned i = 0; i < count; ++i) {
    LLVMAddCallSiteAttribute(call, index, attributes[i]);
  }
  free(attributes);
}

// Calls a function with all parameters but the first, and returns.
static void build_choice(LLVMBuilderRef builder, LLVMValueRef chooser,
                         LLVMValueRef function) {
  const unsigned count = LLVMCountParams(function);
  LLVMValueRef *parameters = calloc(count + 1, sizeof parameters[0]);
  if (!parameters) {
    abort();
  }
  LLVMGetParams(chooser, parameters);
  LLVMValueRef call = mtlc_call(builder, function, parameters + 1, count);
  LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
  for (unsigned i = 0; i <= count; ++i) {
    copy_attributes(call, function, i);
  }
  free(parameters);
  if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind) {
    LLVMBuildRetVoid(builder);
  } else {
    LLVMBuildRet(builder, call);
  }
}

static LLVMValueRef declare_chooser(LLVMModuleRef module, LLVMTypeRef type) {
  const unsigned count = LLVMCountParamTypes(type);
  LLVMTypeRef *types = calloc(count + 1, sizeof types[0]);
  if (!types) {
    abort();
  }
  types[0] = LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
  LLVMGetParamTypes(type, types + 1);
  LLVMValueRef chooser = LLVMAddFunction(
      module, "choose",
      LLVMFunctionType(LLVMGetReturnType(type), types, count + 1, false));
  free(types);
  LLVMSetLinkage(chooser, LLVMInternalLinkage);
  mtlc_set_attribute(chooser, "nounwind", 0);
  mtlc_set_attribute(chooser, "convergent", 0);
  return chooser;
}

static void build_trap(LLVMModuleRef module, LLVMBuilderRef builder,
                       const choices *c) {
  mtlc_types types = mtlc_types_of(LLVMGetModuleContext(module));
  LLVMTypeRef parameters[] = {types.i32, types.pointer};
  LLVMValueRef trap =
      mtlc_declare(module, "mettle.trap",
                   LLVMFunctionType(types.nothing, parameters, 2, false));
  LLVMValueRef arguments[] = {
      mtlc_i32(LLVMGetModuleContext(module), 2),
      LLVMBuildGlobalString(
          builder,
          c->is_too_deep
              ? "its calls through function tables nest deeper than the "
                "pipeline's max_call_stack_depth"
              : "it called an entry of a function table that is empty or of "
                "another type",
          "")};
  mtlc_call(builder, trap, arguments, 2);
  LLVMBuildUnreachable(builder);
}

// Returns a function that takes the pointer and the arguments. The last choice
// needs no comparison if no other value is a pointer to a function of the type.
static LLVMValueRef build_chooser(LLVMModuleRef module, LLVMTypeRef type,
                                  const choices *c) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMValueRef chooser = declare_chooser(module, type);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(context, chooser, "");
  for (size_t i = 0; i < c->functions.count; ++i) {
    LLVMPositionBuilderAtEnd(builder, next);
    if (i + 1 < c->functions.count || c->may_be_none) {
      LLVMBasicBlockRef this_one =
          LLVMAppendBasicBlockInContext(context, chooser, "");
      next = LLVMAppendBasicBlockInContext(context, chooser, "");
      LLVMValueRef is_this =
          LLVMBuildICmp(builder, LLVMIntEQ, LLVMGetParam(chooser, 0),
                        c->addresses.items[i], "");
      LLVMBuildCondBr(builder, is_this, this_one, next);
      LLVMPositionBuilderAtEnd(builder, this_one);
    }
    build_choice(builder, chooser, c->functions.items[i]);
  }
  if (c->may_be_none) {
    LLVMPositionBuilderAtEnd(builder, next);
    build_trap(module, builder, c);
  }
  LLVMDisposeBuilder(builder);
  return chooser;
}

static void call_chooser(LLVMValueRef call, LLVMValueRef chooser) {
  const unsigned count = LLVMGetNumArgOperands(call);
  LLVMValueRef *arguments = calloc(count + 1, sizeof arguments[0]);
  if (!arguments) {
    abort();
  }
  arguments[0] = LLVMGetCalledValue(call);
  for (unsigned i = 0; i < count; ++i) {
    arguments[i + 1] = LLVMGetOperand(call, i);
  }
  LLVMBuilderRef builder =
      LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(call)));
  LLVMPositionBuilderBefore(builder, call);
  LLVMValueRef replacement = mtlc_call(builder, chooser, arguments, count + 1);
  LLVMInstructionSetDebugLoc(replacement, LLVMInstructionGetDebugLoc(call));
  LLVMDisposeBuilder(builder);
  free(arguments);
  mtlc_replace(call, replacement);
}

static void add_once(mtlc_values *values, LLVMValueRef value) {
  for (size_t i = 0; i < values->count; ++i) {
    if (values->items[i] == value) {
      return;
    }
  }
  mtlc_values_add(values, value);
}

// Replaces a function by an address wherever it is not called.
static void replace_address_by(LLVMValueRef function, LLVMValueRef address) {
  mtlc_values calls = {0};
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    if (mtlc_callee(LLVMGetUser(use)) == function) {
      add_once(&calls, LLVMGetUser(use));
    }
  }
  LLVMReplaceAllUsesWith(function, address);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMSetOperand(calls.items[i],
                   (unsigned)LLVMGetNumOperands(calls.items[i]) - 1, function);
  }
  free(calls.items);
}

// Pointers are only compared from here on: an address of something else does,
// and keeps no copy of the function from being dropped.
static void replace_address(LLVMModuleRef module, LLVMValueRef function) {
  LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
  LLVMValueRef address = LLVMAddGlobal(module, byte, "function");
  LLVMSetInitializer(address, LLVMConstNull(byte));
  LLVMSetLinkage(address, LLVMInternalLinkage);
  LLVMSetGlobalConstant(address, true);
  replace_address_by(function, address);
}

// Replaces a linked function's address by its number, wherever it comes from.
static void number_linked(mtlc_kernel *kernel) {
  LLVMTypeRef pointer = LLVMPointerTypeInContext(kernel->context, 0);
  for (uint32_t level = 1; level <= kernel->call_depth; ++level) {
    for (size_t i = 1; i <= kernel->linked_count; ++i) {
      LLVMValueRef function = mtlc_linked_function(kernel->module, level, i);
      if (function) {
        replace_address_by(function,
                           LLVMConstIntToPtr(mtlc_i64(kernel->context, i),
                                             pointer));
        LLVMSetLinkage(function, LLVMInternalLinkage);
      }
    }
  }
}

static void collect_all_pointer_calls(mtlc_kernel *kernel,
                                      mtlc_values *calls) {
  for (uint32_t level = 0; level <= kernel->call_depth; ++level) {
    mtlc_collect_pointer_calls(kernel->module, level, calls);
  }
}

// Lowers one call, and notes the functions that it chooses among by address.
static void lower_call(mtlc_kernel *kernel, LLVMValueRef call, bool has_tables,
                       mtlc_values *chosen) {
  LLVMTypeRef type = LLVMGetCalledFunctionType(call);
  LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
  choices c = {.may_be_none = has_tables};
  collect_linked(kernel, type, caller, &c);
  const size_t linked_count = c.functions.count;
  collect_addressed(kernel, type, caller, &c);
  if (c.functions.count || has_tables) {
    call_chooser(call, build_chooser(kernel->module, type, &c));
  }
  for (size_t i = linked_count; i < c.functions.count; ++i) {
    add_once(chosen, c.functions.items[i]);
  }
  free(c.functions.items);
  free(c.addresses.items);
}

mtl_status mtlc_lower_pointer_calls(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_values chosen = {0};
  const bool tables = has_tables(kernel->module);
  number_linked(kernel);
  collect_all_pointer_calls(kernel, &calls);
  for (size_t i = 0; i < calls.count; ++i) {
    lower_call(kernel, calls.items[i], tables, &chosen);
  }
  for (size_t i = 0; i < chosen.count; ++i) {
    replace_address(kernel->module, chosen.items[i]);
  }
  free(chosen.items);
  free(calls.items);
  return MTL_OK;
}
