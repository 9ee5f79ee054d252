// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// register_tiling.h: a loop that goes round in parts (register_tiling.c), while
// it is taken apart.
#ifndef MTLC_REGISTER_TILING_H
#define MTLC_REGISTER_TILING_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_PIECES = 16,
  MOST_KEPT = 256,
  MOST_SIDE_BY_SIDE = 8,
  MOST_STEPS = 4,  // of arithmetic from one turn to the next
  // Units whose order is the same, divided by this, work with the same.
  LANES_UNIT_ROW = MOST_KEPT * MOST_PIECES,
  // Of the machine's registers: what one loop of those that it becomes keeps.
  // The rest is for what it works with.
  LANES_PART_PERCENT = 62,
};

// An instruction of the loop.
typedef struct lanes_item {
  LLVMValueRef value;
  bool is_kept;  // hangs on what is kept: made in pieces alone
  bool is_counted;
  LLVMValueRef whole;                // its copy in the loop being made, or NULL
  LLVMValueRef pieces[MOST_PIECES];  // the same of pieces of its lanes, or NULL
  // What a phi's pieces begin with and come to. Of a bundle's phi k, while its
  // loops are made: register k of each piece, as they lie in memory.
  LLVMValueRef first[MOST_PIECES];
  LLVMValueRef last[MOST_PIECES];
} lanes_item;

// Phis whose lanes' elements lie side by side in memory.
typedef struct lanes_bundle {
  uint32_t phis[MOST_SIDE_BY_SIDE];  // [count] numbers of items
  uint32_t count;
  LLVMValueRef current;  // the phi in the loop being made
  // In front of the loop and behind it they lie so, too: at the first offsets
  // [count] of the simdgroup's frame and at the second (tiling/frames.c).
  bool is_in_frame;
  uint64_t offsets[2][MOST_SIDE_BY_SIDE];
} lanes_bundle;

// Accesses to frames (tiling/frames.c).
typedef struct lanes_frames lanes_frames;

// What stays in one register through the loop: a phi's piece, or of a bundle's
// piece the register `k` of as many as it has phis.
typedef struct lanes_unit {
  uint32_t piece;
  uint32_t bundle;  // LANES_NONE: a single phi
  uint32_t number;  // of the phi, or k
  uint64_t order;   // units that work with the same come together
  LLVMValueRef phi;
  LLVMValueRef slot;  // its memory in front of its loop and behind it
} lanes_unit;

typedef struct lanes_region {
  mtlc_kernel *kernel;
  lanes_machine machine;
  mtli_arena *arena;
  LLVMBuilderRef builder;
  LLVMBuilderRef before_builder;  // at the end of the block in front
  LLVMBasicBlockRef before;       // where control comes from
  LLVMBasicBlockRef header;
  LLVMBasicBlockRef body;  // or the header
  LLVMBasicBlockRef behind;
  lanes_item *items;  // [count]
  uint32_t count;
  lanes_map numbers;         // of instructions
  uint32_t kept[MOST_KEPT];  // [kept_count] the phis, numbers of items
  uint32_t kept_count;
  uint32_t lanes;         // of each
  uint64_t element_bits;  // of each
  uint32_t pieces;        // of a register each
  lanes_bundle *bundles;  // [bundle_count]
  uint32_t bundle_count;
  lanes_frames *frames;
  lanes_unit *units;  // [unit_count]
  uint32_t unit_count;
  uint32_t loop_count;  // that it becomes
  uint32_t piece;       // being made
} lanes_region;

static inline uint32_t lanes_in_piece(const lanes_region *l) {
  return l->lanes / l->pieces;
}

// Lets loops that keep more than the registers hold go round
// for a part of the lanes at a time. Returns whether there are any.
bool lanes_tile_loops(mtlc_kernel *kernel);

#endif
