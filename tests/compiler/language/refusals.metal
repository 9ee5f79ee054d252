// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
What Metal's compiler refuses and clang's device mode would take; with
-fpermissive it is a warning.

//--- device_object_to_a_thread_reference
static void twice(thread float &v) { v *= 2; }
static void thrice(float &v) { v *= 3; }
static float read(const thread float &v) { return v; }
kernel void f(device float *x [[buffer(0)]]) {
  twice(x[0]);
  thrice(x[0]);
  x[1] = read(x[2]);
}
// error: 5: binding reference of type 'thread float' to value of type 'device float' changes address space
// note: 5: copy the value to a variable of the thread's first
// error: 6: binding reference of type 'thread float'
// error: 7: binding reference of type 'thread const float'

//--- device_pointer_to_a_thread_pointer
static void twice(thread float *v) { *v *= 2; }
kernel void f(device float *x [[buffer(0)]], constant float *c [[buffer(1)]]) {
  threadgroup float t[4];
  twice(x);
  twice(t);
  const thread float *p = c;
  x[0] = *p;
}
// error: 4: converting 'device float *' to 'thread float *' changes address space of pointer
// error: 5: converting 'threadgroup float *' to 'thread float *'
// error: 6: converting 'constant float *' to 'thread const float *'

//--- casts_between_spaces
kernel void f(device float *x [[buffer(0)]]) {
  threadgroup float s[16];
  float l = 1;
  s[0] = 1;
  void *p = (void *)((char *)s + 4);
  device float *d = (device float *)&l;
  thread float *t = reinterpret_cast<thread float *>(x);
  x[0] = ((float *)p)[0] + *d + *t;
}
// error: 5: casting 'threadgroup float *' to 'thread char *' changes address space of pointer
// error: 6: casting 'thread float *' to 'device float *' changes address space of pointer
// error: 7: casting 'device float *' to 'thread float *' changes address space of pointer

//--- returned_from_another_space
static thread float *first(device float *x) { return x; }
static thread float &second(device float *x) { return x[1]; }
kernel void f(device float *x [[buffer(0)]]) { x[2] = *first(x) + second(x); }
// error: 1: converting 'device float *' to 'thread float *'
// error: 2: binding reference of type 'thread float' to value of type 'device float'

//--- spaces_in_templates_name_the_instance
template <typename T>
static void twice(thread T &v) { v *= 2; }
template <typename T>
static void both(device T *x) { twice<T>(x[0]); }
kernel void f(device float *x [[buffer(0)]]) { both(x); }
// error: 4: binding reference of type 'thread float' to value of type 'device float'
// note: 5: in instantiation of 'both<float>' requested here

//--- member_functions_know_where_their_object_is
struct S {
  float v;
  float get() const { return v; }
  void set(float x) device { v = x; }
  S &operator+=(float x) { v += x; return *this; }
  float operator()() const thread { return v; }
};
kernel void f(device S *s [[buffer(0)]], constant S &c [[buffer(1)]]) {
  s->set(c.get());
  s[1] += 2;
  s[2].set(s[3]());
}
// error: 9: 'this' argument to member function 'get' is in the constant address space, but the function is not marked 'constant'
// note: 9: write the address space behind the parameters
// error: 10: 'this' argument to member function 'operator+=' is in the device address space
// error: 11: 'this' argument to member function 'operator()'

//--- copies_and_values_pass_between_spaces
#include <metal_stdlib>
using namespace metal;
struct S { float v; float get() const { return v; } };
template <typename T> static float read(T x) { return x[0]; }
static float square(const thread float &x) { return x * x; }
static float sum(thread const S &s) { return s.v; }
kernel void f(device float *x [[buffer(0)]], device S *s [[buffer(1)]],
              device atomic_uint *a [[buffer(2)]]) {
  threadgroup float t[4];
  t[0] = 1;
  S copy = s[0];
  s[1] = copy;
  const S both[2] = {s[0], s[1]};
  thread S &r = copy;
  x[0] = read(x) + read(t) + square(x[0] + 1) + r.get() + both[0].get();
  x[1] = sum(S{x[1]}) + max(x[0], x[1]) + ulong(x);
  atomic_fetch_add_explicit(&a[0], 1u, memory_order_relaxed);
  uint expected = 0;
  atomic_compare_exchange_weak_explicit(a, &expected, 1u, memory_order_relaxed,
                                        memory_order_relaxed);
  float3 v = *(device packed_float3 *)x;
  x[2] = v.x;
}
// expect: kernel f

