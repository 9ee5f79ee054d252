// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_arrays.c: asks LLVM to unroll loops that index a small private array,
// as compilers for GPUs do: with constant indices its elements are registers,
// otherwise memory. It also unrolls the steps of a tree reduction or a
// transform, whose distance doubles or halves between barriers: a constant
// distance tells how far apart the threads' elements are.
#include "compiler/ir/transform/unroll_arrays.h"

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/names.h"

enum {
  LARGEST_ARRAY_BYTES = 1024,
  // a loop's instructions times the array's elements: about its size afterwards
  LARGEST_RESULT_INSTRUCTIONS = 4096,
  // Limit of all these loops together, inner ones counted for each iteration of
  // the outer: more takes seconds to compile.
  LARGEST_GROWTH_INSTRUCTIONS = 16384,
  DEEPEST_INDEX = 6,  // operations between a counter and an index
  MOST_STEPS = 10,    // of a tree over 1024 threads
  LARGEST_STEPS_INSTRUCTIONS = 640,  // of all steps
  // of all loops: with 64 barriers, the code between two of them is no longer a
  // loop of its own (vectorize/finish/simdgroups/group_loop.c)
  MOST_STEPS_IN_ALL = 40,
};

typedef struct array_loop {
  uint64_t instruction_count;  // inner loops' as well
  uint64_t growth;             // of the inner loops that are unrolled
  uint64_t turns;  // estimated count of iterations to unroll; 0 for none
} array_loop;

typedef struct array_loops {
  LLVMTargetDataRef data;
  mtlc_flow flow;
  array_loop *loops;  // [flow.cycle_count]
  uint64_t steps;     // steps unrolled so far, in loops with barriers
} array_loops;

// --- From an array to the loops ----------------------------------------------

// Returns the number that a count is compared with; other if it is not known.
static uint64_t bound_of(LLVMValueRef count, uint64_t other) {
  enum { MOST_TURNS = 65536 };
  for (LLVMUseRef use = LLVMGetFirstUse(count); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    LLVMValueRef bound = LLVMIsAICmpInst(user)
                             ? LLVMIsAConstantInt(LLVMGetOperand(user, 1))
                             : NULL;
    if (bound && LLVMConstIntGetZExtValue(bound) <= MOST_TURNS) {
      return LLVMConstIntGetZExtValue(bound);
    }
  }
  return other;
}

static void note_counter(const array_loops *a, LLVMValueRef counter,
                         uint64_t element_count) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(counter);
  const int cycle = mtlc_flow_find(&a->flow, block)->cycle;
  if (cycle != MTLC_NO_CYCLE && a->flow.cycles[cycle].header == block &&
      element_count * a->loops[cycle].instruction_count <=
          LARGEST_RESULT_INSTRUCTIONS) {
    a->loops[cycle].turns = bound_of(counter, element_count);
  }
}

static void follow_index(const array_loops *a, LLVMValueRef index,
                         uint64_t element_count, int depth) {
  if (LLVMIsAPHINode(index)) {
    note_counter(a, index, element_count);
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

// Returns the private variable that an address lies in, or NULL.
static LLVMValueRef variable_of(LLVMValueRef address) {
  return LLVMIsAAllocaInst(mtlc_root_of(address));
}

static uint64_t scalar_bytes(const array_loops *a, LLVMTypeRef type) {
  while (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    type = LLVMGetElementType(type);
  }
  return LLVMABISizeOfType(a->data, type);
}

// True unless an index stays unknown in unrolled loops: it depends on the
// array's own elements, on a buffer, on an argument or on the thread.
static bool may_fold(LLVMValueRef index, LLVMValueRef variable, int depth) {
  if (LLVMIsALoadInst(index)) {
    LLVMValueRef root = mtlc_root_of(LLVMGetOperand(index, 0));
    return root != variable &&
           (LLVMIsAAllocaInst(root) || LLVMIsAGlobalVariable(root));
  }
  if (LLVMIsACallInst(index) || LLVMIsAArgument(index)) {
    return false;
  }
  if (!LLVMIsAInstruction(index) || LLVMIsAPHINode(index) || depth == 0) {
    return true;
  }
  for (int i = 0; i < LLVMGetNumOperands(index); ++i) {
    if (!may_fold(LLVMGetOperand(index, (unsigned)i), variable, depth - 1)) {
      return false;
    }
  }
  return true;
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
    LLVMValueRef index = LLVMGetOperand(address, (unsigned)i);
    if (may_fold(index, variable, DEEPEST_INDEX)) {
      follow_index(a, index, count, DEEPEST_INDEX);
    }
  }
}

// --- From a barrier to the loop ----------------------------------------------

// How a distance changes in each iteration: multiplied or divided by a number.
typedef struct distance_step {
  uint64_t factor;  // 0: in another way
  bool is_division;
} distance_step;

static distance_step step_of(LLVMValueRef phi, LLVMValueRef next) {
  LLVMValueRef by = LLVMIsAInstruction(next) &&
                            LLVMGetOperand(next, 0) == phi &&
                            LLVMGetNumOperands(next) == 2
                        ? LLVMIsAConstantInt(LLVMGetOperand(next, 1))
                        : NULL;
  const uint64_t number = by ? LLVMConstIntGetZExtValue(by) : 0;
  const uint64_t power = number < 16 ? UINT64_C(1) << number : 0;
  switch (by ? LLVMGetInstructionOpcode(next) : LLVMRet) {
    case LLVMShl: return (distance_step){power, false};
    case LLVMMul: return (distance_step){number, false};
    case LLVMLShr:
    case LLVMAShr: return (distance_step){power, true};
    case LLVMUDiv:
    case LLVMSDiv: return (distance_step){number, true};
    default: return (distance_step){0};
  }
}

// Returns how many steps take a distance from its start to the number that it
// is compared with, or to 0; 0 if they are too many or unknown.
static uint64_t steps_of(LLVMValueRef phi) {
  LLVMValueRef begin = NULL, next = NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    *(LLVMIsAConstantInt(value) ? &begin : &next) = value;
  }
  if (LLVMCountIncoming(phi) != 2 || !begin || !next) {
    return 0;
  }
  const distance_step step = step_of(phi, next);
  const uint64_t first = LLVMConstIntGetZExtValue(begin);
  const bool rises = !step.is_division;
  const uint64_t bound = rises ? bound_of(phi, bound_of(next, 0)) : 1;
  if (step.factor < 2 || first == 0) {
    return 0;
  }
  uint64_t steps = 0;
  for (uint64_t at = first;
       steps <= MOST_STEPS && (rises ? at < bound : at >= bound);
       at = rises ? at * step.factor : at / step.factor) {
    steps++;
  }
  return steps <= MOST_STEPS ? steps : 0;
}

