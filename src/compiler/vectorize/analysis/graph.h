// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// graph.h: the control flow of the thread function as an acyclic graph in the
// order in which the vectoriser emits it.
//
// Every loop has, besides its blocks, a latch: a node without code that stands
// behind all blocks of the loop and takes the place of its header as the
// target of back edges. The latch's own successors are the targets of the
// loop's exits. One last node, the exit, follows all returns.
#ifndef MTLC_GRAPH_H
#define MTLC_GRAPH_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/vectorize/base/tables.h"

typedef enum lanes_node_kind {
  LANES_BLOCK,
  LANES_LATCH,
  LANES_EXIT,
} lanes_node_kind;

// A node's index is its place in the order: every edge leads to a larger one,
// the nodes of a loop stand together, and so do the nodes that one dominates.
typedef struct lanes_node {
  lanes_node_kind kind;
  LLVMBasicBlockRef block;  // of a LANES_BLOCK
  uint32_t loop;            // the innermost, or LANES_NONE
  lanes_list successors;    // for a block, in the order of its terminator
  lanes_list predecessors;
  uint32_t dominator;        // immediate; LANES_NONE for node 0
  uint32_t postdominator;    // immediate; LANES_NONE if control never leaves
  uint32_t dominated_count;  // nodes that it dominates, itself among them, and
  uint32_t last_dominated;   // the last of them
  bool ends_thread;          // the block ends in `unreachable`
} lanes_node;

typedef struct lanes_loop {
  uint32_t header;
  uint32_t latch;
  uint32_t parent;  // or LANES_NONE
  uint32_t back_edge_count;
} lanes_loop;

typedef struct lanes_graph {
  mtli_arena *arena;
  lanes_node *nodes;  // [node_count]
  uint32_t node_count;
  lanes_loop *loops;  // [loop_count]
  uint32_t loop_count;
  lanes_map blocks;  // basic block to node
} lanes_graph;

// Builds the graph of a function whose terminators are br, ret and
// unreachable. Returns false if a loop has more than one entry.
bool lanes_graph_build(LLVMValueRef function, mtli_arena *arena,
                       lanes_graph *out_graph);

// True if a node lies in a loop or in one nested in it; the latch does.
bool lanes_in_loop(const lanes_graph *graph, uint32_t node, uint32_t loop);

bool lanes_has_inner_loop(const lanes_graph *graph, uint32_t loop);

bool lanes_dominates(const lanes_graph *graph, uint32_t above, uint32_t below);

// Returns the innermost loop that contains both nodes, or LANES_NONE.
uint32_t lanes_common_loop(const lanes_graph *graph, uint32_t a, uint32_t b);

#endif
