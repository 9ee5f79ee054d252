// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// extremes_of_uniform_halves.metal: the smaller of two halves that all threads
// have was a call of fminf, which no kernel is linked with.
// run: clip --grid 4 0=zeros:f16:8 1=f16:1,9,-3,2.5 2=u32:1
// expect: 0: 7 8 9 10 9 10 11 12
#include <metal_stdlib>
using namespace metal;

kernel void clip(device half *out [[buffer(0)]],
                 device const half *in [[buffer(1)]],
                 constant uint &at [[buffer(2)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = fmin(half(7), in[at]) + half(i);
  out[i + 4] = fmax(half(7), in[at]) + half(i);
}
