// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes that are neighbours in memory in another order than that of their
// numbers: columns for rows, of one element and of several, stored and loaded,
// where all threads of a simdgroup are there and where some are not. Then
// lanes further apart, which have nothing beside them.
// run: turned --grid 80 --group 80 0=zeros:u32:80
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: turned_pairs --grid 80 --group 80 0=zeros:u32:80
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: turned_floats --grid 80 --group 80 0=zeros:u32:80
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: apart --grid 80 --group 80 0=zeros:u32:80
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#include <metal_stdlib>
using namespace metal;

enum { THREADS = 80, PLACES = 96 };

// Where a thread's elements are, in elements: the lowest bit of its number goes
// high up, as where tiles lie one behind the other.
static ushort place_of(ushort t) {
  return (t & 1) * 8 + (t / 2) % 8 + t / 16 * 16;
}
static ushort place_apart(ushort t) {
  return (t & 1) * 16 + (t / 2) % 8 * 2 + t / 16 * 32;
}

template <typename T, int Count, ushort place(ushort)>
static uint count_wrong(threadgroup vec<T, Count> *memory, ushort t) {
  for (ushort i = t; i < 2 * PLACES; i += THREADS) memory[i] = T(-1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  memory[place(t)] = vec<T, Count>(T(t), T(t + 100));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint wrong = 0;
  // Every element holds its thread's value, or is untouched.
  for (ushort i = t; i < 2 * PLACES; i += THREADS) {
    T expected = T(-1), second = T(-1);
    for (ushort other = 0; other < THREADS; other++) {
      if (place(other) == i) {
        expected = T(other);
        second = T(other + 100);
      }
    }
    wrong += memory[i].x != expected || memory[i].y != second;
  }
  const vec<T, Count> own = memory[place(t)];
  return wrong + (own.x != T(t)) + (own.y != T(t + 100));
}

kernel void turned(device uint *wrong [[buffer(0)]],
                   ushort t [[thread_index_in_threadgroup]]) {
  threadgroup half memory[2 * PLACES];
  for (ushort i = t; i < 2 * PLACES; i += THREADS) memory[i] = -1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  memory[place_of(t)] = half(t);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (ushort i = t; i < PLACES; i += THREADS) {
    half expected = -1;
    for (ushort other = 0; other < THREADS; other++) {
      if (place_of(other) == i) expected = half(other);
    }
    wrong[t] += memory[i] != expected;
  }
  wrong[t] += memory[place_of(t)] != half(t);
}
kernel void turned_pairs(device uint *wrong [[buffer(0)]],
                         ushort t [[thread_index_in_threadgroup]]) {
  threadgroup half2 memory[2 * PLACES];
  wrong[t] = count_wrong<half, 2, place_of>(memory, t);
}
kernel void turned_floats(device uint *wrong [[buffer(0)]],
                          ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float2 memory[2 * PLACES];
  wrong[t] = count_wrong<float, 2, place_of>(memory, t);
}
kernel void apart(device uint *wrong [[buffer(0)]],
                  ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float2 memory[2 * PLACES];
  wrong[t] = count_wrong<float, 2, place_apart>(memory, t);
}
