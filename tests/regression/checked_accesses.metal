// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that are vectors where a check at run time holds are told apart
// from those that are always gathered.
// run: strided --grid 64 0=iota:f32:256 1=zeros:f32:64 2=u32:1
// expect: 1: 0 1 2 3
// run: strided --grid 64 0=iota:f32:256 1=zeros:f32:64 2=u32:3
// expect: 1: 0 3 6 9
// run: chosen --grid 64 0=iota:f32:256 1=zeros:f32:64 2=iota:u32:64
// expect: 1: 0 1 2 3
// report: 0 gathers, 0 scatters, 0 instructions lane by lane, 0 barriers by fission, 1 checked (lines 15)
// report: 1 gathers (lines 20), 0 scatters, 0 instructions lane by lane, 0 barriers by fission\nmachine code
kernel void strided(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]], constant uint &n [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = x[n * i];
}
kernel void chosen(device const float *x [[buffer(0)]],
                   device float *y [[buffer(1)]], device const uint *t [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = x[t[i]];
}
