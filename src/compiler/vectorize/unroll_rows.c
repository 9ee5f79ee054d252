// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_rows.c: loops in which each thread walks along a row of its own, one
// element after the other, as in a dot product of rows. Unrolled, a step of the
// loop has several elements of each lane's row, which lane_rows.c loads at
// once. Loops that write keep their steps: what is read may have been written
// by the step before.
#include "compiler/vectorize/unroll_rows.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "compiler/module.h"
#include "compiler/vectorize/accesses.h"

// By the marks alone.
const char lanes_unrolling[] =
    "function(loop-unroll<O2;no-partial;no-peeling;no-profile-peeling;"
    "no-runtime;no-upperbound;full-unroll-max=0>,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,early-cse,simplifycfg)";

enum {
  ROW_BYTES = 32,   // of a thread, in one step
  MOST_STEPS = 16,  // made one
  LEAST_STEPS = 4,
  MOST_INSTRUCTIONS = 400,  // of all steps
};

typedef struct row_loop {
  const lanes_graph *graph;
  const lanes_values *values;
  uint32_t loop;
  LLVMBasicBlockRef header;
  LLVMBasicBlockRef back;  // where its last step ends
} row_loop;

// By how much a value of the header grows with each step, or 0.
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

// The bytes from one step's element of a row to the next one's, which are all
// that the load reads; 0 if it does not walk so.
static uint32_t walked_bytes(const row_loop *l, LLVMValueRef load) {
  lanes_linear at;
  lanes_linear_find(l->values, LLVMGetOperand(load, 0), &at);
  int64_t bytes = step_of(l, at.base);
  for (uint32_t i = 0; i < at.term_count; i++) {
    bytes += step_of(l, at.terms[i]) * (int64_t)at.scale;
  }
  const uint64_t read = LLVMStoreSizeOfType(l->values->data, LLVMTypeOf(load));
  return bytes > 0 && (uint64_t)bytes == read ? (uint32_t)bytes : 0;
}

// Says whether lanes' addresses have nothing to do with each other.
static bool is_gathered(const row_loop *l, LLVMValueRef load) {
  const lanes_shape shape = lanes_shape_of(l->values, LLVMGetOperand(load, 0));
  const int64_t size =
      (int64_t)LLVMStoreSizeOfType(l->values->data, LLVMTypeOf(load));
  return shape.row < 4 || shape.stride > 8 * size;
}

typedef struct loop_survey {
  uint32_t instructions;
  uint32_t row_bytes;  // of the widest load that walks along a row
  bool may_write;
} loop_survey;

static void survey_block(const row_loop *l, LLVMBasicBlockRef block,
                         loop_survey *survey) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    survey->instructions++;
    survey->may_write |= lanes_may_write(i);
    const uint32_t bytes =
        LLVMGetInstructionOpcode(i) == LLVMLoad ? walked_bytes(l, i) : 0;
    if (bytes > survey->row_bytes && is_gathered(l, i)) {
      survey->row_bytes = bytes;
    }
  }
}

static bool has_inner_loop(const lanes_graph *graph, uint32_t loop) {
  for (uint32_t i = 0; i < graph->loop_count; i++) {
    if (graph->loops[i].parent == loop) {
      return true;
    }
  }
  return false;
}

// Sets where a loop with one way back has its header and ends its steps.
static bool find_ends(row_loop *l) {
  const lanes_loop *loop = &l->graph->loops[l->loop];
  const lanes_node *latch = &l->graph->nodes[loop->latch];
  if (loop->back_edge_count != 1 || has_inner_loop(l->graph, l->loop)) {
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

// How many steps to make one; 0 to leave the loop.
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
  if (survey.row_bytes == 0 || survey.may_write) {
    return 0;
  }
  uint32_t count = ROW_BYTES / survey.row_bytes;
  count = count > MOST_STEPS ? MOST_STEPS : count;
  return count >= LEAST_STEPS &&
                 count * survey.instructions <= MOST_INSTRUCTIONS
             ? count
             : 0;
}

static void mark(LLVMContextRef context, LLVMBasicBlockRef back,
                 uint32_t count) {
  static const char name[] = "llvm.loop.unroll.count";
  LLVMMetadataRef pair[] = {LLVMMDStringInContext2(context, name, strlen(name)),
                            LLVMValueAsMetadata(mtlc_i32(context, count))};
  LLVMMetadataRef parts[] = {NULL, LLVMMDNodeInContext2(context, pair, 2)};
  // A loop's identity is a node that names itself.
  LLVMMetadataRef stand_in = LLVMTemporaryMDNode(context, NULL, 0);
  parts[0] = stand_in;
  LLVMMetadataRef own = LLVMMDNodeInContext2(context, parts, 2);
  LLVMMetadataReplaceAllUsesWith(stand_in, own);
  LLVMSetMetadata(LLVMGetBasicBlockTerminator(back),
                  LLVMGetMDKindIDInContext(context, "llvm.loop", 9),
                  LLVMMetadataAsValue(context, own));
}

bool lanes_mark_row_loops(const lanes_graph *graph, LLVMTargetDataRef data,
                          uint8_t row, const mtli_group_class *group_class) {
  bool any = false;
  lanes_values values;
  lanes_values_find(graph, data, row, group_class, &values);
  for (uint32_t i = 0; i < graph->loop_count; i++) {
    row_loop l = {.graph = graph, .values = &values, .loop = i};
    const uint32_t count = choose_count(&l);
    if (count) {
      mark(LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(l.back))),
           l.back, count);
      any = true;
    }
  }
  return any;
}
