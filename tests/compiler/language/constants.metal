// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
Function constants and constants of the program.

//--- function_constants
constant bool flag [[function_constant(3)]];
constant float4 scale [[function_constant(1)]];
static constant constexpr int count [[function_constant(2)]];
kernel void f(device float *x) { x[0] = flag ? scale.x : count; }
// expect: constant scale = scale index 1 type 12 x 4 required
// expect: constant count = count index 2 type 6 x 1 required
// expect: constant flag = flag index 3 type 1 x 1 required
// ir: @flag = external constant i8

//--- constants_in_a_namespace_and_by_macro
#define CONSTANT(T, name, n) constant T name [[function_constant(n)]]
namespace a { CONSTANT(int, c, 7); }
kernel void f(device int *x) { x[0] = a::c; }
// expect: constant c = _ZN1a1cE index 7 type 6 x 1 required

//--- optional_constant
constant int c [[function_constant(0)]];
constant int value = is_function_constant_defined(c) ? c : 5;
kernel void f(device int *x) { x[0] = value; }
// expect: constant c = c index 0 type 6 x 1
// ir: call (noundef )?zeroext i1 @mettle\.constant_defined\(ptr noundef @c\)

//--- constants_of_constants
constant bool a [[function_constant(0)]];
constant bool b [[function_constant(1)]];
constant bool both = a && b;
kernel void f(device int *x) { x[0] = both; }
// ir: @llvm\.global_ctors

//--- argument_by_constant
constant bool has_bias [[function_constant(4)]];
constant int other [[function_constant(0)]];
kernel void f(device float *x [[buffer(0)]],
              constant float *bias [[buffer(1), function_constant(has_bias)]]) {
  x[0] = has_bias ? bias[0] : other;
}
// expect: bias buffer 1 read float type 12 x 1 size 4 align 4 if constant 1

//--- argument_by_presence_of_a_constant
constant float scale [[function_constant(0)]];
constant bool flag [[function_constant(1)]];
constant bool has_scale = is_function_constant_defined(scale);
constant bool same = flag;
kernel void f(device float *x [[buffer(0)]],
              device float *y [[buffer(1), function_constant(has_scale)]],
              device float *z [[buffer(2), function_constant(same)]]) {
  x[0] = (has_scale ? y[0] : 0) + (same ? z[0] : 0);
}
// expect: y buffer 1 readwrite float type 12 x 1 size 4 align 4 if constant 0 is defined
// expect: z buffer 2 readwrite float type 12 x 1 size 4 align 4 if constant 1
// expect: constant scale = scale index 0 type 12 x 1

//--- program_constants
#include <metal_stdlib>
using namespace metal;
constant float table[4] = {1.0, 2.0, 3.0, 4.0};
constant float4 rows[2] = {float4(1.0), float4(1, 2, 3, 4)};
constexpr constant int n = 3;
static constant uint masks[] = {1u, 2u};
kernel void f(device float *x, uint i [[thread_position_in_grid]]) {
  x[i] = table[i & 3] + rows[i & 1].y + n + masks[i & 1];
}
// ir: @\w*table = internal constant \[4 x float\]
// no-ir: llvm\.global_ctors

//--- constant_in_a_template
template <typename T> struct Limits { static constant constexpr T most = T(7); };
kernel void f(device float *x) { x[0] = Limits<float>::most; }

//--- constant_with_initializer
constant int c [[function_constant(0)]] = 3;
kernel void f(device int *x) { x[0] = c; }
// error: 1: function constant 'c' cannot have an initializer

//--- constant_of_a_struct
struct S { int a; };
constant S c [[function_constant(0)]];
kernel void f(device int *x) { x[0] = c.a; }
// error: 2: function constant 'c' must be a scalar or a vector

//--- constant_with_large_index
constant int c [[function_constant(70000)]];
kernel void f(device int *x) { x[0] = c; }
// error: 1: the index of function constant 'c' must be 0 to 65535
