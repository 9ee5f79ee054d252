// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A second power is a square, rounded once, whoever asks for it: all threads,
// some of them, or the source. 1 + 2^-12 squared is halfway between two floats.
// run: k --math safe --grid 8 0=f32:3,-3,1.000244140625,-inf,nan,0,1e-30,1e30 1=f32:2,2,2,2,2,2,2,2 2=f32:2 3=zeros:f32:8 4=zeros:f32:8 5=zeros:f32:8
// expect: 3: 9 9 1.0004883 inf nan 0 0 inf
// expect: 4: 9 9 1.0004883 inf nan 0 0 inf
// expect: 5: 9 9 1.0004883 inf nan 0 0 inf
// run: k --math safe --grid 8 0=f32:3,-3,4,-2,2,0,-1,9 1=f32:2,3,0.5,2,-1,0,2,1 2=f32:3 3=zeros:f32:8 4=zeros:f32:8 5=zeros:f32:8
// expect: 3: 9 -27 2 4 0.5 1 1 9
// expect: 4: 27 -27 64 -8 8 0 -1 729
// expect: 5: 9 9 16 4 4 0 1 81
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device const float *y [[buffer(1)]],
              constant float &p [[buffer(2)]], device float *each [[buffer(3)]],
              device float *all [[buffer(4)]], device float *written [[buffer(5)]],
              uint i [[thread_position_in_grid]]) {
  each[i] = pow(x[i], y[i]);
  all[i] = precise::pow(x[i], p);
  written[i] = pow(x[i], 2.0f);
}
