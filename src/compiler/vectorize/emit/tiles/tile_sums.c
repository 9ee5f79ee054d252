// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_sums.c: keeps sums of products in memory. Sixteen tiles, the
// accumulators of a usual matrix product, are 64 registers of 512 bits: in SSA
// form each iteration would copy them. A tile that products accumulate into has
// one place in the frame for all its values, where a product reads and writes
// it.
//
// Values belong together if a product adds to one and gives the other, or a phi
// makes one of the other. They can have one place if of two of them only the
// later one is used, on every path.
#include "compiler/vectorize/emit/tiles/tile_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/tiles/tile_products.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"

typedef struct sums_finder {
  lanes_emitter *e;
  uint32_t *leader;  // [values->count] union-find: towards the first value of
                     // the set; LANES_NONE for no accumulator
  bool *is_refused;  // [set_count]
  uint32_t *place;   // [values->count] of a leader: the number of its set
  uint32_t set_count;
  // The value that a set has at a node's start and end, by set: LANES_NONE for
  // none yet, MANY for different ones.
  uint32_t **at_start, **at_end;  // [node_count]
} sums_finder;

enum { MANY = LANES_NONE - 1 };

static uint32_t number_of(const sums_finder *f, LLVMValueRef value) {
  return LLVMIsAInstruction(value)
             ? lanes_map_get(&f->e->values->numbers, value)
             : LANES_NONE;
}

static uint32_t leader_of(const sums_finder *f, uint32_t number) {
  while (f->leader[number] != number) {
    number = f->leader[number];
  }
  return number;
}

// Returns the set of a value, or LANES_NONE.
static uint32_t set_of(const sums_finder *f, LLVMValueRef value) {
  const uint32_t number = number_of(f, value);
  return number == LANES_NONE || f->leader[number] == LANES_NONE
             ? LANES_NONE
             : f->place[leader_of(f, number)];
}

// --- What belongs together ---------------------------------------------------

static bool is_phi_of_tiles(const sums_finder *f, LLVMValueRef value) {
  return LLVMIsAPHINode(value) && LLVMTypeOf(value) == f->e->types.i64 &&
         number_of(f, value) != LANES_NONE;
}

// Unites the sets of two values; a phi without a set is added.
static bool join(sums_finder *f, uint32_t number, LLVMValueRef value) {
  const uint32_t other = number_of(f, value);
  if (other == LANES_NONE) {
    return false;
  }
  if (f->leader[other] == LANES_NONE) {
    if (!is_phi_of_tiles(f, value)) {
      return false;
    }
    f->leader[other] = other;
  }
  const uint32_t a = leader_of(f, number);
  const uint32_t b = leader_of(f, other);
  f->leader[a > b ? a : b] = a > b ? b : a;
  return a != b;
}

static bool join_operands(sums_finder *f, uint32_t number) {
  LLVMValueRef i = f->e->values->items[number];
  if (lanes_is_product(i)) {
    return join(f, number, LLVMGetOperand(i, 2));
  }
  bool changed = false;
  for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
    changed |= join(f, number, LLVMGetIncomingValue(i, k));
  }
  return changed;
}

// Adds phis of accumulators.
static bool join_users(sums_finder *f, uint32_t number) {
  bool changed = false;
  for (LLVMUseRef use = LLVMGetFirstUse(f->e->values->items[number]); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (is_phi_of_tiles(f, user)) {
      changed |= join(f, number, user);
    }
  }
  return changed;
}

static void join_all(sums_finder *f) {
  const lanes_values *values = f->e->values;
  for (uint32_t n = 0; n < values->count; n++) {
    f->leader[n] = lanes_is_product(values->items[n]) ? n : LANES_NONE;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < values->count; n++) {
      if (f->leader[n] != LANES_NONE) {
        changed |= join_operands(f, n);
        changed |= join_users(f, n);
      }
    }
  }
}

// --- Which value a set has where ---------------------------------------------

