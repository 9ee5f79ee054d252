// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// graph.c: copies a function's control flow, finds its loops, orders it and
// computes dominance.
#include "compiler/vectorize/analysis/graph.h"

#include <string.h>

#include "compiler/ir/analysis/dominators.h"
#include "compiler/vectorize/base/tables.h"

// The graph before nodes have an order: blocks in reverse post-order.
typedef struct draft {
  mtli_arena *arena;
  LLVMBasicBlockRef *blocks;  // [block_count]
  uint32_t block_count;
  lanes_map numbers;
  lanes_list *successors;    // [block_count]
  lanes_list *predecessors;  // [block_count]
  uint32_t *dominator;       // [block_count]
  uint32_t *loop;            // [block_count]
  lanes_loop *loops;
  uint32_t loop_count;
} draft;

static uint32_t successor_count(LLVMBasicBlockRef block) {
  return LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(block));
}

static LLVMBasicBlockRef successor(LLVMBasicBlockRef block, uint32_t i) {
  return LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), i);
}

// Depth-first without recursion: kernels may have many thousand blocks.
static void number_blocks(draft *d, LLVMValueRef function) {
  const uint32_t count = LLVMCountBasicBlocks(function);
  LLVMBasicBlockRef *stack = lanes_allocate(d->arena, count, sizeof *stack);
  uint32_t *next = lanes_allocate(d->arena, count, sizeof *next);
  LLVMBasicBlockRef *finished = lanes_allocate(d->arena, count, sizeof *stack);
  lanes_map seen = {0};
  uint32_t depth = 0;
  uint32_t finished_count = 0;
  stack[depth++] = LLVMGetEntryBasicBlock(function);
  lanes_map_set(d->arena, &seen, stack[0], 1);
  while (depth) {
    LLVMBasicBlockRef top = stack[depth - 1];
    if (next[depth - 1] == successor_count(top)) {
      finished[finished_count++] = top;
      depth--;
      continue;
    }
    LLVMBasicBlockRef to = successor(top, next[depth - 1]++);
    if (lanes_map_get(&seen, to) == LANES_NONE) {
      lanes_map_set(d->arena, &seen, to, 1);
      next[depth] = 0;
      stack[depth++] = to;
    }
  }
  d->block_count = finished_count;
  d->blocks = lanes_allocate(d->arena, finished_count, sizeof *d->blocks);
  for (uint32_t i = 0; i < finished_count; i++) {
    d->blocks[i] = finished[finished_count - 1 - i];
    lanes_map_set(d->arena, &d->numbers, d->blocks[i], i);
  }
}

static void copy_edges(draft *d) {
  const uint32_t count = d->block_count;
  d->successors = lanes_allocate(d->arena, count, sizeof *d->successors);
  d->predecessors = lanes_allocate(d->arena, count, sizeof *d->predecessors);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < successor_count(d->blocks[i]); k++) {
      const uint32_t to =
          lanes_map_get(&d->numbers, successor(d->blocks[i], k));
      lanes_list_add(d->arena, &d->successors[i], to);
      lanes_list_add(d->arena, &d->predecessors[to], i);
    }
  }
}

static void find_dominators(draft *d) {
  d->dominator = lanes_allocate_none(d->arena, d->block_count);
  d->dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < d->block_count; i++) {
      uint32_t found = LANES_NONE;
      for (uint32_t k = 0; k < d->predecessors[i].count; k++) {
        const uint32_t from = d->predecessors[i].items[k];
        if (d->dominator[from] == LANES_NONE) {
          continue;
        }
        found = found == LANES_NONE
                    ? from
                    : mtlc_nearest_common(d->dominator, found, from);
      }
      changed |= d->dominator[i] != found;
      d->dominator[i] = found;
    }
  }
}

static bool draft_dominates(const draft *d, uint32_t above, uint32_t below) {
  while (below > above) {
    below = d->dominator[below];
  }
  return below == above;
}

