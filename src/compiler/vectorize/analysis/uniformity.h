// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// uniformity.h: which values and which control flow the threads of a simdgroup
// share.
#ifndef MTLC_UNIFORMITY_H
#define MTLC_UNIFORMITY_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "code/group_class.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/tables.h"

// Private memory: an alloca of the thread function, one copy for each thread,
// or one copy if all threads keep the same in it.
typedef struct lanes_private {
  LLVMValueRef alloca_instruction;
  uint64_t size_bytes;    // of one thread's copy
  bool is_shared;         // there is one copy
  uint32_t unit_bytes;    // 1, 2, 4, 8: the copies are interleaved in units of
                          // this size; 0: they follow one another
  uint64_t offset_bytes;  // from the start of the simdgroup's private memory
} lanes_private;

typedef struct lanes_values {
  mtli_arena *arena;
  const lanes_graph *graph;
  LLVMTargetDataRef data;
  uint8_t lanes;  // of a vector: MOST_LANES, or half of them (width.h)
  uint8_t row;    // threads of a row of the threadgroup that share a simdgroup:
                  // 32, 16, 8 or 4, or 1 if nothing is known
  bool is_exact;  // each row has exactly that length (group_class.h)
  bool is_even;   // each row begins at a multiple of that length in the grid

  lanes_map numbers;    // instruction to number
  LLVMValueRef *items;  // [count], in emission order
  uint32_t *nodes;      // [count] the node that each is in
  lanes_shape *shapes;  // [count]
  uint32_t count;

  lanes_private *privates;  // [private_count]
  uint32_t private_count;
  uint64_t private_bytes;  // of a simdgroup, a multiple of 64
  uint32_t *private_of;    // [count] the private memory that an alloca or an
                           // address inside it belongs to, or LANES_NONE

  bool *divergent_branch;  // [node_count] threads may go both ways
  bool *joins;             // [node_count] threads that parted may meet here
  bool *masked;            // [node_count] some of the threads that entered the
                           // function may be missing
  bool *divergent_loop;    // [loop_count] threads may leave it at different
                           // times or through different exits
  uint64_t *pending;  // [node_count] bits, scratch of lanes_spread_divergence
} lanes_values;

// Numbers the instructions of the graph's blocks and fills in all of the above:
// for vectors of `lanes` lanes, and rows of `row` threads in threadgroups of
// that class.
void lanes_values_find(const lanes_graph *graph, LLVMTargetDataRef data,
                       uint8_t lanes, uint8_t row,
                       const mtli_group_class *group_class,
                       lanes_values *out_values);

// Returns the shape of an operand: an instruction or a constant.
lanes_shape lanes_shape_of(const lanes_values *values, LLVMValueRef operand);

// True if a load or a store is neither volatile nor atomic.
bool lanes_is_plain(LLVMValueRef access);
// True if a load or store is plain or relaxed atomic.
bool lanes_is_ordinary(LLVMValueRef access);
// True if a load reads one element for each segment of lanes.
bool lanes_loads_by_segments(LLVMValueRef load, lanes_shape address);

// Returns the factor of a getelementptr's offsets.
uint32_t lanes_offset_scale(const lanes_values *values, LLVMValueRef address);

// True if an edge between nodes leaves a loop that threads leave at
// different times.
bool lanes_leaves_divergent_loop(const lanes_values *values, uint32_t from,
                                 uint32_t to);

// Marks the effects of a divergent branch: joins, masked nodes and divergent
// loops. way is scratch, [node_count] of LANES_NONE on entry and on return.
void lanes_spread_divergence(lanes_values *values, uint32_t branch,
                             uint32_t *way);
// Marks the nodes of divergent loops as masked. Call it once all branches are
// known.
void lanes_mask_divergent_loops(lanes_values *values);
// True if threads diverge on the paths to a phi and meet again there.
bool lanes_diverges_before(const lanes_values *values, uint32_t node);
// True if a value leaves a loop for a node while other threads still
// compute it.
bool lanes_is_temporal(const lanes_values *values, LLVMValueRef value,
                       uint32_t to);

#endif
