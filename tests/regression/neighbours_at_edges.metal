// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbours but for some lanes: positions clamped, wrapped and chosen, which
// loads find out at run time. An element holds its own index.
// run: edges --grid 40,3 --group 16,2 0=iota:u32:120 1=iota:u8:120 2=iota:f16:480 3=zeros:u32:2
// expect: 3: 0 120
// run: edges --grid 40,3 --group 40,1 0=iota:u32:120 1=iota:u8:120 2=iota:f16:480 3=zeros:u32:2
// expect: 3: 0 120
// run: edges --grid 40,3 --group 3,3 0=iota:u32:120 1=iota:u8:120 2=iota:f16:480 3=zeros:u32:2
// expect: 3: 0 120
// run: turned --grid 40 --group 64 0=zeros:u16:40
// expect: 0: 35 36 37 38 39 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34
// run: rising --grid 64 --group 32 0=iota:u32:64 1=zeros:u32:1
// expect: 1: 64
#include <metal_stdlib>
using namespace metal;

kernel void edges(device const uint *words [[buffer(0)]], device const uchar *bytes [[buffer(1)]],
                  device const half4 *halves [[buffer(2)]], device atomic_uint *counts [[buffer(3)]],
                  uint2 p [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const int2 last = int2(size) - 1;
  uint wrong = 0;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -2; dx <= 2; dx++) {
      const int2 near = clamp(int2(p) + int2(dx, dy), int2(0), last);
      const uint2 around = (p + size + uint2(int2(dx, dy))) % size;
      const uint i = uint(near.y) * size.x + uint(near.x);
      const uint j = around.y * size.x + around.x;
      wrong += words[i] != i;
      wrong += words[j] != j;
      wrong += bytes[i] != i;
      wrong += bytes[j] != j;
      const half4 four = halves[j];
      wrong += any(float4(four) != float4(4 * j, 4 * j + 1, 4 * j + 2, 4 * j + 3));
      if (p.x % 7 != 3) {
        const uint k = p.x > 20 ? i : j;
        wrong += words[k] != k;
      }
    }
  }
  atomic_fetch_add_explicit(&counts[0], wrong, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[1], 1u, memory_order_relaxed);
}

kernel void turned(device ushort *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[(i + 5) % 40] = ushort(i);
}

// An index that wraps in its own type from one lane to the next.
kernel void rising(device const uint *x [[buffer(0)]], device atomic_uint *right [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  const uchar place = uchar(min(i + 40u, 400u) * 4u / 4u + 200u) & 63;
  atomic_fetch_add_explicit(right, uint(x[place] == place), memory_order_relaxed);
}
