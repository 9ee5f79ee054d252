// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four neighbours of each thread, stored by a loop that is unrolled, with
// branches on arguments between the stores: a loop for each case, whose stores
// are one access. What the thread decides stays where it is.
// run: arguments_decide --grid 64 --group 64 out=zeros:256 by=3 rest=0
// expect: out: 0 0 0 1 1 1 2
// run: arguments_decide --grid 64 --group 64 out=zeros:256 by=3 rest=2
// expect: out: 0 0 0 1 1 1 0
// run: arguments_decide --grid 64 --group 64 out=zeros:256 by=0 rest=5
// expect: out: 0 1 2 3 4 0 1
// run: arguments_decide --grid 64 --group 64 out=zeros:256 by=0 rest=0
// expect: out: 0 1 2 3 4 5 6
// run: both_decide --grid 64 --group 64 x=iota:256 out=zeros:256 shifts=0 w=7,8,9,10
// expect: out: 0 1 2 3 28 40 54 70 8 9 10 11 84
// run: both_decide --grid 64 --group 64 x=iota:256 out=zeros:256 shifts=1 w=7,8,9,10
// expect: out: -7 -7 -7 -7 21 32 45 60 1 1 1 1 77
// report: kernel arguments_decide\nthreads in a group: 1024 at most; threadgroup variables: 0 bytes\nvectorised for rows of 32 threads: 0 gathers, 0 scatters
#include <metal_stdlib>
using namespace metal;

kernel void arguments_decide(device uint *out [[buffer(0)]],
                             constant uint &by [[buffer(1)]],
                             constant uint &rest [[buffer(2)]],
                             uint i [[thread_position_in_grid]]) {
#pragma unroll
  for (uint k = 0; k < 4; k++) {
    uint v = 4 * i + k;
    if (by) {
      v /= by;
    }
    if (rest) {
      v %= rest;
    }
    out[4 * i + k] = v;
  }
}

kernel void both_decide(device const float *x [[buffer(0)]],
                        device float *out [[buffer(1)]],
                        constant int &shifts [[buffer(2)]],
                        device const float *w [[buffer(3)]],
                        uint i [[thread_position_in_grid]]) {
#pragma unroll
  for (int k = 0; k < 4; k++) {
    float v = x[4 * i + k];
    if (i & 1) {
      v *= w[k];
    }
    if (shifts) {
      v -= w[k];
    }
    out[4 * i + k] = v;
  }
}
