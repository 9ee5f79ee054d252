// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variants.h: the functions that a kernel is made into, one for each length of
// rows, some for several simdgroups at once.
#ifndef MTLC_VARIANTS_H
#define MTLC_VARIANTS_H

#include <stdint.h>

#include "base/status.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/vectorizer.h"

// LLVM passes that simplify an interior version, where nothing is clamped
// (version_interior.c).
extern const char lanes_inside_folding[];

// Returns how many simdgroups at once are worth a try: several if all take the
// same path through the kernel and it has a loop to speed up.
uint32_t lanes_most_at_once(const lanes_values *values);

// Emits the kernel's callees, and the kernel for each length of rows: analysis,
// plan, vector IR.
mtl_status lanes_emit_variants(lanes_vectorizer *v);

#endif
