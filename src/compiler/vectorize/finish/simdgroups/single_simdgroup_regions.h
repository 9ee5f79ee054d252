// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// single_simdgroup_regions.h: finds code between two barriers that one
// simdgroup can run for all.
#ifndef MTLC_SINGLE_SIMDGROUP_REGIONS_H
#define MTLC_SINGLE_SIMDGROUP_REGIONS_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "base/memory/arena.h"

// Finds the states, up to 63, of a function whose simdgroups wait together,
// that one simdgroup can do for all (single_simdgroup_regions.c).
uint64_t lanes_single_simdgroup_states(LLVMValueRef function, mtli_arena *arena);

#endif