// Marks the blocks of one natural loop, from its back edges upwards. Loops
// are visited from the last header to the first, so inner ones come first and
// a block keeps the first loop that claims it.
static void claim_blocks(draft *d, uint32_t loop, lanes_list *work) {
  const uint32_t header = d->loops[loop].header;
  lanes_set seen = lanes_set_make(d->arena, d->block_count);
  lanes_set_add(seen, header);
  while (work->count) {
    const uint32_t block = work->items[--work->count];
    if (lanes_set_has(seen, block)) {
      continue;
    }
    lanes_set_add(seen, block);
    for (uint32_t k = 0; k < d->predecessors[block].count; k++) {
      lanes_list_add(d->arena, work, d->predecessors[block].items[k]);
    }
  }
  for (uint32_t i = lanes_set_next(seen, 0); i != LANES_NONE;
       i = lanes_set_next(seen, i + 1)) {
    if (d->loop[i] == LANES_NONE) {
      d->loop[i] = loop;
      continue;
    }
    uint32_t inner = d->loop[i];
    while (d->loops[inner].parent != LANES_NONE) {
      inner = d->loops[inner].parent;
    }
    if (inner != loop) {
      d->loops[inner].parent = loop;
    }
  }
}

static void find_loops(draft *d) {
  d->loop = lanes_allocate_none(d->arena, d->block_count);
  d->loops = lanes_allocate(d->arena, d->block_count, sizeof *d->loops);
  for (uint32_t header = d->block_count; header-- > 0;) {
    lanes_list work = {0};
    for (uint32_t k = 0; k < d->predecessors[header].count; k++) {
      const uint32_t from = d->predecessors[header].items[k];
      if (draft_dominates(d, header, from)) {
        lanes_list_add(d->arena, &work, from);
      }
    }
    if (work.count) {
      const uint32_t loop = d->loop_count++;
      d->loops[loop] = (lanes_loop){.header = header,
                                    .parent = LANES_NONE,
                                    .back_edge_count = work.count};
      claim_blocks(d, loop, &work);
    }
  }
}

// --- The acyclic graph, before it is ordered: blocks, latches, exit ----------

static bool loop_holds(const lanes_loop *loops, uint32_t inner,
                       uint32_t outer) {
  while (inner != LANES_NONE && inner != outer) {
    inner = loops[inner].parent;
  }
  return inner == outer;
}

static void add_once(mtli_arena *arena, lanes_list *list, uint32_t item) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->items[i] == item) {
      return;
    }
  }
  lanes_list_add(arena, list, item);
}

// Lists an edge's target as an exit of every loop that the edge leaves.
static void add_latch_exits(draft *d, lanes_node *nodes, uint32_t from,
                            uint32_t to) {
  for (uint32_t loop = d->loop[from]; loop != LANES_NONE;
       loop = d->loops[loop].parent) {
    if (loop_holds(d->loops, d->loop[to], loop)) {
      break;
    }
    // An edge back to an outer header goes to the outer latch.
    uint32_t target = to;
    for (uint32_t outer = d->loops[loop].parent; outer != LANES_NONE;
         outer = d->loops[outer].parent) {
      if (d->loops[outer].header == to) {
        target = d->block_count + outer;
      }
    }
    add_once(d->arena, &nodes[d->block_count + loop].successors, target);
  }
}

static lanes_node *make_nodes(draft *d) {
  const uint32_t exit = d->block_count + d->loop_count;
  lanes_node *nodes = lanes_allocate(d->arena, exit + 1, sizeof *nodes);
  for (uint32_t i = 0; i < d->block_count; i++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(d->blocks[i]);
    nodes[i] = (lanes_node){
        .kind = LANES_BLOCK,
        .block = d->blocks[i],
        .loop = d->loop[i],
        .ends_thread = LLVMGetInstructionOpcode(end) == LLVMUnreachable};
  }
  for (uint32_t i = 0; i < d->loop_count; i++) {
    nodes[d->block_count + i] = (lanes_node){.kind = LANES_LATCH, .loop = i};
  }
  nodes[exit] = (lanes_node){.kind = LANES_EXIT, .loop = LANES_NONE};
  for (uint32_t i = 0; i < d->block_count; i++) {
    for (uint32_t k = 0; k < d->successors[i].count; k++) {
      const uint32_t to = d->successors[i].items[k];
      uint32_t target = to;
      for (uint32_t loop = d->loop[i]; loop != LANES_NONE;
           loop = d->loops[loop].parent) {
        if (d->loops[loop].header == to) {
          target = d->block_count + loop;
        }
      }
      lanes_list_add(d->arena, &nodes[i].successors, target);
      add_latch_exits(d, nodes, i, to);
    }
    if (!d->successors[i].count && !nodes[i].ends_thread) {
      lanes_list_add(d->arena, &nodes[i].successors, exit);
    }
  }
  for (uint32_t i = 0; i < d->loop_count; i++) {
    if (!nodes[d->block_count + i].successors.count) {
      lanes_list_add(d->arena, &nodes[d->block_count + i].successors, exit);
    }
  }
  return nodes;
}

