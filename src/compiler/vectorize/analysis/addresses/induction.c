// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// induction.c: follows a value or an address back to a loop's phis and finds
// how much each iteration adds to it.
#include "compiler/vectorize/analysis/addresses/induction.h"

#include <llvm-c/Target.h>

#include "code/code.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

enum {
  STEP_DEPTH = 12,   // operations between an address and its phi
  WALK_LIMIT = 128,  // values visited before the search gives up
};

static const lanes_induction_step no_step = {.kind = LANES_STEP_KNOWN};
static const lanes_induction_step same_step = {.kind = LANES_STEP_SAME};
static const lanes_induction_step unknown_step = {.kind = LANES_STEP_UNKNOWN};

bool lanes_is_from_outside(const lanes_values *values, LLVMValueRef value,
                           uint32_t loop) {
  if (!LLVMIsAInstruction(value)) {
    return true;
  }
  const uint32_t number = lanes_map_get(&values->numbers, value);
  return number != LANES_NONE &&
         !lanes_in_loop(values->graph, values->nodes[number], loop);
}

// True if a value is the same in all iterations of a loop. A load of an
// argument's number counts as invariant even inside the loop: it is loaded
// there because the argument may be unbound when the loop does not run.
static bool is_same(const lanes_values *values, LLVMValueRef value, uint32_t loop) {
  if (LLVMIsAZExtInst(value) || LLVMIsASExtInst(value)) {
    value = LLVMGetOperand(value, 0);
  }
  return lanes_is_from_outside(values, value, loop) ||
         (LLVMIsALoadInst(value) && mtlc_is_invariant(value) &&
          lanes_is_from_outside(values, LLVMGetOperand(value, 0), loop));
}

static lanes_induction_step step_sum(lanes_induction_step a, lanes_induction_step b,
                                bool is_difference) {
  if (a.kind == LANES_STEP_UNKNOWN || b.kind == LANES_STEP_UNKNOWN) {
    return unknown_step;
  }
  if (b.kind == LANES_STEP_KNOWN && b.by == 0) {
    return a;
  }
  if (a.kind == LANES_STEP_KNOWN && a.by == 0 && !is_difference) {
    return b;
  }
  return a.kind != LANES_STEP_KNOWN || b.kind != LANES_STEP_KNOWN
             ? same_step
             : (lanes_induction_step){.by =
                                     is_difference ? a.by - b.by : a.by + b.by};
}

static lanes_induction_step step_times(lanes_induction_step a, LLVMValueRef factor,
                                  bool is_shift) {
  if (a.kind == LANES_STEP_SAME || a.kind == LANES_STEP_UNKNOWN || a.by == 0) {
    return a;
  }
  if (!LLVMIsAConstantInt(factor)) {
    return a.kind == LANES_STEP_TIMES || is_shift
               ? same_step
               : (lanes_induction_step){LANES_STEP_TIMES, a.by, factor};
  }
  const uint64_t by = LLVMConstIntGetZExtValue(factor);
  a.by = is_shift ? a.by << (by & 63) : a.by * by;
  return a;
}

static lanes_induction_step step_of(const lanes_values *values, LLVMValueRef value,
                               uint32_t loop, uint32_t depth);

// Returns the step from a phi to the value that the next iteration gives it.
static lanes_induction_step step_from_phi(const lanes_values *values, LLVMValueRef next,
                                     LLVMValueRef phi, uint32_t loop) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(next);
  const bool is_address =
      opcode == LLVMGetElementPtr && LLVMGetNumOperands(next) == 2;
  if ((opcode != LLVMAdd && !is_address) || LLVMGetOperand(next, 0) != phi) {
    return unknown_step;
  }
  const uint64_t bytes =
      is_address ? LLVMABISizeOfType(values->data,
                                     LLVMGetGEPSourceElementType(next))
                 : 1;
  LLVMValueRef by = LLVMGetOperand(next, 1);
  if (LLVMIsAConstantInt(by)) {
    return (lanes_induction_step){.by = bytes *
                                   (uint64_t)LLVMConstIntGetSExtValue(by)};
  }
  return is_same(values, by, loop) ? (lanes_induction_step){LANES_STEP_TIMES, bytes, by}
                              : unknown_step;
}

