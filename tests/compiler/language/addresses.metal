// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
Address spaces.

//--- overloads
int g(device float *) { return 1; }
int g(thread float *) { return 2; }
int g(constant float *) { return 3; }
int g(threadgroup float *) { return 4; }
constant float c[1] = {1};
kernel void f(device float *x, threadgroup float *t) {
  float l[1];
  x[0] = g(x) * 1000 + g(l) * 100 + g(c) * 10 + g(t);
}
// ir: call .*@_Z1gPU8SYglobalf
// ir: call .*@_Z1gPf\(
// ir: call .*@_Z1gPU7SYlocalf

//--- spaces_do_not_mix
kernel void f(device float *x, threadgroup float *t) {
  device float *p = t;
  p[0] = 1;
}
// error: 2: cannot initialize a variable of type 'device float *' with an lvalue of type 'threadgroup float *'

//--- constant_is_read_only
kernel void f(constant float *x) { x[0] = 1; }
// error: 1: read-only variable is not assignable

//--- members_in_every_space
struct complex {
  float re, im;
  complex() thread : re(0), im(0) {}
  complex() threadgroup : re(0), im(0) {}
  complex(float a) thread : re{a}, im(0) {}
  complex(float a) device : re{a}, im(0) {}
  complex(float a) constant : re{a}, im(0) {}
  float norm() const thread { return re * re + im * im; }
  float norm() const device { return re * re + im * im; }
  float norm() const threadgroup { return re * re + im * im; }
  float norm() const constant { return re * re + im * im; }
  device float *self(device float *p) const { return p; }
  float &operator[](int i) thread { return i ? im : re; }
  float get(int i) const device;
  float get(int i) const constant;
};
float complex::get(int i) const device { return i ? im : re; }
float complex::get(int i) const constant { return i ? im : re; }
kernel void f(device complex *x, constant complex &c, threadgroup complex *t) {
  complex l(2);
  l[1] = 3;
  x[0] = x[1].norm() + c.norm() + t->norm() + l.norm() + x[2].get(1) + c.get(0);
}

//--- methods_without_space_are_kept_apart
struct S {
  int g(int) { return 1; }
  int g(int) const { return 2; }
  int g(float) { return 3; }
};
kernel void f(device S *d, device int *x) {
  S s = *d;
  x[0] = s.g(1) + s.g(1.0f);
}

//--- copies_between_spaces
struct P { int n; float k[4]; };
kernel void f(device P *x, constant P &c, threadgroup P *t) {
  P l = c;
  *t = l;
  x[0] = *t;
  x[1] = c;
  thread P &r = l;
  x[2] = r;
}

//--- conditionals_between_spaces
#include <metal_stdlib>
using namespace metal;
struct P { float a; };
kernel void f(device float4 *x, const device half2 *h, const device P *p,
              constant float3 &c, uint i [[thread_position_in_grid]]) {
  half2 v = i < 3 ? h[i] : half2(-1, 2);
  float4 a = i < 4 ? float4(0) : x[i + 1];
  float4 b = i < 4 ? (i > 2 ? x[2] : float4(1)) : i > 7 ? float4(0) : x[i + 1];
  P q = i > 3 ? P{2} : p[i];
  const float3 d = i ? c : float3(1);
  x[i] = a + b + v.x + q.a + d.x;
}

//--- lambdas_and_pointers_to_pointers
#include <metal_stdlib>
using namespace metal;
struct Args { device float *out; constant float *in; };
kernel void f(constant Args *args, uint i [[thread_position_in_grid]]) {
  auto square = [&](float x) { return x * x; };
  args->out[i] = square(args->in[i]);
}

//--- reinterpreted_pointers
#include <metal_stdlib>
using namespace metal;
kernel void f(device float *x, const device uchar *bytes, threadgroup char *t) {
  device float4 *v = (device float4 *)x;
  const device half *h = reinterpret_cast<const device half *>(bytes + 2);
  threadgroup int *n = (threadgroup int *)t;
  v[0] = float4(h[0]) + n[1];
}
// no-ir: !tbaa
