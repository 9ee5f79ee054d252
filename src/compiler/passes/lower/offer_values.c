// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// offer_values.c: lets shuffles read threads that take no part in them. In
//   if (lane >= d) sum += simd_shuffle_up(sum, d);
// a GPU reads the register of a thread for which the condition does not hold,
// and published scans rely on it. Where the value is there already in front of
// the branch, each thread offers it there: a shuffle that takes the value of a
// thread that is not with it takes what that thread has offered last.
//
// The place is the outermost block that is on every way to the shuffle and at
// whose end the value is what it is at the shuffle. A block that leaves the
// shuffle's cycle is none: threads that have left a loop offer nothing in its
// further iterations.
//
// Requires  contract_arithmetic; the same for all tiers, which are to agree
// Leaves    calls of mettle.offer.T, operands of shuffles
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/analysis/dominators.h"
#include "compiler/ir/analysis/forward.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// Blocks and values that are looked at for one shuffle.
enum { PATIENCE = 2000 };

typedef struct offering {
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  mtlc_types types;
  mtlc_flow flow;
  mtlc_dominators dominators;
  mtlc_values way;  // blocks of the present search
  bool *is_seen;    // [flow.block_count] they are in it
  int patience;     // left for this shuffle
  uint32_t count;
} offering;

// --- ways --------------------------------------------------------------------

// Adds a block to the search, once.
static void reach(offering *o, LLVMBasicBlockRef block) {
  bool *is_seen = &o->is_seen[mtlc_flow_find(&o->flow, block) - o->flow.blocks];
  if (!*is_seen) {
    *is_seen = true;
    mtlc_values_add(&o->way, LLVMBasicBlockAsValue(block));
  }
}

static void reach_predecessors(offering *o, LLVMBasicBlockRef block) {
  LLVMValueRef value = LLVMBasicBlockAsValue(block);
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (LLVMIsATerminatorInst(LLVMGetUser(use))) {
      reach(o, LLVMGetInstructionParent(LLVMGetUser(use)));
    }
  }
}

static void end_search(offering *o) {
  for (size_t i = 0; i < o->way.count; ++i) {
    LLVMBasicBlockRef block = LLVMValueAsBasicBlock(o->way.items[i]);
    o->is_seen[mtlc_flow_find(&o->flow, block) - o->flow.blocks] = false;
  }
  o->way.count = 0;
}

static bool changes_in(const offering *o, LLVMBasicBlockRef block,
                       const mtlc_private *memory) {
  for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
       at = LLVMGetNextInstruction(at)) {
    if (mtlc_changes(o->module, at, memory)) {
      return true;
    }
  }
  return false;
}

// Searches backwards from the beginning of a block to the end of `above`, which
// dominates it. True if memory may change on the way.
static bool changes_between(offering *o, LLVMBasicBlockRef above,
                            LLVMBasicBlockRef below,
                            const mtlc_private *memory) {
  bool changes = false;
  reach_predecessors(o, below);
  for (size_t i = 0; i < o->way.count && !changes; ++i) {
    LLVMBasicBlockRef block = LLVMValueAsBasicBlock(o->way.items[i]);
    if (block != above) {
      changes = --o->patience < 0 || changes_in(o, block, memory);
      reach_predecessors(o, block);
    }
  }
  end_search(o);
  return changes;
}

// True if a thread that leaves a block may end without coming to another one.
static bool may_miss(offering *o, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef wanted) {
  bool misses = false;
  reach(o, from);
  for (size_t i = 0; i < o->way.count && !misses; ++i) {
    LLVMBasicBlockRef block = LLVMValueAsBasicBlock(o->way.items[i]);
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    const unsigned count = LLVMGetNumSuccessors(last);
    for (unsigned k = 0; k < count && block != wanted; ++k) {
      reach(o, LLVMGetSuccessor(last, k));
    }
    misses = count == 0;
  }
  end_search(o);
  return misses;
}

static bool is_in_cycle(const offering *o, LLVMBasicBlockRef block, int cycle) {
  int at = mtlc_flow_find(&o->flow, block)->cycle;
  while (at != MTLC_NO_CYCLE && at != cycle) {
    at = o->flow.cycles[at].parent;
  }
  return at == cycle;
}

