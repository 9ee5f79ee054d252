// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_threadgroup_memory.c: gives the kernel's threadgroup variables their
// places in the threadgroup memory.
//
// Requires  enter_kernel: only mettle.thread names such variables
// Leaves    mettle.threadgroup_memory in their place (passes.h), and
//           static_threadgroup_bytes
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ir/transform/show_variables.h"
#include "compiler/passes/passes.h"

typedef struct placement {
  mtlc_kernel *kernel;
  LLVMBuilderRef builder;
  LLVMValueRef address;  // @mettle.threadgroup_memory
  mtlc_values variables;
  mtlc_values places;  // [variables.count] their addresses in mettle.thread
  mtlc_values slots;   // [variables.count] in T0 variables that hold those
  mtl_status status;
} placement;

// Loads it as an integer: LLVM would take a pointer that it keeps across a
// barrier for the variable that the debugger shows, too early.
static LLVMValueRef load_slot(const placement *p, LLVMValueRef slot) {
  mtlc_types types = mtlc_types_of(p->kernel->context);
  return LLVMBuildIntToPtr(p->builder,
                           LLVMBuildLoad2(p->builder, types.i64, slot, ""),
                           types.pointer, "");
}

// The builder is positioned where the address is needed.
static LLVMValueRef find_place(const placement *p, LLVMValueRef variable) {
  for (size_t i = 0; i < p->variables.count; ++i) {
    if (p->variables.items[i] == variable) {
      return p->slots.count ? load_slot(p, p->slots.items[i])
                            : p->places.items[i];
    }
  }
  return NULL;
}

static LLVMValueRef rebuild(placement *p, LLVMValueRef constant);

static LLVMValueRef rebuild_address(placement *p, LLVMValueRef expression) {
  const int count = LLVMGetNumOperands(expression);
  LLVMValueRef *indices = calloc((size_t)count, sizeof indices[0]);
  for (int i = 1; i < count; ++i) {
    indices[i - 1] = LLVMGetOperand(expression, (unsigned)i);
  }
  LLVMValueRef base = rebuild(p, LLVMGetOperand(expression, 0));
  LLVMValueRef result =
      LLVMBuildGEP2(p->builder, LLVMGetGEPSourceElementType(expression), base,
                    indices, (unsigned)count - 1, "");
  free(indices);
  return result;
}

// Rebuilds a struct, array or vector member by member.
static LLVMValueRef rebuild_aggregate(placement *p, LLVMValueRef constant) {
  LLVMValueRef result = LLVMGetUndef(LLVMTypeOf(constant));
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(constant); ++i) {
    LLVMValueRef member = rebuild(p, LLVMGetOperand(constant, i));
    result = LLVMIsAConstantVector(constant)
                 ? LLVMBuildInsertElement(
                       p->builder, result, member,
                       mtlc_i32(p->kernel->context, i), "")
                 : LLVMBuildInsertValue(p->builder, result, member, i, "");
  }
  return result;
}

// Rebuilds as instructions a constant expression of a threadgroup variable.
static LLVMValueRef rebuild(placement *p, LLVMValueRef constant) {
  if (!mtlc_names_threadgroup_memory(constant)) {
    return constant;
  }
  if (LLVMIsAGlobalVariable(constant)) {
    return find_place(p, constant);
  }
  if (mtlc_is_constant_aggregate(constant)) {
    return rebuild_aggregate(p, constant);
  }
  LLVMTypeRef type = LLVMTypeOf(constant);
  LLVMValueRef operand = LLVMGetOperand(constant, 0);
  switch (LLVMGetConstOpcode(constant)) {
    case LLVMGetElementPtr: return rebuild_address(p, constant);
    case LLVMBitCast:
    case LLVMAddrSpaceCast: return rebuild(p, operand);
    case LLVMPtrToInt:
      return LLVMBuildPtrToInt(p->builder, rebuild(p, operand), type, "");
    case LLVMIntToPtr:
      return LLVMBuildIntToPtr(p->builder, rebuild(p, operand), type, "");
    case LLVMTrunc:
      return LLVMBuildTrunc(p->builder, rebuild(p, operand), type, "");
    case LLVMAdd:
    case LLVMSub:
    case LLVMXor:
      return LLVMBuildBinOp(p->builder, LLVMGetConstOpcode(constant),
                            rebuild(p, operand),
                            rebuild(p, LLVMGetOperand(constant, 1)), "");
    default: break;
  }
  p->status = mtli_fail(MTL_UNSUPPORTED,
                        "a threadgroup variable's address in a constant "
                        "expression of an unknown kind");
  return LLVMGetUndef(type);
}

