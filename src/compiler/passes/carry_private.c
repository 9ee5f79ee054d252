// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// carry_private.c: pointers into a thread's own array that flow chooses or
// moves on, as in
//
//   thread const float *p = values;
//   for (uint i = 0; i < n; i++, p += 4) sum += p[0] * p[3];
//
// become the array and an index that is chosen or goes round, so that it is
// seen which element each access is to: arrays of which that is known for all
// accesses are bounded, and kept for 32 threads side by side.
//
// Requires  simplify_thread
// Leaves    no phi or select of pointers into one variable, of which they are
//           whole elements away; T1 only
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

typedef struct carrying {
  mtlc_kernel *kernel;
  LLVMTargetDataRef data;
  LLVMTypeRef i64;
  LLVMValueRef variable;
  mtlc_values pointers;   // all pointers computed from the variable
  mtlc_values choices;    // phis and selects among them
  LLVMValueRef *indices;  // [choices.count] the index that replaces each
  uint64_t unit_bytes;    // the unit that the indices count
} carrying;

static bool is_choice(LLVMValueRef value) {
  return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind &&
         (LLVMIsAPHINode(value) || LLVMIsASelectInst(value));
}

static size_t number_of(const carrying *c, LLVMValueRef choice) {
  size_t i = 0;
  while (i < c->choices.count && c->choices.items[i] != choice) {
    i++;
  }
  return i;
}

// --- Which pointers there are ------------------------------------------------

static void collect(carrying *c) {
  mtlc_values_add(&c->pointers, c->variable);
  for (size_t i = 0; i < c->pointers.count; i++) {
    LLVMValueRef pointer = c->pointers.items[i];
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (is_choice(user) && number_of(c, user) == c->choices.count) {
        mtlc_values_add(&c->choices, user);
        mtlc_values_add(&c->pointers, user);
      } else if (LLVMIsAGetElementPtrInst(user)) {
        mtlc_values_add(&c->pointers, user);
      }
    }
  }
}

static unsigned incoming_count(LLVMValueRef choice) {
  return LLVMIsAPHINode(choice) ? LLVMCountIncoming(choice) : 2;
}

static LLVMValueRef incoming(LLVMValueRef choice, unsigned k) {
  return LLVMIsAPHINode(choice) ? LLVMGetIncomingValue(choice, k)
                                : LLVMGetOperand(choice, k + 1);
}

// Returns a number that an index is a multiple of.
static uint64_t factor_of(LLVMValueRef index) {
  LLVMValueRef by =
      mtlc_is_opcode(index, LLVMShl) ? LLVMGetOperand(index, 1) : NULL;
  if (LLVMIsAConstantInt(index)) {
    return LLVMConstIntGetZExtValue(index);
  }
  return by && LLVMIsAConstantInt(by)
             ? UINT64_C(1) << (LLVMConstIntGetZExtValue(by) & 63)
             : 1;
}

static uint64_t step_bytes(const carrying *c, LLVMValueRef address) {
  return LLVMABISizeOfType(c->data, LLVMGetGEPSourceElementType(address));
}

// Measures how far a pointer may be from the variable; false if it is not
// computed by array steps.
static bool take_steps(carrying *c, LLVMValueRef pointer) {
  for (; LLVMIsAGetElementPtrInst(pointer);
       pointer = LLVMGetOperand(pointer, 0)) {
    if (LLVMGetNumOperands(pointer) != 2 ||
        LLVMTypeOf(LLVMGetOperand(pointer, 1)) != c->i64) {
      return false;
    }
    c->unit_bytes = mtlc_common_divisor(
        c->unit_bytes,
        step_bytes(c, pointer) * factor_of(LLVMGetOperand(pointer, 1)));
  }
  return pointer == c->variable || LLVMIsUndef(pointer) ||
         number_of(c, pointer) < c->choices.count;
}

static bool is_carried(carrying *c) {
  enum { LARGEST_UNIT_BYTES = 8 };  // of machines' numbers
  c->unit_bytes = LARGEST_UNIT_BYTES;
  for (size_t i = 0; i < c->choices.count; i++) {
    for (unsigned k = 0; k < incoming_count(c->choices.items[i]); k++) {
      if (!take_steps(c, incoming(c->choices.items[i], k))) {
        return false;
      }
    }
  }
  return c->choices.count > 0;
}

// --- What they become --------------------------------------------------------

