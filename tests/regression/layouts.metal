// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed and padded vectors in structs, bit casts, matrices.
// run: layouts --grid 1 0=zeros:u32:12 1=zeros:f32:9
// expect: 0: 32 12 24 1065353216 16256 258 48 4 8 3 33 17
// expect: 1: 30 36 42 66 81 96 102 126 150
#include <metal_stdlib>
using namespace metal;

struct Padded { float3 a; float b; half3 c; };
struct Packed { packed_float3 a; float b; packed_half3 c; uchar d; };
struct __attribute__((packed)) Tight { uchar a; packed_half3 b; packed_float2 c; ushort d; float4 e; };

kernel void layouts(device uint *out [[buffer(0)]], device float *product [[buffer(1)]]) {
  out[0] = sizeof(Padded);
  out[1] = sizeof(packed_float3);
  out[2] = sizeof(Packed);
  out[3] = as_type<uint>(1.0f);
  out[4] = as_type<ushort>(bfloat(1.0f));
  out[5] = as_type<uint>(uchar4(2, 1, 0, 0));
  out[6] = sizeof(float3x3);
  out[7] = sizeof(bool4);
  out[8] = sizeof(half3);
  Packed packed;
  packed.a = float3(1, 2, 3);
  out[9] = uint(packed.a.z);
  Tight tight = {1, packed_half3(1, 2, 3), packed_float2(4, 5), 6, float4(7, 8, 9, 10)};
  out[10] = sizeof(Tight);
  out[11] = uint(tight.a * tight.b.z + tight.c.x + tight.e.w);
  float3x3 m(float3(1, 2, 3), float3(4, 5, 6), float3(7, 8, 9));
  float3x3 square = m * m;
  for (int column = 0; column < 3; column++) {
    for (int row = 0; row < 3; row++) { product[column * 3 + row] = square[column][row]; }
  }
}
