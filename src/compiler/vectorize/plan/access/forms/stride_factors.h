// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stride_factors.h: finds addresses whose stride from lane to lane is computed
// by the kernel, as a tensor's.
#ifndef MTLC_STRIDE_FACTORS_H
#define MTLC_STRIDE_FACTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// How an index is computed from a consecutive value by uniform factors that are
// known at run time.
enum { LANES_FACTORS = 4, LANES_EXTENSIONS = 4 };
typedef struct lanes_stride_factors {
  LLVMValueRef index;
  LLVMValueRef items[LANES_FACTORS];
  uint32_t count;
  // Extensions on the way, with the stride before each; the last stride is the
  // index's. They hold if all factors are 1.
  LLVMValueRef extensions[LANES_EXTENSIONS];
  int64_t strides[LANES_EXTENSIONS];
  uint32_t extension_count;
  int64_t stride;
  bool is_moved;   // loops add unknown numbers to it
  bool is_masked;  // all lanes have to run: lane 0 may lack an addition
} lanes_stride_factors;

// True if a value rises along each segment in any case.
bool lanes_is_plain_run(const lanes_values *values, LLVMValueRef value);
// True if an access's index is computed like that; returns the address's shape
// if all factors are 1.
bool lanes_find_stride_factors(lanes_planning *p, const lanes_access *a,
                               lanes_stride_factors *out_factors,
                               lanes_shape *out_shape);
#endif
