// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls through pointers that differ from thread to thread: each thread calls
// the function that its own pointer names, with arguments by reference.
// run: chosen --grid 8 0=zeros:f32:8
// expect: 0: -0 1 -2 9 -4 25 -6 49
// run: from_array --grid 8 0=zeros:f32:8
// expect: 0: -0 2 4 -3 5 25 -6 8
// run: in_divergent_flow --grid 8 0=zeros:f32:8
// expect: 0: 2 0 0 5 0 5 8 0
// run: simdgroup_functions --grid 8 0=zeros:i32:8
// expect: 0: 6 6 6 6 7 7 7 7
#include <metal_stdlib>
using namespace metal;

typedef float (*Function)(float);

static float square(float x) { return x * x; }
static float negate(float x) { return -x; }
static float increment(float x) { return x + 1; }

kernel void chosen(device float *out [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  const Function function = i & 1 ? square : negate;
  out[i] = function(float(i));
}

kernel void from_array(device float *out [[buffer(0)]],
                       uint i [[thread_position_in_grid]]) {
  const Function functions[3] = {negate, increment, square};
  out[i] = functions[i % 3](float(i));
}

static void add_last(device float *, thread float &x, float4 v) { x += v.w; }
static void drop_first(device float *, thread float &x, float4 v) { x -= v.x; }

kernel void in_divergent_flow(device float *out [[buffer(0)]],
                              uint i [[thread_position_in_grid]]) {
  float x = i;
  void (*change)(device float *, thread float &, float4) =
      i % 3 == 0 ? add_last : drop_first;
  if (i != 5) {
    change(out, x, float4(i, 0, 0, 2));
  }
  out[i] = x;
}

static int sum(int x) { return simd_sum(x); }
static int largest(int x) { return simd_max(x); }
typedef int (*Reduction)(int);
constant Reduction reductions[] = {sum, largest};

kernel void simdgroup_functions(device int *out [[buffer(0)]],
                                uint i [[thread_position_in_grid]]) {
  out[i] = reductions[i / 4](int(i));
}
