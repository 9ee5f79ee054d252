// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each thread copies a piece of its own row to threadgroup memory, a cache line
// per iteration, and behind a barrier reads its neighbours' pieces.
// run: staged --grid 64 --group 64 0=zeros:f32:64 1=iota:u16:2048 2=u32:128 3=u32:128
// expect: 0: 223664 222768 221872 220976 209328 208432 207536 206640 194992 194096 193200 192304 180656 179760 178864 177968 166320 165424 164528 163632 151984 151088 150192 149296 137648 136752 135856 134960 123312 122416 121520 120624 108976 108080 107184 106288 94640 93744 92848 91952 80304 79408 78512 77616 65968 65072 64176 63280 51632 50736 49840 48944 37296 36400 35504 34608 22960 22064 21168 20272 8624 7728 6832 5936
#include <metal_stdlib>
using namespace metal;

kernel void staged(device float *out [[buffer(0)]],
                   device const ushort *x [[buffer(1)]],
                   constant uint &pitch [[buffer(2)]],
                   constant uint &length [[buffer(3)]],
                   uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][64];
  device const ushort *row = x + i / 4 * pitch + i % 4 * 8;
  float sum = 0;
  for (uint k = 0; k < length; k += 32) {
    for (uint c = 0; c < 8; c++) {
      tile[c][i] = row[c];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint c = 0; c < 8; c++) {
      sum += tile[c][63 - i] * c;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    row += 32;
  }
  out[i] = sum;
}