static void replace_operands(LLVMValueRef instruction, void *context) {
  placement *p = context;
  const bool is_phi = LLVMIsAPHINode(instruction) != NULL;
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(instruction); ++i) {
    LLVMValueRef operand = LLVMGetOperand(instruction, i);
    if (!LLVMIsConstant(operand) || !mtlc_names_threadgroup_memory(operand)) {
      continue;
    }
    LLVMPositionBuilderBefore(p->builder,
                              is_phi ? LLVMGetBasicBlockTerminator(
                                           LLVMGetIncomingBlock(instruction, i))
                                     : instruction);
    LLVMSetOperand(instruction, i, rebuild(p, operand));
  }
}

static uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Places variables one after the other, each at its alignment.
static mtl_status place_variables(placement *p) {
  LLVMModuleRef module = p->kernel->module;
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(p->kernel->thread);
  LLVMPositionBuilderBefore(p->builder, LLVMGetFirstInstruction(entry));
  uint64_t bytes = 0;
  for (LLVMValueRef global = LLVMGetFirstGlobal(module); global;
       global = LLVMGetNextGlobal(global)) {
    if (!LLVMGetFirstUse(global) || !mtlc_names_threadgroup_memory(global)) {
      continue;
    }
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    const uint64_t declared = LLVMGetAlignment(global);
    bytes = round_up(
        bytes, declared ? declared : LLVMABIAlignmentOfType(layout, type));
    LLVMValueRef offset = mtlc_i32(p->kernel->context, (uint32_t)bytes);
    mtlc_values_add(&p->variables, global);
    mtlc_values_add(&p->places, mtlc_call(p->builder, p->address, &offset, 1));
    bytes += LLVMABISizeOfType(layout, type);
    if (bytes > INT32_MAX) {
      return mtli_fail(MTL_UNSUPPORTED,
                       "kernel %s: threadgroup variables of more than 2 GiB",
                       p->kernel->kernel->name);
    }
  }
  p->kernel->static_threadgroup_bytes =
      (uint32_t)round_up(bytes, MTLI_CPU_SCRATCH_ALIGNMENT);
  return MTL_OK;
}

// Spills each variable's address to an alloca, which every use reloads. The
// debugger then finds the variable after a barrier, too.
static void keep_in_slots(placement *p) {
  mtlc_types types = mtlc_types_of(p->kernel->context);
  for (size_t i = 0; i < p->variables.count; ++i) {
    LLVMValueRef slot = LLVMBuildAlloca(p->builder, types.i64, "");
    LLVMBuildStore(p->builder,
                   LLVMBuildPtrToInt(p->builder, p->places.items[i], types.i64,
                                     ""),
                   slot);
    mtlc_values_add(&p->slots, slot);
    mtlc_show_variable(p->kernel, p->variables.items[i], slot);
  }
}

static void declare_address(placement *p) {
  mtlc_types types = mtlc_types_of(p->kernel->context);
  p->address =
      mtlc_declare(p->kernel->module, MTLC_THREADGROUP_MEMORY_FUNCTION,
                   LLVMFunctionType(types.pointer, &types.i32, 1, false));
  mtlc_set_attribute(p->address, "nounwind", 0);
  mtlc_set_attribute(p->address, "willreturn", 0);
  mtlc_set_attribute(p->address, "memory", 0);
  mtlc_set_attribute(p->address, "speculatable", 0);
}

// True if anything but unused constant expressions uses the value. LLVM never
// frees those.
static bool is_used(LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsConstant(user) || LLVMIsAGlobalVariable(user) ||
        is_used(user)) {
      return true;
    }
  }
  return false;
}

mtl_status mtlc_lower_threadgroup_memory(mtlc_kernel *kernel) {
  if (kernel->has_group) {
    return MTL_OK;
  }
  placement p = {.kernel = kernel,
                 .builder = LLVMCreateBuilderInContext(kernel->context),
                 .status = MTL_OK};
  declare_address(&p);
  p.status = place_variables(&p);
  if (p.status == MTL_OK && kernel->tier == MTLI_TIER_0) {
    keep_in_slots(&p);
  }
  if (p.status == MTL_OK && p.variables.count > 0) {
    mtlc_for_each_instruction(kernel->thread, replace_operands, &p);
  }
  for (size_t i = 0; i < p.variables.count && p.status == MTL_OK; ++i) {
    if (is_used(p.variables.items[i])) {
      p.status = mtli_fail(MTL_UNSUPPORTED,
                           "the address of threadgroup variable %s in a "
                           "program-scope constant",
                           mtlc_name(p.variables.items[i]));
      break;
    }
    LLVMValueRef variable = p.variables.items[i];
    LLVMReplaceAllUsesWith(variable, LLVMGetUndef(LLVMTypeOf(variable)));
    LLVMDeleteGlobal(variable);
  }
  LLVMDisposeBuilder(p.builder);
  free(p.variables.items);
  free(p.places.items);
  free(p.slots.items);
  return p.status;
}
