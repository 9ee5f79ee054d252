// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's templates by names of the library's, both seen: the library's
// functions take what is of their type exactly; whatever else goes to the
// program's, and asked for by their names the library's are there.
// run: k --grid 1 0=f32:2,0,0,0,0,0,0,0,0,0,0,0,0,0 1=f16:3
// expect: 0: 2 108 4 27 104 200 2 3 300 2 4 1 2 5
#include <metal_stdlib>

namespace own {
namespace metal {
template <typename T, typename U,
          ::metal::enable_if_t<::metal::is_floating_point_v<T> || ::metal::is_floating_point_v<U>, bool> = true>
inline float pow(T a, U b) {
  return 100 + ::metal::precise::pow(float(a), float(b));
}
template <typename T, typename U>
inline float max(T, U) {
  return 200;
}
template <typename T, typename U, typename V>
inline float clamp(T, U, V) {
  return 300;
}
}  // namespace metal
}  // namespace own
using namespace metal;
using namespace own::metal;

kernel void k(device float *y [[buffer(0)]], constant half &a [[buffer(1)]]) {
  y[1] = ::pow(y[0], a);
  y[2] = pow(y[0], y[0]);
  y[3] = pow(a, a);
  y[4] = pow(y[0], 2);
  y[5] = max(y[0], 1);
  y[6] = max(y[0], 1.0f);
  y[7] = max(3, 2);
  y[8] = clamp(y[0], 1, 2);
  y[9] = metal::max(y[0], 1.0f);
  y[10] = metal::max(float4(1, 2, 3, 4), 2).w;
  y[11] = metal::min(1.0f, 2.5f);
  y[12] = metal::clamp(half3(3), 1.0h, 2.0h).x;
  y[13] = metal::fma(2.0f, y[0], 1);
}
