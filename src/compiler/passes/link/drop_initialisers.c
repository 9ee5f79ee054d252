// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// drop_initialisers.c: leaves the code that computes program-scope constants
// only for the constants that the kernel uses. Such code reads function
// constants; what belongs to other kernels must not ask for values of theirs.
//
// Requires  a library's module (docs/ir.md)
// Leaves    llvm.global_ctors with what the kernel needs, or without it
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

static const char list_name[] = "llvm.global_ctors";

// Functions and globals that the kernel reaches.
typedef struct reach {
  mtlc_values found;
  size_t searched;  // of found, those whose own uses are in found as well
} reach;

static void add_reached(reach *r, LLVMValueRef global) {
  for (size_t i = 0; i < r->found.count; ++i) {
    if (r->found.items[i] == global) {
      return;
    }
  }
  mtlc_values_add(&r->found, global);
}

static bool is_reached(const reach *r, LLVMValueRef global) {
  for (size_t i = 0; i < r->found.count; ++i) {
    if (r->found.items[i] == global) {
      return true;
    }
  }
  return false;
}

// Adds the functions and globals that a constant names.
static void add_constant(reach *r, LLVMValueRef value) {
  if (LLVMIsAGlobalValue(value)) {
    add_reached(r, value);
    return;
  }
  if (!LLVMIsAConstant(value) || LLVMIsABlockAddress(value)) {
    return;
  }
  for (int i = 0; i < LLVMGetNumOperands(value); ++i) {
    add_constant(r, LLVMGetOperand(value, (unsigned)i));
  }
}

static void add_operands(LLVMValueRef instruction, void *context) {
  for (int i = 0; i < LLVMGetNumOperands(instruction); ++i) {
    LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
    if (operand && LLVMIsAConstant(operand)) {
      add_constant(context, operand);
    }
  }
}

static void search(reach *r) {
  while (r->searched < r->found.count) {
    LLVMValueRef global = r->found.items[r->searched++];
    if (LLVMIsAFunction(global)) {
      mtlc_for_each_instruction(global, add_operands, r);
    } else if (LLVMIsAGlobalVariable(global) && LLVMGetInitializer(global)) {
      add_constant(r, LLVMGetInitializer(global));
    }
  }
}

// True for a call that can be removed: its result is unused, and it calls code
// of the module that sets a variable.
static bool is_initialiser(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && !LLVMIsDeclaration(callee) && !LLVMGetFirstUse(instruction);
}

// Calls of functions that each compute one constant.
static void collect_initialisers(LLVMValueRef list, mtlc_values *calls) {
  LLVMValueRef entries = LLVMGetInitializer(list);
  for (int i = 0; entries && i < LLVMGetNumOperands(entries); ++i) {
    LLVMValueRef entry = LLVMGetOperand(entries, (unsigned)i);
    LLVMValueRef function = LLVMGetOperand(entry, 1);
    if (!LLVMIsAFunction(function)) {
      continue;
    }
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
      for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
           at = LLVMGetNextInstruction(at)) {
        if (is_initialiser(at)) {
          mtlc_values_add(calls, at);
        }
      }
    }
  }
}

// True if a function sets a variable that the kernel reaches; a constant of the
// library itself is never written.
static bool sets_reached(const reach *r, LLVMValueRef function) {
  reach mentioned = {0};
  mtlc_for_each_instruction(function, add_operands, &mentioned);
  bool result = false;
  for (size_t i = 0; i < mentioned.found.count; ++i) {
    LLVMValueRef global = mentioned.found.items[i];
    result = result ||
             (LLVMIsAGlobalVariable(global) && LLVMGetInitializer(global) &&
              !LLVMIsGlobalConstant(global) && is_reached(r, global));
  }
  free(mentioned.found.items);
  return result;
}

// Erases calls that set no reachable variable. What the other calls reach
// counts as reachable as well, so it repeats until nothing is added.
static void drop_unreached(reach *r, mtlc_values *calls) {
  bool has_grown = true;
  while (has_grown) {
    has_grown = false;
    search(r);
    for (size_t i = 0; i < calls->count; ++i) {
      LLVMValueRef function = mtlc_callee(calls->items[i]);
      if (!is_reached(r, function) && sets_reached(r, function)) {
        add_reached(r, function);
        has_grown = true;
      }
    }
  }
  for (size_t i = 0; i < calls->count; ++i) {
    if (!is_reached(r, mtlc_callee(calls->items[i]))) {
      LLVMInstructionEraseFromParent(calls->items[i]);
    }
  }
}

mtl_status mtlc_drop_initialisers(mtlc_kernel *kernel) {
  LLVMValueRef list = LLVMGetNamedGlobal(kernel->module, list_name);
  LLVMValueRef wrapper =
      LLVMGetNamedFunction(kernel->module, kernel->kernel->symbol);
  if (!list || !wrapper) {
    return MTL_OK;
  }
  mtlc_values calls = {0};
  reach r = {0};
  add_reached(&r, wrapper);
  collect_initialisers(list, &calls);
  drop_unreached(&r, &calls);
  free(calls.items);
  free(r.found.items);
  return MTL_OK;
}
