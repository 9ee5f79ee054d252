// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// merge_groups.h: code that runs several threadgroups of one simdgroup at once.
#ifndef MTLC_MERGE_GROUPS_H
#define MTLC_MERGE_GROUPS_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if threadgroups of the kernel's class may be worth it.
bool lanes_may_merge_groups(const mtlc_kernel *kernel);

// Gives the thread function a second form, of several threadgroups along x, and
// sets kernel->groups_at_once and groups_apart. Its first form stays, for one.
// Returns whether it did: the graph is to be built again.
bool lanes_merge_groups(mtlc_kernel *kernel, const lanes_values *values);

#endif
