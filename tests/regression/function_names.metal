// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __func__ is constant data, in templates too.
// run: letters --grid 1 0=zeros:u32:5
// expect: 0: 7 115 8 4 5
#include <metal_stdlib>
using namespace metal;

uint length(constant const char *text) {
  uint n = 0;
  while (text[n] != 0) { n++; }
  return n;
}
template <typename T>
uint typed(T) { return length(__func__); }

struct Counter {
  static uint own() { return sizeof(__FUNCTION__); }
};

kernel void letters(device uint *out [[buffer(0)]]) {
  out[0] = length(__func__);
  constant const char *name = __FUNCTION__;
  out[1] = uint(name[6]);
  out[2] = sizeof(__func__);
  out[3] = Counter::own();
  out[4] = typed(1.0f);
}
