// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
The rest of the language.

//--- floating_literals_are_float
static_assert(sizeof(2.0) == 4, "");
static_assert(sizeof(1e-3 * 2.5) == 4, "");
static_assert(sizeof(1.0h) == 2, "");
kernel void f(device float *x) {
  auto y = 2.0;
  static_assert(sizeof(y) == 4, "");
  x[0] = y * 0.1;
}
// no-ir: double

//--- double_is_no_type
double g(double x) { return x; }
// error: 1: 'double' is not supported in Metal

//--- version_and_macros
#if __METAL_VERSION__ != 320 || !defined(__METAL__)
#error version
#endif
#if defined(__x86_64__) || defined(__linux__) || defined(__aarch64__)
#error the host shows
#endif

//--- version_by_option
// options: --std 310 -D A=3 -D B
#if __METAL_VERSION__ != 310 || A != 3 || B != 1
#error version
#endif

//--- sizes
#include <metal_stdlib>
using namespace metal;
static_assert(sizeof(char) == 1 && sizeof(short) == 2 && sizeof(int) == 4, "");
static_assert(sizeof(long) == 8 && sizeof(size_t) == 8, "");
static_assert(sizeof(float3) == 16 && sizeof(half3) == 8, "");
static_assert(sizeof(device int *) == 8, "");
static_assert(char(-1) < 0, "");

//--- quoted_and_bracketed_includes
// options: -I DIR/paths
#include <metal_stdlib>
#include "beside.h"
#include "beside.h"
kernel void f(device int *x) { x[0] = beside; }
// file: beside.h
#pragma once
constant int beside = 3;

//--- errors_in_headers_name_them
#include "broken.h"
// file: broken.h
constant int x = ;
// error: broken.h:1: expected expression

//--- missing_header
#include "nowhere.h"
// error: 1: 'nowhere.h' file not found

//--- a_header_that_includes_itself
#include "self.h"
// file: self.h
#include "self.h"
// error: self.h:1: #include nested too deeply

//--- recursion_of_templates_without_end
template <int N> struct S { static constexpr int v = S<N + 1>::v; };
constant int x = S<0>::v;
// error: 1: recursive template instantiation exceeded maximum depth

//--- constant_evaluation_without_end
constexpr int g(int n) { return n < 0 ? 0 : g(n + 1) + 1; }
constexpr int x = g(0);
// error: 2: constexpr variable 'x' must be initialized by a constant expression

//--- columns_are_the_sources
kernel void f(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = y; }
// error: 1: use of undeclared identifier 'y'

//--- unknown_attributes_warn
kernel void f(device float *x [[bufer(0)]]) { x[0] = 1; }
// warning: 1: unknown attribute 'bufer' ignored

//--- standard_attributes_stay
[[nodiscard]] static float g() { return 1; }
kernel void f(device float *x, [[maybe_unused]] constant int &n) {
  switch (int(x[0])) {
    case 0: x[1] = 1; [[fallthrough]];
    default: x[2] = g();
  }
  g();
}
// warning: 7: ignoring return value of function declared with 'nodiscard' attribute

//--- mixed_attribute_lists
[[maybe_unused, kernel]] void f([[maybe_unused, buffer(4)]] device float *x) {}
// expect: x buffer 4

//--- subscripts_of_lambdas_are_no_attributes
kernel void f(device float *x) { x[[] { return 1; }()] = 2; }
// error: 1: C++11 only allows consecutive left square brackets when introducing an attribute

//--- pragmas
#pragma METAL internals : enable
#include <metal_stdlib>
kernel void f(device float *x) {
  {
#pragma METAL fp contract(off)
    x[0] = x[1] * 2 + x[2];
  }
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 3; i++) x[i] += 1;
#pragma unroll
  for (int i = 0; i < 3; i++) x[i] += 1;
#pragma unroll(2)
  for (int i = 0; i < 3; i++) x[i] += 1;
}
// ir: fmul float
// ir: llvm\.loop\.unroll

//--- contraction_by_math_mode
// options: --math safe
kernel void f(device float *x) { x[0] = x[1] * x[2] + x[3]; }
// ir: llvm\.fmuladd
// no-ir: fmul contract

