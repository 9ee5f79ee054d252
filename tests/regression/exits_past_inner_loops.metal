// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop with an inner one that threads leave at different times and an exit
// behind it that all threads take together: what leaves by it is kept, not
// what the loop's other exit hands on.
// run: sums --grid 64 --group 64 0=zeros:i32:8 1=i32:3,12
// expect: 0: 0 -3 7 0 -3 7 0 -3
// run: sums --grid 64 --group 4 0=zeros:i32:8 1=i32:3,12
// expect: 0: 0 0 12 0 0 12 0 0
#include <metal_stdlib>
using namespace metal;

float total(thread const float (&a)[4], uint from) {
  float sum = 0;
  for (uint i = from % 4; i < 4; ++i) { sum += a[i]; }
  return sum;
}

kernel void sums(device int *out [[buffer(0)]], constant int *u [[buffer(1)]],
                 uint i [[thread_position_in_grid]], uint size [[threads_per_threadgroup]]) {
  int value = 4, left = 0, turns = 0;
  float list[4] = {};
  for (;;) {
    if (turns++ == u[1]) { turns = 12; break; }
    value = int(total(list, uint(value * value)));
    if (size > 7) { left -= u[0]; turns = 7; break; }
    list[value & 3] *= 2;
  }
  list[size & 3] *= 2;
  const int results[] = {value, left, turns};
  if (i < 8) { out[i] = results[i % 3]; }
}
