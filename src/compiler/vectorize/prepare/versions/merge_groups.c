// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// merge_groups.c: merges several threadgroups of one simdgroup each into one
// call. A compiler that tiles for a GPU makes many small threadgroups; each
// loads the same weights again, and its only sum waits for itself. One call for
// four of them loads shared values once and has four sums in flight.
//
// The thread function gets a second form, which does what one thread of each of
// the threadgroups does: an instruction that depends on which it is stands
// there once for each (as in jam_simdgroups.c). Threadgroups run in no order
// that a kernel could count on.
//
// Those that are merged are COUNT of them, APART apart along x. They lie in one
// window: the first is number COUNT * APART * i + p, where p < APART. So
// quotients and remainders of their numbers by constants are mostly the same
// for all, or evenly apart, which is how kernels find their tile in a flat
// grid:
//
//   row = group / 64, column = group % 64 / 2, channel = group % 2 * 32
//
// APART is chosen so that loads have the most in common: 2 here, the same
// channels of four columns.
#include "compiler/vectorize/prepare/versions/merge_groups.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/constants.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/group_difference.h"
#include "compiler/vectorize/prepare/versions/version_interior.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST = 4,                  // threadgroups merged
  MOST_APART = 64,           // the largest distance from one to the next
  MOST_TRIED = 8,            // distances tried
  MOST_INSTRUCTIONS = 1000,  // of the merged version; they cost compile time
  ONE_COST = 1,              // of a load of one element for all lanes
  ROW_COST = 2,
  GATHER_COST = 16,
};

typedef struct merger {
  mtlc_kernel *kernel;
  const lanes_values *values;
  const lanes_graph *graph;
  lanes_clone part;  // the thread function's body
  uint32_t count;    // of threadgroups
  uint32_t apart;
  lanes_map numbers;    // number of each instruction of the body or before it
  LLVMValueRef *items;  // [item_count]
  lanes_difference *differences;  // [item_count]
  uint32_t item_count;
  uint32_t own_count;  // instructions that the merged version has once for each
                       // threadgroup
  // In the merged version:
  LLVMValueRef (*made)[MOST];  // [item_count] each threadgroup's instruction
  LLVMBuilderRef builder;
} merger;

// --- How values differ -------------------------------------------------------

static lanes_difference difference_of(const merger *m, LLVMValueRef value) {
  const uint32_t number = lanes_map_get(&m->numbers, value);
  return number == LANES_NONE ? lanes_difference_none()
                              : m->differences[number];
}

static bool all_alike(const merger *m, LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    if (!LLVMValueIsBasicBlock(operand) &&
        difference_of(m, operand).kind != LANES_ALIKE) {
      return false;
    }
  }
  return true;
}

static lanes_difference difference_of_position(const merger *m,
                                               LLVMValueRef call) {
  const uint64_t builtin = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
  const uint64_t dimension = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 1));
  if (dimension != 0) {
    return lanes_difference_none();
  }
  return builtin == MTLI_THREADGROUP_POSITION_IN_GRID
             ? lanes_difference_evenly(LANES_ALIGNED, m->apart, false)
         : builtin == MTLI_THREAD_POSITION_IN_GRID ? lanes_difference_own()
                                                   : lanes_difference_none();
}

static lanes_difference difference_of_arithmetic(const merger *m,
                                                 LLVMValueRef i) {
  const lanes_difference a = difference_of(m, LLVMGetOperand(i, 0));
  const lanes_difference b = LLVMGetNumOperands(i) > 1
                                 ? difference_of(m, LLVMGetOperand(i, 1))
                                 : lanes_difference_none();
  uint64_t c = 0;
  const bool has_constant =
      LLVMGetNumOperands(i) > 1 && lanes_constant_of(LLVMGetOperand(i, 1), &c);
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd: return lanes_difference_sum_of(a, b, false);
    case LLVMSub: return lanes_difference_sum_of(a, b, true);
    case LLVMOr:
      return LLVMGetIsDisjoint(i) ? lanes_difference_sum_of(a, b, false)
                                  : lanes_difference_own();
    case LLVMMul:
      return has_constant ? lanes_difference_times(a, c, !LLVMGetNUW(i))
                          : lanes_difference_own();
    case LLVMShl:
      return has_constant && c < 32
                 ? lanes_difference_times(a, UINT64_C(1) << c, !LLVMGetNUW(i))
                 : lanes_difference_own();
    case LLVMUDiv:
      return has_constant ? lanes_difference_divided(a, m->count, c)
                          : lanes_difference_own();
    case LLVMLShr:
      return has_constant && c < 32
                 ? lanes_difference_divided(a, m->count, UINT64_C(1) << c)
                 : lanes_difference_own();
    case LLVMURem:
      return has_constant ? lanes_difference_rest_of(a, m->count, c)
                          : lanes_difference_own();
    case LLVMAnd:
      return has_constant ? lanes_difference_masked(a, m->count, c)
                          : lanes_difference_own();
    case LLVMZExt:
      return a.kind == LANES_ALIGNED && !a.wraps ? a : lanes_difference_own();
    case LLVMTrunc:
      return a.kind == LANES_OWN
                 ? lanes_difference_own()
                 : lanes_difference_evenly(LANES_EVEN, a.step, false);
    default: return lanes_difference_own();
  }
}

