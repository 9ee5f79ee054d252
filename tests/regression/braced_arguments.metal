// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A braced argument is a temporary in thread memory: of functions that differ in
// the space of their references, static members, free ones and member
// functions, the one for threads' memory takes it.
// run: choose --grid 2 0=f32:3,5 1=zeros:f32:10
// expect: 1: 14 2 1 23 31 22 4 1 25 31
#include <metal_stdlib>
using namespace metal;

struct product {
  template <typename T>
  static T of(device const T &a, device const T &b) {
    return a + b;
  }
  template <typename T>
  static T of(threadgroup const T &a, threadgroup const T &b) {
    return a - b;
  }
  template <typename T>
  static T of(thread const T &a, thread const T &b) {
    return a * b;
  }
  float first(constant float2 &) const { return -1; }
  float first(device const float2 &) const { return -2; }
  float first(thread const float2 &v) const { return v.x; }
};

struct pair {
  float a, b;
};
float space(device const pair &) { return 1; }
float space(thread const pair &p) { return 20 + p.a; }
float space(device const pair &, int) { return 30; }
float space(thread const pair &, int) { return 31; }

kernel void choose(device float *x [[buffer(0)]], device float *out [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  const float2 r = product::template of<float2>({x[i], 1.0f}, {2.0f, x[i]});
  device pair &stored = *(device pair *)x;
  out[5 * i] = r.x + r.y + x[i] + 2;
  out[5 * i + 1] = product().first({x[i] - 1, 7});
  out[5 * i + 2] = space(stored);
  out[5 * i + 3] = space({x[i], 2});
  out[5 * i + 4] = space({x[i], 2}, 1);
}
