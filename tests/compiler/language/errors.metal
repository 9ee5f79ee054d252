// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
What a kernel may not be.

//--- returns_a_value
kernel int f(device float *x) { return 1; }
// error: 1: kernel 'f' must return void

//--- buffer_index_twice
kernel void f(device float *x [[buffer(0)]],
              device float *y [[buffer(0)]]) {}
// error: 2: buffer index 0 of parameter 'y' is already used

//--- buffer_index_out_of_range
kernel void f(device float *x [[buffer(31)]]) {}
// error: 1: buffer index 31 of parameter 'x' is not in 0 to 30

//--- negative_index
kernel void f(device float *x [[buffer(-1)]]) {}
// error: 1: buffer index -1 of parameter 'x' is not in 0 to 30

//--- index_that_is_no_constant
int n;
kernel void f(device float *x [[buffer(n)]]) {}
// error: 2: constant expression

//--- value_without_attribute
kernel void f(float x) {}
// error: 1: parameter 'x' of type 'float' needs an attribute

//--- value_as_buffer
kernel void f(float x [[buffer(0)]]) {}
// error: 1: parameter 'x' must be a pointer or reference to the device, constant or threadgroup address space

//--- pointer_to_thread_memory
kernel void f(thread float *x) {}
// error: 1: parameter 'x' must be a pointer or reference to the device

//--- position_of_wrong_type
kernel void f(float2 p [[thread_position_in_grid]]) {}
// error: 1: type 'float2' of parameter 'p' is not allowed for attribute 'thread_position_in_grid': it takes uint, uint2, uint3, ushort, ushort2 or ushort3

//--- position_of_four
kernel void f(uint4 p [[thread_position_in_grid]]) {}
// error: 1: type 'uint4' of parameter 'p' is not allowed

//--- index_of_vector_type
kernel void f(uint2 p [[thread_index_in_simdgroup]]) {}
// error: 1: it takes uint or ushort

//--- positions_that_differ
kernel void f(uint2 p [[thread_position_in_grid]],
              uint3 q [[threads_per_grid]]) {}
// error: 2: type 'uint3' of parameter 'q' does not match 'uint2' of parameter 'p'

//--- names_twice
[[host_name("same")]] kernel void f() {}
[[host_name("same")]] kernel void g() {}
// error: 2: kernel name 'same' is already used
// note: 1: the first kernel of that name

//--- threadgroup_attribute_on_device
kernel void f(device float *x [[threadgroup(0)]]) {}
// error: 1: attribute 'threadgroup' on parameter 'x', which points to the device or constant address space

//--- stage_in
struct S { int a; };
kernel void f(S s [[stage_in]]) {}
// error: 2: parameter 's': 'stage_in' is unsupported in kernels for now

//--- method_as_kernel
struct S { kernel static void f(device float *x) {} };
// error: 1: kernel 'S::f' must be a plain function

//--- several_errors_at_once
kernel int f(device float *x [[buffer(40)]]) { return 1; }
kernel void g(float y) {}
// error: 1: must return void
// error: 1: buffer index 40
// error: 2: needs an attribute

//--- function_without_a_body
namespace ns { float nowhere(float x, device int *p); }
kernel void f(device float *x [[buffer(0)]], device int *p [[buffer(1)]]) {
  x[0] = ns::nowhere(x[0], p);
}
// error: 3: function 'ns::nowhere' is called but nowhere defined

//--- function_without_a_body_that_nobody_calls
float nowhere(float x);
kernel void f(device float *x [[buffer(0)]]) { x[0] = 1; }
