// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_row_walks.c: unrolls loops in which each thread reads a row of its own
// element by element, as in a dot product of rows. An unrolled iteration has
// several elements of each lane's row, which lane_vectors.c loads at once. In
// loops that also write, a load may depend on the last iteration's store: those
// of one block are unrolled too, for hoist_loads.c.
#include "compiler/vectorize/prepare/unroll_row_walks.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/prepare/hoist_loads.h"

// Runs LLVM's unroller on the marked loops only.
const char lanes_unrolling[] =
    "function(loop-unroll<O2;no-partial;no-peeling;no-profile-peeling;"
    "no-runtime;no-upperbound;full-unroll-max=0>,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,early-cse,simplifycfg)";

enum {
  ROW_BYTES = 32,   // bytes of one thread's row in one iteration
  MOST_STEPS = 16,  // iterations unrolled to one
  LEAST_STEPS = 4,
  MOST_INSTRUCTIONS = 400,  // in all of these
};

typedef struct row_loop {
  const lanes_graph *graph;
  const lanes_values *values;
  uint32_t loop;
  LLVMBasicBlockRef header;
  LLVMBasicBlockRef back;  // where the loop's only back edge starts
} row_loop;

// Returns by how much a value of the header grows in each iteration, or 0.
static int64_t step_of(const row_loop *l, LLVMValueRef value) {
  if (!LLVMIsAPHINode(value) || LLVMGetInstructionParent(value) != l->header) {
    return 0;
  }
  for (unsigned i = 0; i < LLVMCountIncoming(value); i++) {
    LLVMValueRef next = LLVMGetIncomingValue(value, i);
    if (LLVMGetIncomingBlock(value, i) != l->back ||
        !LLVMIsAInstruction(next)) {
      continue;
    }
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(next);
    const bool is_step = opcode == LLVMAdd || opcode == LLVMGetElementPtr;
    if (!is_step || LLVMGetNumOperands(next) != 2 ||
        LLVMGetOperand(next, 0) != value ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1))) {
      return 0;
    }
    const int64_t by = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    return opcode == LLVMAdd
               ? by
               : by * (int64_t)LLVMABISizeOfType(
                          l->values->data, LLVMGetGEPSourceElementType(next));
  }
  return 0;
}

// Returns the distance from one iteration's element to the next one's if that
// is all that an access touches; else 0.
static uint32_t walked_bytes(const row_loop *l, LLVMValueRef access) {
  const bool is_store = mtlc_is_opcode(access, LLVMStore);
  lanes_affine at;
  lanes_affine_find(l->values, LLVMGetOperand(access, is_store), &at);
  int64_t bytes = step_of(l, at.base);
  for (uint32_t i = 0; i < at.term_count; i++) {
    bytes += step_of(l, at.terms[i]) * (int64_t)at.scale;
  }
  LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(access, 0) : access);
  const uint64_t touched = LLVMStoreSizeOfType(l->values->data, type);
  return bytes > 0 && (uint64_t)bytes == touched ? (uint32_t)bytes : 0;
}

// True if lanes' addresses are unrelated.
static bool is_apart(const row_loop *l, LLVMValueRef access, int64_t bytes) {
  const bool is_store = mtlc_is_opcode(access, LLVMStore);
  const lanes_shape shape =
      lanes_shape_of(l->values, LLVMGetOperand(access, is_store));
  return shape.row < 4 || shape.stride > 8 * bytes;
}

typedef struct loop_survey {
  uint32_t instructions;
  uint32_t row_bytes;  // of the widest access along a row
  LLVMBasicBlockRef memory;  // the only block that touches memory
  bool is_scattered;         // several blocks do
  bool may_write;
} loop_survey;

static void survey_block(const row_loop *l, LLVMBasicBlockRef block,
                         loop_survey *survey) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    survey->instructions++;
    survey->may_write |= lanes_may_write(i);
    if (lanes_may_write(i) || mtlc_is_opcode(i, LLVMLoad)) {
      survey->is_scattered |= survey->memory && survey->memory != block;
      survey->memory = block;
    }
    const bool is_access =
        mtlc_is_opcode(i, LLVMLoad) || mtlc_is_opcode(i, LLVMStore);
    const uint32_t bytes = is_access ? walked_bytes(l, i) : 0;
    if (bytes > survey->row_bytes && is_apart(l, i, bytes)) {
      survey->row_bytes = bytes;
    }
  }
}

// Finds the header and the last block of a loop with one back edge.
static bool find_ends(row_loop *l) {
  const lanes_loop *loop = &l->graph->loops[l->loop];
  const lanes_node *latch = &l->graph->nodes[loop->latch];
  if (loop->back_edge_count != 1 || lanes_has_inner_loop(l->graph, l->loop)) {
    return false;
  }
  l->header = l->graph->nodes[loop->header].block;
  for (uint32_t i = 0; i < latch->predecessors.count; i++) {
    LLVMBasicBlockRef block =
        l->graph->nodes[latch->predecessors.items[i]].block;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      if (LLVMGetSuccessor(end, k) == l->header) {
        l->back = block;
      }
    }
  }
  return l->back != NULL;
}

// True if threads' rows have different lengths. The rest of each row is
// gathered, and the longest of 32 rests is nearly always the greatest possible.
static bool have_own_lengths(const row_loop *l) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->back);
  return LLVMGetNumSuccessors(end) == 2 &&
         !lanes_is_uniform(lanes_shape_of(l->values, LLVMGetCondition(end)));
}

// Returns how many iterations to unroll to one; 0 to leave the loop.
static uint32_t choose_count(row_loop *l) {
  if (!find_ends(l)) {
    return 0;
  }
  loop_survey survey = {0};
  for (uint32_t n = 0; n < l->graph->node_count; n++) {
    if (l->graph->nodes[n].kind == LANES_BLOCK &&
        l->graph->nodes[n].loop == l->loop) {
      survey_block(l, l->graph->nodes[n].block, &survey);
    }
  }
  const bool may_go_on =
      !survey.may_write ||
      (!survey.is_scattered &&
       lanes_steps_may_hoist_loads(l->values, survey.memory));
  if (survey.row_bytes == 0 || !may_go_on) {
    return 0;
  }
  uint32_t count = ROW_BYTES / survey.row_bytes;
  count = count > MOST_STEPS ? MOST_STEPS : count;
  count = count >= 2 * LEAST_STEPS && have_own_lengths(l) ? count / 2 : count;
  return count >= LEAST_STEPS &&
                 count * survey.instructions <= MOST_INSTRUCTIONS
             ? count
             : 0;
}

bool lanes_mark_row_walks(const lanes_graph *graph, LLVMTargetDataRef data,
                          uint8_t lanes, uint8_t row,
                          const mtli_group_class *group_class) {
  bool any = false;
  lanes_values values;
  lanes_values_find(graph, data, lanes, row, group_class, &values);
  for (uint32_t i = 0; i < graph->loop_count; i++) {
    row_loop l = {.graph = graph, .values = &values, .loop = i};
    const uint32_t count = choose_count(&l);
    if (count) {
      mtlc_set_unrolling_count(LLVMGetBasicBlockTerminator(l.back), count);
      any = true;
    }
  }
  return any;
}
