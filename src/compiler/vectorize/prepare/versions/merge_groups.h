// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// merge_groups.h: makes a version that runs several threadgroups of one
// simdgroup at once.
#ifndef MTLC_MERGE_GROUPS_H
#define MTLC_MERGE_GROUPS_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if merging may pay for the kernel's class of threadgroups.
bool lanes_may_merge_groups(const mtlc_kernel *kernel);

// Adds a version of the thread function for several threadgroups along x, and
// sets kernel->groups_at_once and groups_apart. The version for one stays. True
// if it did: the graph must be rebuilt.
bool lanes_merge_groups(mtlc_kernel *kernel, const lanes_values *values);

#endif
