// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_interior.h: forms of code for simdgroups that are away from an image's edges.
#ifndef MTLC_VERSION_INTERIOR_H
#define MTLC_VERSION_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Lets the thread function's body stand behind a block of its own, if a form of
// all of it may be worth it. Returns whether it did: the graph is to be built
// again.
bool lanes_set_body_apart(mtlc_kernel *kernel, const lanes_values *values);

// The same whether or not it is worth it; false if threads return in several
// places.
bool lanes_put_body_apart(mtlc_kernel *kernel, const lanes_values *values);

// Gives the body, or else sides of branches, a form in which nothing is cut off
// at an edge, of at most `room` instructions in all; what is used is taken off.
// Returns whether there are any: the graph is to be built again.
bool lanes_version_interior(mtlc_kernel *kernel, const lanes_values *values,
                      uint32_t *room);

#endif
