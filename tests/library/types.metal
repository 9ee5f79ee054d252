// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// types.metal: sizes and alignments of every type, as in the Metal Shading
// Language specification (section "Data types"), and the ways in which values
// of them are made and used. It only has to compile.
#include <metal_stdlib>
using namespace metal;

#define IS(type, size, alignment)                            \
  static_assert(sizeof(type) == size, "size of " #type);     \
  static_assert(alignof(type) == alignment, "alignment of " #type)
#define SCALAR(type, size)              \
  IS(type, size, size);                 \
  IS(type##2, 2 * size, 2 * size);      \
  IS(type##3, 4 * size, 4 * size);      \
  IS(type##4, 4 * size, 4 * size)
#define PACKED(type, size)              \
  IS(packed_##type##2, 2 * size, size); \
  IS(packed_##type##3, 3 * size, size); \
  IS(packed_##type##4, 4 * size, size)
#define MATRIX(type, size)              \
  IS(type##2x2, 4 * size, 2 * size);    \
  IS(type##2x3, 8 * size, 4 * size);    \
  IS(type##2x4, 8 * size, 4 * size);    \
  IS(type##3x2, 6 * size, 2 * size);    \
  IS(type##3x3, 12 * size, 4 * size);   \
  IS(type##3x4, 12 * size, 4 * size);   \
  IS(type##4x2, 8 * size, 2 * size);    \
  IS(type##4x3, 16 * size, 4 * size);   \
  IS(type##4x4, 16 * size, 4 * size)
SCALAR(bool, 1);
SCALAR(char, 1);
SCALAR(uchar, 1);
SCALAR(short, 2);
SCALAR(ushort, 2);
SCALAR(int, 4);
SCALAR(uint, 4);
SCALAR(long, 8);
SCALAR(ulong, 8);
SCALAR(half, 2);
SCALAR(bfloat, 2);
SCALAR(float, 4);
PACKED(char, 1);
PACKED(uchar, 1);
PACKED(short, 2);
PACKED(ushort, 2);
PACKED(int, 4);
PACKED(uint, 4);
PACKED(long, 8);
PACKED(half, 2);
PACKED(bfloat, 2);
PACKED(float, 4);
MATRIX(float, 4);
MATRIX(half, 2);
IS(size_t, 8, 8);
IS(ptrdiff_t, 8, 8);
IS(atomic_int, 4, 4);
IS(atomic_uint, 4, 4);
IS(atomic_float, 4, 4);
IS(atomic_ulong, 8, 8);
IS(simdgroup_float8x8, 8, 8);

// What kernels write for the host's indirect calls, as the host lays it out.
IS(MTLDispatchThreadgroupsIndirectArguments, 12, 4);
IS(MTLDispatchThreadsIndirectArguments, 24, 4);
IS(MTLStageInRegionIndirectArguments, 24, 4);
IS(MTLDrawPrimitivesIndirectArguments, 16, 4);
IS(MTLDrawIndexedPrimitivesIndirectArguments, 20, 4);
IS(MTLDrawPatchIndirectArguments, 16, 4);
IS(MTLQuadTessellationFactorsHalf, 12, 2);
IS(MTLTriangleTessellationFactorsHalf, 8, 2);
IS(MTLMapIndirectArguments, 32, 4);

struct Mixed {
  float3 a;
  float b;
  packed_float3 c;
  half3 d;
  bool4 e;
};
IS(Mixed, 48, 16);

// Literals.
static_assert(is_same_v<decltype(1.0), float>, "a literal is a float");
static_assert(is_same_v<decltype(1.0h), half>, "1.0h is a half");
static_assert(1.5h == half(1.5f) && 0x1.8p1h == half(3.0f), "");
static_assert(.1h == half(.1f) && 1e-3h == half(1e-3f), "");
static_assert(is_same_v<decltype(1.0bf), bfloat> && 1.5bf == 1.5f, "");
static_assert(.5BF == 0.5f && 0x1.8p1bf == 3.0f && 0x1bf == 447, "");
static_assert(is_same_v<decltype(2.0H), half> && 2.0H == 2.0h, "");
static_assert(65504.h == numeric_limits<half>::max(), "");

// Limits and traits.
static_assert(numeric_limits<float>::max() == FLT_MAX, "");
static_assert(numeric_limits<half>::min() == HALF_MIN, "");
static_assert(numeric_limits<half>::epsilon() == HALF_EPSILON, "");
static_assert(numeric_limits<bfloat>::max() == 3.38953139e38f, "");
static_assert(numeric_limits<bfloat>::epsilon() == 0.0078125f, "");
static_assert(MAXBFLOAT == numeric_limits<bfloat>::max(), "");
static_assert(BFLT_MAX == MAXBFLOAT && BFLT_MIN == 0x1p-126f, "");
static_assert(BFLT_EPSILON == 0x1p-7f && BFLT_MANT_DIG == 8, "");
static_assert(BFLT_DIG == 2 && BFLT_RADIX == 2, "");
static_assert(BFLT_MAX_EXP == 128 && BFLT_MIN_EXP == -125, "");
static_assert(BFLT_MAX_10_EXP == 38 && BFLT_MIN_10_EXP == -37, "");
static_assert(is_same_v<decltype(HUGE_VALBF), bfloat>, "");
static_assert(HUGE_VALBF == numeric_limits<bfloat>::infinity(), "");
static_assert(-HUGE_VALBF < -MAXBFLOAT, "");
static_assert(is_same_v<decltype(MAXBFLOAT), bfloat>, "");
static_assert(M_PI_BF == 3.140625f && M_SQRT1_2_BF == 0.70703125f, "");
static_assert(is_same_v<decltype(HUGE_VALH), half>, "");
static_assert(MAXHALF == 65504.0h && HUGE_VALH > MAXHALF, "");
static_assert(HALF_DIG == 3 && HALF_MANT_DIG == 11 && HALF_RADIX == 2, "");
static_assert(numeric_limits<ulong>::max() == ULONG_MAX, "");
static_assert(numeric_limits<int>::lowest() == INT_MIN, "");
static_assert(is_floating_point_v<bfloat> && is_floating_point_v<half>, "");
static_assert(is_same_v<make_unsigned_t<char>, uchar>, "");
static_assert(is_same_v<conditional_t<true, int, float>, int>, "");
static_assert(is_same_v<remove_addrspace_t<device float>, float>, "");

// Values of program scope are constants, whatever they are made of.
constant float4 corners[] = {float4(1, 2, 3, 4), float4(0.5), {1, 2}};
constant float4x4 identity = float4x4(1.0);
constant float2x2 turned = {{0, -1}, {1, 0}};
constant packed_float3 axis = packed_float3(0, 1, 0);
constant bfloat one = bfloat(1.0);
constant array<int, 3> steps = {1, 2, 3};

template <typename T>
vec<T, 2> swapped(vec<T, 2> v) {
  v.x += T(1);  // a property of a type that is not known yet
  v.xy = v.yx;
  v.y++;
  return v.xy + v.yx;
}

template <typename T>
T chosen(const device T *from, T otherwise, bool is_there) {
  return is_there ? from[0] : otherwise;
}

kernel void uses(device float4 *v [[buffer(0)]], constant float4 &c,
                 const device float4 *in, device packed_float3 *p,
                 device half4 *h, device float4x4 *m, device bool3 *flags,
                 threadgroup float4 *shared, device atomic_uint *counter,
                 uint3 gid [[thread_position_in_grid]]) {
  v[0] = float4(c.xyz, 1.0);
  v[1] = float4(1, c.yz, 2);
  v[2] = float4(c.rg, c.ba);
  v[3].xz = v[2].wy;
  v[4].bgr *= 2;
  v[5][gid.x & 3] += 1;
  v[6] = gid.x ? in[0] : float4(0);
  v[7] = gid.y ? c : v[1];
  v[8] = chosen(in, float4(1), gid.z);
  v[9].xy = swapped(v[9].zw);
  v[10] = 1 - v[9] * 0.5 + 2;
  v[11] = float4(int4(v[10])) + float4(float3(gid), 0);
  v[12] = corners[gid.x] * identity * m[0] + turned[0].x;
  p[0] = p[1] * 2 + float3(axis);
  p[2].x = p[1].z;
  p[3].xy = all(gid.xy == 2) ? float2(1) : float2(gid.xy);
  h[0] = half4(v[0]) * 2.0h + half(1);
  flags[0] = v[0].xyz < v[1].xyz && !(v[2].xyz == 0);
  flags[1][2] = any(flags[0]);
  m[0][2].xy = float2(steps[1]);
  m[1] = m[0] * float4x4(v[0], v[1], v[2], v[3]);
  shared[gid.x] = v[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  v[13] = shared[gid.x ^ 1] + float(one);
  uint2 bits = as_type<uint2>(v[0].xy) << 1 >> uint2(1, 2);
  bits ^= ~bits & 0xff;
  atomic_fetch_add_explicit(&counter[bits.x & 1], 1, memory_order_relaxed);
  float3 sum = float3(0);
  for (uint i = 0; i < 3; i++) sum[i] += c[i];
  v[14].xyz = -sum;
}
