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

//--- ray_tracing_is_unsupported_in_one_error
#include <metal_stdlib>
using namespace metal;
using namespace raytracing;
// error: 3: 'raytracing' is unsupported: Mettle has no ray tracing
kernel void k(instance_acceleration_structure a [[buffer(0)]],
              intersection_function_table<triangle_data> t [[buffer(1)]]) {
  intersector<triangle_data> i;
  ray r;
  auto x = i.intersect(r, a);
}

//--- headers_of_ray_tracing_and_tensors_are_found_missing
#include <metal_stdlib>
#if __has_include(<metal_raytracing>) || __has_include(<metal_tensor>) || \
    __has_include(<MetalPerformancePrimitives/MetalPerformancePrimitives.h>)
#error probing says that they are there
#endif
kernel void k(device float *out [[buffer(0)]]) { out[0] = 1; }
// expect: kernel k

//--- a_header_of_tensors_needs_metal_4
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
// error: 1: 'MetalPerformancePrimitives' is of Metal 4: compile as language version 4.0 or 4.1
kernel void k(mpp::nothing n) {}

//--- mesh_shaders_are_unsupported_in_one_error
#include <metal_stdlib>
using namespace metal;
struct P { float c; };
[[object]] void o(object_data P &p [[payload]], mesh_grid_properties g) {
// error: 4: 'object_data' is unsupported: Mettle has no mesh shaders
  g.set_threadgroups_per_grid(uint3(1));
}
using M = metal::mesh<P, P, 3, 1, topology::triangle>;

//--- tile_shaders_are_unsupported_in_one_error
#include <metal_stdlib>
using namespace metal;
struct I { half4 c [[color(0)]]; };
kernel void t(imageblock<I, imageblock_layout_implicit> b,
// error: 4: is unsupported: Mettle has no tile shaders
              ushort2 i [[thread_position_in_threadgroup]]) {
  I x = b.read(i);
}

//--- render_commands_are_unsupported_in_one_error
#include <metal_stdlib>
using namespace metal;
struct Encoder {
  command_buffer commands [[id(0)]];
  render_pipeline_state pipeline [[id(1)]];
// error: 5: 'render_pipeline_state' is unsupported: Mettle has no graphics pipelines
};
kernel void k(device Encoder &e [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  render_command command(e.commands, i);
  command.set_render_pipeline_state(e.pipeline);
}

//--- commands_are_those_of_their_command_buffer
#include <metal_command_buffer>
kernel void k(device metal::command_buffer *c [[buffer(0)]]) {
  metal::compute_command command(3);
// error: 3: no matching
}

//--- names_of_what_is_unsupported_are_free
#include <metal_stdlib>
using namespace metal;
struct mesh { int interpolation; };
struct tensor { mesh m; };
kernel void k(device tensor *topology [[buffer(0)]]) {
  topology[0].m.interpolation = 1;
}
// expect: kernel k

//--- visible_functions_have_one_name_each
[[visible]] float f(float x) { return x; }
[[visible]] float f(int x) { return float(x); }
// error: 2: visible function name 'f' is already used
// note: 1: the first visible function of that name

//--- functions_that_nobody_could_link_are_errors
float f(float x);
extern float g(float x);
kernel void k(device float *x [[buffer(0)]]) { x[0] = f(x[0]) + g(x[0]); }
// error: 3: function 'f' is called but nowhere defined

//--- errors_about_types_of_such_names_are_told_as_they_are
#include <metal_stdlib>
using namespace metal;
struct mesh { int size; };
struct scene { mesh m; };
kernel void k(device scene *s [[buffer(0)]]) {
  s[0].m.count = 1;
  // error: 6: no member named 'count' in 'mesh'
  s[0].mesh.size = 1;
  // error: 8: no member named 'mesh' in 'scene'
}
