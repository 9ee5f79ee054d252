// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frames.h: what simdgroups keep from one barrier to the next of a loop
// in parts (register_tiling.c).
#ifndef MTLC_TILING_FRAMES_H
#define MTLC_TILING_FRAMES_H

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// Finds the bundles whose phis may stay in the frame as they lie
// in memory; then sees to what reads them elsewhere.
void lanes_find_frames(lanes_region *l);
void lanes_settle_frames(lanes_region *l);

#endif
