// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linearize.c: keeps uniform branches, linearises the nodes of divergent ones,
// and decides which nodes to guard with "does any thread run this". After Moll
// and Hack, "Partial control-flow linearization" (PLDI 2018).
#include "compiler/vectorize/plan/linearize.h"

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/mask_placement.h"

// --- Masks -------------------------------------------------------------------

static bool is_divergent_header(const lanes_values *values, uint32_t node) {
  const uint32_t loop = values->graph->nodes[node].loop;
  return loop != LANES_NONE && values->graph->loops[loop].header == node &&
         values->divergent_loop[loop];
}

// Returns the nearest node above n, in the same loop, that the same threads
// run: it dominates n and every path from it reaches n or stays.
static uint32_t equivalent_above(const lanes_values *values, uint32_t n) {
  const lanes_node *nodes = values->graph->nodes;
  uint32_t above = nodes[n].dominator;
  while (above != LANES_NONE && (nodes[above].kind != LANES_BLOCK ||
                                 nodes[above].loop != nodes[n].loop)) {
    above = nodes[above].dominator;
  }
  if (above == LANES_NONE) {
    return LANES_NONE;
  }
  uint32_t below = above;
  while (below != LANES_NONE && below < n) {
    below = nodes[below].postdominator;
  }
  return below == n ? above : LANES_NONE;
}

// True if a branch stays a branch, because it is uniform. A deferred node may
// still be reached when the branch to it went the other way; only its own mask
// tells then.
static bool is_kept_branch(const lanes_values *values, uint32_t p) {
  return values->graph->nodes[p].successors.count > 1 &&
         !values->divergent_branch[p];
}

// Returns the node whose threads are exactly those that enter this one; of a
// loop's header, those of its first iteration.
static uint32_t same_entering(const lanes_values *values, uint32_t n,
                              bool *out_behind_branch) {
  *out_behind_branch = false;
  const lanes_node *node = &values->graph->nodes[n];
  if (node->kind != LANES_BLOCK) {
    return LANES_NONE;
  }
  if (node->predecessors.count == 1) {
    const uint32_t p = node->predecessors.items[0];
    if (values->graph->nodes[p].kind == LANES_BLOCK &&
        !values->divergent_branch[p] &&
        !lanes_leaves_divergent_loop(values, p, n)) {
      *out_behind_branch = is_kept_branch(values, p);
      return p;
    }
  }
  return equivalent_above(values, n);
}

static uint32_t same_threads(const lanes_values *values, uint32_t n,
                             bool *out_behind_branch) {
  *out_behind_branch = false;
  return is_divergent_header(values, n)
             ? LANES_NONE
             : same_entering(values, n, out_behind_branch);
}

static void choose_masks(const lanes_values *values, lanes_plan *plan) {
  for (uint32_t n = 0; n < values->graph->node_count; n++) {
    lanes_step *step = &plan->steps[n];
    step->mask = LANES_NONE;
    step->behind_kept_branch = false;
    if (!values->masked[n]) {
      continue;
    }
    bool behind = false;
    const uint32_t same = same_threads(values, n, &behind);
    behind |= same != LANES_NONE && plan->steps[same].behind_kept_branch;
    if (same == LANES_NONE || (behind && lanes_set_has(plan->deferred, n))) {
      step->mask = n;
    } else {
      step->mask = plan->steps[same].mask;
      step->behind_kept_branch = behind;
    }
  }
}

// --- Guards ------------------------------------------------------------------

enum {
  COST_ARITHMETIC = 2,  // two 512-bit instructions
  COST_MEMORY = 8,
  COST_HEAVY = 32,
  COST_WORTH_A_TEST = 24,
};

static uint32_t cost_of(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMBr: return 1;
    case LLVMLoad:
    case LLVMStore: return COST_MEMORY;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return COST_HEAVY;
    case LLVMCall: {
      const lanes_callee callee = lanes_callee_of(i);
      if (callee == LANES_CALLEE_NOTHING || callee == LANES_CALLEE_APART) {
        return 0;
      }
      return callee == LANES_CALLEE_ELEMENTWISE ? COST_MEMORY : COST_HEAVY;
    }
    default: return COST_ARITHMETIC;
  }
}