//--- a_choice_between_spaces_is_a_value
kernel void f(device float *x [[buffer(0)]], constant float &c [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
  float own = 2;
  x[0] = i & 1 ? x[1] : own;
  x[2] = i & 1 ? own : c;
}
// expect: kernel f

//--- variables_at_program_scope
int n = 0;
const float pi = 3.14f;
static constexpr int width = 4;
struct S { static constexpr int size = 4; };
constant float fine = 1;
constexpr constant int also_fine = 2;
kernel void f(device float *x [[buffer(0)]]) {
  static int count = 0;
  static const float table[2] = {1, 2};
  static constant float constants[2] = {1, 2};
  n += 1;
  x[0] = n + pi + width + S::size + count++ + table[1] + constants[0];
}
// error: 1: program scope variable 'n' must reside in the constant address space
// note: 1: declare it 'constant'
// error: 2: program scope variable 'pi' must reside in the constant address space
// error: 3: program scope variable 'width'
// error: 4: static member variable 'size'
// error: 8: static variable 'count' must reside in the constant address space
// error: 9: static variable 'table'

//--- samplers_and_templates_of_constants_are_fine
#include <metal_stdlib>
using namespace metal;
constexpr sampler s(filter::linear);
template <typename T> constant constexpr bool is_small = sizeof(T) < 4;
struct S { static constant constexpr int size = 4; };
kernel void f(texture2d<float> t [[texture(0)]],
              device float *x [[buffer(0)]]) {
  constexpr sampler local(coord::pixel);
  x[0] = t.sample(s, float2(0)).x + t.sample(local, float2(0)).x + S::size;
  x[1] = is_small<half>;
}
// expect: kernel f

//--- initialised_threadgroup_variables
struct P { int a; float b[2]; };
kernel void f(device float *x [[buffer(0)]]) {
  threadgroup int a = 1;
  threadgroup float b[4] = {0, 0, 3};
  threadgroup P c = {0, {0, 1}};
  threadgroup float d[4] = {0};
  threadgroup P e = {};
  x[0] = a + b[0] + c.b[0] + d[0] + e.a;
}
// error: 3: variable 'a' in the threadgroup address space cannot have an initializer other than zeros
// note: 3: store to it in the kernel
// error: 4: variable 'b' in the threadgroup address space
// error: 5: variable 'c' in the threadgroup address space

//--- initialised_in_parentheses
kernel void f(device float *x [[buffer(0)]]) {
  threadgroup float a(3.0f);
  threadgroup float d(0.0f);
  x[0] = a + d;
}
// error: 2: variable 'a' in the threadgroup address space cannot have an initializer other than zeros

//--- constructors_of_threadgroup_variables
struct Set { float x = 3; };
kernel void f(device float *x [[buffer(0)]]) {
  threadgroup Set b[2];
  x[0] = b[1].x;
}
// error: 3: variable 'b' in the threadgroup address space cannot have a constructor that sets other values than zeros
// note: 3: store to it in the kernel

//--- half_beside_float_is_ambiguous
#include <metal_stdlib>
using namespace metal;
kernel void f(device half *h [[buffer(0)]], device float *x [[buffer(1)]]) {
  x[0] = min(h[0], x[0]);
  x[1] = pow(x[0], h[0]);
  x[2] = clamp(h[0], 0.0f, 1.0f);
  x[3] = fma(h[0], h[1], x[0]);
  x[4] = max(float(h[0]), x[0]) + min(h[0], 1.0h) + fast::max(h[0], x[0]);
}
// error: 4: call to 'min' is ambiguous for (half, float)
// note: 4: convert the arguments to one of them
// error: 5: call to 'pow' is ambiguous for (float, half)
// error: 6: call to 'clamp' is ambiguous for (half, float, float)
// error: 7: call to 'fma' is ambiguous for (half, half, float)

//--- functions_of_floating_point_take_no_bool
#include <metal_stdlib>
using namespace metal;
kernel void f(device int *o [[buffer(0)]]) {
  bool b = o[0] > 3;
  o[0] = int(trunc(b)) + int(sqrt(float(o[1])));
}
// error: 5: call to 'trunc' is ambiguous for (bool)

//--- fast_and_precise_have_no_vectors_of_half
#include <metal_stdlib>
using namespace metal;
kernel void f(device half *o [[buffer(0)]]) {
  half3 v = fast::normalize(half3(o[0], 1, 2));
  half3 w = normalize(v);
  o[0] = v.x + w.x + half(precise::sin(o[1]));
}
// error: 4: no matching function for call to 'fast::normalize' with 'half3'
// note: 4: 'metal::normalize' takes other types too

//--- simdgroup_functions_of_64_bits
#include <metal_stdlib>
using namespace metal;
kernel void f(device long *o [[buffer(0)]],
              uint i [[thread_position_in_grid]]) {
  o[0] = simd_sum(long(i));
  o[1] = simd_shuffle_xor(ulong(i), 1);
  o[2] = quad_max(long2(i)).x;
  o[3] = simd_sum(i) + simd_shuffle(uint2(i), 3).x;
}
// error: 5: no matching function for call to 'simd_sum' with 'long'
// note: 5: exchange the two halves as a 'uint2'
// error: 6: no matching function for call to 'simd_shuffle_xor' with 'ulong'
// error: 7: no matching function for call to 'quad_max'

//--- atomics_that_metal_has_not
#include <metal_stdlib>
using namespace metal;
kernel void f(device atomic<half> *h [[buffer(0)]],
              device atomic_long *l [[buffer(1)]],
              device atomic_ulong *u [[buffer(2)]],
              device atomic_float *x [[buffer(3)]],
              device atomic_bool *b [[buffer(4)]]) {
  atomic_fetch_add_explicit(u, 1ul, memory_order_relaxed);
  atomic_exchange_explicit(u, 1ul, memory_order_relaxed);
  atomic_min_explicit(u, 1ul, memory_order_relaxed);
  atomic_fetch_add_explicit(x, 1.0f, memory_order_relaxed);
  atomic_exchange_explicit(b, true, memory_order_relaxed);
}
// error: 3: 'atomic<half>' is no type of Metal
// note: 3: an atomic holds an int, a uint, a bool, a ulong or a float
// error: 4: 'atomic<long>' is no type of Metal
// error: 8: no matching function for call to 'atomic_fetch_add_explicit' with 'atomic<ulong>'
// note: 8: only 'atomic_min_explicit' and 'atomic_max_explicit'
// error: 9: no matching function for call to 'atomic_exchange_explicit'

//--- what_came_with_a_later_language_version
// options: --std 240
#include <metal_stdlib>
using namespace metal;
kernel void f(device bfloat *b [[buffer(0)]],
              device atomic_float *x [[buffer(1)]],
              device atomic_uint *u [[buffer(2)]]) {
  atomic_fetch_add_explicit(u, 1u, memory_order_seq_cst);
  atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed);
  b[0] = bfloat4(1).x;
}
// error: 4: 'bfloat' needs Metal 3.1
// note: 4: this is compiled as Metal 2.4
// error: 5: 'atomic_float' needs Metal 3.0
// error: 7: a memory order other than 'memory_order_relaxed' needs Metal 3.2
// error: 8: 'atomic_thread_fence' needs Metal 3.2
// error: 9: 'bfloat' needs Metal 3.1

