// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two words of which each is known to be below 8, in one 64-bit register: the
// lower one has to become an address without the upper one.
// run: mix --grid 64 --group 64 0=iota:i32:4096 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 3296 3305 3306 3283 52 61 62 7
#include <metal_stdlib>
using namespace metal;

kernel void mix(device const int *n [[buffer(0)]],
                device atomic_uint *sums [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  uint v = mulhi(3463523207u, uint(n[((i & 31) | (i >> 5)) - 16 & 4095]));
  atomic_fetch_xor_explicit(sums + 56 + (v & 7), uint(ulong(float(v))),
                            memory_order_relaxed);
}
