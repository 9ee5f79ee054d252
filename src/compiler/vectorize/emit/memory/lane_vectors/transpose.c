// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// transpose.c: transposes between vectors of one component and vectors of one
// lane.
#include "compiler/vectorize/emit/memory/lane_vectors/transpose.h"

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Interleaves two vectors of at most 16 elements within each four: from the
// lower or the upper half, alternating by one element or by two.
static LLVMValueRef zip(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                        bool by_pairs, bool upper) {
  int lanes[MOST_LANES / 2];
  const int count = (int)LLVMGetVectorSize(LLVMTypeOf(a));
  for (int i = 0; i < count; i++) {
    const int in = i % 4, of = i - in + 2 * upper;
    lanes[i] = by_pairs ? of + in % 2 + (in / 2) * count
                        : of + in / 2 + in % 2 * count;
  }
  return lanes_shuffle(e, a, b, lanes, (uint32_t)count);
}

void lanes_transpose(lanes_emitter *e, LLVMValueRef parts[4],
                     LLVMValueRef out_words[4]) {
  for (uint32_t upper = 0; upper < 2; upper++) {
    LLVMValueRef low = zip(e, parts[0], parts[1], false, upper);
    LLVMValueRef high = zip(e, parts[2], parts[3], false, upper);
    out_words[2 * upper] = zip(e, low, high, true, false);
    out_words[2 * upper + 1] = zip(e, low, high, true, true);
  }
}
