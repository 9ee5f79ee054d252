// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pragmas for floating point, in Metal's spelling and in clang's, in front of
// threadgroup variables, in blocks of their own and at file scope. With x and y
// 1 + 2^-12, x * y - (1 + 2^-11) is 2^-24 in one operation and 0 in two.
// checked: race.threadgroup
// run: bodies --grid 32 --group 32 0=f32:1.000244140625,1.000244140625,-1.00048828125 1=zeros:f32:9
// expect: 1: 0 0 5.9604645e-08 0 5.9604645e-08 0 0 5.9604645e-08 5.9604645e-08
// run: bodies --grid 32 --group 32 --math safe 0=f32:1.000244140625,1.000244140625,-1.00048828125 1=zeros:f32:9
// expect: 1: 0 0 5.9604645e-08 0 5.9604645e-08 0 0 5.9604645e-08 0
// run: file --grid 1 0=f32:1.000244140625,1.000244140625,-1.00048828125 1=zeros:f32:3
// expect: 1: 0 0 5.9604645e-08
// Of vectors, and matrices, whose operators are functions of the library.
// run: vectors --grid 1 0=f32:1.000244140625,1.000244140625,-1.00048828125 1=zeros:f32:9
// expect: 1: 5.9604645e-08 0 0 5.9604645e-08 0 0 5.9604645e-08 0 0
// run: vectors --math safe --grid 1 0=f32:1.000244140625,1.000244140625,-1.00048828125 1=zeros:f32:9
// expect: 1: 0 0 0 0 0 0 5.9604645e-08 0 0
#include <metal_stdlib>
using namespace metal;

float plain(float x, float y, float z) {
  float product = x * y;
  return product + z;
}

kernel void bodies(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                   uint l [[thread_index_in_threadgroup]]) {
#pragma METAL fp contract(off)
  threadgroup float t[32];
  threadgroup float3 v;
  const float x = in[0], y = in[1], z = in[2];
  t[l] = x * y + z;
  v = float3(x, y, z);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[0] = t[l ^ 1];
  out[1] = v.x * v.y + v.z;
  {
#pragma clang fp contract(fast)
    threadgroup float inner;
    inner = x * y + z;
    out[2] = inner;
  }
  out[3] = x * y + z;
  if (l < 64) {
#pragma METAL fp contract(on)
    threadgroup float one;
    one = x * y + z;
    out[4] = one;
    const float product = x * y;
    out[5] = product + z;
  }
  {
#pragma METAL fp math_mode(safe)
    const float product = x * y;
    out[6] = product + z;
  }
  for (uint i = 0; i < 1; i++) {
#pragma METAL fp math_mode(relaxed)
    const float product = x * y;
    out[7] = product + z;
  }
  out[8] = plain(x, y, z);
}

template <typename T>
T separately(T x, T y, T z) {
#pragma METAL fp contract(off)
  return x * y + z;
}

kernel void vectors(device const float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
  const float4 x = in[0], y = in[1], z = in[2];
  out[0] = (x * y + z).x;
  {
#pragma METAL fp contract(off)
    out[1] = (x * y + z).y;
    float4 sum = z;
    sum += x * y;
    out[2] = sum.x;
  }
  out[3] = (z + x * y).y;
  out[4] = separately(x, y, z).z;
  out[5] = separately(float4(in[0]), y, z).w;
  {
#pragma METAL fp contract(fast)
    out[6] = (x * y + z).z;
  }
  {
#pragma METAL fp math_mode(safe)
    out[7] = (z + x * in[1]).x;
    float4 sum = x;
    sum *= y;
    sum += z;
    out[8] = sum.y;
  }
}

#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
kernel void file(device const float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
  out[0] = in[0] * in[1] + in[2];
  const float product = in[0] * in[1];
  out[1] = in[2] + product;
  out[2] = fma(in[0], in[1], in[2]);
}
