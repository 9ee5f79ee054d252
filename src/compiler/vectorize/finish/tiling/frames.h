// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frames.h: keeps simdgroups' values interleaved across the barriers of a tiled
// loop (register_tiling.c).
#ifndef MTLC_TILING_FRAMES_H
#define MTLC_TILING_FRAMES_H

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// The first finds bundles whose phis may stay interleaved in the frame. The
// second rewrites their users elsewhere.
void lanes_find_frames(lanes_region *l);
void lanes_settle_frames(lanes_region *l);

#endif
