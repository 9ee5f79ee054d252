// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Before, right behind and far behind what may be accessed: buffers from their
// offset, referenced structures, members, threadgroup and private variables.
// run: behind --grid 33 --group 11 0=iota:f32:33 1=zeros:f32:33
// find: bounds.device @behind
// expect: 1: 1 2 3 4
// run: before --grid 8 --group 8 0=iota:f32:8 1=zeros:f32:8
// find: bounds.device @before
// run: far --grid 8 --group 8 0=iota:f32:8 1=zeros:f32:8
// find: bounds.device @far
// run: writes --grid 8 --group 8 0=zeros:i32:4
// find: bounds.device @writes
// expect: 0: 1 2 3 4
// run: member --grid 4 --group 4 0=iota:f32:12 1=zeros:f32:4
// find: bounds.subobject @member
// run: last_member --grid 4 --group 4 0=iota:f32:12 1=zeros:f32:4
// expect: 1: 11 11 11 11
// run: shared --grid 8 --group 8 0=zeros:f32:8
// find: bounds.threadgroup @shared
// run: own --grid 8 --group 8 0=zeros:i32:8
// find: bounds.private @own
// run: open_array --grid 5 --group 5 0=iota:f32:4 1=zeros:f32:5
// find: bounds.device @open_array
// expect: 1: 0 2 4 6 0
// run: open_members --grid 5 --group 5 0=iota:f32:4 1=zeros:f32:15
// find: bounds.device @open_members
// expect: 1: 0 0 0 2 2 2 4 4 4 6 6 6 0
// run: inside --grid 8 --group 8 0=zeros:i32:8
// expect: 0: 0 1 2 3 0 1 2 3
// run: in_vain --grid 4 --group 4 0=iota:f32:4 1=zeros:f32:4
// find: bounds.device @in_vain
// run: vector_in_vain --grid 4 --group 4 0=iota:f32:14 1=zeros:f32:4
// find: bounds.device @vector_in_vain
// run: component --grid 4 --group 4 0=zeros:f32:14
// find: bounds.device @component
// expect: 0: 0 0 0 1 0 0 0 1 0 0 0 1 0 0
#include <metal_stdlib>
using namespace metal;

kernel void behind(device const float *x [[buffer(0)]],
                   device float *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = x[i + 1];  // @behind
}

kernel void before(device const float *x [[buffer(0)]],
                   device float *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = x[int(i) - 1];  // @before
}

kernel void far(device const float *x [[buffer(0)]],
                device float *y [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  y[i] = x[i * 1000000000ul];  // @far
}

kernel void writes(device int *y [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = i + 1;  // @writes
}

struct taps3 {
  float taps[4];
  float bias[4];
  float scale[4];
};

kernel void member(device const taps3 &f [[buffer(0)]],
                   device float *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = 0;
  for (uint k = 0; k <= 4; ++k)
    y[i] += f.taps[k];  // @member
}

kernel void last_member(device const taps3 &f [[buffer(0)]],
                        device float *y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  y[i] = f.scale[i | 3];
}

kernel void shared(device float *y [[buffer(0)]],
                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup float values[8];
  values[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = values[t + 1];  // @shared
}

kernel void own(device int *y [[buffer(0)]],
                uint i [[thread_position_in_grid]]) {
  int values[6];
  for (uint k = 0; k < 6; ++k)
    values[(k * 5 + i) % 6] = k;
  y[i] = values[i];  // @own
}

kernel void inside(device int *y [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  int values[4];
  for (uint k = 0; k < 4; ++k)
    values[k] = k;
  y[i] = values[i & 3];
}

// How translators write an array whose length the buffer tells.
typedef float floats[1];
kernel void open_array(device const floats &x [[buffer(0)]],
                       device float *y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = 2 * x[i];  // @open_array
}

// The same as the only member, which has its structure's address.
struct open_floats { float items[1]; };
struct open_vectors { packed_float3 items[1]; };
kernel void open_members(device const open_floats &x [[buffer(0)]],
                         device open_vectors &y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  y.items[i] = 2 * x.items[i];  // @open_members
}

// What is read is not used.
kernel void in_vain(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  const float next = x[i + 1];  // @in_vain
  const float twice = 2 * next;
  y[i] = i;
}

kernel void vector_in_vain(device const float4 *x [[buffer(0)]],
                           device float *y [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  const float4 own = x[i];  // @vector_in_vain
  y[i] = i;
}

// The buffer ends within the last vector.
kernel void component(device float4 *x [[buffer(0)]],
                      uint i [[thread_position_in_grid]]) {
  x[i].w = 1;  // @component
}