static bool is_integer(LLVMValueRef value) {
  return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind;
}

static lanes_difference find_difference(const merger *m, LLVMValueRef i) {
  if (LLVMIsAStoreInst(i)) {
    return lanes_difference_own();
  }
  if (LLVMIsACallInst(i) && lanes_callee_of(i) == LANES_CALLEE_POSITION) {
    return difference_of_position(m, i);
  }
  return all_alike(m, i)                       ? lanes_difference_none()
         : is_integer(i) && !LLVMIsAPHINode(i) ? difference_of_arithmetic(m, i)
                                               : lanes_difference_own();
}

// Finds differences by rounds: each only gets worse, and one that changes twice
// is LANES_OWN.
static void find_differences(merger *m) {
  for (uint32_t n = 0; n < m->item_count; n++) {
    m->differences[n] = lanes_difference_none();
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < m->item_count; n++) {
      const lanes_difference before = m->differences[n];
      lanes_difference now = find_difference(m, m->items[n]);
      if (before.kind != LANES_ALIKE &&
          (now.kind != before.kind || now.step != before.step)) {
        now = lanes_difference_own();
      }
      if (before.kind != LANES_OWN &&
          (now.kind != before.kind || now.wraps != before.wraps)) {
        m->differences[n] = now;
        changed = true;
      }
    }
  }
}

// --- What can be merged ------------------------------------------------------

static bool may_be_merged(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMStore: return lanes_is_plain(i);
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMAlloca:
    case LLVMSwitch:
    case LLVMUnreachable: return false;
    case LLVMCall:
      switch (lanes_callee_of(i)) {
        case LANES_CALLEE_NOTHING:
        case LANES_CALLEE_ARGUMENT:
        case LANES_CALLEE_APART:
        case LANES_CALLEE_POSITION:
        case LANES_CALLEE_SHUFFLE:
        case LANES_CALLEE_BALLOT:
        case LANES_CALLEE_REDUCE:
        case LANES_CALLEE_SCAN:
        case LANES_CALLEE_ELEMENTWISE: return true;
        default: return false;
      }
    default: return true;
  }
}

static bool has_threadgroup_arguments(const mtli_kernel *kernel) {
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    if (kernel->parameters[i].builtin == MTLI_BUILTIN_NONE &&
        kernel->parameters[i].argument.kind ==
            MTL_ARGUMENT_THREADGROUP_MEMORY) {
      return true;
    }
  }
  return false;
}

typedef struct whole_survey {
  bool fits;  // all instructions can be merged
  bool asks;  // it reads the threadgroup's position along x
} whole_survey;

static void survey_instruction(LLVMValueRef i, void *context) {
  whole_survey *survey = context;
  survey->fits &= may_be_merged(i);
  survey->asks |= LLVMIsACallInst(i) &&
                  lanes_callee_of(i) == LANES_CALLEE_POSITION &&
                  LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) ==
                      MTLI_THREADGROUP_POSITION_IN_GRID &&
                  LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)) == 0;
}

bool lanes_may_merge_groups(const mtlc_kernel *kernel) {
  whole_survey survey = {.fits = true};
  mtlc_for_each_instruction(kernel->thread, survey_instruction, &survey);
  return survey.fits && survey.asks && kernel->tier == MTLI_TIER_1 &&
         kernel->group_class.is_single && kernel->group_class.is_whole &&
         !kernel->facts.any_groups &&
         !has_threadgroup_arguments(kernel->kernel);
}

