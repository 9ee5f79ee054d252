// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// loop_cost.c: models the cost of a loop's iteration by how many threads run it
// at once. More threads hide the latency between iterations and share uniform
// work; but the values that iterations carry must fit the registers.
//
// The figures were chosen so that the count which a cost is least for was the
// fastest, or 5 % from it, on 37 short loops on an EPYC of the Zen 3 kind,
// 2026-11. Latencies are those of the instructions on that machine; Intel's
// differ by a cycle or two.
#include "compiler/vectorize/plan/loop_cost.h"

#include <llvm-c/Target.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/target/machine.h"

enum {
  TURNS = 4,     // iterations simulated, to see how long one waits for another
  WINDOW = 150,  // instructions that a processor has in flight
  DEEPER = 8,    // iterations assumed for each level of nesting
};
// Cycles.
static const double per_operation = 0.3;
static const double per_uniform = 0.25;
static const double per_spill = 0.8;   // a store and a load
static const double per_turn = 2;      // the loop's branch
static const double per_question = 4;  // the test whether any thread is left
// Iterations that at least one thread needs, when half as many threads share
// them.
static const double turns_of_half = 0.8;
// Cost of values that do not outlast an iteration: each operation runs for a
// whole vector before the next. It doubles for 64-bit products, such as the
// upper half of a 32-bit product in Philox, which takes 0.43 of the time with
// 16 threads at once.
static const double passing_vectors = 1.5;
static const double worth_a_change = 0.95;

static double larger(double a, double b) {
  return a > b ? a : b;
}

// The cost of an operation for one register of threads: 1 cycle of latency for
// a sum, more for a product.
typedef struct operation {
  double work;
  double latency;
} operation;

static operation operation_of_call(LLVMValueRef call) {
  const char *name = mtlc_callee_name(call);
  if (strstr(name, ".sqrt.")) {
    return (operation){6, 15};
  }
  if (strstr(name, ".fma.")) {
    return (operation){1, 4};
  }
  return (operation){1, 2};
}

static operation operation_of(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMFNeg:
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMBr: return (operation){0, 0};
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFCmp:
    case LLVMSIToFP:
    case LLVMFPToSI: return (operation){1, 4};
    case LLVMMul: return (operation){2, 4};
    case LLVMFDiv: return (operation){5, 11};
    case LLVMUIToFP:
    case LLVMFPToUI: return (operation){5, 9};
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return (operation){25, 50};
    case LLVMFRem: return (operation){30, 60};
    case LLVMLoad: return (operation){2, 7};
    case LLVMStore: return (operation){2, 0};
    case LLVMCall: return operation_of_call(i);
    default: return (operation){1, 1};
  }
}

// A loop, and when each of its values is ready.
typedef struct timing {
  const lanes_values *values;
  uint32_t loop;
  uint32_t first, end;  // numbers of its instructions
  double *ready;        // [end - first] in cycles
  double *handed_on;    // [end - first] the value that the next iteration's phi
                        // gets
} timing;

// Returns how many registers a value takes for one register of threads. A mask
// element has 32 bits as well (mask_as_integers.c).
static double registers_of(const lanes_values *values, LLVMValueRef value) {
  const uint32_t count = lanes_component_count(LLVMTypeOf(value));
  const uint64_t bits =
      LLVMSizeOfTypeInBits(values->data, LLVMTypeOf(value)) / count;
  return count * (bits < 32 ? 32 : (double)bits) / 32;
}

static bool is_headers(const timing *t, uint32_t number) {
  return LLVMIsAPHINode(t->values->items[number]) &&
         t->values->nodes[number] == t->values->graph->loops[t->loop].header;
}

// Returns when an operand is ready: at once if it comes from outside the loop.
static double ready_at(const timing *t, LLVMValueRef operand) {
  const uint32_t number = lanes_map_get(&t->values->numbers, operand);
  return number != LANES_NONE && number >= t->first && number < t->end
             ? t->ready[number - t->first]
             : 0;
}

static double last_operand(const timing *t, LLVMValueRef i) {
  double last = 0;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
    last = larger(last, ready_at(t, LLVMGetOperand(i, k)));
  }
  // A phi selects between its incoming values.
  return LLVMIsAPHINode(i) ? last + 1 : last;
}

// Simulates an iteration; returns when its last value is ready.
static double follow_turn(const timing *t) {
  double last = 0;
  for (uint32_t n = t->first; n < t->end; n++) {
    double *ready = &t->ready[n - t->first];
    LLVMValueRef i = t->values->items[n];
    *ready = is_headers(t, n)
                 ? t->handed_on[n - t->first]
                 : last_operand(t, i) + (lanes_is_scalar(t->values->shapes[n])
                                             ? 1
                                             : operation_of(i).latency);
    last = larger(last, *ready);
  }
  return last;
}

// Returns when the last value is ready that an iteration passes to the next.
static double hand_on(const timing *t) {
  double last = 0;
  for (uint32_t n = t->first; n < t->end; n++) {
    if (!is_headers(t, n)) {
      continue;
    }
    LLVMValueRef phi = t->values->items[n];
    double *ready = &t->handed_on[n - t->first];
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      *ready = larger(*ready, ready_at(t, LLVMGetIncomingValue(phi, k)));
    }
    last = larger(last, *ready);
  }
  return last;
}

// Finds by how much each of several iterations ends after the previous.
static void time_turns(const timing *t, lanes_iteration *turn) {
  turn->path = follow_turn(t);
  for (uint32_t k = 1; k < TURNS; k++) {
    hand_on(t);
    follow_turn(t);
  }
  const double first = hand_on(t);
  double last = first;
  for (uint32_t k = 0; k < TURNS; k++) {
    follow_turn(t);
    last = hand_on(t);
  }
  turn->latency = (last - first) / TURNS;
}

