// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
Threadgroup memory.

//--- variables_in_blocks
#include <metal_stdlib>
using namespace metal;
kernel void f(device float *x, ushort i [[thread_index_in_threadgroup]]) {
  threadgroup float a[32];
  threadgroup float4 b;
  const int n = 4;
  if (i > 2) {
    threadgroup int c[n], d;
    c[i & 3] = d;
  }
  switch (i) {
    case 0:
      threadgroup half e[2];
      e[0] = 1;
      break;
    default: break;
  }
  a[i] = b.x;
  threadgroup float *p = a;
  threadgroup float(&q)[32] = a;
  threadgroup const float *const s = a;
  x[i] = p[31 - i] + q[0] + s[1];
}
// ir: @\w+1a = internal global \[32 x float\] undef, section ".mettle.threadgroup"
// ir: @\w+1c = internal global \[4 x i32\] undef, section ".mettle.threadgroup"
// ir: @\w+1e = internal global \[2 x half\] undef, section ".mettle.threadgroup"
// no-ir: 1p = internal global
// no-ir: _ZGV

//--- variables_in_templates
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> struct Tile { T v[N]; };
template <typename T, int N>
kernel void f(device T *x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup T a[N];
  threadgroup vec<T, (N > 2 ? 4 : 2)> b[N];
  threadgroup Tile<T, N + 1> c;
  threadgroup typename metal::conditional<(N > 2), int, float>::type d;
  threadgroup decltype(T() + T()) e[2];
  a[i] = b[i].x + c.v[i] + d + e[1];
  x[i] = a[N - 1 - i];
}
template [[host_name("f")]] kernel void f<float, 8>(device float *, uint);
template [[host_name("h")]] kernel void f<half, 16>(device half *, uint);
// ir: \[8 x float\] undef, section ".mettle.threadgroup"
// ir: \[16 x half\] undef, section ".mettle.threadgroup"

//--- aligned_and_qualified
kernel void f(device float *x, uint i [[thread_position_in_threadgroup]]) {
  alignas(16) threadgroup float a[3];
  volatile threadgroup int b;
  [[maybe_unused]] threadgroup uchar c[7];
  a[0] = b;
  x[i] = a[0];
}
// ir: 1a = internal global \[3 x float\] undef, section ".mettle.threadgroup", align 16

//--- by_macro
#define SHARED(T, name, n) threadgroup T name[n]
#define TG threadgroup
kernel void f(device float *x, uint i [[thread_position_in_threadgroup]]) {
  SHARED(float, a, 4);
  TG float b[5];
  a[i] = b[i];
  x[i] = a[i];
}
// ir: \[4 x float\] undef, section
// ir: \[5 x float\] undef, section

//--- initializers_are_written_by_one_thread
// options: -fpermissive
// warning: 5: cannot have an initializer other than zeros
kernel void f(device float *x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float a[4] = {0};
  threadgroup int b[2] = {7, 8};
  threadgroup float c;
  x[i] = a[i] + b[i] + c;
}
// ir: call i32 @mettle\.position\(i32 10, i32 0\)
// ir: call void @llvm\.memset.*ptr.*1a, i8 0, i64 16
// ir: call void @llvm\.memcpy.*ptr.*1b, ptr.*1b\.initial, i64 8
// ir: call void @mettle\.barrier\.threadgroup\(i32 2\)
// no-ir: 1c\.initial

//--- no_barrier_without_initializers
kernel void f(device float *x) { threadgroup float a[4]; x[0] = a[0]; }
// no-ir: mettle\.barrier

//--- zeros_in_parentheses_are_written_too
kernel void f(device float *x) {
  threadgroup float a(0.0f);
  x[1] = a;
}
// ir: call void @llvm\.memset.*ptr.*1a, i8 0, i64 4

//--- constructors_that_do_nothing_do_not_run
struct In { float x; In() {} };
struct S { In in; int n; S() {} S(int v) : n(v) {} };
kernel void f(device float *x) {
  threadgroup S s[3];
  s[1] = S(2);
  x[0] = s[1].n;
}
// ir: 1s = internal global .* undef, section ".mettle.threadgroup"
// no-ir: guard|mettle\.barrier

//--- constructors_that_set_values
struct S { float x; S() { x = 3; } };
kernel void f(device float *x) {
  threadgroup S s;
  x[0] = s.x;
}
// error: 3: variable 's' in the threadgroup address space needs a constant initializer, or a constructor that does nothing

//--- initializer_must_be_constant
kernel void f(device float *x) {
  threadgroup float a = x[0];
  x[1] = a;
}
// error: 2: variable 'a' in the threadgroup address space needs a constant initializer

//--- only_in_kernels
float g() { threadgroup float a[3]; return a[0]; }
kernel void f(device float *x) { x[0] = g(); }
// error: 1: variable 'a' in the threadgroup address space must be declared in a kernel

//--- not_in_the_program
threadgroup float a[3];
kernel void f(device float *x) { x[0] = a[0]; }
// error: 1: variable 'a' in the threadgroup address space must be declared in a kernel