// True if all merged threadgroups take the same branches.
static bool go_together(const merger *m) {
  for (uint32_t n = 0; n < m->item_count; n++) {
    LLVMValueRef i = m->items[n];
    if (LLVMIsATerminatorInst(i) && LLVMGetNumOperands(i) > 0 &&
        LLVMIsABranchInst(i) && LLVMIsConditional(i) &&
        difference_of(m, LLVMGetCondition(i)).kind != LANES_ALIKE) {
      return false;
    }
  }
  return true;
}

// --- How many, and how far apart ---------------------------------------------

static uint32_t loop_of(const merger *m, LLVMValueRef i) {
  const uint32_t node =
      lanes_map_get(&m->graph->blocks, LLVMGetInstructionParent(i));
  return node == LANES_NONE ? LANES_NONE : m->graph->nodes[node].loop;
}

// Returns the cost of loads that are shared; loads in loops count most.
static uint64_t shared_cost(const merger *m) {
  enum { LOOP_TURNS = 16 };
  uint64_t cost = 0;
  for (uint32_t n = 0; n < m->item_count; n++) {
    LLVMValueRef i = m->items[n];
    if (!LLVMIsALoadInst(i) || m->differences[n].kind != LANES_ALIKE) {
      continue;
    }
    const lanes_shape shape = lanes_shape_of(m->values, LLVMGetOperand(i, 0));
    const uint64_t bytes = LLVMStoreSizeOfType(m->values->data, LLVMTypeOf(i));
    const bool is_one = shape.stride == 0 && shape.row > 1;
    const bool is_row = shape.row > 1 && shape.stride <= (int64_t)bytes;
    cost += (is_one   ? ONE_COST
             : is_row ? ROW_COST
                      : GATHER_COST) *
            (loop_of(m, i) == LANES_NONE ? 1 : LOOP_TURNS);
  }
  return cost;
}

// Returns after how many threadgroups a function of their number repeats or
// steps on; 0 if the instruction is no such function.
static uint64_t period_of(const merger *m, LLVMValueRef i) {
  uint64_t c = 0;
  if (!is_integer(i) || LLVMIsACallInst(i) || LLVMGetNumOperands(i) < 2 ||
      !lanes_constant_of(LLVMGetOperand(i, 1), &c)) {
    return 0;
  }
  const lanes_difference a = difference_of(m, LLVMGetOperand(i, 0));
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  const uint64_t by = opcode == LLVMURem || opcode == LLVMUDiv ? c
                      : opcode == LLVMLShr && c < 32 ? UINT64_C(1) << c
                      : opcode == LLVMAnd            ? c + (c & -c)
                                                     : 0;
  return a.kind == LANES_ALIGNED && by % a.step == 0 ? by / a.step : 0;
}

// Collects the distances to try. Differences are known for the first of them.
static uint32_t find_distances(const merger *m,
                               uint32_t distances[MOST_TRIED]) {
  uint32_t found = 0;
  distances[found++] = 1;
  for (uint32_t n = 0; n < m->item_count; n++) {
    const uint64_t period = period_of(m, m->items[n]);
    bool is_new = period > 1 && period <= MOST_APART && found < MOST_TRIED;
    for (uint32_t k = 0; k < found; k++) {
      is_new &= distances[k] != period;
    }
    if (is_new) {
      distances[found++] = (uint32_t)period;
    }
  }
  return found;
}

static bool is_number_kind(LLVMTypeRef type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind ||
         kind == LLVMBFloatTypeKind || kind == LLVMVectorTypeKind;
}

// Returns the registers of one threadgroup's accumulators, in the loop with the
// most.
static uint32_t sum_registers(const merger *m) {
  const lanes_machine machine = lanes_machine_of(m->kernel->target);
  uint64_t most_bytes = 0;
  for (uint32_t l = 0; l < m->graph->loop_count; l++) {
    LLVMBasicBlockRef header = m->graph->nodes[m->graph->loops[l].header].block;
    uint64_t bytes = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(header);
         i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
      bytes +=
          is_number_kind(LLVMTypeOf(i)) && difference_of(m, i).kind == LANES_OWN
              ? LLVMStoreSizeOfType(m->values->data, LLVMTypeOf(i)) *
                    m->values->lanes
              : 0;
    }
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
  }
  return (uint32_t)((most_bytes + machine.vector_bytes - 1) /
                    machine.vector_bytes);
}