//--- contraction_across_statements
kernel void f(device float *x) {
  float y = x[1] * x[2];
  x[0] = y + x[3];
}
// ir: fmul contract float
// ir: fadd contract float
// no-ir: nnan|ninf|reassoc

//--- swizzles_in_templates_with_operators_in_sight
#include <metal_stdlib>
using namespace metal;
struct C { float a; };
C operator+(C a, C b) { return {a.a + b.a}; }
thread C &operator+=(thread C &a, C b) { a = a + b; return a; }
template <typename T> kernel void g(device T *x) {
  vec<T, 2> v[2];
  v[0] = vec<T, 2>(x[0], x[1]);
  for (int i = 0; i < 2; i += 1) {
    v[0].x += x[2];
    v[0].y *= x[3] + 1, v[0].x -= 2;
  }
  x[4] = v[0].x + v[0].y;
}
template [[host_name("g")]] kernel void g<float>(device float *);

//--- comments_strings_and_continuations
// kernel void commented([[buffer(
/* [[kernel]] threadgroup float x; */
#define LONG(a) \
  [[buffer(a)]] \
  /* threadgroup */
kernel void f(device float *x LONG(6)) {
  constant char *s = nullptr;
  (void)s;
  x[0] = sizeof("[[kernel]] threadgroup float y;") + sizeof(R"([[)");
}
// expect: x buffer 6

//--- names_like_attributes
struct buffer { int texture; };
kernel void f(device buffer *position, uint id [[thread_position_in_grid]]) {
  int sampler = position[id].texture, color = 2;
  position[id].texture = sampler + color;
}
// expect: position buffer 0 readwrite buffer

//--- loops_without_end_stay
kernel void f(device int *x) { while (true) { } }
// no-ir: mustprogress

//--- missing_return_is_no_trap
int g(int a) { if (a) return 1; }
kernel void f(device int *x) { x[0] = g(x[1]); }
// warning: 1: non-void function does not return a value in all control paths
// no-ir: unreachable

//--- line_tables
kernel void f(device int *x) {
  x[0] = 1;
}
// ir: DILocation\(line: 2
// ir: emissionKind: LineTablesOnly

//--- full_debug_information
// options: --debug
kernel void f(device int *x) {
  int local = 1;
  x[0] = local;
}
// ir: DILocalVariable\(name: "local"

//--- no_host_in_the_functions
kernel void f(device int *x) { x[0] = 1; }
// no-ir: target-cpu|target-features|tune-cpu

//--- names_of_the_c_library_are_free
float sin(float x) { return x; }
int abs(int x) { return -x; }
void *malloc(int n) { return nullptr; }
kernel void f(device float *x) { x[0] = sin(x[1]) + abs(3); }

//--- indirect_arguments_of_the_programs_own
struct MTLDrawPatchIndirectArguments { uint own; };
typedef struct { uint mine; } MTLStageInRegionIndirectArguments;
kernel void f(device MTLDrawPatchIndirectArguments *a,
              device MTLStageInRegionIndirectArguments &b,
              device MTLDrawIndexedPrimitivesIndirectArguments &c) {
  a->own = b.mine;
  c.baseVertex = -1;
}
// expect: c buffer 2 readwrite MTLDrawIndexedPrimitivesIndirectArguments

//--- indirect_arguments_by_another_name
kernel void f(device MTLDrawQuadsIndirectArguments *a) { a->patchCount = 1; }
// error: 1: unknown type name 'MTLDrawQuadsIndirectArguments'

//--- memory_that_is_coherent
#include <metal_stdlib>
using namespace metal;
kernel void f(volatile coherent(system) device uint *x,
              coherent(device) device uint *y,
              device coherent(simdgroup) uint *z,
              volatile coherent device atomic_uint *n) {
  auto again = (volatile coherent(system) device uint *)(x + 1);
  again[0] = x[0] = y[0] + z[0];
  for (thread_scope scope : {thread_scope_thread, thread_scope_simdgroup,
                             thread_scope_threadgroup, thread_scope_device,
                             thread_scope_system})
    atomic_thread_fence(mem_flags::mem_device, memory_order_acq_rel, scope);
  atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup,
                      memory_order_seq_cst);
  atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}
// expect: x buffer 0 readwrite

//--- names_like_coherent
float coherent(float system) { return system; }
kernel void f(device float *x, constant float &system) {
  x[0] = coherent(system) + 1;
}
