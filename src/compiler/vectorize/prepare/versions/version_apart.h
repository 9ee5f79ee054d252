// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_apart.h: loops that add up in memory.
#ifndef MTLC_VERSION_APART_H
#define MTLC_VERSION_APART_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"

// True if a loop stores to one place and also accesses memory that may overlap
// it.
bool lanes_may_version_apart(const lanes_graph *graph);
// Gives such loops a second form, for launches whose memory does not overlap
// there; call it again until it returns false, with a new graph. Requires loops
// in LCSSA form.
bool lanes_version_apart(mtlc_kernel *kernel, const lanes_graph *graph);

#endif