//--- functions_of_classes_by_version
// options: --std 300
#include <metal_stdlib>
using namespace metal;
constant os_log mine("a", "b");
kernel void f(texture2d<uint, access::read_write> t [[texture(0)]],
              device uint *x [[buffer(0)]]) {
  os_log_default.log("x");
  x[0] = t.atomic_fetch_add(uint2(0), 1).x;
  x[1] = t.read(uint2(0)).x;
}
// error: 4: 'os_log' needs Metal 3.2
// error: 7: logging needs Metal 3.2
// error: 8: 'atomic_fetch_add' needs Metal 3.1

//--- what_is_there_in_the_newest_version
// options: --std 320
#include <metal_stdlib>
using namespace metal;
kernel void f(device bfloat *b [[buffer(0)]],
              device atomic_float *x [[buffer(1)]]) {
  atomic_fetch_add_explicit(x, 1.0f, memory_order_relaxed);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  b[0] = bfloat(1);
}
// expect: kernel f

//--- parts_of_cpp_that_metal_has_not
struct A { virtual int f() { return 1; } };
struct B { int b; };
struct C : virtual B { int c; };
kernel void f(device int *x [[buffer(0)]], constant int &n [[buffer(1)]]) {
  int i = 0;
  int length[n];
  length[0] = 1;
again:
  if (i++ < 3) goto again;
  int *p = new int(3);
  x[0] = *p + length[0];
  delete p;
}
// error: 1: virtual functions are not supported in Metal
// error: 3: virtual base classes are not supported in Metal
// error: 6: variable length arrays are not supported in Metal
// error: 8: labels are not supported in Metal
// error: 9: 'goto' is not supported in Metal
// error: 10: 'new' is not supported in Metal
// error: 12: 'delete' is not supported in Metal

