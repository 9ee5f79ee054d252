// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs at program scope and in structs, arguments in structs, and address
// spaces that stand behind the type.
// run: at_program_scope --grid 4 --group 2 0=zeros:u32:4
// expect: 0: 0 101 210 311
// run: in_structs --grid 4 --group 2 0=f32:2 1=iota:f32:4 2=zeros:u32:4
// expect: 1: 0 2 4 6
// expect: 2: 0 1 12 13
// run: behind_types --grid 4 --group 4 0=iota:f32:4 1=f32:10,0
// expect: 0: 113 112 111 110
#include <metal_stdlib>
using namespace metal;

uint index [[thread_position_in_grid]];
const uint3 group [[threadgroup_position_in_grid]];
ushort lane [[thread_index_in_simdgroup]];

static void note(device uint *out) {
  out[index] = index * 100 + group.x * 10 + lane;
}
[[kernel]] void at_program_scope(device uint *out [[buffer(0)]]) { note(out); }

struct Place {
  uint2 thread_place [[thread_position_in_grid]];
  ushort2 group_place [[threadgroup_position_in_grid]];
};
struct Arguments {
  device float *values [[buffer(1)]];
  constant float &factor [[buffer(0)]];
  Place place;
};
[[kernel]] void in_structs(Arguments arguments, device uint *out [[buffer(2)]]) {
  const uint i = arguments.place.thread_place.x;
  arguments.values[i] *= arguments.factor;
  out[i] = arguments.place.group_place.x * 10 + i;
}

struct Pair { float a, b; };
static float add(const Pair device &, Pair constant &c) { return c.a; }
kernel void behind_types(float device *x [[buffer(0)]], Pair constant &c [[buffer(1)]],
                         ushort i [[thread_position_in_threadgroup]]) {
  Pair threadgroup shared;
  float threadgroup t[4], u;
  metal::vec<float, 4> threadgroup v[2];
  if (i == 0) {
    shared.a = add(*(device Pair *)x, c);
    u = 90;
    v[1] = float4(10);
  }
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[3 - i] + shared.a + u + v[1].w;
}