// True if a sum's values follow each other in memory: no divergent branch lies
// before, whose second side would read what the first side has written.
static bool is_in_order(const lanes_values *values, uint32_t number) {
  const uint32_t node = values->nodes[number];
  return !values->masked[node] &&
         !(LLVMIsAPHINode(values->items[number]) &&
           lanes_diverges_before(values, node)) &&
         lanes_width_of(values->shapes[number]) == values->lanes;
}

static void number_sets(sums_finder *f) {
  const lanes_values *values = f->e->values;
  for (uint32_t n = 0; n < values->count; n++) {
    if (f->leader[n] == n) {
      f->place[n] = f->set_count++;
    }
  }
  f->is_refused = lanes_allocate(values->arena, f->set_count + 1, 1);
  for (uint32_t n = 0; n < values->count; n++) {
    if (f->leader[n] != LANES_NONE && !is_in_order(values, n)) {
      f->is_refused[f->place[leader_of(f, n)]] = true;
    }
  }
}

// Merges the states of two paths.
static uint32_t meet(uint32_t a, uint32_t b) {
  if (a == LANES_NONE || a == b) {
    return b;
  }
  return b == LANES_NONE ? a : MANY;
}

static bool raise(uint32_t *state, uint32_t by) {
  const uint32_t old = *state;
  *state = meet(old, by);
  return *state != old;
}

// Passes the sets at a node's start through the node, into current.
static void pass_node(const sums_finder *f, uint32_t n, uint32_t *current) {
  memcpy(current, f->at_start[n], f->set_count * sizeof *current);
  const lanes_node *node = &f->e->graph->nodes[n];
  for (LLVMValueRef i = node->kind == LANES_BLOCK
                            ? LLVMGetFirstInstruction(node->block)
                            : NULL;
       i; i = LLVMGetNextInstruction(i)) {
    const uint32_t set = set_of(f, i);
    if (set != LANES_NONE) {
      current[set] = number_of(f, i);
    }
  }
}

// Passes the state along a block's edges; latches stand for headers.
static bool hand_on(sums_finder *f, uint32_t n, const uint32_t *current) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(f->e->graph->nodes[n].block);
  bool changed = false;
  for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
    const uint32_t to =
        lanes_map_get(&f->e->graph->blocks, LLVMGetSuccessor(end, k));
    for (uint32_t set = 0; set < f->set_count; set++) {
      changed |= raise(&f->at_start[to][set], current[set]);
    }
  }
  return changed;
}

static void follow(sums_finder *f) {
  const lanes_graph *graph = f->e->graph;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < graph->node_count; n++) {
      if (graph->nodes[n].kind == LANES_BLOCK) {
        pass_node(f, n, f->at_end[n]);
        changed |= hand_on(f, n, f->at_end[n]);
      }
    }
  }
}

// --- What is used too late ---------------------------------------------------

static void check_operand(sums_finder *f, LLVMValueRef operand,
                          const uint32_t *current) {
  const uint32_t set = set_of(f, operand);
  if (set != LANES_NONE && current[set] != number_of(f, operand)) {
    f->is_refused[set] = true;
  }
}

// True if an edge passes a set's value to a phi outside the set, and at the
// same time a new value to a phi in the set, which would overwrite the first
// one's place.
static bool is_replaced(const sums_finder *f, LLVMValueRef phi, uint32_t set,
                        LLVMBasicBlockRef from) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(phi);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block);
       i && LLVMIsAPHINode(i) && set_of(f, phi) != set;
       i = LLVMGetNextInstruction(i)) {
    for (unsigned k = 0; set_of(f, i) == set && k < LLVMCountIncoming(i); k++) {
      if (LLVMGetIncomingBlock(i, k) == from &&
          set_of(f, LLVMGetIncomingValue(i, k)) != set) {
        return true;
      }
    }
  }
  return false;
}

static void check_phi(sums_finder *f, LLVMValueRef phi) {
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    const uint32_t set = set_of(f, value);
    const uint32_t node = lanes_map_get(&f->e->graph->blocks, from);
    if (set == LANES_NONE || node == LANES_NONE) {
      continue;
    }
    check_operand(f, value, f->at_end[node]);
    if (is_replaced(f, phi, set, from)) {
      f->is_refused[set] = true;
    }
  }
}

