// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_addresses.c: the address of an access and of each of its segments.
#include "compiler/vectorize/emit/memory/access_addresses.h"

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"

LLVMValueRef lanes_access_begin(lanes_emitter *e, const lanes_access *a) {
  return a->first ? a->first : lanes_scalar(e, a->pointer, 0);
}

// Computes each segment's address on its own, as a scalar: extracting it from a
// vector of addresses costs more.
LLVMValueRef lanes_access_segment_address(lanes_emitter *e, const lanes_access *a,
                                  uint32_t row) {
  const uint32_t width = e->lanes / a->shape.row;
  if (a->firsts) {
    return a->firsts[row];
  }
  lanes_affine at;
  lanes_affine_find(e->values, a->pointer, &at);
  if (!a->first && lanes_is_sum_of_segments(e->values, &at, width)) {
    return lanes_segment_address(e, &at, width, row);
  }
  return lanes_segment_first(e, a->pointer, width, row);
}
