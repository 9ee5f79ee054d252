// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorizer.h: shared by the vectoriser's stages: the kernel, its graph and
// facts, and the variants made so far.
#ifndef MTLC_VECTORIZER_H
#define MTLC_VECTORIZER_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"

enum { LANES_MOST_VARIANTS = 4 };

// The state that all variants share.
typedef struct lanes_vectorizer {
  mtlc_kernel *kernel;
  mtli_arena arena;
  uint8_t lanes;  // of a vector: MOST_LANES, or half of them (width.h)
  lanes_graph graph;
  lanes_values values;  // of the graph, in its usual rows, if has_values
  bool has_values;
  uint32_t changes;  // of the step that runs
  bool is_reduced;   // a loop has several entries: steps marked PLAIN are left
                     // out
  bool is_unrolled;  // row walks are
  bool waits;        // at barriers
  uint32_t room;     // instructions that versions may still add
  LLVMTargetDataRef data;
  bool single_simdgroup;
  bool has_waits;
  lanes_deferral counting;  // of all variants
  bool in_frame;            // private memory
  bool asks_other;          // positions across rows
  bool asks_start;          // may read where rows begin in the grid
  uint32_t loops_by_turns;  // loops in which simdgroups wait for each other
  uint64_t frame_bytes;
  lanes_variant variants[LANES_MOST_VARIANTS];
  uint32_t variant_count;
  char refusal[256];
} lanes_vectorizer;

#endif
