// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structures with padding, which has no value and is copied with them; and
// members without one.
// run: set_by_members --grid 8 --group 8 0=zeros:i32:16
// run: in_threadgroup --grid 64 --group 64 0=zeros:i32:128
// run: exchanged --grid 64 --group 64 0=zeros:i32:128
// run: of_float3 --grid 64 --group 64 0=zeros:768
// run: of_many --grid 4 --group 4 0=zeros:i32:8
// run: of_classes --grid 4 --group 4 0=zeros:48
// run: part_of_a_class --grid 4 --group 4 0=zeros:48
// find: init.private @part_of_a_class
// run: one_member --grid 8 --group 8 0=zeros:i32:16
// find: init.private @one_member
// run: one_of_many --grid 64 --group 64 0=zeros:i32:128
// find: init.threadgroup @one_of_many
#include <metal_stdlib>
using namespace metal;

struct mixed {
  char kind;
  int value;
};
struct keyed {
  half key;
  uint value;
};
struct triple {
  float3 a;
  float b;
  float3 c;
};

kernel void set_by_members(device mixed *y [[buffer(0)]],
                           uint i [[thread_position_in_grid]]) {
  mixed m;
  m.kind = char(i);
  m.value = int(i);
  y[i] = m;
}

kernel void in_threadgroup(device mixed *y [[buffer(0)]],
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup mixed all[64];
  all[t].kind = char(t);
  all[t].value = int(t);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = all[63 - t];
}

kernel void exchanged(device keyed *y [[buffer(0)]],
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup keyed all[64];
  all[t].key = half(63 - t);
  all[t].value = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t % 2 == 0) {
    keyed a = all[t], b = all[t + 1];
    if (b.key < a.key) {
      all[t] = b;
      all[t + 1] = a;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  keyed mine = all[t];
  y[t] = mine;
}

kernel void of_float3(device triple *y [[buffer(0)]],
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup triple all[64];
  triple mine;
  mine.a = t;
  mine.b = 1;
  mine.c = float3(2);
  all[t] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  triple other = all[63 - t];
  other.b += 1;
  y[t] = other;
}

kernel void of_many(device mixed *y [[buffer(0)]],
                    uint i [[thread_position_in_grid]]) {
  mixed all[100];
  for (int k = 0; k < 100; ++k) {
    all[k].kind = char(k);
    all[k].value = k;
  }
  y[i] = all[25 * i];
}

kernel void one_member(device mixed *y [[buffer(0)]],
                       uint i [[thread_position_in_grid]]) {
  mixed m;
  m.value = int(i);
  y[i] = m;  // @one_member
}

kernel void one_of_many(device mixed *y [[buffer(0)]],
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup mixed all[64];
  all[t].value = int(t);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = all[63 - t];  // @one_of_many
}

// Ends in a smaller member than its vector, which has constructors: clang fills
// the gaps with bytes of its own.
struct item {
  float weight;
  float3 at;
  uchar kind;
};

kernel void of_classes(device item *y [[buffer(0)]],
                       uint i [[thread_position_in_grid]]) {
  item it;
  it.weight = i;
  it.at = float3(i);
  it.kind = 1;
  y[i] = it;
}

kernel void part_of_a_class(device item *y [[buffer(0)]],
                            uint i [[thread_position_in_grid]]) {
  item it;
  it.weight = i;
  it.at = float3(i);
  y[i] = it;  // @part_of_a_class
}