static void count_own(merger *m) {
  m->own_count = 0;
  for (uint32_t n = 0; n < m->item_count; n++) {
    m->own_count += m->differences[n].kind != LANES_ALIKE;
  }
}

// Chooses the distance between merged threadgroups.
static void choose_apart(merger *m) {
  uint32_t distances[MOST_TRIED];
  uint64_t best = 0;
  uint32_t best_apart = 1;
  m->apart = 1;
  find_differences(m);
  const uint32_t tried = find_distances(m, distances);
  for (uint32_t k = 0; k < tried; k++) {
    m->apart = distances[k];
    find_differences(m);
    const uint64_t cost = go_together(m) ? shared_cost(m) + 1 : 0;
    if (cost > best || (cost == best && m->apart < best_apart)) {
      best = cost;
      best_apart = m->apart;
    }
  }
  m->apart = best_apart;
  find_differences(m);
}

static bool choose(merger *m) {
  const lanes_machine machine = lanes_machine_of(m->kernel->target);
  for (m->count = MOST; m->count > 1; m->count /= 2) {
    choose_apart(m);
    count_own(m);
    const uint32_t sums = sum_registers(m);
    if (go_together(m) && sums * m->count <= machine.vector_registers / 2 &&
        m->item_count + m->own_count * (m->count - 1) <= MOST_INSTRUCTIONS) {
      return m->own_count > 0;
    }
  }
  return false;
}

// --- The second form ---------------------------------------------------------

static LLVMValueRef call_position(const merger *m, mtli_builtin builtin) {
  const mtlc_types types = mtlc_types_of(m->kernel->context);
  LLVMTypeRef i32s[] = {types.i32, types.i32};
  LLVMValueRef function =
      mtlc_declare(m->kernel->module, "mettle.position",
                   LLVMFunctionType(types.i32, i32s, 2, false));
  LLVMValueRef arguments[] = {mtlc_i32(m->kernel->context, builtin),
                              mtlc_i32(m->kernel->context, 0)};
  return mtlc_call(m->builder, function, arguments, 2);
}

// Returns the difference between the first threadgroup's value and another
// one's.
static LLVMValueRef distance_of(const merger *m, uint32_t item,
                                uint32_t number) {
  LLVMValueRef i = m->items[item];
  if (m->differences[item].kind != LANES_OWN) {
    return LLVMConstInt(LLVMTypeOf(i), m->differences[item].step * number,
                        false);
  }
  return LLVMBuildMul(m->builder,
                      call_position(m, MTLI_THREADS_PER_THREADGROUP),
                      mtlc_i32(m->kernel->context, number * m->apart), "");
}

static bool is_added(const merger *m, uint32_t item) {
  LLVMValueRef i = m->items[item];
  return m->differences[item].kind != LANES_OWN ||
         (LLVMIsACallInst(i) && lanes_callee_of(i) == LANES_CALLEE_POSITION);
}

// `first` is the first threadgroup's instruction; the others' follow it.
static void make_others(merger *m, uint32_t item, LLVMValueRef first) {
  m->made[item][0] = first;
  LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(first));
  for (uint32_t k = 1; k < m->count; k++) {
    if (is_added(m, item)) {
      m->made[item][k] =
          LLVMBuildAdd(m->builder, first, distance_of(m, item, k), "");
    } else if (LLVMIsAPHINode(first)) {
      m->made[item][k] = LLVMBuildPhi(m->builder, LLVMTypeOf(first), "");
    } else {
      m->made[item][k] = LLVMInstructionClone(first);
      LLVMInsertIntoBuilder(m->builder, m->made[item][k]);
    }
  }
}

// Returns a threadgroup's value for one of the first's, which may be in the
// merged version.
static LLVMValueRef others(const merger *m, const lanes_map *first_to_item,
                           LLVMValueRef value, uint32_t number) {
  const uint32_t item = lanes_map_get(first_to_item, value);
  return item == LANES_NONE ? value : m->made[item][number];
}

