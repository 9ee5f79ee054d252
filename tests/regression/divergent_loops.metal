// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nested loops whose bounds differ by thread, with early return, break and
// continue, unsigned wrap-around and 64-bit arithmetic.
// run: collatz --grid 12 --group 5 0=zeros:u32:12 1=zeros:u64:12
// expect: 0: 1 111 18 18 18 106 5 26 13 13 21 21
// expect: 1: 0 39651138076672 54 88 160 9240 32 100 54 160 52 117
#include <metal_stdlib>
using namespace metal;

kernel void collatz(device uint *steps [[buffer(0)]],
                    device ulong *largest [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  if (i == 0) {
    steps[0] = 0xFFFFFFFFu + 2u;
    return;
  }
  ulong value = i + 26, most = value;
  uint count = 0;
  while (true) {
    if (value == 1) { break; }
    count++;
    if (value % 2 == 0) {
      value /= 2;
      continue;
    }
    value = 3 * value + 1;
    for (uint n = 0; n < i % 3; n++) { most += n == 1 ? 1 : 0; }
    if (value > most) { most = value; }
  }
  steps[i] = count;
  largest[i] = most << (i == 1 ? 32 : 0);
}
