// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_exits.c: splits a loop's exit condition into a uniform and a varying
// branch. LLVM makes one condition of `while (i < limit && distance < 4)`. A
// branch on the uniform i costs nothing; as a part of the condition it is a
// mask in every iteration.
#include "compiler/vectorize/prepare/split_exits.h"

#include <llvm-c/DebugInfo.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

// A branch's condition `first && second`, or the same with `||`.
typedef struct condition {
  LLVMValueRef branch;
  LLVMValueRef first, second;
  bool is_either;  // ||
} condition;

static bool is_constant(LLVMValueRef value, uint64_t expected) {
  return LLVMIsAConstantInt(value) &&
         LLVMConstIntGetZExtValue(value) == expected;
}

// Finds the two conditions that an instruction joins, in order.
static bool find_joined(LLVMValueRef i, LLVMValueRef *out_first,
                        LLVMValueRef *out_second, bool *out_is_either) {
  if (mtlc_is_opcode(i, LLVMSelect)) {
    const bool is_both = is_constant(LLVMGetOperand(i, 2), 0);
    *out_is_either = is_constant(LLVMGetOperand(i, 1), 1);
    *out_first = LLVMGetOperand(i, 0);
    *out_second = LLVMGetOperand(i, is_both ? 1 : 2);
    return is_both != *out_is_either;
  }
  *out_is_either = mtlc_is_opcode(i, LLVMOr);
  if (!*out_is_either && !mtlc_is_opcode(i, LLVMAnd)) {
    return false;
  }
  *out_first = LLVMGetOperand(i, 0);
  *out_second = LLVMGetOperand(i, 1);
  return true;
}

static bool leaves_loop(const lanes_graph *graph, uint32_t node) {
  const lanes_node *n = &graph->nodes[node];
  if (n->loop == LANES_NONE) {
    return false;
  }
  for (uint32_t i = 0; i < n->successors.count; i++) {
    if (!lanes_in_loop(graph, n->successors.items[i], n->loop)) {
      return true;
    }
  }
  return false;
}

// True if a node ends in a branch that leaves a loop on two joined conditions.
static bool find_conditions(const lanes_graph *graph, uint32_t node,
                            condition *out) {
  if (graph->nodes[node].kind != LANES_BLOCK || !leaves_loop(graph, node)) {
    return false;
  }
  out->branch = LLVMGetBasicBlockTerminator(graph->nodes[node].block);
  if (!LLVMIsConditional(out->branch)) {
    return false;
  }
  LLVMValueRef joined = LLVMGetCondition(out->branch);
  return find_joined(joined, &out->first, &out->second, &out->is_either) &&
         !LLVMGetNextUse(LLVMGetFirstUse(joined));
}

bool lanes_may_split_exits(const lanes_graph *graph) {
  condition c;
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (find_conditions(graph, n, &c)) {
      return true;
    }
  }
  return false;
}

// Adds a predecessor to the phis of a block, with the values of an existing
// one.
static void add_source(LLVMBasicBlockRef to, LLVMBasicBlockRef from,
                       LLVMBasicBlockRef as) {
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) == as) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, k);
        LLVMAddIncoming(phi, &value, &from, 1);
        break;
      }
    }
  }
}

static void part(const condition *c, bool is_first_uniform,
                 LLVMBuilderRef builder) {
  LLVMBasicBlockRef rest = LLVMGetInstructionParent(c->branch);
  LLVMBasicBlockRef block = mtlc_split_above(builder, c->branch);
  LLVMBasicBlockRef decided = LLVMGetSuccessor(c->branch, !c->is_either);
  LLVMPositionBuilderAtEnd(builder, block);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(c->branch));
  // The second condition may be undefined where the first decides.
  LLVMValueRef uniform =
      is_first_uniform ? c->first : LLVMBuildFreeze(builder, c->second, "");
  LLVMBuildCondBr(builder, uniform, c->is_either ? decided : rest,
                  c->is_either ? rest : decided);
  add_source(decided, block, rest);
  LLVMValueRef joined = LLVMGetCondition(c->branch);
  LLVMSetCondition(c->branch, is_first_uniform ? c->second : c->first);
  LLVMInstructionEraseFromParent(joined);
}

bool lanes_split_exits(const lanes_values *values) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(values->items[0]));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  bool any = false;
  for (uint32_t n = 0; n < values->graph->node_count; n++) {
    condition c;
    if (!values->divergent_branch[n] ||
        !find_conditions(values->graph, n, &c)) {
      continue;
    }
    const bool is_first = lanes_is_uniform(lanes_shape_of(values, c.first));
    const bool is_second = lanes_is_uniform(lanes_shape_of(values, c.second));
    if (is_first != is_second) {
      part(&c, is_first, builder);
      any = true;
    }
  }
  LLVMDisposeBuilder(builder);
  return any;
}
