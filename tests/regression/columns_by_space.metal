// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix's column and an array's element are in the address space that the
// matrix or the array is in.
// run: columns --grid 1 0=f32:1,2,3,4,5,6,7,8 1=f32:10,20,30,40 2=zeros:f32:6
// expect: 0: 1 2 4 5 5 6 7 8
// expect: 2: 4 6 40 7 9 15
// run: elements --grid 1 0=i32:1,2,3 1=i32:10,20,30 2=zeros:i32:6
// expect: 0: 2 14 6
// expect: 2: 30 10 6 14 12 60
#include <metal_stdlib>
using namespace metal;

float both(device float2 &c) { return c.x + c.y; }
float both(constant float2 &c) { return c.x * c.y; }

kernel void columns(device float2x2 *d [[buffer(0)]],
                    constant float2x2 &c [[buffer(1)]],
                    device float *out [[buffer(2)]]) {
  threadgroup float2x2 shared;
  device float2 *p = &d[0][1];
  const device float2 *q = &((const device float2x2 *)d)[1][0];
  const constant float2 *r = &c[1];
  threadgroup float2 *s = &shared[1];
  float2x2 own = d[1];
  thread float2 *u = &own[0];
  *p += 1;
  *s = d[1][1];
  u->y = 9;
  out[0] = p->x;
  out[1] = q->y;
  out[2] = r->y;
  out[3] = shared[1].x;
  out[4] = own[0].y;
  out[5] = both(d[1][1]);
}

kernel void elements(device array<int, 3> &d [[buffer(0)]],
                     constant array<int, 3> &c [[buffer(1)]],
                     device int *out [[buffer(2)]]) {
  threadgroup array<int, 3> shared;
  array<int, 3> own = d;
  for (device int &x : d) x *= 2;
  device int *p = &d[1];
  *p += 10;
  const constant int *end = c.end();
  threadgroup int *s = shared.data();
  thread int *last = &own.back();
  s[1] = *last * 2;
  *last = 12;
  out[0] = end[-1];
  out[1] = c.front();
  out[2] = shared[1];
  out[3] = d.at(1);
  out[4] = own[2];
  out[5] = 0;
  for (const constant int &x : c) out[5] += x;
}
