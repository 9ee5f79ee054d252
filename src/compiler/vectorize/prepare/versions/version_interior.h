// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_interior.h: makes versions of code for simdgroups in the interior of
// an image.
#ifndef MTLC_VERSION_INTERIOR_H
#define MTLC_VERSION_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Puts the thread function's body after an entry block of its own, if an
// interior version of all of it may pay. True if it did: the graph must be
// rebuilt.
bool lanes_set_body_apart(mtlc_kernel *kernel, const lanes_values *values);

// The same even if it may not pay. False if threads return in several places.
bool lanes_put_body_apart(mtlc_kernel *kernel, const lanes_values *values);

// Makes an interior version of the body, or of sides of branches, without any
// clamp or bounds test; at most `room` instructions in all, which it decreases.
// True if it made any: the graph must be rebuilt.
bool lanes_version_interior(mtlc_kernel *kernel, const lanes_values *values,
                      uint32_t *room);

#endif
