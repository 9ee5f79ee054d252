// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// width.c: chooses 32 or 16 lanes for vectors. 32 floats fill four registers of
// 256 bits, and four such values all sixteen: a long kernel then mostly spills.
// If its threads cannot observe who is in their simdgroup, they run 16 at a
// time: half the machine code, and half the time to compile it.
#include "compiler/vectorize/plan/width.h"

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/loop_cost.h"
#include "compiler/vectorize/target/machine.h"

// Limits of kernels that run 16 threads at once. All threads' common work is
// then done twice, and fewer independent chains overlap: a loss where registers
// suffice, as in shorter kernels and in those that mostly compute addresses.
// For shorter kernels the cost of loops decides. Kernels with barriers, and all
// kernels with AVX-512, are halved only for their matrix accumulators.
enum {
  LEAST_INSTRUCTIONS = 200,
  LEAST_WIDE_PERCENT = 60,
  LEAST_SUMS_PERCENT = 80,  // of the registers
};

// True if a builtin tells how threads are arranged in simdgroups.
static bool tells_simdgroups(uint64_t builtin) {
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID:
    case MTLI_THREAD_POSITION_IN_THREADGROUP:
    case MTLI_THREAD_INDEX_IN_THREADGROUP:
    case MTLI_THREADGROUP_POSITION_IN_GRID:
    case MTLI_THREADS_PER_GRID:
    case MTLI_THREADS_PER_THREADGROUP:
    case MTLI_THREADGROUPS_PER_GRID:
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
    case MTLI_GRID_SIZE:
    case MTLI_GRID_ORIGIN:
    case MTLI_THREADGROUPS_AT_ONCE: return false;
    default: return true;
  }
}

static void survey(LLVMValueRef instruction, void *context) {
  bool *can_tell = context;
  if (LLVMGetInstructionOpcode(instruction) != LLVMCall) {
    return;
  }
  switch (lanes_callee_of(instruction)) {
    case LANES_CALLEE_OTHER:
    case LANES_CALLEE_NOTHING:
    case LANES_CALLEE_ARGUMENT:
    case LANES_CALLEE_APART:
    case LANES_CALLEE_PARAMETER:
    case LANES_CALLEE_CALLED:
    case LANES_CALLEE_THREADGROUP_MEMORY:
    case LANES_CALLEE_THREADGROUP_BARRIER:
    case LANES_CALLEE_ELEMENTWISE: break;
    case LANES_CALLEE_POSITION:
      *can_tell |= tells_simdgroups(
          LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 0)));
      break;
    default: *can_tell = true;
  }
}

static bool is_short(const mtlc_kernel *kernel) {
  return mtlc_count_instructions(kernel->thread) < LEAST_INSTRUCTIONS;
}

bool lanes_may_halve_width(const mtlc_kernel *kernel, const lanes_graph *graph) {
  bool can_tell = false;
  if (is_short(kernel) && graph->loop_count == 0) {
    return false;
  }
  mtlc_for_each_instruction(kernel->thread, survey, &can_tell);
  return !can_tell;
}

static bool is_mostly_wide(const lanes_values *values) {
  uint32_t wide = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    wide += !lanes_is_scalar(values->shapes[i]);
  }
  return wide * 100 >= values->count * LEAST_WIDE_PERCENT;
}

// Returns the most accumulators of a loop: those of a matrix product are kept
// in registers.
static uint32_t most_sums(const lanes_values *values) {
  const lanes_graph *graph = values->graph;
  uint32_t most = 0, sums = 0, header = LANES_NONE;
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef i = values->items[n];
    const uint32_t node = values->nodes[n];
    const uint32_t loop = graph->nodes[node].loop;
    if (!LLVMIsAPHINode(i) || loop == LANES_NONE ||
        graph->loops[loop].header != node ||
        lanes_is_scalar(values->shapes[n])) {
      continue;
    }
    sums = header == node ? sums : 0;
    header = node;
    sums += lanes_component_count(LLVMTypeOf(i));
    most = sums > most ? sums : most;
  }
  return most;
}

// True if the accumulators fill the registers or more.
static bool has_many_sums(const lanes_machine *machine,
                          const lanes_values *values) {
  const uint32_t each = MOST_LANES * 4 / machine->vector_bytes;
  return most_sums(values) * each * 100 >=
         machine->vector_registers * LEAST_SUMS_PERCENT;
}

uint32_t lanes_best_width(const mtlc_kernel *kernel, const lanes_values *values,
                          uint32_t most_at_once, bool waits) {
  const lanes_machine machine = lanes_machine_of(kernel->target);
  if (waits || machine.has_masks) {
    return has_many_sums(&machine, values) ? MOST_LANES / 2 : MOST_LANES;
  }
  bool is_less = is_mostly_wide(values);
  if (is_short(kernel)) {
    lanes_iterations turns;
    double whole, half;
    lanes_iterations_find(values, &turns);
    lanes_best_jam(&turns, &machine, MOST_LANES, most_at_once, &whole);
    lanes_best_jam(&turns, &machine, MOST_LANES / 2, most_at_once, &half);
    is_less = lanes_is_worth(half, whole);
  }
  return is_less ? MOST_LANES / 2 : MOST_LANES;
}
