// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic that C++ leaves undefined and docs/ir.md does not, on constants
// alone: clang folded it to poison before define_arithmetic saw it.
// run: fold --grid 1 0=zeros:u32:10 1=zeros:i32:8
// expect: 0: 1 2 0 0 0 0 0 4294967295 2 255
// expect: 1: -2147483648 0 -1 2147483647 -2147483648 0 0 -128
#include <metal_stdlib>
using namespace metal;

kernel void fold(device uint *u [[buffer(0)]], device int *i [[buffer(1)]]) {
  u[0] = uint(0x80000000u) >> uint(0x7fffffffu);
  u[1] = 1u << 33;
  u[2] = 7u / uint(0);
  u[3] = 7u % uint(0);
  u[4] = uint(-1.0f);
  u[5] = uint(-1e30f);
  u[6] = ushort(-3.0f);
  u[7] = uint(1e30f);
  u[8] = (uint2(5, 1) << uint2(40, 65)).y;
  u[9] = uint(uchar(300.0f));
  i[0] = int(0x80000000) / -1;
  i[1] = int(0x80000000) % -1;
  i[2] = int(0x80000000) >> 63;
  i[3] = int(3e9f);
  i[4] = int(-3e9f);
  i[5] = int(as_type<float>(0x7fc00000u));
  i[6] = 5 / int(0.0f);
  i[7] = char(-1000.0f);
}
