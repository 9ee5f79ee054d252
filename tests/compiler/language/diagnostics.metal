// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// diagnostics.metal: errors are told at the program's lines and in its words,
// and misspelled names with what was probably meant.
//--- misspelled_type
#include <metal_stdlib>
using namespace metal;
kernel void k(device flot4 *x [[buffer(0)]]) {}
// error: 3: unknown type name 'flot4'; did you mean 'float4'?
//--- misspelled_attribute
#include <metal_stdlib>
kernel void k(device float *x [[buffer(0)]],
              uint i [[thread_posision_in_grid]]) {
  x[i] = y;
}
// warning: 3: unknown attribute 'thread_posision_in_grid' ignored; did you mean 'thread_position_in_grid'?
// error: 4: use of undeclared identifier 'y'
//--- misspelled_buffer
#include <metal_stdlib>
kernel void k(device float *x [[bufer(0)]]) {
  x[0] = y;
}
// warning: 2: unknown attribute 'bufer' ignored; did you mean 'buffer'?
// error: 3: use of undeclared identifier 'y'
//--- misspelled_space
#include <metal_stdlib>
kernel void k(device float *x [[buffer(0)]]) {
  thredgroup float s[4];
}
// error: 3: unknown type name 'thredgroup'; did you mean 'threadgroup'?
//--- misspelled_space_of_a_parameter
#include <metal_stdlib>
kernel void k(devise float *x [[buffer(0)]]) {}
// error: 2: unknown type name 'devise'; did you mean 'device'?
// never: incomplete type
// never: expected
//--- letters_that_changed_places
#include <metal_stdlib>
using namespace metal;
kernel void k(device flaot *x [[buffer(0)]]) {}
kernel void l(device unit *x [[buffer(0)]]) {}
kernel void m(texture2d<flaot> x [[texture(0)]]) {}
// error: 3: unknown type name 'flaot'; did you mean 'float'?
// error: 4: unknown type name 'unit'; did you mean 'uint'?
// error: 5: use of undeclared identifier 'flaot'; did you mean 'float'?
//--- misspelled_functions
#include <metal_stdlib>
using namespace metal;
kernel void k(device float *x [[buffer(0)]]) {
  x[0] = simd_suum(x[0]);
  x[0] = metal::sqrtt(x[0]);
  threadgroup_barier(mem_flags::mem_threadgroup);
  threadgroup_barrier(mem_flags::mem_threadgrup);
}
// error: 4: use of undeclared identifier 'simd_suum'; did you mean 'simd_sum'?
// error: 5: no member named 'sqrtt' in namespace 'metal'; did you mean 'sqrt'?
// error: 6: use of undeclared identifier 'threadgroup_barier'; did you mean 'threadgroup_barrier'?
// error: 7: no member named 'mem_threadgrup' in 'metal::mem_flags'; did you mean 'mem_threadgroup'?
//--- misspelled_components
#include <metal_stdlib>
kernel void k(device float4 *x [[buffer(0)]], device half2 *y [[buffer(1)]]) {
  x[0].q = 1;
  y[0].b = 1;
}
// error: 3: no member named 'q' in 'float4'; its components are x, y, z, w or r, g, b, a
// error: 4: no member named 'b' in 'half2'; its components are x, y or r, g
//--- what_the_library_cannot_do_is_told_at_the_call
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *x [[buffer(0)]],
              texture2d<float> t [[texture(0)]]) {
  float4x4 m(x[0], x[1]);
  x[0] = as_type<float4>(half4(1));
  t.write(float4(1), uint2(0));
  x[0] = x[1] % x[2];
}
// error: 5: a matrix needs as many columns as it has
// error: 6: as_type needs types of the same size
// error: 7: write needs access::write or access::read_write
// error: 8: invalid operands to binary expression ('float4' and 'float4')
//--- in_a_template_the_instance_follows
#include <metal_stdlib>
using namespace metal;
template <typename T>
T f(T v) {
  return as_type<T>(half4(1));
}
kernel void k(device float4 *x [[buffer(0)]]) {
  x[0] = f(x[0]);
}
// error: 5: as_type needs types of the same size
// note: 8: in instantiation of function template specialization 'f<float4>' requested here
//--- no_candidate_of_the_library_is_quoted
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *x [[buffer(0)]],
              device atomic_int *n [[buffer(1)]]) {
  x[0] = dot(x[0], 3, 4);
  float2 a = x[0];
  half4 h = x[0];
  x[0] = x[1] * float3(1);
  atomic_int c = *n;
}
// error: 5: no matching function for call to 'dot'
// note: 5: candidate function template not viable: requires 2 arguments, but 3 were provided
// error: 6: no viable conversion from 'device float4' to 'float2'
// error: 7: no viable conversion from 'device float4' to 'half4'
// error: 8: invalid operands to binary expression ('device float4' and 'float3')
// error: 9: call to deleted constructor of 'atomic_int'
// never: /mettle/include
// never: __mettle
//--- a_constant_too_large
#include <metal_stdlib>
constant uchar table[1 << 30] = {1, 2, 3};
kernel void k(device uchar *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = table[i];
}
// error: 2: constant 'table' has 1073741824 bytes; at most 268435456 are supported
// note: 2: pass what is larger in a buffer
//--- indirect_arguments_by_any_spelling
#include <metal_stdlib>
kernel void k(device struct MTLDispatchThreadgroupsIndirectArguments *a [[buffer(0)]],
              device ::MTLDispatchThreadgroupsIndirectArguments *b [[buffer(1)]]) {
  struct MTLDrawPrimitivesIndirectArguments c = {1, 2, 3, 4};
  ::MTLDrawPrimitivesIndirectArguments d = c;
  a[0].threadgroupsPerGrid[0] = b[0].threadgroupsPerGrid[1] + d.vertexStart;
}
// expect: a buffer 0
//--- declared_indirect_arguments_are_the_programs
#include <metal_stdlib>
struct MTLDrawPrimitivesIndirectArguments {
  float mine;
};
kernel void k(device ::MTLDrawPrimitivesIndirectArguments *a [[buffer(0)]]) {
  a->mine = 1;
}
// expect: a buffer 0
