// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A class that becomes a bool by itself is assigned to a bfloat, wherever it
// lies: a mask that is none.
// run: scales --grid 1 0=f32:7,7,7 1=u8:1
// expect: 0: 1 1 0
#include <metal_stdlib>
using namespace metal;

struct Always {
  char unused;
  constexpr operator bool() thread { return true; }
  constexpr operator bool() const device { return unused != 0; }
  constexpr operator bool() const threadgroup { return false; }
};

template <typename T>
struct Scaled { T scale; };

kernel void scales(device float *out [[buffer(0)]],
                   device const Always *there [[buffer(1)]]) {
  threadgroup Always shared[1];
  Scaled<bfloat> s;
  Always own;
  s.scale = own;
  out[0] = s.scale;
  s.scale = there[0];
  out[1] = s.scale;
  const threadgroup Always &first = shared[0];
  s.scale = first;
  out[2] = s.scale;
}
