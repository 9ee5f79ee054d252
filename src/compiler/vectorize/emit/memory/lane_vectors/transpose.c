// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// transpose.c: transposes between vectors of one component and vectors of one
// lane.
#include "compiler/vectorize/emit/memory/lane_vectors/transpose.h"

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Interleaves two vectors of at most 16 elements within each unit of so many:
// from the lower or the upper half, alternating by step elements.
static LLVMValueRef zip(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                        int unit, int step, bool upper) {
  int lanes[MOST_LANES / 2];
  const int count = (int)LLVMGetVectorSize(LLVMTypeOf(a));
  for (int i = 0; i < count; i++) {
    const int in = i % unit, of = i - in + (upper ? unit / 2 : 0);
    lanes[i] = of + in / step / 2 * step + in % step + in / step % 2 * count;
  }
  return lanes_shuffle(e, a, b, lanes, (uint32_t)count);
}

// Zips pairs of vectors, then pairs of what comes of that by twice the step.
static void turn(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                 uint32_t unit, LLVMValueRef *out_elements) {
  if (count == 1) {
    out_elements[0] = parts[0];
    return;
  }
  LLVMValueRef zipped[LANES_MOST_TRANSPOSED / 2];
  for (uint32_t upper = 0; upper < 2; upper++) {
    for (uint32_t i = 0; i < count / 2; i++) {
      zipped[i] = zip(e, parts[2 * i], parts[2 * i + 1], (int)unit,
                      (int)(unit / count), upper);
    }
    turn(e, zipped, count / 2, unit, out_elements + count / 2 * upper);
  }
}

void lanes_transpose(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                     LLVMValueRef *out_elements) {
  turn(e, parts, count, count, out_elements);
}