static bool leaves_cycle(const offering *o, LLVMBasicBlockRef block,
                         LLVMBasicBlockRef shuffle) {
  LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
  for (int cycle = mtlc_flow_find(&o->flow, shuffle)->cycle;
       cycle != MTLC_NO_CYCLE; cycle = o->flow.cycles[cycle].parent) {
    for (unsigned i = 0; i < LLVMGetNumSuccessors(last); ++i) {
      if (is_in_cycle(o, block, cycle) &&
          !is_in_cycle(o, LLVMGetSuccessor(last, i), cycle)) {
        return true;
      }
    }
  }
  return false;
}

// --- the value ---------------------------------------------------------------

// True for what may be computed once more, and where it was not.
static bool is_plain(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return false;
    case LLVMFNeg:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMExtractValue:
    case LLVMInsertValue:
    case LLVMSelect:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMFreeze: return true;
    case LLVMCall: {
      LLVMValueRef callee = mtlc_callee(i);
      return callee && (mtlc_has_attribute(callee, "speculatable") ||
                        mtlc_starts_with(mtlc_name(callee), "mettle.position"));
    }
    default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

// True if one may be cast to the other, bit by bit.
static bool are_alike(LLVMTypeRef a, LLVMTypeRef b) {
  const LLVMTypeKind kinds[] = {LLVMGetTypeKind(a), LLVMGetTypeKind(b)};
  for (size_t i = 0; i < 2 && a != b; ++i) {
    if (kinds[i] == LLVMPointerTypeKind || kinds[i] == LLVMStructTypeKind ||
        kinds[i] == LLVMArrayTypeKind) {
      return false;
    }
  }
  return true;
}

static unsigned operand_count(LLVMValueRef i) {
  return LLVMIsACallInst(i) ? LLVMGetNumArgOperands(i)
                            : (unsigned)LLVMGetNumOperands(i);
}

static bool is_there(const offering *o, LLVMValueRef value,
                     LLVMBasicBlockRef block) {
  return !LLVMIsAInstruction(value) ||
         mtlc_dominates(&o->dominators, LLVMGetInstructionParent(value), block);
}

// True if a value can be had at a block's end.
static bool can_have(offering *o, LLVMValueRef value, LLVMBasicBlockRef block) {
  if (is_there(o, value, block)) {
    return true;
  }
  if (--o->patience < 0) {
    return false;
  }
  if (LLVMIsALoadInst(value)) {
    LLVMValueRef stored = mtlc_forward(o->module, value);
    if (stored != value) {
      return are_alike(LLVMTypeOf(stored), LLVMTypeOf(value)) &&
             can_have(o, stored, block);
    }
    const mtlc_private memory = mtlc_forward_memory(o->module, value);
    return memory.memory && is_there(o, memory.memory, block) &&
           !changes_between(o, block, LLVMGetInstructionParent(value), &memory);
  }
  if (!is_plain(value)) {
    return false;
  }
  for (unsigned i = 0; i < operand_count(value); ++i) {
    if (!can_have(o, LLVMGetOperand(value, i), block)) {
      return false;
    }
  }
  return true;
}

// Builds a value that can_have allows.
static LLVMValueRef have(offering *o, LLVMValueRef value,
                         LLVMBasicBlockRef block) {
  if (is_there(o, value, block)) {
    return value;
  }
  if (LLVMIsALoadInst(value)) {
    LLVMValueRef stored = mtlc_forward(o->module, value);
    if (stored != value) {
      stored = have(o, stored, block);
      return LLVMTypeOf(stored) == LLVMTypeOf(value)
                 ? stored
                 : LLVMBuildBitCast(o->builder, stored, LLVMTypeOf(value), "");
    }
    const mtlc_private memory = mtlc_forward_memory(o->module, value);
    LLVMValueRef offset =
        LLVMConstInt(o->types.i64, (uint64_t)memory.offset, true);
    LLVMValueRef load = LLVMBuildLoad2(
        o->builder, LLVMTypeOf(value),
        LLVMBuildGEP2(o->builder, o->types.i8, memory.memory, &offset, 1, ""),
        "");
    LLVMSetAlignment(load, 1);
    return load;
  }
  LLVMValueRef copy = LLVMInstructionClone(value);
  for (unsigned i = 0; i < operand_count(value); ++i) {
    LLVMSetOperand(copy, i, have(o, LLVMGetOperand(value, i), block));
  }
  LLVMInsertIntoBuilder(o->builder, copy);
  return copy;
}

// --- offers ------------------------------------------------------------------

// Returns the block at whose end to offer a shuffle's value, or NULL.
static LLVMBasicBlockRef find_place(offering *o, LLVMValueRef shuffle) {
  LLVMValueRef value = LLVMGetOperand(shuffle, 0);
  LLVMBasicBlockRef own = LLVMGetInstructionParent(shuffle);
  LLVMBasicBlockRef place = NULL;
  o->patience = PATIENCE;
  for (LLVMBasicBlockRef at = mtlc_dominator(&o->dominators, own);
       at && can_have(o, value, at); at = mtlc_dominator(&o->dominators, at)) {
    place = leaves_cycle(o, at, own) ? place : at;
  }
  return place && may_miss(o, place, own) ? place : NULL;
}

static LLVMValueRef declare_offer(const offering *o, LLVMTypeRef type) {
  char name[32];
  snprintf(name, sizeof name, MTLC_OFFER_PREFIX "i%u",
           LLVMGetIntTypeWidth(type));
  LLVMTypeRef parameters[] = {type, o->types.i32};
  LLVMValueRef offer = mtlc_declare(
      o->module, name, LLVMFunctionType(type, parameters, 2, false));
  // Convergent: it stays in front of the branch.
  mtlc_set_attribute(offer, "convergent", 0);
  mtlc_set_attribute(offer, "nounwind", 0);
  mtlc_set_attribute(offer, "willreturn", 0);
  mtlc_set_attribute(offer, "memory", 0);  // that LLVM knows
  return offer;
}

static void offer(offering *o, LLVMValueRef shuffle) {
  LLVMValueRef value = LLVMGetOperand(shuffle, 0);
  LLVMBasicBlockRef place =
      LLVMIsAConstant(value) ? NULL : find_place(o, shuffle);
  if (!place) {
    return;
  }
  LLVMValueRef last = LLVMGetBasicBlockTerminator(place);
  LLVMPositionBuilderBefore(o->builder, last);
  LLVMSetCurrentDebugLocation2(o->builder, LLVMInstructionGetDebugLoc(last));
  LLVMContextRef context = LLVMGetModuleContext(o->module);
  LLVMValueRef arguments[] = {have(o, value, place),
                              mtlc_i32(context, o->count++)};
  LLVMValueRef call =
      mtlc_call(o->builder, declare_offer(o, LLVMTypeOf(value)), arguments, 2);
  LLVMSetOperand(shuffle, 0, call);
}

mtl_status mtlc_offer_values(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.simd.shuffle.", &calls);
  if (calls.count == 0) {
    return MTL_OK;
  }
  offering o = {.module = kernel->module,
                .builder = LLVMCreateBuilderInContext(kernel->context),
                .types = mtlc_types_of(kernel->context),
                .flow = mtlc_flow_of(kernel->thread)};
  o.dominators = mtlc_dominators_of(&o.flow);
  o.is_seen = calloc(o.flow.block_count + 1, sizeof o.is_seen[0]);
  if (!o.is_seen) {
    abort();  // as mtlc_values_add
  }
  for (size_t i = 0; i < calls.count; ++i) {
    if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(calls.items[i])) ==
        kernel->thread) {
      offer(&o, calls.items[i]);
    }
  }
  if (o.count) {
    mtlc_report(kernel, "shuffles: %u values offered in front of branches",
                o.count);
  }
  free(calls.items);
  free(o.is_seen);
  free(o.way.items);
  mtlc_dominators_clear(&o.dominators);
  mtlc_flow_clear(&o.flow);
  LLVMDisposeBuilder(o.builder);
  return MTL_OK;
}
