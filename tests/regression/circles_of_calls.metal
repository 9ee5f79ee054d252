// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that call each other, each where the other does not call back: a
// circle by their names alone, which no thread goes round. And one that is.
// run: in_turn --grid 8 0=f32:0,0.25,-3.5,5,-11.75,12,-13,nan 1=zeros:f32:8 2=zeros:f32:8
// expect: 1: inf 100.25 103.5 125 229.25 24 26 26
// expect: 2: 0 0.25 -3.5 25 -11.75 1024 -13 0
// run: round --grid 6 0=iota:f32:6 1=zeros:f32:6
// expect: 1: 0 1 2 4 6 8
// report: kernel in_turn\nthreads in a group: 1024 at most; threadgroup variables: 0 bytes\nvectorised for rows of 32 threads: 0 gathers, 0 scatters, 0 instructions lane by lane
#include <metal_stdlib>
using namespace metal;

template <typename T>
float outer(const T x);

template <typename T>
T inner(const T x) {
  if (x < 5.0f) return x;
  if (x >= 12.0f) return 1000 + outer(x);
  T result = x;
  for (int i = 1; i < static_cast<int>(floor(x)); i++) result += x;
  return result;
}

template <typename T>
float outer(const T x) {
  const auto magnitude = abs(static_cast<float>(x));
  if (magnitude == 0) return INFINITY;
  if (magnitude < 12.0f) return 100 + inner(magnitude);
  return isnan(magnitude) ? 26 : 2 * magnitude;
}

kernel void in_turn(device const float *in [[buffer(0)]], device float *a [[buffer(1)]],
                    device float *b [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  a[i] = outer(in[i]);
  b[i] = inner(isnan(in[i]) ? 0 : in[i]);
}

float odd(float x);
float even(float x) { return x < 1 ? 0 : x + odd(x - 1) / 2; }
float odd(float x) { return x < 1 ? 0 : x + even(x - 1) / 2; }
kernel void round(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = floor(even(in[i]));
}