static bool is_used_behind(const timing *t, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    const uint32_t user = lanes_map_get(&t->values->numbers, LLVMGetUser(use));
    if (user != LANES_NONE && (user < t->first || user >= t->end)) {
      return true;
    }
  }
  return false;
}

// Counts an instruction. A value that leaves a divergent loop is kept for each
// thread, even if it is uniform in the loop.
static void count_instruction(const timing *t, uint32_t number,
                              lanes_iteration *turn) {
  LLVMValueRef i = t->values->items[number];
  const bool is_wide = !lanes_is_scalar(t->values->shapes[number]);
  if (is_wide) {
    const uint32_t count = lanes_component_count(LLVMTypeOf(i));
    turn->varying += count;
    turn->work += operation_of(i).work * count;
    if (LLVMGetInstructionOpcode(i) == LLVMMul) {
      turn->widest = larger(turn->widest, registers_of(t->values, i) / count);
    }
  } else if (!LLVMIsAPHINode(i)) {
    turn->uniform++;
  }
  if (LLVMIsALoadInst(i) &&
      lanes_shape_of(t->values, LLVMGetOperand(i, 0)).conditional) {
    turn->asked = larger(turn->asked, registers_of(t->values, i));
    turn->asking++;
  }
  if ((is_wide && is_headers(t, number)) ||
      (turn->parts && is_used_behind(t, i))) {
    turn->registers += registers_of(t->values, i);
  }
}

// A loop's nodes are adjacent, and so are its instructions.
static timing timing_of(const lanes_values *values, uint32_t loop) {
  timing t = {.values = values, .loop = loop};
  const lanes_loop *l = &values->graph->loops[loop];
  while (t.first < values->count && values->nodes[t.first] < l->header) {
    t.first++;
  }
  t.end = t.first;
  while (t.end < values->count && values->nodes[t.end] < l->latch) {
    t.end++;
  }
  const uint32_t count = t.end - t.first;
  t.ready = lanes_allocate(values->arena, count, sizeof *t.ready);
  t.handed_on = lanes_allocate(values->arena, count, sizeof *t.handed_on);
  return t;
}

static lanes_iteration turn_of(const lanes_values *values, uint32_t loop) {
  const timing t = timing_of(values, loop);
  lanes_iteration turn = {
      .parts = values->divergent_loop[loop], .widest = 1, .weight = 1};
  turn.registers = turn.parts ? 1 : 0;  // the mask of threads left
  for (uint32_t n = t.first; n < t.end; n++) {
    count_instruction(&t, n, &turn);
  }
  time_turns(&t, &turn);
  for (uint32_t l = values->graph->loops[loop].parent; l != LANES_NONE;
       l = values->graph->loops[l].parent) {
    turn.weight *= DEEPER;
  }
  return turn;
}

void lanes_iterations_find(const lanes_values *values, lanes_iterations *out_turns) {
  const lanes_graph *graph = values->graph;
  *out_turns =
      (lanes_iterations){.items = lanes_allocate(values->arena, graph->loop_count,
                                            sizeof *out_turns->items)};
  for (uint32_t l = 0; l < graph->loop_count; l++) {
    const lanes_iteration turn =
        lanes_has_inner_loop(graph, l) ? (lanes_iteration){0} : turn_of(values, l);
    if (turn.varying) {
      out_turns->items[out_turns->count++] = turn;
    }
  }
}

// Returns the cost for `together` registers of threads, in vectors of `vector`
// registers.
static double cost_of_turn(const lanes_iteration *turn, double together,
                           double vector, double vector_registers) {
  // A load behind a check is in registers where its arms join.
  const double kept = together * turn->registers;
  const double asked = together * turn->asked;
  const double beyond = larger(0, kept + asked - vector_registers);
  const double passing = vector * passing_vectors * turn->widest;
  const double spilled = larger(0, kept + passing - vector_registers) +
                         turn->asking * (beyond < asked ? beyond : asked);
  const double all = together * turn->work * per_operation +
                     turn->uniform * per_uniform + spilled * per_spill +
                     per_turn + (turn->parts ? per_question : 0);
  // Iterations overlap while their instructions are in flight together.
  const double overlap = together * turn->varying / WINDOW;
  const double waiting =
      larger(turn->latency, turn->path * (overlap < 1 ? overlap : 1));
  return turn->weight * larger(all, waiting) / together;
}

static double cost_of_all(const lanes_iterations *turns,
                          const lanes_machine *machine, uint32_t lanes,
                          uint32_t at_once) {
  const double vector = (double)lanes * sizeof(float) / machine->vector_bytes;
  double cost = 0;
  for (uint32_t k = 0; k < turns->count; k++) {
    const lanes_iteration *turn = &turns->items[k];
    const double share = turn->parts && lanes < MOST_LANES ? turns_of_half : 1;
    cost += share * cost_of_turn(turn, vector * at_once, vector,
                                 machine->vector_registers);
  }
  return cost;
}

bool lanes_is_worth(double cost, double usual) {
  return cost < usual * worth_a_change;
}

uint32_t lanes_best_jam(const lanes_iterations *turns,
                            const lanes_machine *machine, uint32_t lanes,
                            uint32_t most, double *out_cost) {
  uint32_t best = most;
  *out_cost = cost_of_all(turns, machine, lanes, most);
  for (uint32_t count = most / 2; count; count /= 2) {
    const double cost = cost_of_all(turns, machine, lanes, count);
    if (lanes_is_worth(cost, *out_cost)) {
      *out_cost = cost;
      best = count;
    }
  }
  return best;
}
