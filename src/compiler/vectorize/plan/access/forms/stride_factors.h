// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stride_factors.h: addresses whose stride from lane to lane is a number of the
// program's.
#ifndef MTLC_STRIDE_FACTORS_H
#define MTLC_STRIDE_FACTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// How an index comes from a run of lanes, by factors that are the
// same for all lanes and known at run time.
enum { LANES_FACTORS = 4, LANES_EXTENSIONS = 4 };
typedef struct lanes_stride_factors {
  LLVMValueRef index;
  LLVMValueRef items[LANES_FACTORS];
  uint32_t count;
  // On the way: extensions, and the stride of what they extend. The stride is
  // the index's in the end. All are those if the factors are one.
  LLVMValueRef extensions[LANES_EXTENSIONS];
  int64_t strides[LANES_EXTENSIONS];
  uint32_t extension_count;
  int64_t stride;
  bool is_moved;   // loops add numbers to it that are not known
  bool is_masked;  // all lanes have to run, or the first may not have it
} lanes_stride_factors;

// True if a value rises along each row of lanes, whatever happens.
bool lanes_is_plain_run(const lanes_values *values, LLVMValueRef value);
// True if an access's index is like that, and the address's shape if all
// factors are one.
bool lanes_find_stride_factors(lanes_planning *p, const lanes_access *a,
                               lanes_stride_factors *out_factors,
                               lanes_shape *out_shape);
#endif
