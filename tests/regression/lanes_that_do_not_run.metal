// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index in lanes that have left the loop is nothing that a question about
// neighbours may be asked of. 25 turns add (0, 1, 2) to z, x, y of the third
// row; lane 3 of 8 rests.
// run: sums --grid 16,3 --group 8,8 0=zeros:u32:48 1=u32:5,3,0,2 2=iota:i16:80
// expect: 0: 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 2768263934 514565719 514565719 514565719 2768263934 514565719 514565719 514565719 514565719 514565719 514565719 514565719 2768263934 514565719 514565719 514565719 514565719
#include <metal_stdlib>
using namespace metal;
kernel void sums(device uint *out [[buffer(0)]], constant uint *u [[buffer(1)]], device const uchar *bytes [[buffer(2)]],
   uint3 at [[thread_position_in_grid]], uint3 at_group [[thread_position_in_threadgroup]], uint3 grid [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const uint self = at.x + grid.x * at.y;
  short3 a1[17] = {short3(62), short3(50), short3(-1), short3(6)};
  for (uint k4 = 0; k4 < u[0]; k4++) {
    uint k6 = 0;
    do {
      if (lane % 8u == u[1]) break;
      a1[at.y % 17u].zxy = short3(a1[at.y % 17u].zxy + ((device const short3 *)bytes)[((at_group.y & 56) % 12) & 2047u]);
    } while (++k6 < 5u && u[2] != 3);
  }
  short3 r = a1[u[3] % 17u];
  out[self] = uint(ushort(r.x)) + 100000 * ushort(r.y) + 7777*ushort(r.z);
}
