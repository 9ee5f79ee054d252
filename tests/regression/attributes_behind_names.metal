// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's attributes may stand between its name and its parameters.
// run: limited --grid 2 0=zeros:f32:2
// expect: 0: 7 7
// run: spelled --grid 2 0=zeros:f32:2
// expect: 0: 8 9
#include <metal_stdlib>
using namespace metal;

kernel void limited [[max_total_threads_per_threadgroup(64)]] (
    device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = 7;
}
inline float twice [[gnu::always_inline]] (float x) { return 2 * x; }
void spelled [[kernel]] [[clang::noinline, max_total_threads_per_threadgroup(32)]] (
    device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]);
void spelled(device float *out, uint i) { out[i] = twice(4) + i; }
