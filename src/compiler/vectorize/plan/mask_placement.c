// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mask_placement.c: finds where masks are cleared: as close as possible above
// the nodes that write and read them. All masks cleared at the entry would be
// live from there on, which costs the square of a function's length.
//
// A node's dominators in the vector code differ from those in the thread's:
// linearised paths pass a delayed node without its former predecessors. So
// dominators are those of the plan's order. Every node has two places in it:
// its start, which a path may skip from, and its body.
#include "compiler/vectorize/plan/mask_placement.h"

#include <stdbool.h>

#include "compiler/ir/analysis/dominators.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/linearize.h"

static uint32_t start_of(uint32_t node) { return 2 * node; }

static uint32_t body_of(uint32_t node) { return 2 * node + 1; }

typedef struct order_facts {
  uint32_t *dominator;  // by position; LANES_NONE for unreachable ones
  bool changed;
} order_facts;

static void add_way(order_facts *f, uint32_t from, uint32_t to) {
  const uint32_t known = f->dominator[to];
  const uint32_t common = known == LANES_NONE
                              ? from
                              : mtlc_nearest_common(f->dominator, known, from);
  f->changed |= common != known;
  f->dominator[to] = common;
}

static void add_ways_from(const lanes_graph *graph, const lanes_plan *plan,
                          uint32_t n, order_facts *f) {
  const lanes_step *step = &plan->steps[n];
  if (graph->nodes[n].kind == LANES_LATCH) {
    add_way(f, start_of(n), body_of(graph->loops[graph->nodes[n].loop].header));
    if (step->next[0] != LANES_NONE) {
      add_way(f, start_of(n), start_of(step->next[0]));
    }
    return;
  }
  add_way(f, start_of(n), body_of(n));
  if (step->skip != LANES_NONE) {
    add_way(f, start_of(n), start_of(step->skip));
  }
  for (uint32_t k = 0; k < (step->keeps_branch ? 2 : 1); k++) {
    if (step->next[k] != LANES_NONE) {
      add_way(f, body_of(n), start_of(step->next[k]));
    }
  }
}

// Returns dominators in the order of emission: every edge but a latch's leads
// to a later position.
static uint32_t *dominators_in_order(const lanes_graph *graph,
                                     const lanes_plan *plan) {
  order_facts f = {.dominator = lanes_allocate_none(graph->arena,
                                                    2 * graph->node_count)};
  f.dominator[0] = 0;
  do {
    f.changed = false;
    for (uint32_t n = 0; n + 1 < graph->node_count; n++) {
      if (f.dominator[start_of(n)] != LANES_NONE) {
        add_ways_from(graph, plan, n, &f);
      }
    }
  } while (f.changed);
  return f.dominator;
}

static void take_place(const uint32_t *dominator, uint32_t *common,
                       uint32_t place) {
  if (dominator[place] == LANES_NONE) {
    return;  // control never gets there
  }
  *common = *common == LANES_NONE
                ? place
                : mtlc_nearest_common(dominator, *common, place);
}

// Returns the position above all writes and reads of each mask.
static uint32_t *places_above(const lanes_graph *graph, const lanes_plan *plan,
                              const uint32_t *dominator) {
  uint32_t *above = lanes_allocate_none(graph->arena, graph->node_count);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const uint32_t mask = plan->steps[n].mask;
    if (mask != LANES_NONE) {
      take_place(dominator, &above[mask], start_of(n));
    }
    const lanes_list *from = &graph->nodes[n].predecessors;
    for (uint32_t k = 0; k < from->count; k++) {
      const uint32_t p = from->items[k];
      const bool is_block = graph->nodes[p].kind == LANES_BLOCK;
      take_place(dominator, &above[n], is_block ? body_of(p) : start_of(p));
    }
  }
  return above;
}

// True if a position is in a body that runs as often as a mask must be cleared.
static bool is_in(const lanes_graph *graph, uint32_t place, uint32_t loop) {
  const lanes_node *node = &graph->nodes[place / 2];
  return place % 2 && node->kind == LANES_BLOCK && node->loop == loop;
}

static uint32_t clearing_node(const lanes_graph *graph,
                              const uint32_t *dominator, uint32_t n,
                              uint32_t place) {
  uint32_t loop = graph->nodes[n].loop;
  if (graph->nodes[n].kind == LANES_LATCH) {
    return graph->loops[loop].header;  // a guard continues at the latch
  }
  if (loop != LANES_NONE && graph->loops[loop].header == n) {
    loop = graph->loops[loop].parent;
  }
  while (place != LANES_NONE && place != 0 && !is_in(graph, place, loop)) {
    place = dominator[place];
  }
  if (place != LANES_NONE && place != 0) {
    return place / 2;
  }
  return loop == LANES_NONE ? LANES_NONE : graph->loops[loop].header;
}

void lanes_place_masks(const lanes_graph *graph, lanes_plan *plan) {
  const uint32_t *dominator = dominators_in_order(graph, plan);
  const uint32_t *above = places_above(graph, plan, dominator);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (plan->steps[n].mask == n) {
      plan->steps[n].cleared_in = clearing_node(graph, dominator, n, above[n]);
    }
  }
}
