// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// register_tiling.h: a loop that is being tiled for registers
// (register_tiling.c).
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
  MOST_STEPS = 4,  // arithmetic operations from one iteration to the next
  // Units whose orders have the same quotient by this use the same elements.
  LANES_UNIT_ROW = MOST_KEPT * MOST_PIECES,
  // The share of the machine's registers that one of the resulting loops keeps.
  // The rest is for temporaries.
  LANES_PART_PERCENT = 62,
};

// An instruction of the loop.
typedef struct lanes_item {
  LLVMValueRef value;
  bool is_kept;  // depends on kept values: computed in pieces
  bool is_counted;
  LLVMValueRef whole;                // its copy in the current loop, or NULL
  LLVMValueRef pieces[MOST_PIECES];  // its pieces, or NULL
  // A phi's start values and next values by piece. While a bundle's loops are
  // made, those of its phi k are register k of each piece, interleaved.
  LLVMValueRef first[MOST_PIECES];
  LLVMValueRef last[MOST_PIECES];
} lanes_item;

// Phis whose lanes' elements are adjacent in memory.
typedef struct lanes_bundle {
  uint32_t phis[MOST_SIDE_BY_SIDE];  // [count] numbers of items
  uint32_t count;
  LLVMValueRef current;  // the phi in the current loop
  // True if they are interleaved before and after the loop as well: at the
  // first offsets [count] of the simdgroup's frame, and at the second
  // (tiling/frames.c).
  bool is_in_frame;
  uint64_t offsets[2][MOST_SIDE_BY_SIDE];
} lanes_bundle;

// Accesses to frames (tiling/frames.c).
typedef struct lanes_frames lanes_frames;

// A value in one register through a loop: a piece of a phi, or register k of a
// piece of a bundle.
typedef struct lanes_unit {
  uint32_t piece;
  uint32_t bundle;  // LANES_NONE: a single phi
  uint32_t number;  // number of the phi, or k
  uint64_t order;   // units with the same elements come together
  LLVMValueRef phi;
  LLVMValueRef slot;  // its memory before and after its own loop
} lanes_unit;

typedef struct lanes_region {
  mtlc_kernel *kernel;
  lanes_machine machine;
  mtli_arena *arena;
  LLVMBuilderRef builder;
  LLVMBuilderRef before_builder;  // at the end of the block before the loop
  LLVMBasicBlockRef before;       // the block before the loop
  LLVMBasicBlockRef header;
  LLVMBasicBlockRef body;  // the header if it is the only block
  LLVMBasicBlockRef behind;
  lanes_item *items;  // [count]
  uint32_t count;
  lanes_map numbers;         // of instructions
  uint32_t kept[MOST_KEPT];  // [kept_count] phis, as numbers of items
  uint32_t kept_count;
  uint32_t lanes;         // of each
  uint64_t element_bits;  // of each
  uint32_t pieces;        // one register each
  lanes_bundle *bundles;  // [bundle_count]
  uint32_t bundle_count;
  lanes_frames *frames;
  lanes_unit *units;  // [unit_count]
  uint32_t unit_count;
  uint32_t loop_count;  // resulting loops
  uint32_t piece;       // current piece
} lanes_region;

static inline uint32_t lanes_in_piece(const lanes_region *l) {
  return l->lanes / l->pieces;
}

// Tiles loops that keep more than the registers hold: each becomes several
// loops, for some of the lanes each. True if there are any.
bool lanes_tile_loops(mtlc_kernel *kernel);

#endif
