// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of three at program scope, computed from function constants and used
// in further ones: how translators hand on the size of a workgroup.
// run: k --grid 1 --constant 0=u32:7 0=zeros:u32:6
// expect: 0: 7 20 1 28 35 7
// run: k --grid 1 0=zeros:u32:6
// expect: 0: 3 20 1 24 27 3
#include <metal_stdlib>
using namespace metal;

constant uint given [[function_constant(0)]];
constant uint width = is_function_constant_defined(given) ? given : 3u;
constant uint3 size = uint3(width, 20u, 1u);
constant uint total = size.x + size.y + size.z;
constant uint sum = total + size.x;

kernel void k(device uint *out [[buffer(0)]]) {
  out[0] = size.x;
  out[1] = size.y;
  out[2] = size.z;
  out[3] = total;
  out[4] = sum;
  out[5] = width;
}