// True if an instruction, run as scalar code, does harm where no lane runs.
static bool needs_a_thread(const lanes_values *values, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return lanes_shape_of(values, LLVMGetOperand(i, 0)).row > 1;
    case LLVMStore: return lanes_shape_of(values, LLVMGetOperand(i, 1)).row > 1;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return lanes_is_scalar(lanes_shape_of(values, i));
    case LLVMCall: {
      const lanes_callee callee = lanes_callee_of(i);
      return callee != LANES_CALLEE_NOTHING &&
             callee != LANES_CALLEE_APART &&
             callee != LANES_CALLEE_ELEMENTWISE;
    }
    default: return false;
  }
}

typedef struct node_facts {
  uint32_t cost;
  bool needs_a_thread;
} node_facts;

// True if a node passes a phi a value beyond its own lanes': only code with a
// running lane may do that.
static bool overwrites_phi(const lanes_values *values, uint32_t n) {
  const lanes_node *node = &values->graph->nodes[n];
  LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
  for (uint32_t k = 0; k < LLVMGetNumSuccessors(end); k++) {
    const uint32_t to = node->successors.items[k];
    const bool blends = values->joins[to] ||
                        values->graph->nodes[to].kind == LANES_LATCH ||
                        lanes_leaves_divergent_loop(values, n, to);
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetSuccessor(end, k));
         i && LLVMGetInstructionOpcode(i) == LLVMPHI;
         i = LLVMGetNextInstruction(i)) {
      if (!blends || lanes_width_of(lanes_shape_of(values, i)) < values->lanes) {
        return true;
      }
    }
  }
  return false;
}

static node_facts facts_of(const lanes_values *values, uint32_t n) {
  node_facts facts = {0};
  const lanes_node *node = &values->graph->nodes[n];
  if (node->kind != LANES_BLOCK) {
    return facts;
  }
  for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i;
       i = LLVMGetNextInstruction(i)) {
    facts.cost += cost_of(i);
    facts.needs_a_thread |= needs_a_thread(values, i);
  }
  const bool heads_loop =
      node->loop != LANES_NONE && values->graph->loops[node->loop].header == n;
  if (heads_loop) {
    facts.cost += COST_HEAVY;
  }
  facts.needs_a_thread |=
      heads_loop || node->ends_thread || overwrites_phi(values, n) ||
      (node->successors.count > 1 && !values->divergent_branch[n]);
  return facts;
}

// Returns the last of the nodes that n dominates, which are adjacent. If n
// heads a loop, its latch is excluded.
static uint32_t region_end(const lanes_graph *graph, uint32_t n) {
  uint32_t end = n;
  while (end + 1 < graph->node_count && lanes_dominates(graph, n, end + 1)) {
    const lanes_node *next = &graph->nodes[end + 1];
    if (next->kind == LANES_LATCH && graph->loops[next->loop].header < n) {
      break;
    }
    end++;
  }
  return end;
}

static uint32_t region_cost(const lanes_graph *graph, const node_facts *facts,
                            uint32_t n) {
  uint32_t cost = facts[n].cost;
  for (uint32_t i = n + 1; cost < COST_WORTH_A_TEST && i < graph->node_count &&
                           lanes_dominates(graph, n, i);
       i++) {
    cost += facts[i].cost;
  }
  return cost;
}

// True for the header of a divergent loop that is never reached without active
// threads. A guard would be useless, and harmful: skipping the loop would defer
// the code behind it, which all threads run without a mask.
static bool enters_with_threads(const lanes_values *values,
                                const lanes_plan *plan, const bool *has_thread,
                                uint32_t n) {
  bool behind = false;
  const uint32_t from = is_divergent_header(values, n)
                            ? same_entering(values, n, &behind)
                            : LANES_NONE;
  return from != LANES_NONE && has_thread[from] &&
         !lanes_set_has(plan->deferred, n);
}

