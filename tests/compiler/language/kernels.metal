// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
Kernels and their argument tables.

//--- plain_kernel
#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device float *y [[buffer(1)]],
                  const device float *x [[buffer(0)]],
                  constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}
// expect: kernel saxpy = mettle.kernel.0 line 3
// expect: y buffer 1 readwrite float type 12 x 1 size 4 align 4
// expect: x buffer 0 read float
// expect: a buffer 2 read float type 12 x 1 size 4 align 4 reference
// expect: i builtin 1 components 1 bytes 4
// ir: define dso_local void @mettle\.kernel\.0\(ptr noundef %\w+\)

//--- attribute_kernel
[[kernel]] void f(device int *x) { x[0] = 1; }
// expect: kernel f = mettle.kernel.0
// expect: x buffer 0 readwrite int

//--- attributes_in_one_list
[[kernel, max_total_threads_per_threadgroup(128)]]
void f(device int *x [[buffer(3)]]) { x[0] = 1; }
// expect: line 2 max 128
// expect: x buffer 3

//--- thread_limit_after_declarator
constant constexpr int limit = 64;
kernel void f(device int *x) [[max_total_threads_per_threadgroup(limit * 2)]] {
  x[0] = 1;
}
// expect: max 128

//--- no_kernel_is_a_library_too
float twice(float x) { return 2 * x; }

//--- empty_source

//--- kernel_in_namespace
namespace a { namespace b {
kernel void f(device int *x) { x[0] = 1; }
} }
// expect: kernel a::b::f = mettle.kernel.0

//--- host_name
[[host_name("my kernel")]] [[kernel]] void f(device int *x) { x[0] = 1; }
// expect: kernel my kernel = mettle.kernel.0

//--- host_name_from_macro
#define named(name) [[host_name(name "_float")]]
named("copy") kernel void f(device int *x) { x[0] = 1; }
// expect: kernel copy_float = mettle.kernel.0

