// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_pointer_calls.c: turns a call through a function pointer into a choice
// among the functions that the pointer may be. What a function does with its
// simdgroup or at a barrier can then be inlined, as it must be, and threads
// that call the same function run it together.
//
// Requires  a library's module of one kernel (docs/ir.md)
// Leaves    calls by name alone, but for types that no function has
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "compiler/module.h"

static bool is_chosen(LLVMValueRef function) {
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    if (mtlc_callee(LLVMGetUser(use)) != function) {
      return true;
    }
  }
  return false;
}

// Functions of the type whose address is used. The caller is one of them only
// if nothing else is: no function of Metal's may call itself.
static mtlc_values collect_choices(LLVMModuleRef module, LLVMTypeRef type,
                                   LLVMValueRef caller) {
  mtlc_values choices = {0};
  bool has_caller = false;
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (LLVMIsDeclaration(function) ||
        LLVMGlobalGetValueType(function) != type || !is_chosen(function)) {
      continue;
    }
    if (function == caller) {
      has_caller = true;
    } else {
      mtlc_values_add(&choices, function);
    }
  }
  if (has_caller && !choices.count) {
    mtlc_values_add(&choices, caller);
  }
  return choices;
}

// Attributes of parameters say how they are handed over.
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

// Calls function with all parameters of the one that is built but its first,
// and returns.
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

// A function that takes the pointer and the arguments. The last choice needs
// no comparison: no other value is a pointer to a function of the type.
static LLVMValueRef build_chooser(LLVMModuleRef module, LLVMTypeRef type,
                                  const mtlc_values *choices) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMValueRef chooser = declare_chooser(module, type);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(context, chooser, "");
  for (size_t i = 0; i < choices->count; ++i) {
    LLVMPositionBuilderAtEnd(builder, next);
    if (i + 1 < choices->count) {
      LLVMBasicBlockRef this_one =
          LLVMAppendBasicBlockInContext(context, chooser, "");
      next = LLVMAppendBasicBlockInContext(context, chooser, "");
      LLVMValueRef is_this = LLVMBuildICmp(
          builder, LLVMIntEQ, LLVMGetParam(chooser, 0), choices->items[i], "");
      LLVMBuildCondBr(builder, is_this, this_one, next);
      LLVMPositionBuilderAtEnd(builder, this_one);
    }
    build_choice(builder, chooser, choices->items[i]);
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

// Pointers are only compared from here on: an address of something else does,
// and keeps no copy of the function from being dropped.
static void replace_address(LLVMModuleRef module, LLVMValueRef function) {
  mtlc_values calls = {0};
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    if (mtlc_callee(LLVMGetUser(use)) == function) {
      add_once(&calls, LLVMGetUser(use));
    }
  }
  LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
  LLVMValueRef address = LLVMAddGlobal(module, byte, "function");
  LLVMSetInitializer(address, LLVMConstNull(byte));
  LLVMSetLinkage(address, LLVMInternalLinkage);
  LLVMSetGlobalConstant(address, true);
  LLVMReplaceAllUsesWith(function, address);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMSetOperand(calls.items[i],
                   (unsigned)LLVMGetNumOperands(calls.items[i]) - 1, function);
  }
  free(calls.items);
}

static void collect_pointer_call(LLVMValueRef instruction, void *context) {
  if (LLVMIsACallInst(instruction) && !mtlc_callee(instruction) &&
      !LLVMIsAInlineAsm(LLVMGetCalledValue(instruction))) {
    mtlc_values_add(context, instruction);
  }
}

mtl_status mtlc_lower_pointer_calls(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_values chosen = {0};
  mtlc_for_each_in_module(kernel->module, collect_pointer_call, &calls);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMTypeRef type = LLVMGetCalledFunctionType(calls.items[i]);
    LLVMValueRef caller =
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(calls.items[i]));
    mtlc_values choices = collect_choices(kernel->module, type, caller);
    if (choices.count) {
      call_chooser(calls.items[i],
                   build_chooser(kernel->module, type, &choices));
    }
    for (size_t j = 0; j < choices.count; ++j) {
      add_once(&chosen, choices.items[j]);
    }
    free(choices.items);
  }
  for (size_t i = 0; i < chosen.count; ++i) {
    replace_address(kernel->module, chosen.items[i]);
  }
  free(chosen.items);
  free(calls.items);
  return MTL_OK;
}