static void visit_barrier(LLVMValueRef instruction, void *context) {
  array_loops *a = context;
  LLVMValueRef callee = mtlc_callee(instruction);
  if (!callee || strcmp(mtlc_name(callee), "mettle.barrier.threadgroup") != 0) {
    return;
  }
  const int cycle =
      mtlc_flow_find(&a->flow, LLVMGetInstructionParent(instruction))->cycle;
  if (cycle == MTLC_NO_CYCLE) {
    return;
  }
  for (LLVMValueRef phi = LLVMGetFirstInstruction(a->flow.cycles[cycle].header);
       LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    const uint64_t steps =
        LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind ? steps_of(phi)
                                                                : 0;
    if (steps > 1 && a->steps + steps <= MOST_STEPS_IN_ALL &&
        steps * a->loops[cycle].instruction_count <=
            LARGEST_STEPS_INSTRUCTIONS) {
      a->loops[cycle].turns = steps;
      a->steps += steps;
      return;
    }
  }
}

// --- Counting ----------------------------------------------------------------

static void count_instruction(LLVMValueRef instruction, void *context) {
  const array_loops *a = context;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
  for (int c = mtlc_flow_find(&a->flow, block)->cycle; c != MTLC_NO_CYCLE;
       c = a->flow.cycles[c].parent) {
    a->loops[c].instruction_count++;
  }
}

// --- Asking ------------------------------------------------------------------

static bool is_inside(const array_loops *a, LLVMBasicBlockRef block,
                      int cycle) {
  int at = mtlc_flow_find(&a->flow, block)->cycle;
  while (at != MTLC_NO_CYCLE && at != cycle) {
    at = a->flow.cycles[at].parent;
  }
  return at == cycle;
}

static void request_unrolling(const array_loops *a, int cycle) {
  LLVMValueRef header = LLVMBasicBlockAsValue(a->flow.cycles[cycle].header);
  for (LLVMUseRef use = LLVMGetFirstUse(header); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef latch = LLVMGetUser(use);
    if (LLVMIsATerminatorInst(latch) &&
        is_inside(a, LLVMGetInstructionParent(latch), cycle) &&
        !mtlc_has_unroll_hint(latch)) {
      mtlc_set_loop_hint(latch, "llvm.loop.unroll.full");
    }
  }
}

// Requests unrolling from the innermost loops outwards, as far as the limits
// allow.
static void request_all(const array_loops *a) {
  uint64_t all_growth = 0;
  for (size_t i = a->flow.cycle_count; i-- > 0;) {
    array_loop *loop = &a->loops[i];
    const uint64_t body = loop->instruction_count + loop->growth;
    const uint64_t growth = loop->turns > 1 ? (loop->turns - 1) * body : 0;
    if (loop->turns > 0 && all_growth + growth <= LARGEST_GROWTH_INSTRUCTIONS) {
      request_unrolling(a, (int)i);
      loop->growth += growth;
      all_growth += growth;
    }
    const int parent = a->flow.cycles[i].parent;
    if (parent != MTLC_NO_CYCLE) {
      a->loops[parent].growth += loop->growth;
    }
  }
}

void mtlc_unroll_arrays(mtlc_kernel *kernel, LLVMValueRef function) {
  array_loops a = {.data = LLVMGetModuleDataLayout(kernel->module),
                   .flow = mtlc_flow_of(function)};
  a.loops = calloc(a.flow.cycle_count + 1, sizeof a.loops[0]);
  mtlc_for_each_instruction(function, count_instruction, &a);
  mtlc_for_each_instruction(function, visit_address, &a);
  mtlc_for_each_instruction(function, visit_barrier, &a);
  request_all(&a);
  free(a.loops);
  mtlc_flow_clear(&a.flow);
}