// Sets skip, for the nodes to guard, to something other than LANES_NONE.
static void choose_guards(const lanes_values *values, lanes_plan *plan) {
  const lanes_graph *graph = values->graph;
  node_facts *facts =
      lanes_allocate(values->arena, graph->node_count, sizeof *facts);
  bool *has_thread = lanes_allocate(values->arena, graph->node_count, 1);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    facts[n] = facts_of(values, n);
  }
  for (uint32_t n = 0; n < graph->node_count; n++) {
    lanes_step *step = &plan->steps[n];
    const uint32_t mask = step->mask;
    step->skip = LANES_NONE;
    has_thread[n] = mask == LANES_NONE || (mask != n && has_thread[mask]) ||
                    enters_with_threads(values, plan, has_thread, n);
    step->has_thread = has_thread[n];
    if (has_thread[n] || graph->nodes[n].kind != LANES_BLOCK) {
      continue;
    }
    if (facts[n].needs_a_thread ||
        region_cost(graph, facts, n) >= COST_WORTH_A_TEST) {
      step->skip = n;
      has_thread[n] = true;
    }
    step->has_thread = has_thread[n];
  }
}

// --- Order -------------------------------------------------------------------

// Adds to a sorted list.
static void add_rising(mtli_arena *arena, lanes_list *list, uint32_t item) {
  uint32_t at = list->count;
  while (at > 0 && list->items[at - 1] > item) {
    at--;
  }
  if (at > 0 && list->items[at - 1] == item) {
    return;
  }
  lanes_list_add(arena, list, item);
  for (uint32_t i = list->count - 1; i > at; i--) {
    list->items[i] = list->items[i - 1];
  }
  list->items[at] = item;
}

// Defers the nodes of a sorted list from a node on. True if any is new.
static bool defer(const lanes_values *values, lanes_plan *plan, uint32_t n,
                  const uint32_t *items, uint32_t count) {
  lanes_list *known = &plan->steps[n].deferred;
  lanes_list all = {0};
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (; at < known->count && known->items[at] < items[i]; at++) {
      lanes_list_add(values->arena, &all, known->items[at]);
    }
    at += at < known->count && known->items[at] == items[i];
    lanes_list_add(values->arena, &all, items[i]);
  }
  for (; at < known->count; at++) {
    lanes_list_add(values->arena, &all, known->items[at]);
  }
  const bool changed = all.count > known->count;
  *known = all;
  return changed;
}

// Returns the first of a sorted list as the next node; the rest stays deferred.
static uint32_t go_on(const lanes_values *values, lanes_plan *plan,
                      lanes_list targets, bool *changed) {
  if (targets.count == 0) {
    return LANES_NONE;
  }
  const uint32_t next = targets.items[0];
  *changed |=
      defer(values, plan, next, targets.items + 1, targets.count - 1);
  return next;
}

static lanes_list copy_deferred(const lanes_values *values,
                                const lanes_plan *plan, uint32_t n) {
  lanes_list copy = {0};
  for (uint32_t i = 0; i < plan->steps[n].deferred.count; i++) {
    lanes_list_add(values->arena, &copy, plan->steps[n].deferred.items[i]);
  }
  return copy;
}

// Skips a node together with all that it dominates. No node in there can be
// deferred at that time: nodes that threads defer when they leave the loop that
// the node heads exist only after the loop has run.
static uint32_t skip_region(const lanes_values *values, lanes_plan *plan,
                            uint32_t n, bool *changed) {
  const lanes_graph *graph = values->graph;
  const uint32_t end = region_end(graph, n);
  const lanes_list *deferred = &plan->steps[n].deferred;
  lanes_list targets = {0};
  for (uint32_t i = 0; i < deferred->count; i++) {
    if (deferred->items[i] < n || deferred->items[i] > end) {
      lanes_list_add(values->arena, &targets, deferred->items[i]);
    }
  }
  for (uint32_t i = n; i <= end; i++) {
    for (uint32_t k = 0; k < graph->nodes[i].successors.count; k++) {
      if (graph->nodes[i].successors.items[k] > end) {
        add_rising(values->arena, &targets,
                   graph->nodes[i].successors.items[k]);
      }
    }
  }
  const uint32_t next = go_on(values, plan, targets, changed);
  return next == LANES_NONE ? graph->node_count - 1 : next;
}