static uint32_t *count_ways_in(mtli_arena *arena, const lanes_node *nodes,
                               uint32_t count) {
  uint32_t *ways = lanes_allocate(arena, count, sizeof *ways);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < nodes[i].successors.count; k++) {
      ways[nodes[i].successors.items[k]]++;
    }
  }
  return ways;
}

// Sorts topologically by Kahn's algorithm. Returns how many nodes were placed:
// fewer than all if there is a cycle.
static uint32_t order_somehow(mtli_arena *arena, const lanes_node *nodes,
                              uint32_t count, uint32_t *out_order) {
  uint32_t *missing = count_ways_in(arena, nodes, count);
  uint32_t placed = 0;
  lanes_list ready = {0};
  lanes_list_add(arena, &ready, 0);
  while (ready.count) {
    const uint32_t node = ready.items[--ready.count];
    out_order[placed++] = node;
    for (uint32_t k = nodes[node].successors.count; k-- > 0;) {
      const uint32_t to = nodes[node].successors.items[k];
      if (--missing[to] == 0) {
        lanes_list_add(arena, &ready, to);
      }
    }
  }
  // The exit of a function that never returns has no predecessor.
  if (placed == count - 1 && missing[count - 1] == 0) {
    out_order[placed++] = count - 1;
  }
  return placed;
}

// Returns immediate dominators, as positions in an order; LANES_NONE for nodes
// without a predecessor.
static uint32_t *dominators_in(mtli_arena *arena, const lanes_node *nodes,
                               uint32_t count, const uint32_t *order,
                               const uint32_t *place) {
  uint32_t *dominator = lanes_allocate_none(arena, count);
  for (uint32_t i = 0; i < count; i++) {
    const lanes_list *to = &nodes[order[i]].successors;
    for (uint32_t k = 0; k < to->count; k++) {
      uint32_t *known = &dominator[place[to->items[k]]];
      *known =
          *known == LANES_NONE ? i : mtlc_nearest_common(dominator, *known, i);
    }
  }
  return dominator;
}

// Orders the nodes so that all nodes that one dominates stand right after it. A
// node that may come next is kept with its dominator, and taken once everything
// below the dominator's earlier children is placed. Sets the dominators.
static uint32_t order_nodes(mtli_arena *arena, lanes_node *nodes,
                            uint32_t count, uint32_t *out_order) {
  uint32_t *first = lanes_allocate(arena, count, sizeof *first);
  const uint32_t placed = order_somehow(arena, nodes, count, first);
  if (placed != count) {
    return placed;
  }
  uint32_t *place = lanes_allocate(arena, count, sizeof *place);
  for (uint32_t i = 0; i < count; i++) {
    place[first[i]] = i;
  }
  const uint32_t *dominator = dominators_in(arena, nodes, count, first, place);
  uint32_t *missing = count_ways_in(arena, nodes, count);
  lanes_list *ready = lanes_allocate(arena, count, sizeof *ready);
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    lanes_node *node = &nodes[first[at]];
    out_order[i] = first[at];
    // A node without a predecessor counts as a child of the first node.
    node->dominator =
        at == 0 ? LANES_NONE
                : first[dominator[at] == LANES_NONE ? 0 : dominator[at]];
    for (uint32_t k = node->successors.count; k-- > 0;) {
      const uint32_t to = node->successors.items[k];
      if (--missing[to] == 0) {
        lanes_list_add(arena, &ready[dominator[place[to]]], place[to]);
      }
    }
    while (!ready[at].count && dominator[at] != LANES_NONE) {
      at = dominator[at];
    }
    at = ready[at].count ? ready[at].items[--ready[at].count]
                         : count - 1;  // the exit, if it has no predecessor
  }
  return count;
}

static void rename_all(lanes_list *list, const uint32_t *place) {
  for (uint32_t i = 0; i < list->count; i++) {
    list->items[i] = place[list->items[i]];
  }
}

// Moves the exit to the end, so that any code can be deferred to before it.
static void move_exit_last(uint32_t *order, uint32_t count, uint32_t exit) {
  uint32_t at = 0;
  while (order[at] != exit) {
    at++;
  }
  memmove(order + at, order + at + 1, (count - at - 1) * sizeof *order);
  order[count - 1] = exit;
}

