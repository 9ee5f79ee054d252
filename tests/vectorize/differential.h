// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// differential.h: runs a kernel over kernels.h in both tiers and compares.
#ifndef DIFFERENTIAL_H
#define DIFFERENTIAL_H

#include <stdint.h>

// The parameters of every kernel over kernels.h, for the rig.
extern const char differential_parameters[];

// Compiles kernel number in tier 0 and, for each target, in tier 1, runs all
// on the same random memory, over grids and threadgroups with and without
// gaps, and fails the test unless the memory is the same to the last bit.
//
//   target      as mtlc_target_machine; NULL for this machine
//   seed_count  fillings of the memory for each grid
void differential_check(unsigned number, const char *target,
                        uint32_t seed_count);

#endif
