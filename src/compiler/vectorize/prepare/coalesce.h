// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// coalesce.h: threads that each own a block of neighbouring elements take every
// 32nd element instead.
#ifndef MTLC_COALESCE_H
#define MTLC_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Exchanges elements between the lanes of blocks that all lanes run, so that
// what they load and store lies side by side. Returns of how many blocks;
// values are to be found again. What is written holds for whole simdgroups
// whose rows are as long as those of the values.
uint32_t lanes_coalesce(mtlc_kernel *kernel, const lanes_values *values);

#endif
