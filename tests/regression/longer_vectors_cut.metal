// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explicit conversions of longer vectors keep the first components. The names
// that shared headers and older programs have: NS_ENUM over a type in Metal's
// namespace, make_scalar, _atomic, a barrier's flag of Metal 1, and one input
// under two names.
// run: cut --grid 2 --group 2 0=f32:1.5,-2.25,3,0,5,6.5,-7,8 1=zeros:f32:32 2=zeros:i32:1
// expect: 1: 1.5 -2.25 3 1.5 -2.25 1.5 -2.25 1 -2 0.75 -1.125 1.5 1 1 6 1 5 6.5 -7 5 6.5 5 6.5 5 6 2.5 3.25 -3.5 1 1 -14 1
// expect: 2: 4
#include <metal_stdlib>
using namespace metal;
using namespace simd;

typedef metal::int32_t backing;
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
typedef NS_ENUM(backing, slot){slot_in = 0, slot_out = 1};

template <typename T, typename E = typename enable_if<is_floating_point<
                          typename make_scalar<T>::type>::value>::type>
T twice(T x) {
  return x + x;
}

kernel void cut(device const float4 *in [[buffer(slot_in)]],
                device float *out [[buffer(slot_out)]],
                device _atomic<int> *count [[buffer(2)]],
                uint i [[thread_position_in_grid]],
                uint all [[threads_per_grid]], uint size [[grid_size]]) {
  device float *mine = out + 16 * i;
  const float4 v = in[i];
  const float3 three = float3(v);
  const float2 two = float2(v), also = float2(three);
  const int2 whole = int2(v);
  const half3 halves = half3(v * 0.5f);
  const bool2 set = bool2(v);
  const float values[] = {three.x,  three.y,  three.z,  two.x,
                          two.y,    also.x,   also.y,   float(whole.x),
                          float(whole.y), halves.x, halves.y, halves.z,
                          float(set.x),   float(set.y),   twice(three).z,
                          float(all == size)};
  for (uint k = 0; k < 16; k++)
    mine[k] = values[k];
  threadgroup_barrier(mem_flags::mem_device_and_threadgroup);
  atomic_fetch_add_explicit(count, int(all), memory_order_relaxed);
}
