// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes stored in rows of 8 under a mask that lives in memory for want of a
// register: nothing behind a row is touched. Even places are left alone.
// run: odd --grid 29,2 --group 8,8 0=zeros:u8:58 1=u32:5,0 2=zeros:f32:40 3=iota:i32:4
// expect: 0: 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128 0 128
#include <metal_stdlib>
using namespace metal;
constant uint table[8] = {7u, 0u, 0x80000000u, 3u, 0xffffu, 12u, 1u, 99u};
kernel void odd(device uchar *out [[buffer(0)]], constant uint *u [[buffer(1)]], device const float *x [[buffer(2)]], device const int *n [[buffer(3)]], uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]], uint3 size [[threads_per_threadgroup]], uint index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint self = at.x + grid.x * (at.y + grid.y * at.z);
  uint v0 = 10000;
  float v1 = float(max(x[(((index >> 3) + 8) - 1) & 4095], float(8)));
  int v2 = int(v1);
  int2 v5 = int2(v2);
  short3 a0[5] = {short3(1), short3(2)};
  threadgroup uint mine[256][2];
  mine[index][0] = uint(uint(size.x) % uint(v5[uint(((lane | 32) % 12)) & 1u]));
  mine[index][1] = uint(-uint(n[uint(1ul) & 4095u]));
  uint k6 = 0;
  for (;;) {
    if (k6++ > 6u) break;
    if (!(bool(self & 1))) continue;
    out[u[0] % 16u * u[1] + self] = uchar(rhadd(uchar(uchar(hadd(uchar(v1), uchar(table[uint(v2) & 7u]))) / ulong(ulong(v0) + min(ulong(v0), ulong(k6)))), uchar(mine[index][u[0] % 2u])));
    a0[u[0] % 5u][uint(((self << 5) >> 2)) % 3u] = short(a0[u[0] % 5u][uint(((self << 5) >> 2)) % 3u] | short(k6));
  }
}