static void apply_order(draft *d, const lanes_node *nodes, uint32_t *order,
                        lanes_graph *graph) {
  const uint32_t count = graph->node_count;
  uint32_t *place = lanes_allocate(d->arena, count, sizeof *place);
  move_exit_last(order, count, count - 1);
  graph->nodes = lanes_allocate(d->arena, count, sizeof *graph->nodes);
  for (uint32_t i = 0; i < count; i++) {
    place[order[i]] = i;
    graph->nodes[i] = nodes[order[i]];
  }
  for (uint32_t i = 0; i < count; i++) {
    lanes_node *node = &graph->nodes[i];
    rename_all(&node->successors, place);
    node->dominator = i == 0 ? LANES_NONE : place[node->dominator];
    for (uint32_t k = 0; k < node->successors.count; k++) {
      lanes_list_add(d->arena,
                     &graph->nodes[node->successors.items[k]].predecessors, i);
    }
    if (node->kind == LANES_BLOCK) {
      lanes_map_set(d->arena, &graph->blocks, node->block, i);
    }
  }
  for (uint32_t i = 0; i < d->loop_count; i++) {
    d->loops[i].header = place[d->loops[i].header];
    d->loops[i].latch = place[d->block_count + i];
  }
  graph->loops = d->loops;
  graph->loop_count = d->loop_count;
}

// --- Dominance of the ordered graph ------------------------------------------

static void count_dominated(lanes_graph *graph) {
  for (uint32_t i = graph->node_count; i-- > 0;) {
    lanes_node *node = &graph->nodes[i];
    node->dominated_count++;
    if (node->last_dominated < i) {
      node->last_dominated = i;
    }
    if (i > 0) {
      lanes_node *above = &graph->nodes[node->dominator];
      above->dominated_count += node->dominated_count;
      if (above->last_dominated < node->last_dominated) {
        above->last_dominated = node->last_dominated;
      }
    }
  }
}

// Finds postdominators. Blocks that end in `unreachable` do not count: a thread
// there has trapped, and has ended all others with it.
static void find_node_postdominators(lanes_graph *graph) {
  for (uint32_t i = graph->node_count; i-- > 0;) {
    const lanes_list *to = &graph->nodes[i].successors;
    uint32_t found = LANES_NONE;
    for (uint32_t k = 0; k < to->count; k++) {
      uint32_t other = to->items[k];
      const bool leaves = graph->nodes[other].kind == LANES_EXIT ||
                          graph->nodes[other].postdominator != LANES_NONE;
      if (!leaves) {
        continue;
      }
      while (found != LANES_NONE && found != other) {
        if (found < other) {
          found = graph->nodes[found].postdominator;
        } else {
          other = graph->nodes[other].postdominator;
        }
      }
      found = other;
    }
    graph->nodes[i].postdominator = found;
  }
}

bool lanes_graph_build(LLVMValueRef function, mtli_arena *arena,
                       lanes_graph *out_graph) {
  draft d = {.arena = arena};
  number_blocks(&d, function);
  copy_edges(&d);
  find_dominators(&d);
  find_loops(&d);
  *out_graph = (lanes_graph){.arena = arena,
                             .node_count = d.block_count + d.loop_count + 1};
  lanes_node *nodes = make_nodes(&d);
  uint32_t *order = lanes_allocate(arena, out_graph->node_count, sizeof *order);
  if (order_nodes(arena, nodes, out_graph->node_count, order) !=
      out_graph->node_count) {
    return false;
  }
  apply_order(&d, nodes, order, out_graph);
  count_dominated(out_graph);
  find_node_postdominators(out_graph);
  return true;
}

bool lanes_in_loop(const lanes_graph *graph, uint32_t node, uint32_t loop) {
  return loop_holds(graph->loops, graph->nodes[node].loop, loop);
}

bool lanes_has_inner_loop(const lanes_graph *graph, uint32_t loop) {
  for (uint32_t i = 0; i < graph->loop_count; i++) {
    if (graph->loops[i].parent == loop) {
      return true;
    }
  }
  return false;
}

bool lanes_dominates(const lanes_graph *graph, uint32_t above, uint32_t below) {
  // The exit was moved to the end, away from the nodes of its dominator.
  const lanes_node *node = &graph->nodes[above];
  if (node->last_dominated - above + 1 == node->dominated_count) {
    return above <= below && below <= node->last_dominated;
  }
  while (below > above) {
    below = graph->nodes[below].dominator;
  }
  return below == above;
}

uint32_t lanes_common_loop(const lanes_graph *graph, uint32_t a, uint32_t b) {
  uint32_t loop = graph->nodes[a].loop;
  while (loop != LANES_NONE && !lanes_in_loop(graph, b, loop)) {
    loop = graph->loops[loop].parent;
  }
  return loop;
}
