// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// padding_of_three.metal: a uchar3 is passed as a word of four bytes. clang
// left the fourth poison, and with it every value computed from the word.
// run: count --grid 4 0=zeros:u32:8 1=u8:4,7,0,255
// expect: 0: 1 254 2 253 1 254 6 249
#include <metal_stdlib>
using namespace metal;

kernel void count(device uint *out [[buffer(0)]],
                  device const uchar *in [[buffer(1)]],
                  uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]]) {
  uchar3 v = uchar3(uchar3(uchar(lane)) ^ uchar3(in[i]));
  v = popcount(v);
  out[2 * i] = v.x;
  v = ~v;
  out[2 * i + 1] = v.x;
}