//--- lengths_that_vary_are_refused_in_any_case
// options: -fpermissive
kernel void f(device int *x [[buffer(0)]], constant int &n [[buffer(1)]]) {
  int length[n];
  x[0] = length[0];
}
// error: 3: variable length arrays are not supported in Metal

//--- half_is_no_name
struct S { float half; };
static float f(float half) { return half; }
kernel void k(device float *x [[buffer(0)]]) {
  S s;
  s.half = 1;
  x[0] = f(s.half);
}
// error: 1: expected a name: 'half' is a type and a keyword of Metal
// error: 2: expected a name: 'half'

//--- permissive_makes_them_warnings
// options: -fpermissive --std 300
#include <metal_stdlib>
using namespace metal;
static void twice(thread float &v) { v *= 2; }
kernel void f(device float *x [[buffer(0)]], device half *h [[buffer(1)]],
              device bfloat *b [[buffer(2)]],
              device atomic_ulong *u [[buffer(3)]]) {
  uint i = 0;
again:
  twice(x[0]);
  x[1] = min(h[0], x[0]) + float(simd_sum(long(b[0])));
  atomic_fetch_add_explicit(u, 1ul, memory_order_relaxed);
  if (i++ < 3) goto again;
}
// warning: 6: 'bfloat' needs Metal 3.1
// warning: 9: labels are not supported in Metal
// warning: 10: binding reference of type 'thread float' to value of type 'device float' changes address space
// warning: 11: call to 'min' is ambiguous for (half, float)
// warning: 12: no matching function for call to 'atomic_fetch_add_explicit'
// warning: 13: 'goto' is not supported in Metal
// expect: kernel f

//--- scalars_of_two_types_choose_no_overload
#include <metal_stdlib>
using namespace metal;
kernel void f(device int *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  x[0] = min(x[0], i);
  x[1] = int(metal::max(1, -2147483648));
  y[0] = clamp(y[0], -1, 1);
  x[2] = min3(x[0], 1u, 2);
  x[3] = hadd(x[0], i);
  y[1] = isnan(x[0]);
  x[4] = max(short(1), x[0]) + min(x[0] != 0, 2) + clamp(x[0], 0, 7);
  y[2] = pow(y[0], 2) + max(half(1), 2.0h) + fmax(half(1), 2);
}
// error: 4: call to 'min' is ambiguous for (int, uint)
// note: 4: Metal has it for each type of number: convert the arguments to one of them
// error: 5: call to 'max' is ambiguous for (int, long)
// error: 6: call to 'clamp' is ambiguous for (float, int, int)
// error: 7: call to 'min3' is ambiguous for (int, uint, int)
// error: 8: call to 'hadd' is ambiguous for (int, uint)
// error: 9: call to 'isnan' is ambiguous for (int)
// error: 10: call to 'max' is ambiguous for (short, int)

