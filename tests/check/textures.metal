// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texels: who reads and writes them. Outside of a texture reads give 0 and
// writes do nothing.
// run: own_texels --grid 8,8 --group 8,8 a=r32Float:8,8 b=rgba8Unorm:8,8
// run: own_halves --grid 8,8 --group 8,8 a=r16Float:8,8
// run: in_phases --grid 8,8 --group 8,8 a=rgba8Unorm:8,8
// run: outside --grid 8,8 --group 8,8 a=r32Float:8,8
// run: atomics --grid 8,8 --group 4,4 a=r32Uint:8,8
// run: sampled --grid 8,8 --group 8,8 a=rgba8Unorm:8,8 y=zeros:64
// expect: y: 0 0 0 0
// run: neighbour --grid 8,8 --group 8,8 a=r32Float:8,8
// find: race.device @texel_read,@texel_write
// run: neighbour --grid 8,8 --group 8,8 a=rgba8Unorm:8,8
// find: race.device @texel_read,@texel_write
// run: neighbour --grid 8,8 --group 8,8 a=rg16Float:8,8
// find: race.device @texel_read,@texel_write
// run: neighbour --grid 8,8 --group 8,8 a=r8Snorm:8,8
// find: race.device @texel_read,@texel_write
// run: wrong_flag --grid 8,8 --group 8,8 a=rgba8Unorm:8,8
// find: race.device @flag_read,@flag_write
// run: same_texel --grid 8,8 --group 8,8 a=rgba32Float:8,8
// find: race.device @same,@same
// run: of_groups --grid 8,8 --group 4,4 a=r32Float:8,8
// find: race.device @groups_read,@groups_write
// run: plain_and_atomic --grid 8,8 --group 8,8 a=r32Uint:8,8
// find: race.device @plain,@atomic
#include <metal_stdlib>
using namespace metal;
#define P uint2 p [[thread_position_in_grid]]
typedef texture2d<float, access::read> source;
typedef texture2d<float, access::write> target;
typedef texture2d<float, access::read_write> both;

kernel void own_texels(source a, target b, P) {
  b.write(a.read(p) * 2, p);
}
kernel void own_halves(both a, P) {
  a.write(a.read(p) + 1, p);
}
kernel void in_phases(both a, P) {
  const float4 other = a.read(uint2(p.x ^ 1, p.y));
  threadgroup_barrier(mem_flags::mem_texture);
  a.write(other, p);
}
kernel void outside(both a, P) {
  a.write(a.read(p + 8), p + 100);
}
kernel void atomics(texture2d<uint, access::read_write> a, P) {
  a.atomic_fetch_add(uint2(0, 0), uint4(1));
}
kernel void sampled(texture2d<float> a, device float *y, P) {
  constexpr sampler linear(filter::linear);
  y[p.x + 8 * p.y] = a.sample(linear, float2(p) / 8).x;
}

kernel void neighbour(both a, P) {
  const float4 other = a.read(uint2(p.x ^ 1, p.y));  // @texel_read
  a.write(other + 0.5f, p);  // @texel_write
}
kernel void wrong_flag(both a, P) {
  const float4 other = a.read(uint2(p.x ^ 1, p.y));  // @flag_read
  threadgroup_barrier(mem_flags::mem_device);
  a.write(other + 0.5f, p);  // @flag_write
}
kernel void same_texel(target a, P) {
  a.write(float4(p.x + 1, p.y, 0, 1), uint2(p.x / 2, p.y));  // @same
}
kernel void of_groups(both a, P) {
  const float4 other = a.read(uint2(p.x ^ 4, p.y));  // @groups_read
  threadgroup_barrier(mem_flags::mem_texture);
  a.write(other + 0.5f, p);  // @groups_write
}
kernel void plain_and_atomic(texture2d<uint, access::read_write> a, P) {
  if (p.x == 0 && p.y == 0) {
    a.write(uint4(7), uint2(1, 0));  // @plain
  } else {
    a.atomic_fetch_add(uint2(1, 0), uint4(1));  // @atomic
  }
}