static void order_block(const lanes_values *values, lanes_plan *plan,
                        uint32_t n, bool *changed) {
  const lanes_list *to = &values->graph->nodes[n].successors;
  lanes_step *step = &plan->steps[n];
  step->keeps_branch = to->count == 2 && !values->divergent_branch[n];
  if (step->keeps_branch) {
    for (uint32_t k = 0; k < 2; k++) {
      lanes_list targets = copy_deferred(values, plan, n);
      add_rising(values->arena, &targets, to->items[k]);
      step->next[k] = go_on(values, plan, targets, changed);
    }
    return;
  }
  lanes_list targets = copy_deferred(values, plan, n);
  for (uint32_t k = 0; k < to->count; k++) {
    add_rising(values->arena, &targets, to->items[k]);
  }
  step->next[0] = go_on(values, plan, targets, changed);
}

static void order_latch(const lanes_values *values, lanes_plan *plan,
                        uint32_t n, bool *changed) {
  const lanes_loop *loop = &values->graph->loops[values->graph->nodes[n].loop];
  const lanes_list deferred = copy_deferred(values, plan, n);
  *changed |=
      defer(values, plan, loop->header, deferred.items, deferred.count);
  plan->steps[n].next[0] = go_on(values, plan, deferred, changed);
}

static void order_nodes(const lanes_values *values, lanes_plan *plan) {
  const uint32_t count = values->graph->node_count;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n + 1 < count; n++) {
      lanes_step *step = &plan->steps[n];
      if (values->graph->nodes[n].kind == LANES_LATCH) {
        order_latch(values, plan, n, &changed);
        continue;
      }
      if (step->skip != LANES_NONE) {
        step->skip = skip_region(values, plan, n, &changed);
      }
      order_block(values, plan, n, &changed);
    }
  }
}

// True if a latch may run without an active thread: it was deferred, a block
// before it runs without threads, or one was skipped.
static bool may_be_empty(const lanes_graph *graph, const lanes_plan *plan,
                         uint32_t n) {
  bool may = lanes_set_has(plan->deferred, n);
  const lanes_list *from = &graph->nodes[n].predecessors;
  for (uint32_t i = 0; i < from->count; i++) {
    may |= !plan->steps[from->items[i]].has_thread;
  }
  for (uint32_t i = 0; i < n && !may; i++) {
    may = plan->steps[i].skip == n;
  }
  return may;
}

static void find_empty_latches(const lanes_values *values, lanes_plan *plan) {
  const lanes_graph *graph = values->graph;
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const lanes_node *node = &graph->nodes[n];
    plan->steps[n].may_be_empty =
        node->kind == LANES_LATCH && !values->divergent_loop[node->loop] &&
        plan->steps[n].mask == n && may_be_empty(graph, plan, n);
  }
}

// Plans twice: first with a mask for every node that might be deferred, then
// only for those that were. Fewer masks mean fewer guards, which defer fewer
// nodes.
void lanes_plan_make(const lanes_values *values, lanes_plan *out_plan) {
  const uint32_t count = values->graph->node_count;
  out_plan->steps =
      lanes_allocate(values->arena, count, sizeof *out_plan->steps);
  out_plan->deferred = lanes_set_make(values->arena, count);
  for (uint32_t n = 0; n < count; n++) {
    lanes_set_add(out_plan->deferred, n);
  }
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t n = 0; n < count; n++) {
      out_plan->steps[n].deferred = (lanes_list){0};
    }
    choose_masks(values, out_plan);
    choose_guards(values, out_plan);
    order_nodes(values, out_plan);
    out_plan->deferred = lanes_set_make(values->arena, count);
    for (uint32_t n = 0; n < count; n++) {
      lanes_set_add_all(out_plan->deferred, &out_plan->steps[n].deferred);
    }
  }
  lanes_place_masks(values->graph, out_plan);
  find_empty_latches(values, out_plan);
}
