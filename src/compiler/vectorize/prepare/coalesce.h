// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// coalesce.h: has threads that each own a block of adjacent elements take every
// 32nd element instead.
#ifndef MTLC_COALESCE_H
#define MTLC_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Exchanges elements between lanes, in blocks that all lanes run, so that each
// load and store is contiguous. Returns in how many blocks; if any, the caller
// finds values again. The result holds for whole simdgroups with segments as
// long as those of the values.
uint32_t lanes_coalesce(mtlc_kernel *kernel, const lanes_values *values);

#endif
