// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cycles.c: nested cycles by Tarjan's algorithm (Depth-first search and linear
// graph algorithms, 1972): the strongly connected components of a region in
// topological order, then those of each component without the edges to its
// header, and so on.
#include "compiler/ir/analysis/cycles.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The state of a block in the search; indices are those of mtlc_flow.blocks.
typedef struct node {
  unsigned *successors;  // [successor_count]
  unsigned successor_count;
  unsigned region;    // the search that includes it
  uint32_t preorder;  // 0 before it is reached
  uint32_t low;
  bool is_stacked;
} node;

typedef struct search {
  mtlc_flow *flow;
  node *nodes;      // [block_count]
  unsigned *stack;  // [block_count] Tarjan's, shared by nested searches
  size_t stack_count;
  unsigned next_region;
  uint32_t next_order;
} search;

// One region's search; components come in reverse order.
typedef struct region {
  search *all;
  unsigned id;
  int header;  // edges to it do not count; -1 for none
  uint32_t next_preorder;
  unsigned *members;  // components one after the other
  size_t member_count;
  size_t *ends;  // [component_count] where each ends in members
  size_t component_count;
} region;

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory) {
    abort();  // as in module.c: the compiler's process ends, and says so
  }
  return memory;
}

static void close_component(region *r, unsigned index) {
  search *all = r->all;
  unsigned member;
  do {
    member = all->stack[--all->stack_count];
    all->nodes[member].is_stacked = false;
    r->members[r->member_count++] = member;
  } while (member != index);
  r->ends[r->component_count++] = r->member_count;
}

static void visit(region *r, unsigned index) {
  search *all = r->all;
  node *here = &all->nodes[index];
  here->preorder = here->low = ++r->next_preorder;
  here->is_stacked = true;
  all->stack[all->stack_count++] = index;
  for (unsigned i = 0; i < here->successor_count; ++i) {
    const unsigned next = here->successors[i];
    node *there = &all->nodes[next];
    if (there->region != r->id || (int)next == r->header) {
      continue;
    }
    if (there->preorder == 0) {
      visit(r, next);
      here->low = there->low < here->low ? there->low : here->low;
    } else if (there->is_stacked && there->preorder < here->low) {
      here->low = there->preorder;
    }
  }
  if (here->low == here->preorder) {
    close_component(r, index);
  }
}

static void search_region(search *all, const unsigned *members, size_t count,
                          unsigned entry, bool is_cycle, int cycle);

static bool is_own_successor(const node *n, unsigned index) {
  for (unsigned i = 0; i < n->successor_count; ++i) {
    if (n->successors[i] == index) {
      return true;
    }
  }
  return false;
}

static unsigned first_reached(const search *all, const unsigned *members,
                              size_t count) {
  unsigned first = members[0];
  for (size_t i = 1; i < count; ++i) {
    if (all->nodes[members[i]].preorder < all->nodes[first].preorder) {
      first = members[i];
    }
  }
  return first;
}

static void take_component(search *all, const unsigned *members, size_t count,
                           int header, int cycle) {
  mtlc_flow *flow = all->flow;
  const unsigned entry = first_reached(all, members, count);
  const bool turns = (int)entry != header &&
                     (count > 1 || is_own_successor(&all->nodes[entry], entry));
  if (!turns) {
    flow->blocks[entry].order = ++all->next_order;
    flow->blocks[entry].cycle = cycle;
    return;
  }
  const int inner = (int)flow->cycle_count++;
  flow->cycles[inner] = (mtlc_cycle){flow->blocks[entry].block, cycle};
  search_region(all, members, count, entry, true, inner);
}

static void search_region(search *all, const unsigned *members, size_t count,
                          unsigned entry, bool is_cycle, int cycle) {
  region r = {.all = all,
              .id = ++all->next_region,
              .header = is_cycle ? (int)entry : -1,
              .members = allocate(count, sizeof r.members[0]),
              .ends = allocate(count, sizeof r.ends[0])};
  for (size_t i = 0; i < count; ++i) {
    all->nodes[members[i]].region = r.id;
    all->nodes[members[i]].preorder = 0;
  }
  visit(&r, entry);
  for (size_t i = r.component_count; i > 0; --i) {
    const size_t begin = i > 1 ? r.ends[i - 2] : 0;
    take_component(all, r.members + begin, r.ends[i - 1] - begin, r.header,
                   cycle);
  }
  free(r.members);
  free(r.ends);
}

static int compare_blocks(const void *left, const void *right) {
  const uintptr_t a = (uintptr_t)((const mtlc_flow_block *)left)->block;
  const uintptr_t b = (uintptr_t)((const mtlc_flow_block *)right)->block;
  return a < b ? -1 : a > b;
}

const mtlc_flow_block *mtlc_flow_find(const mtlc_flow *flow,
                                      LLVMBasicBlockRef block) {
  const mtlc_flow_block key = {.block = block};
  return bsearch(&key, flow->blocks, flow->block_count, sizeof key,
                 compare_blocks);
}

static void list_blocks(mtlc_flow *flow, LLVMValueRef function) {
  flow->block_count = LLVMCountBasicBlocks(function);
  flow->blocks = allocate(flow->block_count, sizeof flow->blocks[0]);
  flow->cycles = allocate(flow->block_count, sizeof flow->cycles[0]);
  size_t i = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    flow->blocks[i++] = (mtlc_flow_block){block, 0, MTLC_NO_CYCLE};
  }
  qsort(flow->blocks, flow->block_count, sizeof flow->blocks[0],
        compare_blocks);
}

// Lists a block's successors. Blocks visited first come last in the order: for
// the source's order, a branch's true side and a switch's first case are
// visited last.
static void list_successors(search *all, unsigned index) {
  node *n = &all->nodes[index];
  LLVMValueRef end =
      LLVMGetBasicBlockTerminator(all->flow->blocks[index].block);
  const unsigned count = LLVMGetNumSuccessors(end);
  const unsigned first = LLVMIsASwitchInst(end) ? 1 : 0;
  n->successor_count = count;
  n->successors = allocate(count, sizeof n->successors[0]);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned from_end = (count - 1 - i + first) % count;
    n->successors[i] =
        (unsigned)(mtlc_flow_find(all->flow, LLVMGetSuccessor(end, from_end)) -
                   all->flow->blocks);
  }
}

mtlc_flow mtlc_flow_of(LLVMValueRef function) {
  mtlc_flow flow = {0};
  list_blocks(&flow, function);
  search all = {.flow = &flow,
                .nodes = allocate(flow.block_count, sizeof(node)),
                .stack = allocate(flow.block_count, sizeof(unsigned))};
  unsigned *members = allocate(flow.block_count, sizeof members[0]);
  for (unsigned i = 0; i < flow.block_count; ++i) {
    list_successors(&all, i);
    members[i] = i;
  }
  const unsigned entry =
      (unsigned)(mtlc_flow_find(&flow, LLVMGetEntryBasicBlock(function)) -
                 flow.blocks);
  search_region(&all, members, flow.block_count, entry, false, MTLC_NO_CYCLE);
  for (size_t i = 0; i < flow.block_count; ++i) {
    free(all.nodes[i].successors);
  }
  free(all.nodes);
  free(all.stack);
  free(members);
  return flow;
}

void mtlc_flow_clear(mtlc_flow *flow) {
  free(flow->blocks);
  free(flow->cycles);
  *flow = (mtlc_flow){0};
}