static LLVMValueRef step_of(const carrying *c, LLVMBuilderRef builder,
                            LLVMValueRef address) {
  LLVMValueRef index = LLVMGetOperand(address, 1);
  const uint64_t bytes = step_bytes(c, address);
  if (bytes % c->unit_bytes == 0) {
    return LLVMBuildMul(builder, index,
                        LLVMConstInt(c->i64, bytes / c->unit_bytes, false), "");
  }
  LLVMValueRef far =
      LLVMBuildMul(builder, index, LLVMConstInt(c->i64, bytes, false), "");
  return LLVMBuildExactSDiv(builder, far,
                            LLVMConstInt(c->i64, c->unit_bytes, false), "");
}

// Returns a pointer's distance from the variable. Phis exist already, still
// without incoming values.
static LLVMValueRef index_of(const carrying *c, LLVMBuilderRef builder,
                             LLVMValueRef pointer) {
  if (pointer == c->variable || LLVMIsUndef(pointer)) {
    return LLVMConstNull(c->i64);
  }
  if (LLVMIsAGetElementPtrInst(pointer)) {
    LLVMValueRef before = index_of(c, builder, LLVMGetOperand(pointer, 0));
    LLVMPositionBuilderBefore(builder, pointer);
    return LLVMBuildAdd(builder, before, step_of(c, builder, pointer), "");
  }
  LLVMValueRef *index = &c->indices[number_of(c, pointer)];
  if (!*index) {
    LLVMValueRef then = index_of(c, builder, incoming(pointer, 0));
    LLVMValueRef otherwise = index_of(c, builder, incoming(pointer, 1));
    LLVMPositionBuilderBefore(builder, pointer);
    *index = LLVMBuildSelect(builder, LLVMGetCondition(pointer), then,
                             otherwise, "");
  }
  return *index;
}

static void make_indices(const carrying *c, LLVMBuilderRef builder) {
  for (size_t i = 0; i < c->choices.count; i++) {
    if (LLVMIsAPHINode(c->choices.items[i])) {
      LLVMPositionBuilderBefore(builder, c->choices.items[i]);
      c->indices[i] = LLVMBuildPhi(builder, c->i64, "");
    }
  }
  for (size_t i = 0; i < c->choices.count; i++) {
    LLVMValueRef choice = c->choices.items[i];
    if (!LLVMIsAPHINode(choice)) {
      index_of(c, builder, choice);
      continue;
    }
    for (unsigned k = 0; k < LLVMCountIncoming(choice); k++) {
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(choice, k);
      LLVMValueRef index =
          index_of(c, builder, LLVMGetIncomingValue(choice, k));
      LLVMAddIncoming(c->indices[i], &index, &from, 1);
    }
  }
}

static void replace_choice(const carrying *c, LLVMBuilderRef builder,
                           size_t i) {
  LLVMValueRef choice = c->choices.items[i];
  mtlc_position_behind_phis(builder, choice);
  LLVMTypeRef unit =
      LLVMIntTypeInContext(c->kernel->context, 8 * (unsigned)c->unit_bytes);
  LLVMReplaceAllUsesWith(
      choice, LLVMBuildGEP2(builder, unit, c->variable, &c->indices[i], 1, ""));
}

static bool carry(carrying *c, LLVMBuilderRef builder) {
  collect(c);
  const bool carried = is_carried(c);
  if (carried) {
    c->indices = calloc(c->choices.count, sizeof *c->indices);
    if (!c->indices) {
      abort();  // as mtlc_values_add
    }
    make_indices(c, builder);
    for (size_t i = 0; i < c->choices.count; i++) {
      replace_choice(c, builder, i);
    }
    for (size_t i = 0; i < c->choices.count; i++) {
      LLVMInstructionEraseFromParent(c->choices.items[i]);
    }
  }
  free(c->indices);
  free(c->pointers.items);
  free(c->choices.items);
  return carried;
}

static void add_variable(LLVMValueRef instruction, void *context) {
  if (LLVMIsAAllocaInst(instruction)) {
    mtlc_values_add(context, instruction);
  }
}

mtl_status mtlc_carry_private(mtlc_kernel *kernel) {
  mtlc_values variables = {0};
  mtlc_for_each_in_module(kernel->module, add_variable, &variables);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  bool any = false;
  for (size_t i = 0; i < variables.count; i++) {
    carrying c = {.kernel = kernel,
                  .data = LLVMGetModuleDataLayout(kernel->module),
                  .i64 = LLVMInt64TypeInContext(kernel->context),
                  .variable = variables.items[i]};
    any |= carry(&c, builder);
  }
  LLVMDisposeBuilder(builder);
  free(variables.items);
  return any ? mtlc_run_llvm_passes(kernel, "function(adce)") : MTL_OK;
}
