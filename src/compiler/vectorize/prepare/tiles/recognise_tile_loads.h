// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recognise_tile_loads.h: recognises tiles whose elements the threads load one
// by one.
#ifndef MTLC_RECOGNISE_TILE_LOADS_H
#define MTLC_RECOGNISE_TILE_LOADS_H

#include <stdbool.h>

#include "code/group_class.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"

// Replaces such loads, where they are multiplied, by loads of tiles. True if
// there were any; the old loads stay, unused.
bool lanes_recognise_tile_loads(mtlc_kernel *kernel, const lanes_graph *graph,
                               uint8_t lanes, const mtli_group_class *class);

#endif