//--- kernels_are_not_called
kernel void g(device float *x [[buffer(0)]]) { x[0] = 1; }
template <typename T> kernel void t(device T *x [[buffer(0)]]) { x[0] = 1; }
template [[host_name("u")]] kernel decltype(t<float>) t<float>;
static void both(device float *x) { g(x); }
kernel void f(device float *x [[buffer(0)]]) {
  t<float>(x);
  both(x);
  void (*p)(device float *) = g;
  p(x);
}
// error: 4: kernel 'g' cannot be called
// note: 4: write a function that both call
// error: 6: kernel 't' cannot be called
// error: 8: kernel 'g' has no address

//--- too_few_components_in_parentheses
#include <metal_stdlib>
using namespace metal;
kernel void f(device float4 *x [[buffer(0)]]) {
  x[0] = float4(1, 2);
  x[1] = float4(float2(1), 2.0f);
  x[2] = float4(float3(1), 2);
  const float4 braced = {1, 2};
  float3 three(x[0].x, 2);
  x[3] = braced + float4(float2(1), float2(half2(2))) + float4(7) + three.xyzz;
}
// error: 4: no matching constructor for initialization of 'float4': 2 of 4 components
// error: 5: no matching constructor for initialization of 'float4': 3 of 4 components
// error: 8: no matching constructor for initialization of 'float3': 2 of 3 components

//--- thread_in_a_template_is_no_other_space
template <typename T> static void one(thread T *x) { *x = 1; }
template <typename T> static void two(T thread &x) { x = 1; }
template <typename T> static T three(const thread T &x) { return x; }
template <typename T> static void any(T *x) { *x = 1; }
kernel void f(device float *x [[buffer(0)]]) {
  float own;
  one(&own); two(own); any(&own); any(x);
  one(x);
  two(x[1]);
  x[2] = three(own) + own;
}
// error: 8: no matching function for call to 'one': parameter 'x' is in the thread address space, the argument in 'device'
// error: 9: no matching function for call to 'two'

//--- atomics_have_their_memory
#include <metal_stdlib>
using namespace metal;
kernel void f(device uint *x [[buffer(0)]], constant atomic_uint *c [[buffer(1)]], device atomic_ulong *l [[buffer(2)]], device atomic_uint *u [[buffer(3)]]) {
  atomic_uint own;
  threadgroup atomic_float shared;
  threadgroup atomic_uint right;
  atomic_store_explicit(&own, 1u, memory_order_relaxed);
  atomic_fetch_add_explicit(&shared, 1.0f, memory_order_relaxed);
  x[0] = atomic_load_explicit(c, memory_order_relaxed);
  x[1] = atomic_load_explicit(l, memory_order_relaxed);
  atomic_max_explicit(l, 1ul, memory_order_relaxed);
  uint e = atomic_load_explicit(&right, memory_order_relaxed);
  atomic_compare_exchange_strong_explicit(u, &e, 1u, memory_order_relaxed, memory_order_relaxed);
}
// error: 7: no matching function for call to 'atomic_store_explicit': an atomic is in device or threadgroup memory
// error: 8: no matching function for call to 'atomic_fetch_add_explicit': an atomic_float is in device memory
// error: 9: no matching function for call to 'atomic_load_explicit': an atomic is in device or threadgroup memory
// error: 10: no matching function for call to 'atomic_load_explicit' with 'atomic<ulong>'
// note: 10: Metal has only 'atomic_min_explicit' and 'atomic_max_explicit' for it
// error: 13: no matching function for call to 'atomic_compare_exchange_strong_explicit' with 'atomic<uint>'

//--- bfloat_becomes_no_half_by_itself
#include <metal_stdlib>
using namespace metal;
kernel void f(device bfloat *x [[buffer(0)]], device half *y [[buffer(1)]]) {
  y[0] = x[0];
  half h = x[1];
  y[1] = half(x[2]) + h;
  float wide = x[3];
  y[2] = half(wide);
}
// error: 4: cannot convert 'bfloat' to 'half' implicitly
// error: 5: cannot convert 'bfloat' to 'half' implicitly

//--- long_long
kernel void f(device long *x [[buffer(0)]]) {
  long long a = x[0];
  x[1] = a;
}
// error: 2: 'long long' is not supported in Metal: 'long' has 64 bits

//--- arguments_at_program_scope_by_version
// options: --std 300
#include <metal_stdlib>
using namespace metal;
uint place [[thread_position_in_grid]];
device float *values [[buffer(1)]];
kernel void f(device float *x [[buffer(0)]]) { x[place] = values[0]; }
// error: 4: an input at program scope needs Metal 3.1
// error: 5: an argument at program scope needs Metal 3.2

