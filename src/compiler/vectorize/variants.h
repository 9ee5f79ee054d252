// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variants.h: the functions that a kernel is made into, one for each length of
// rows, some for several simdgroups at once.
#ifndef MTLC_VARIANTS_H
#define MTLC_VARIANTS_H

#include <stdint.h>

#include "base/status.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/vectorizer.h"

// What is known where nothing is cut off (version_interior.c), as LLVM's
// passes.
extern const char lanes_inside_folding[];

// Returns how many simdgroups at once are worth a try: several if all go the
// same way through the kernel and there is a loop to hurry.
uint32_t lanes_most_at_once(const lanes_values *values);

// Emits what the kernel calls, and it itself for each length of rows: analysis,
// plan, vector IR.
mtl_status lanes_emit_variants(lanes_vectorizer *v);

#endif
