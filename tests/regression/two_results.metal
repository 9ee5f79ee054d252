// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// modf and sincos of vectors, in all three namespaces.
// run: parts --grid 1 0=zeros:f32:24
// expect: 0: 0.5 -0.25 2 -3 0 0 1 1 0.5 -0.25 2 -3 0 0 1 1 0.5 -0.25 2 -3 0 0 1 1
#include <metal_stdlib>
using namespace metal;

#define PARTS(space, out)                            \
  {                                                  \
    float2 whole, cosine;                            \
    out[0] = space::modf(float2(2.5f, -3.25f), whole); \
    out[1] = whole;                                  \
    out[2] = space::sincos(float2(0), cosine);       \
    out[3] = cosine;                                 \
  }

kernel void parts(device float2 *out) {
  PARTS(metal, out)
  PARTS(precise, (out + 4))
  PARTS(fast, (out + 8))
}
