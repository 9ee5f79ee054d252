// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recognise_fragments.h: tiles of fragments that lanes load.
#ifndef MTLC_RECOGNISE_FRAGMENTS_H
#define MTLC_RECOGNISE_FRAGMENTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/prepare/tiles/lane_places.h"

typedef struct lanes_loaded_tile lanes_loaded_tile;
typedef struct lanes_row_length lanes_row_length;

typedef struct lanes_fragment_finder {
  mtlc_types types;
  LLVMModuleRef module;
  LLVMValueRef function;
  LLVMBuilderRef builder;
  const lanes_values *values;
  lanes_place_finder places;
  lanes_loaded_tile *tiles;  // [tile_count] so far
  uint32_t tile_count;
  uint32_t tile_capacity;
  lanes_row_length *lengths;  // [length_count] of rows in memory
  uint32_t length_count;
  uint32_t length_capacity;
} lanes_fragment_finder;

// Replaces a multiplied tile whose elements come from lanes' loads, through any
// shuffles, by one load of the tile. False if the elements do not come from
// such loads.
bool lanes_load_tile_of_fragment(lanes_fragment_finder *finder,
                                 LLVMValueRef tile);

#endif
