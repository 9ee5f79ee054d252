// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes and halves whose places are any: no machine scatters those, so lanes
// store them one after another, in a loop where some do not run.
// run: everyone --grid 32 --group 32 0=zeros:u8:32
// expect: 0: 1 24 15 6 29 20 11 2 25 16 7 30 21 12 3 26 17 8 31 22 13 4 27 18 9 32 23 14 5 28 19 10
// run: some --grid 32 --group 32 0=zeros:u8:32
// expect: 0: 0 24 15 6 29 20 11 2 0 0 0 30 21 12 3 26 17 8 0 0 0 0 27 18 9 32 23 14 5 0 0 0
// run: halves --grid 29 --group 32 0=zeros:f16:32 1=iota:f16:32
// expect: 0: 0.5 3.5 6.5 9.5 12.5 15.5 18.5 21.5 24.5 27.5 0 1.5 4.5 7.5 10.5 13.5 16.5 19.5 22.5 25.5 28.5 0 2.5 5.5 8.5 11.5 14.5 17.5 20.5 23.5 26.5 0
#include <metal_stdlib>
using namespace metal;
kernel void everyone(device uchar *out [[buffer(0)]],
                     uint i [[thread_position_in_grid]]) {
  out[(i * 7) & 31] = uchar(i + 1);
}
kernel void some(device uchar *out [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) {
  if (i % 3 != 0) out[(i * 7) & 31] = uchar(i + 1);
}
kernel void halves(device half *out [[buffer(0)]],
                   device const half *x [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  out[(i * 11) & 31] = x[i] + 0.5h;
}
