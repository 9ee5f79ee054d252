// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_strides.h: addresses whose stride from lane to lane is a number of the
// program's, as in tensors with strides.
#ifndef MTLC_CHECK_STRIDES_H
#define MTLC_CHECK_STRIDES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

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

// True if an access's index is like that, and the address's shape if all
// factors are one.
bool lanes_find_stride_factors(lanes_emitter *e, const lanes_access *a,
                        lanes_stride_factors *out_factors, lanes_shape *out_shape);
// The first address of each row.
void lanes_firsts_by_strides(lanes_emitter *e, const lanes_access *a,
                             const lanes_stride_factors *factors,
                             LLVMValueRef *out_firsts);
// Returns i1: all factors are one and no index wraps; some factor is none.
LLVMValueRef lanes_check_stride_one(lanes_emitter *e, const lanes_stride_factors *f);
LLVMValueRef lanes_check_stride_zero(lanes_emitter *e, const lanes_stride_factors *f);

#endif