// Returns what each iteration adds to a phi in a loop's header.
static lanes_induction_step step_of_phi(const lanes_values *values, LLVMValueRef phi,
                                   uint32_t loop, uint32_t depth) {
  lanes_induction_step step = unknown_step;
  const uint32_t own =
      values->graph->nodes[values->nodes[lanes_map_get(&values->numbers, phi)]]
          .loop;
  if (own == LANES_NONE ||
      LLVMGetInstructionParent(phi) !=
          values->graph->nodes[values->graph->loops[own].header].block) {
    return unknown_step;
  }
  if (own != loop) {
    // A phi of an inner loop: the amount that each iteration of the outer loop
    // adds to its start.
    LLVMValueRef begin = lanes_begin_of(values, phi, own);
    return begin == phi ? unknown_step : step_of(values, begin, loop, depth - 1);
  }
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, i);
    if (lanes_is_from_outside(values, next, loop)) {
      continue;
    }
    if (step.kind != LANES_STEP_UNKNOWN) {
      return unknown_step;
    }
    step = step_from_phi(values, next, phi, loop);
    if (step.kind == LANES_STEP_UNKNOWN) {
      return unknown_step;
    }
  }
  return step;
}

// Returns the step of an address, in bytes.
static lanes_induction_step step_of_address(const lanes_values *values,
                                       LLVMValueRef address, uint32_t loop,
                                       uint32_t depth) {
  if (LLVMGetNumOperands(address) != 2) {
    return unknown_step;
  }
  const uint64_t bytes =
      LLVMABISizeOfType(values->data, LLVMGetGEPSourceElementType(address));
  const lanes_induction_step base =
      step_of(values, LLVMGetOperand(address, 0), loop, depth - 1);
  lanes_induction_step index =
      step_of(values, LLVMGetOperand(address, 1), loop, depth - 1);
  index.by *= bytes;
  return step_sum(base, index, false);
}

// Returns the step of an operation whose operands are all invariant.
static lanes_induction_step step_of_others(const lanes_values *values,
                                      LLVMValueRef value, uint32_t loop,
                                      uint32_t depth) {
  if (LLVMIsALoadInst(value) || LLVMIsACallInst(value)) {
    return unknown_step;
  }
  for (int i = 0; i < LLVMGetNumOperands(value); i++) {
    const lanes_induction_step step =
        step_of(values, LLVMGetOperand(value, (unsigned)i), loop, depth - 1);
    if (step.kind != LANES_STEP_KNOWN || step.by != 0) {
      return unknown_step;
    }
  }
  return no_step;
}

// Returns the step of a value divided by 2^bits, if its own step is a multiple
// of that; else an unknown one.
static lanes_induction_step step_of_part(lanes_induction_step a,
                                         LLVMValueRef bits) {
  const uint64_t by =
      LLVMIsAConstantInt(bits) ? LLVMConstIntGetZExtValue(bits) : 64;
  const bool is_known = a.kind == LANES_STEP_KNOWN && by < 64 &&
                        (a.by & ((UINT64_C(1) << by) - 1)) == 0;
  return is_known ? (lanes_induction_step){.by = (uint64_t)((int64_t)a.by >> by)}
                  : unknown_step;
}

static lanes_induction_step step_of(const lanes_values *values, LLVMValueRef value,
                               uint32_t loop, uint32_t depth) {
  if (is_same(values, value, loop)) {
    return no_step;
  }
  if (depth == 0) {
    return unknown_step;
  }
  LLVMValueRef left = LLVMGetOperand(value, 0);
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMPHI: return step_of_phi(values, value, loop, depth);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc: return step_of(values, left, loop, depth - 1);
    case LLVMAdd:
    case LLVMOr:  // an addition, if no bits overlap
    case LLVMSub:
      return step_sum(step_of(values, left, loop, depth - 1),
                      step_of(values, LLVMGetOperand(value, 1), loop, depth - 1),
                      LLVMGetInstructionOpcode(value) == LLVMSub);
    case LLVMMul:
    case LLVMShl:
      return is_same(values, LLVMGetOperand(value, 1), loop)
                 ? step_times(step_of(values, left, loop, depth - 1),
                              LLVMGetOperand(value, 1),
                              LLVMGetInstructionOpcode(value) == LLVMShl)
                 : unknown_step;
    case LLVMAShr:
    case LLVMLShr:
      return LLVMGetExact(value)
                 ? step_of_part(step_of(values, left, loop, depth - 1),
                                LLVMGetOperand(value, 1))
                 : step_of_others(values, value, loop, depth);
    case LLVMGetElementPtr: return step_of_address(values, value, loop, depth);
    default: return step_of_others(values, value, loop, depth);
  }
}