//--- template_instantiated_with_parameters
template <typename T>
kernel void fill(device T *x [[buffer(0)]], constant T &v [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  x[i] = v;
}
template [[host_name("fill_float")]] [[kernel]] void fill<float>(
    device float *, constant float &, uint);
template [[host_name("fill_half")]] kernel void fill<half>(
    device half *x [[buffer(0)]], constant half &v [[buffer(1)]],
    uint i [[thread_position_in_grid]]);
// expect: kernel fill_float = mettle.kernel.0
// expect: kernel fill_half = mettle.kernel.1
// expect: x buffer 0 readwrite half type 10 x 1 size 2 align 2

//--- template_instantiated_by_decltype
template <typename T, int N>
[[kernel]] void fill(device T *x [[buffer(N)]]) { x[0] = N; }
#define instantiate(name, ...) \
  template [[host_name(name)]] [[kernel]] decltype(fill<__VA_ARGS__>) \
      fill<__VA_ARGS__>;
instantiate("f3", float, 3)
instantiate("i5", int, 5)
// expect: kernel f3 = mettle.kernel.0
// expect: x buffer 3 readwrite float
// expect: kernel i5 = mettle.kernel.1
// expect: x buffer 5 readwrite int

//--- implicit_instantiation_is_no_kernel
// options: -fpermissive
template <typename T> kernel void fill(device T *x) { x[0] = 1; }
kernel void g(device float *x) { fill<float>(x); }
// expect: kernel g = mettle.kernel.0
// no-ir: mettle\.kernel\.1
// warning: 3: kernel 'fill' cannot be called

//--- explicit_specialisation_is_a_kernel
template <typename T> kernel void fill(device T *x) { x[0] = 1; }
template <> [[host_name("s")]] kernel void fill<int>(device int *x) { x[0] = 2; }
// expect: kernel s = mettle.kernel.0

//--- kernels_in_source_order
kernel void b(device int *x) { x[0] = 1; }
kernel void a(device int *x) { x[0] = 1; }
// expect: kernel b = mettle.kernel.0
// expect: kernel a = mettle.kernel.1

//--- forward_declared_kernel
kernel void f(device int *x [[buffer(2)]]);
kernel void f(device int *x [[buffer(2)]]) { x[0] = 1; }
// expect: x buffer 2

//--- indices_by_themselves
kernel void f(device int *a, device int *b [[buffer(0)]], constant int &c,
              threadgroup int *d, threadgroup int *e [[threadgroup(0)]]) {
  a[0] = b[0] + c + d[0] + e[0];
}
// expect: a buffer 1 readwrite
// expect: b buffer 0 readwrite
// expect: c buffer 2 read
// expect: d threadgroup 1
// expect: e threadgroup 0

//--- positions_of_every_kind
kernel void f(device uint *x,
              uint3 a [[thread_position_in_grid]],
              ushort3 b [[thread_position_in_threadgroup]],
              uint3 c [[threadgroup_position_in_grid]],
              uint3 d [[threads_per_threadgroup]],
              uint3 e [[dispatch_threads_per_threadgroup]],
              uint3 f [[threads_per_grid]],
              uint3 g [[threadgroups_per_grid]],
              uint h [[thread_index_in_threadgroup]],
              ushort i [[thread_index_in_simdgroup]],
              uint j [[simdgroup_index_in_threadgroup]],
              uint k [[simdgroups_per_threadgroup]],
              uint l [[threads_per_simdgroup]],
              ushort m [[thread_index_in_quadgroup]],
              uint n [[quadgroup_index_in_threadgroup]],
              uint3 p [[grid_origin]], uint3 q [[grid_size]]) {
  x[a.x] = b.x + c.x + d.x + e.x + f.x + g.x + h + i + j + k + l + m + n +
           p.x + q.x;
}
kernel void g(device uint *x, uint o [[thread_execution_width]]) { x[0] = o; }
// expect: b builtin 2 components 3 bytes 2
// expect: i builtin 11 components 1 bytes 2
// expect: o builtin 19 components 1 bytes 4

//--- types_of_arguments
#include <metal_stdlib>
using namespace metal;
struct Params { uint n; float3 s; };
namespace n { struct Q { half h; }; }
kernel void f(device float4 *a, device half2 *b, constant Params &c,
              device n::Q *d, device uchar *e, device vec<int, 3> *g,
              device atomic_uint *h, device packed_float3 *p, device void *v,
              const device bool *q) {
  a[0].x = b[0].x + c.n + d->h + e[0] + g[0].x + p[0].x + q[0];
}
// expect: a buffer 0 readwrite float4 type 12 x 4 size 16 align 16
// expect: b buffer 1 readwrite half2 type 10 x 2 size 4 align 4
// expect: c buffer 2 read Params type 0 x 0 size 32 align 16 reference
// expect: d buffer 3 readwrite n::Q type 0 x 0 size 2 align 2
// expect: e buffer 4 readwrite uchar type 3 x 1 size 1 align 1
// expect: g buffer 5 readwrite int3 type 6 x 3 size 16 align 16
// expect: h buffer 6 readwrite atomic_uint type 7 x 1 size 4 align 4
// expect: p buffer 7 readwrite packed_float3 type 12 x 3 size 12 align 4
// expect: q buffer 9 read bool type 1 x 1 size 1 align 1

//--- array_parameters
kernel void f(device float x[8] [[buffer(0)]], constant const int w[2][3],
              threadgroup half t[4]) {
  x[0] = w[1][2] + t[0];
}
// expect: x buffer 0 readwrite float
// expect: t threadgroup 0 readwrite half

//--- graphics_functions_beside_kernels
#include <metal_stdlib>
using namespace metal;
struct Vertex { float4 position [[position]]; float2 uv [[user(uv)]]; };
vertex Vertex v(uint i [[vertex_id]], const device float4 *p [[buffer(0)]]) {
  return {p[i], float2(0)};
}
fragment float4 g(Vertex in [[stage_in]]) { return in.position; }
kernel void f(device int *x) { x[0] = 1; }
// expect: kernel f = mettle.kernel.0
// no-ir: mettle\.kernel\.1

//--- argument_buffer_members
struct Inner { device float *x [[id(0)]]; constant int *n [[id(1)]]; };
struct Arguments { Inner inner; device float *out [[id(2)]]; float k [[id(3)]]; };
kernel void f(constant Arguments &a [[buffer(0)]],
              uint i [[thread_position_in_grid]]) {
  a.out[i] = a.inner.x[i] * a.k + *a.inner.n;
}
// expect: a buffer 0 read Arguments type 0 x 0 size 32 align 8 reference
// no-ir: llvm\.ptr\.annotation

//--- fragment_functions_beside_a_kernel
#include <metal_stdlib>
using namespace metal;
struct Vertex { float4 position [[position]]; float2 uv; };
vertex Vertex corner(constant float4 *p [[buffer(0)]], uint i [[vertex_id]]) {
  return {p[i], p[i].xy};
}
fragment float4 shade(Vertex in [[stage_in]], bool front [[front_facing]],
                      texture2d<half> t [[texture(0)]]) {
  constexpr sampler s;
  if (!front || t.calculate_clamped_lod(s, in.uv) > 2) discard_fragment();
  return float4(dfdx(in.uv.x), dfdy(in.uv.y), fwidth(in.uv));
}
kernel void f(device float *x [[buffer(3)]]) { x[0] = 1; }
// expect: x buffer 3
// no-ir: discard_fragment

//--- kernel_that_calls_a_fragment_function
#include <metal_stdlib>
kernel void f(device float *x [[buffer(0)]]) { x[0] = metal::dfdx(x[1]); }
// error: 2: function 'metal::dfdx
