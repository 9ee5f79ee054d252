// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_sums.h: sums of products that stay in memory.
#ifndef MTLC_TILE_SUMS_H
#define MTLC_TILE_SUMS_H

#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Assigns sums of products places in the frame, from offset_bytes on: sets
// e->sum_places and e->sums_bytes.
void lanes_sums_find(lanes_emitter *e, uint64_t offset_bytes);

#endif
