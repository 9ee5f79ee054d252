// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_arrays.c: asks LLVM to unroll the loops that walk through a small
// private array, as compilers for GPUs do: with constant indices its elements
// are values, in registers, where else each access goes to memory.
#include "compiler/unroll_arrays.h"

#include <stdint.h>
#include <stdlib.h>

#include "compiler/flow.h"
#include "compiler/module.h"

enum {
  LARGEST_ARRAY_BYTES = 1024,
  // Of a loop, times an array's elements: about what it becomes.
  LARGEST_RESULT_INSTRUCTIONS = 4096,
  DEEPEST_INDEX = 6,  // operations between a counter and an index
};

typedef struct array_loops {
  LLVMContextRef context;
  LLVMTargetDataRef data;
  mtlc_flow flow;
  uint32_t *instruction_counts;  // [flow.cycle_count], inner cycles' as well
  unsigned loop_kind;            // of the metadata
} array_loops;

// --- What a loop says already ------------------------------------------------

static bool is_text(LLVMValueRef operand, const char *text) {
  unsigned length = 0;
  const char *found =
      operand && LLVMIsAMDString(operand) ? LLVMGetMDString(operand, &length)
                                          : NULL;
  return found && length == strlen(text) && memcmp(found, text, length) == 0;
}

// Whether the source says how the loop is to be unrolled.
static bool has_wish(const array_loops *a, LLVMValueRef latch) {
  enum { MOST_OPERANDS = 16 };
  LLVMValueRef node = LLVMGetMetadata(latch, a->loop_kind);
  LLVMValueRef operands[MOST_OPERANDS];
  if (!node || LLVMGetMDNodeNumOperands(node) > MOST_OPERANDS) {
    return node != NULL;
  }
  LLVMGetMDNodeOperands(node, operands);
  const unsigned count = LLVMGetMDNodeNumOperands(node);
  for (unsigned i = 1; i < count; ++i) {
    LLVMValueRef first[MOST_OPERANDS] = {0};
    if (!operands[i] || !LLVMIsAMDNode(operands[i]) ||
        LLVMGetMDNodeNumOperands(operands[i]) == 0 ||
        LLVMGetMDNodeNumOperands(operands[i]) > MOST_OPERANDS) {
      continue;
    }
    LLVMGetMDNodeOperands(operands[i], first);
    if (is_text(first[0], "llvm.loop.unroll.disable") ||
        is_text(first[0], "llvm.loop.unroll.count")) {
      return true;
    }
  }
  return false;
}

static void ask(const array_loops *a, LLVMValueRef latch) {
  static const char wish[] = "llvm.loop.unroll.full";
  LLVMMetadataRef text =
      LLVMMDStringInContext2(a->context, wish, sizeof wish - 1);
  mtlc_set_loop_metadata(latch, LLVMMDNodeInContext2(a->context, &text, 1));
}

// --- From an array to the loops ----------------------------------------------

static bool is_inside(const array_loops *a, LLVMBasicBlockRef block,
                      int cycle) {
  int at = mtlc_flow_find(&a->flow, block)->cycle;
  while (at != MTLC_NO_CYCLE && at != cycle) {
    at = a->flow.cycles[at].parent;
  }
  return at == cycle;
}

static void ask_for_counter(const array_loops *a, LLVMValueRef counter,
                            uint64_t element_count) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(counter);
  const int cycle = mtlc_flow_find(&a->flow, block)->cycle;
  if (cycle == MTLC_NO_CYCLE || a->flow.cycles[cycle].header != block ||
      element_count * a->instruction_counts[cycle] >
          LARGEST_RESULT_INSTRUCTIONS) {
    return;
  }
  for (unsigned i = 0; i < LLVMCountIncoming(counter); ++i) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(counter, i);
    LLVMValueRef latch = LLVMGetBasicBlockTerminator(from);
    if (is_inside(a, from, cycle) && !has_wish(a, latch)) {
      ask(a, latch);
    }
  }
}

static void follow_index(const array_loops *a, LLVMValueRef index,
                         uint64_t element_count, int depth) {
  if (LLVMIsAPHINode(index)) {
    ask_for_counter(a, index, element_count);
    return;
  }
  if (!LLVMIsAInstruction(index) || LLVMIsALoadInst(index) ||
      LLVMIsACallInst(index) || depth == 0) {
    return;
  }
  for (int i = 0; i < LLVMGetNumOperands(index); ++i) {
    follow_index(a, LLVMGetOperand(index, (unsigned)i), element_count,
                 depth - 1);
  }
}

// The private variable that an address lies in, or NULL.
static LLVMValueRef variable_of(LLVMValueRef address) {
  while (LLVMIsAGetElementPtrInst(address)) {
    address = LLVMGetOperand(address, 0);
  }
  return LLVMIsAAllocaInst(address);
}

static uint64_t scalar_bytes(const array_loops *a, LLVMTypeRef type) {
  while (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    type = LLVMGetElementType(type);
  }
  return LLVMABISizeOfType(a->data, type);
}

static void visit_address(LLVMValueRef address, void *context) {
  const array_loops *a = context;
  LLVMValueRef variable =
      LLVMIsAGetElementPtrInst(address) ? variable_of(address) : NULL;
  if (!variable) {
    return;
  }
  const uint64_t bytes =
      LLVMABISizeOfType(a->data, LLVMGetAllocatedType(variable));
  const uint64_t element_bytes =
      scalar_bytes(a, LLVMGetGEPSourceElementType(address));
  if (bytes > LARGEST_ARRAY_BYTES || element_bytes == 0) {
    return;
  }
  // Addresses in bytes say nothing of the elements; at least 4 bytes, then.
  const uint64_t count = bytes / (element_bytes < 4 ? 4 : element_bytes);
  for (int i = 1; i < LLVMGetNumOperands(address); ++i) {
    follow_index(a, LLVMGetOperand(address, (unsigned)i), count,
                 DEEPEST_INDEX);
  }
}

// --- Counting ----------------------------------------------------------------

static void count_instruction(LLVMValueRef instruction, void *context) {
  const array_loops *a = context;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
  for (int c = mtlc_flow_find(&a->flow, block)->cycle; c != MTLC_NO_CYCLE;
       c = a->flow.cycles[c].parent) {
    a->instruction_counts[c]++;
  }
}

void mtlc_unroll_arrays(mtlc_kernel *kernel) {
  static const char name[] = "llvm.loop";
  array_loops a = {
      .context = kernel->context,
      .data = LLVMGetModuleDataLayout(kernel->module),
      .flow = mtlc_flow_of(kernel->thread),
      .loop_kind =
          LLVMGetMDKindIDInContext(kernel->context, name, sizeof name - 1)};
  a.instruction_counts =
      calloc(a.flow.cycle_count + 1, sizeof a.instruction_counts[0]);
  mtlc_for_each_instruction(kernel->thread, count_instruction, &a);
  mtlc_for_each_instruction(kernel->thread, visit_address, &a);
  free(a.instruction_counts);
  mtlc_flow_clear(&a.flow);
}