static void connect(const merger *m, const lanes_map *items, uint32_t item) {
  LLVMValueRef first = m->made[item][0];
  for (uint32_t k = 1; k < m->count && !is_added(m, item); k++) {
    LLVMValueRef i = m->made[item][k];
    if (LLVMIsAPHINode(first)) {
      for (unsigned w = 0; w < LLVMCountIncoming(first); w++) {
        LLVMValueRef value =
            others(m, items, LLVMGetIncomingValue(first, w), k);
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(first, w);
        LLVMAddIncoming(i, &value, &from, 1);
      }
      continue;
    }
    for (int o = 0; o < LLVMGetNumOperands(i); o++) {
      LLVMValueRef operand = LLVMGetOperand(i, (unsigned)o);
      if (!LLVMValueIsBasicBlock(operand)) {
        LLVMSetOperand(i, (unsigned)o, others(m, items, operand, k));
      }
    }
  }
}

// Clones the instructions that differ, once for each threadgroup.
static void multiply(merger *m) {
  mtli_arena *arena = m->graph->arena;
  lanes_map items = {0};
  m->made = lanes_allocate(arena, m->item_count, sizeof *m->made);
  for (uint32_t n = 0; n < m->item_count; n++) {
    if (m->differences[n].kind != LANES_ALIKE) {
      LLVMValueRef first = lanes_clone_copy_of(&m->part, m->items[n]);
      lanes_map_set(arena, &items, first, n);
      make_others(m, n, first);
    }
  }
  for (uint32_t n = 0; n < m->item_count; n++) {
    if (m->differences[n].kind != LANES_ALIKE) {
      connect(m, &items, n);
    }
  }
}

// Makes the merged version, chosen by a test which threadgroups run.
static void make_form(merger *m) {
  LLVMBasicBlockRef start = m->graph->nodes[0].block;
  LLVMBasicBlockRef end = m->graph->nodes[m->graph->node_count - 1].block;
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(start);
  // The body was the function's and begins without phis.
  lanes_clone_copy(&m->part, m->part.entry, start);
  for (uint32_t n = m->part.first; n <= m->part.last; n++) {
    LLVMBasicBlockRef from = lanes_clone_block(&m->part, n);
    LLVMValueRef last = from ? LLVMGetBasicBlockTerminator(from) : NULL;
    for (unsigned s = 0; last && s < LLVMGetNumSuccessors(last); s++) {
      if (LLVMGetSuccessor(last, s) == end) {
        lanes_clone_add_path(&m->part, end, from,
                             lanes_clone_block_copy(&m->part, from));
      }
    }
  }
  LLVMPositionBuilderBefore(m->builder, branch);
  LLVMValueRef is_many = LLVMBuildICmp(
      m->builder, LLVMIntEQ, call_position(m, MTLI_THREADGROUPS_AT_ONCE),
      mtlc_i32(m->kernel->context, m->count), "");
  LLVMBuildCondBr(m->builder, is_many,
                  lanes_clone_block_copy(&m->part, m->part.entry),
                  m->part.entry);
  LLVMInstructionEraseFromParent(branch);
  multiply(m);
}

// Numbers the body's instructions.
static void collect(merger *m) {
  mtli_arena *arena = m->graph->arena;
  m->items = lanes_allocate(arena, m->part.instructions, sizeof *m->items);
  m->differences =
      lanes_allocate(arena, m->part.instructions, sizeof *m->differences);
  for (uint32_t n = m->part.first; n <= m->part.last; n++) {
    LLVMBasicBlockRef block = lanes_clone_block(&m->part, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      lanes_map_set(arena, &m->numbers, i, m->item_count);
      m->items[m->item_count++] = i;
    }
  }
}

bool lanes_merge_groups(mtlc_kernel *kernel, const lanes_values *values) {
  const lanes_graph *graph = values->graph;
  const lanes_node *start = &graph->nodes[0];
  merger m = {.kernel = kernel,
              .values = values,
              .graph = graph,
              .part = lanes_clone_begin(kernel, values),
              .builder = LLVMCreateBuilderInContext(kernel->context)};
  bool done = start->successors.count == 1 &&
              lanes_clone_take(&m.part, start->successors.items[0],
                               graph->node_count - 1) &&
              m.part.fits;
  if (done) {
    collect(&m);
    done = choose(&m);
  }
  if (done) {
    make_form(&m);
    kernel->groups_at_once = m.count;
    kernel->groups_apart = m.apart;
    kernel->facts.depends_on_single = true;
    kernel->facts.depends_on_whole = true;
    mtlc_report(kernel, "%u threadgroups at once, %u apart", m.count, m.apart);
  }
  LLVMDisposeBuilder(m.builder);
  lanes_clone_end(&m.part);
  return done;
}
