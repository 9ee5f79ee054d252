// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fmin and fmax where one or both are no number, known for one or not: with a
// number as the first value of a loop, all that it carries are numbers.
// run: of_two --grid 49 --group 64 0=zeros:f32:49 1=zeros:f32:49
// expect: 0: nan -inf 2 -1 3.5 inf 0.5 -inf -inf 2 -1 3.5 inf 0.5 2 2 2 2 3.5 inf 2 -1 -1 2 -1 3.5 inf 0.5 3.5 3.5 3.5 3.5 3.5 inf 3.5 inf inf inf inf inf inf inf 0.5 0.5 2 0.5 3.5 inf 0.5
// expect: 1: nan -inf 2 -1 3.5 inf 0.5 -inf -inf -inf -inf -inf -inf -inf 2 -inf 2 -1 2 2 0.5 -1 -inf -1 -1 -1 -1 -1 3.5 -inf 2 -1 3.5 3.5 0.5 inf -inf 2 -1 3.5 inf 0.5 0.5 -inf 0.5 -1 0.5 0.5 0.5
// run: carried --grid 49 --group 64 0=zeros:f32:49 1=zeros:f32:49
// expect: 0: -inf -inf -inf -inf -inf -inf -inf -inf -inf 2 -1 3.5 inf 0.5 -1 3.5 inf 0.5 3.5 inf 2 0.5 3.5 inf 2 3.5 inf inf 2 3.5 inf inf 3.5 inf inf inf 3.5 inf inf 3.5 inf inf inf 3.5 inf inf inf inf inf
// expect: 1: nan -inf 2 -1 3.5 inf 0.5 nan -inf 2 -1 3.5 inf 0.5 -1 -inf 2 -1 3.5 -inf 0.5 -1 -inf -inf -1 -1 -inf 0.5 -1 -inf -inf -1 -1 -inf -inf -1 -inf -inf -inf -1 -inf -inf -inf -inf -inf -inf -1 -inf -inf
#include <metal_stdlib>
using namespace metal;

static float value(uint k) {
  const float values[] = {NAN, -INFINITY, 2.0f, -1.0f, 3.5f, INFINITY, 0.5f};
  return values[k % 7];
}

kernel void of_two(device float *most [[buffer(0)]],
                   device float *least [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  most[i] = fmax(value(i), value(i / 7));
  least[i] = fmin(value(i), value(i / 7));
}

kernel void carried(device float *most [[buffer(0)]],
                    device float *least [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  float high = -INFINITY;
  float low = value(i);
  for (uint k = 0; k < i / 7; k++) {
    high = fmax(high, value(i + k * 3));
    low = fmin(value(i + k * 3), low);
  }
  most[i] = high;
  least[i] = low;
}