// Checks that each set has one value at a time in a block; two phis of a set
// would be two values at once.
static void check_block(sums_finder *f, uint32_t n, uint32_t *current) {
  memcpy(current, f->at_start[n], f->set_count * sizeof *current);
  for (LLVMValueRef i = LLVMGetFirstInstruction(f->e->graph->nodes[n].block); i;
       i = LLVMGetNextInstruction(i)) {
    const uint32_t set = set_of(f, i);
    if (LLVMIsAPHINode(i)) {
      check_phi(f, i);
    } else {
      for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        check_operand(f, LLVMGetOperand(i, (unsigned)k), current);
      }
    }
    if (set != LANES_NONE) {
      current[set] = number_of(f, i);
    }
  }
}

static void check(sums_finder *f) {
  const lanes_graph *graph = f->e->graph;
  uint32_t *current =
      lanes_allocate(graph->arena, f->set_count + 1, sizeof *current);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (graph->nodes[n].kind == LANES_BLOCK) {
      check_block(f, n, current);
    }
  }
}

// --- Places ------------------------------------------------------------------

static void make_states(sums_finder *f) {
  const lanes_graph *graph = f->e->graph;
  f->at_start = lanes_allocate(graph->arena, graph->node_count, sizeof(void *));
  f->at_end = lanes_allocate(graph->arena, graph->node_count, sizeof(void *));
  for (uint32_t n = 0; n < graph->node_count; n++) {
    f->at_start[n] =
        lanes_allocate(graph->arena, f->set_count, sizeof(uint32_t));
    f->at_end[n] = lanes_allocate(graph->arena, f->set_count, sizeof(uint32_t));
    memset(f->at_start[n], 0xff, f->set_count * sizeof(uint32_t));
    memset(f->at_end[n], 0xff, f->set_count * sizeof(uint32_t));
  }
}

static uint32_t refused_count(const sums_finder *f) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < f->set_count; s++) {
    count += f->is_refused[s];
  }
  return count;
}

// Assigns a place in the frame to each set that can have one.
static void place_sums(sums_finder *f, uint64_t offset_bytes) {
  lanes_emitter *e = f->e;
  const uint64_t tile_bytes = LANES_TILE_ELEMENTS * sizeof(float);
  uint64_t *offsets = lanes_allocate(e->arena, f->set_count, sizeof *offsets);
  for (uint32_t s = 0; s < f->set_count; s++) {
    if (!f->is_refused[s]) {
      offsets[s] = offset_bytes + e->sums_bytes;
      e->sums_bytes += tile_bytes;
    }
  }
  e->sum_places =
      lanes_allocate(e->arena, e->values->count, sizeof *e->sum_places);
  for (uint32_t n = 0; n < e->values->count; n++) {
    if (f->leader[n] != LANES_NONE) {
      e->sum_places[n] = offsets[f->place[leader_of(f, n)]];
    }
  }
}

void lanes_sums_find(lanes_emitter *e, uint64_t offset_bytes) {
  const uint32_t count = e->values->count;
  sums_finder f = {.e = e,
                   .leader = lanes_allocate(e->arena, count, sizeof(uint32_t)),
                   .place = lanes_allocate(e->arena, count, sizeof(uint32_t))};
  join_all(&f);
  number_sets(&f);
  // Those few that registers have room for are better off there. By rows, they
  // have a place nonetheless: there they lie otherwise than threads see them.
  const bool fit = f.set_count - refused_count(&f) <= lanes_most_sums(e);
  if (fit && !lanes_multiplies_by_rows(e)) {
    return;
  }
  make_states(&f);
  follow(&f);
  check(&f);
  if (f.set_count - refused_count(&f) > 0) {
    place_sums(&f, (offset_bytes + 63) / 64 * 64);
    e->has_one_sum = fit;
    e->sums_bytes = fit ? 0 : e->sums_bytes;
  }
}
