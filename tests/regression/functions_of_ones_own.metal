// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's templates for any types beside Metal's functions of that name:
// of two that fit equally, Metal's is no template.
// run: both --grid 1 0=zeros:f32:8
// expect: 0: 8 3 2 2.5 -1 100 4 0.5
#include <metal_stdlib>

namespace own {
template <typename T, typename U>
float pow(T, U) { return -1; }
template <typename T, typename U>
float max(T, U) { return 100; }
template <typename T, typename U, typename V>
float clamp(T, U, V) { return -2; }
template <typename T, typename U, typename V>
float fma(T, U, V) { return -3; }
template <typename T, typename U, typename V>
float mix(T, U, V) { return -4; }
}  // namespace own

using namespace metal;
using namespace own;

kernel void both(device float *out [[buffer(0)]]) {
  float two = out[0] + 2, three = out[1] + 3;
  out[0] = pow(two, three);
  out[1] = max(two, three);
  out[2] = clamp(three, 1.0f, two);
  out[3] = mix(two, three, 0.5f);
  struct None {};
  out[4] = pow(None(), two);
  out[5] = max(None(), 1);
  out[6] = max(int(three), int(two) + 2);
  out[7] = fma(half(two), half(0.5), half(-0.5));
}