//--- function_constants_are_constant
bool b [[function_constant(0)]];
kernel void f(device float *x [[buffer(0)]]) { x[0] = b; }
// error: 1: function constant 'b' must reside in the constant address space

//--- inputs_match
kernel void f(device uint *x [[buffer(0)]], uint a [[threadgroup_position_in_grid]], uint3 b [[thread_position_in_threadgroup]]) { x[a] = b.x; }
kernel void g(device uint *x [[buffer(0)]], uint a [[thread_execution_width]], uint b [[thread_execution_width]]) { x[a] = b; }
kernel void h(device uint *x [[buffer(0)]], uint3 a [[thread_position_in_grid]], ushort b [[thread_index_in_threadgroup]]) { x[a.x] = b; }
// error: 1: type 'uint3' of parameter 'b' does not match 'uint' of parameter 'a': positions and sizes must be all scalars, or all vectors with the same number of components
// error: 2: parameter 'b' with attribute 'thread_execution_width' is the same input as 'a' with attribute 'thread_execution_width'

//--- simdgroup_types_of_the_library
#include <metal_stdlib>
using namespace metal;
static_assert(!__is_valid_simdgroup_type<long>::value, "64 bits");
static_assert(!__is_valid_simdgroup_type<vec<ulong, 2>>::value, "64 bits");
static_assert(__is_valid_simdgroup_type<half4>::value, "16 bits");
kernel void f(device float *x [[buffer(0)]]) { x[0] = 1; }

//--- results_beside_the_value_are_the_threads
#include <metal_stdlib>
using namespace metal;
kernel void f(device float *x [[buffer(0)]], device int *n [[buffer(1)]],
              device atomic_uint *a [[buffer(2)]]) {
  threadgroup float t;
  threadgroup uint old[1];
  x[0] = sincos(x[1], x[2]) + modf(x[3], t) + frexp(x[4], n[0]);
  atomic_compare_exchange_weak_explicit(a, old, 5u, memory_order_relaxed,
                                        memory_order_relaxed);
  float whole;
  int exponent;
  uint expected = 0;
  x[5] = modf(x[6], whole) + frexp(x[7], exponent) + sincos(x[8], whole);
  atomic_compare_exchange_weak_explicit(a, &expected, 5u, memory_order_relaxed,
                                        memory_order_relaxed);
}
// error: 7: call to 'sincos': its second parameter is in the thread address space, the argument in 'device'
// error: 7: call to 'modf': its second parameter is in the thread address space, the argument in 'threadgroup'
// error: 7: call to 'frexp': its second parameter
// error: 8: call to 'atomic_compare_exchange_weak_explicit': its second parameter
// note: 7: give it a variable of the thread's

//--- matrices_of_a_simdgroup_have_their_memory
#include <metal_stdlib>
using namespace metal;
kernel void f(device float *x [[buffer(0)]], constant float *c [[buffer(1)]]) {
  float own[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, c);
  simdgroup_store(m, own);
  simdgroup_load(m, x);
  x[64] = own[0];
}
// error: 6: call to 'simdgroup_load': a matrix is in device or threadgroup memory
// error: 7: call to 'simdgroup_store': a matrix is in device or threadgroup memory

//--- types_of_lengths_that_vary
static void f(int n, thread float (*rows)[n]) { rows[0][0] = 1; }
kernel void k(device float *x [[buffer(0)]], constant int &n [[buffer(1)]]) {
  typedef float row[n];
  x[0] = sizeof(row) + sizeof(float[n + 1]);
}
// error: 1: variable length arrays are not supported in Metal
// error: 3: variable length arrays are not supported in Metal
// error: 4: variable length arrays are not supported in Metal

//--- components_named_twice_and_addresses_of_components
#include <metal_stdlib>
using namespace metal;
kernel void f(device float4 *x [[buffer(0)]]) {
  x[0].xx = float2(1, 2);
  device float *y = &x[0].y;
  *y = 1;
}
// error: 4: 'xx' cannot be assigned: it names a component twice
// error: 5: a vector's component has no address
