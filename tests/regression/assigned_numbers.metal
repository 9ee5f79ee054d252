// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes that are assigned numbers by an operator= of their own, beside the
// one that every class has: in all address spaces, as elements of another
// class and in templates.
// run: assign --grid 4 --group 4 0=zeros:u32:4 1=u32:1,2,3,4
// expect: 0: 1007 2009 3011 4013
#include <metal_stdlib>
using namespace metal;

struct Number {
  uint value;
  Number() = default;
  constexpr Number(uint v) : value(v * 100) {}
  void operator=(uint v) { value = v; }
  void operator=(uint v) device { value = v; }
  void operator=(float v) { value = uint(v) + 1; }
};

struct Pair {
  Number parts[2];
  explicit Pair(uint v) {
    parts[0] = v;
    parts[1] = 0.5f;
  }
};

template <typename T>
uint twice(uint v) {
  T a;
  a = v;
  T b;
  b = a;
  b = b.value + a.value;
  return b.value;
}

kernel void assign(device Number *out [[buffer(0)]],
                   device const uint *in [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  Pair p(in[i]);
  threadgroup Number shared[4];
  shared[i] = Number(5);
  Number n = shared[i];
  n = n.value / 100;
  out[i] = in[i];
  Number copy = out[i];
  p.parts[1] = copy;
  n = n.value + twice<Number>(p.parts[1].value);
  out[i] = n;
  out[i] = out[i].value + p.parts[0].value * 1000;
}
