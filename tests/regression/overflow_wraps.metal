// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// overflow_wraps.metal: sums of signed integers wrap; tier 1 took the smallest
// plus the smallest, out of a table, for the smallest.
// run: add --grid 4 0=zeros:i32:4 1=i32:2147483647
// expect: 0: -2147483641 0 -2147483648 1
#include <metal_stdlib>
using namespace metal;

constant uint table[4] = {7u, 0x80000000u, 0u, 0x80000001u};

kernel void add(device int *out [[buffer(0)]],
                constant int &most [[buffer(1)]],
                uint lane [[thread_index_in_simdgroup]]) {
  out[lane] = int(table[lane % 4u]) + int(0x80000000u);
  if (most + 1 > most) {  // never: it wraps
    out[lane] = 5;
  }
}