lanes_induction_step lanes_step_of(const lanes_values *values, LLVMValueRef value,
                              uint32_t loop) {
  return step_of(values, value, loop, STEP_DEPTH);
}

lanes_induction_step lanes_step_of_phi(const lanes_values *values, LLVMValueRef phi,
                                  uint32_t loop) {
  return step_of_phi(values, phi, loop, STEP_DEPTH);
}

LLVMValueRef lanes_begin_of(const lanes_values *values, LLVMValueRef phi,
                            uint32_t loop) {
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    if (lanes_is_from_outside(values, value, loop)) {
      return value;
    }
  }
  return phi;
}

// --- Where threads begin -----------------------------------------------------

// True if an operation returns its first operand unchanged for values up to
// 1024, the most threads of a threadgroup.
static bool is_same_number(LLVMValueRef value) {
  enum { MOST_BITS = 11 };
  switch (LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : 0) {
    case LLVMZExt:
    case LLVMSExt: return true;
    case LLVMTrunc: return LLVMGetIntTypeWidth(LLVMTypeOf(value)) > MOST_BITS;
    case LLVMAnd: {
      LLVMValueRef mask = LLVMGetOperand(value, 1);
      const uint64_t all = (1 << MOST_BITS) - 1;
      return LLVMIsAConstantInt(mask) &&
             (LLVMConstIntGetZExtValue(mask) & all) == all;
    }
    default: return false;
  }
}

static bool is_position(LLVMValueRef value, mtli_builtin one,
                        mtli_builtin other) {
  while (is_same_number(value)) {
    value = LLVMGetOperand(value, 0);
  }
  if (!LLVMIsACallInst(value) ||
      lanes_callee_of(value) != LANES_CALLEE_POSITION) {
    return false;
  }
  const uint64_t builtin = LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0));
  return builtin == one || builtin == other;
}

bool lanes_is_thread_index(LLVMValueRef value) {
  return is_position(value, MTLI_THREAD_INDEX_IN_THREADGROUP,
                     MTLI_THREAD_POSITION_IN_THREADGROUP);
}

bool lanes_is_threadgroup_size(LLVMValueRef value) {
  return is_position(value, MTLI_THREADS_PER_THREADGROUP,
                     MTLI_DISPATCH_THREADS_PER_THREADGROUP);
}

static bool is_grid_position(LLVMValueRef value, uint32_t dimensions) {
  if (!LLVMIsACallInst(value) ||
      lanes_callee_of(value) != LANES_CALLEE_POSITION ||
      LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)) >= dimensions) {
    return false;
  }
  switch (LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0))) {
    case MTLI_THREAD_POSITION_IN_GRID:
    case MTLI_THREADGROUP_POSITION_IN_GRID: return true;
    default: return false;
  }
}

// True if a position in the grid's first dimensions tells where an address is.
static bool moves_with(const lanes_values *values, LLVMValueRef address,
                       uint32_t dimensions) {
  LLVMValueRef work[WALK_LIMIT];
  lanes_map seen = {0};
  uint32_t count = 0;
  uint32_t looked = 0;
  work[count++] = address;
  while (count) {
    LLVMValueRef value = work[--count];
    if (is_grid_position(value, dimensions)) {
      return true;
    }
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMLoad || opcode == LLVMCall) {
      continue;
    }
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
      LLVMValueRef operand = LLVMGetOperand(value, (unsigned)i);
      if (!LLVMIsAInstruction(operand) ||
          lanes_map_get(&seen, operand) != LANES_NONE) {
        continue;
      }
      lanes_map_set(values->arena, &seen, operand, 1);
      if (++looked >= WALK_LIMIT) {
        return false;
      }
      work[count++] = operand;
    }
  }
  return false;
}

bool lanes_moves_with_grid(const lanes_values *values, LLVMValueRef address) {
  return moves_with(values, address, 3);
}

bool lanes_moves_along_grid(const lanes_values *values, LLVMValueRef address) {
  return moves_with(values, address, 1);
}
