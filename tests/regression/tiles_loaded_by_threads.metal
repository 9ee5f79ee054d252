// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tiles multiply, loaded thread by thread from where a thread's elements
// are, as loads of whole tiles: rows and columns, both at once, from halves and
// bfloats, along a loop. And what only looks like it: rows in another order,
// elements two apart, a change between the two loads. Each thread counts what
// differs from sums of its own.
// run: rows --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: columns --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: pairs --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: halves --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: bfloats --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: walking --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: swapped --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: apart --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: between --grid 64 --group 64 0=iota:f32:1024 1=zeros:u32:64
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

enum { PITCH = 20, TILE = 8 * PITCH };

// Small whole numbers: all their sums are exact.
static float number(uint i) {
  return float(i * 7 % 11) - 4;
}

struct place {
  short row, column;
};
static place place_of(ushort lane) {
  const short quad = lane / 4;
  return {short((quad & 4) + (lane / 2) % 4),
          short((quad & 2) * 2 + (lane % 2) * 2)};
}

// Sums up a * b and counts the elements that differ from the expected value,
// given the elements' formulas.
template <typename A, typename B>
static uint count_wrong(float2 a, float2 b, ushort lane, A left, B right) {
  simdgroup_float8x8 ma, mb, sum(0);
  ma.thread_elements() = a;
  mb.thread_elements() = b;
  simdgroup_multiply_accumulate(sum, ma, mb, sum);
  const place p = place_of(lane);
  uint wrong = 0;
  for (short i = 0; i < 2; i++) {
    float expected = 0;
    for (short k = 0; k < 8; k++) {
      expected += number(left(p.row, k)) * number(right(k, p.column + i));
    }
    wrong += sum.thread_elements()[i] != expected;
  }
  return wrong;
}

// Both simdgroups have memory of their own.
#define OWN(T)                                                          \
  threadgroup T memory[4 * TILE];                                       \
  for (ushort i = lane; i < 2 * TILE; i += 32) {                        \
    memory[s * 2 * TILE + i] = T(number(s * 2 * TILE + i));             \
  }                                                                     \
  threadgroup_barrier(mem_flags::mem_threadgroup);                      \
  const place p = place_of(lane);                                       \
  const short first = s * 2 * TILE + p.row * PITCH + p.column;          \
  const short turned = s * 2 * TILE + p.column * PITCH + p.row;         \
  (void)first;                                                          \
  (void)turned;                                                         \
  const uint start = s * 2 * TILE;

#define KERNEL(name)                                              \
  kernel void name(device const float *iota [[buffer(0)]],        \
                   device uint *wrong [[buffer(1)]],              \
                   uint t [[thread_position_in_grid]],            \
                   ushort lane [[thread_index_in_simdgroup]],     \
                   ushort s [[simdgroup_index_in_threadgroup]])

#define AT(r, c) [=](uint row, uint column) { return start + (r) * PITCH + (c); }

KERNEL(rows) {
  OWN(float)
  threadgroup const float *from = memory + first;
  const float2 a(from[0], from[1]);
  const float2 b(from[8], from[9]);
  wrong[t] = count_wrong(a, b, lane, AT(row, column), AT(row, column + 8));
}
KERNEL(columns) {
  OWN(float)
  threadgroup const float *from = memory + turned;
  const float2 a(from[0], from[PITCH]);
  const float2 b(from[8], from[PITCH + 8]);
  wrong[t] = count_wrong(a, b, lane, AT(column, row), AT(column, row + 8));
}
KERNEL(pairs) {
  OWN(float)
  threadgroup const float *from = memory + first;
  const float2 a = *(threadgroup const float2 *)from;
  const float2 b = *(threadgroup const float2 *)(from + 10);
  wrong[t] = count_wrong(a, b, lane, AT(row, column), AT(row, column + 10));
}
KERNEL(halves) {
  OWN(half)
  threadgroup const half *from = memory + first;
  threadgroup const half *down = memory + turned;
  const float2 a(from[0], from[1]);
  const float2 b(down[8], down[PITCH + 8]);
  wrong[t] = count_wrong(a, b, lane, AT(row, column), AT(column, row + 8));
}
KERNEL(bfloats) {
  OWN(bfloat)
  threadgroup const bfloat *from = memory + first;
  threadgroup const bfloat *down = memory + turned;
  const float2 a(from[0], from[1]);
  const float2 b(down[8], down[PITCH + 8]);
  wrong[t] = count_wrong(a, b, lane, AT(row, column), AT(column, row + 8));
}
// Eight products along a row of device memory, of whole numbers.
KERNEL(walking) {
  const place p = place_of(lane);
  device const float *from = iota + s * 512 + p.row * 64 + p.column;
  simdgroup_float8x8 ma, mb(1), sum(0);
  for (ushort k = 0; k < 8; k++, from += 8) {
    ma.thread_elements()[0] = from[0];
    ma.thread_elements()[1] = from[1];
    simdgroup_multiply_accumulate(sum, ma, mb, sum);
  }
  for (short i = 0; i < 2; i++) {
    const float expected =
        8 * (s * 512 + p.row * 64 + p.column + i) + 8 * (0 + 56) / 2;
    wrong[t] += sum.thread_elements()[i] != expected;
  }
}
// Rows 0, 2, 1, 3 and so on.
KERNEL(swapped) {
  OWN(float)
  const short mixed = (p.row & 4) | (p.row & 1) << 1 | (p.row & 2) >> 1;
  threadgroup const float *from = memory + s * 2 * TILE + mixed * PITCH +
                                  p.column;
  const float2 a(from[0], from[1]);
  const float2 b(from[8], from[9]);
  wrong[t] = count_wrong(
      a, b, lane, AT((row & 4) | (row & 1) << 1 | (row & 2) >> 1, column),
      AT((row & 4) | (row & 1) << 1 | (row & 2) >> 1, column + 8));
}
KERNEL(apart) {
  OWN(float)
  threadgroup const float *from = memory + first;
  const float2 a(from[0], from[2]);
  const float2 b(from[9], from[8]);
  wrong[t] = count_wrong(
      a, b, lane,
      AT(row, column + (column & 1)),
      AT(row, (column ^ 1) + 8));
}
KERNEL(between) {
  OWN(float)
  threadgroup float *from = memory + first;
  const float before = from[0];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  from[0] = 0;
  from[1] = number(start + p.row * PITCH + p.column);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const float2 a(before, from[1]);
  const float2 b(from[8], from[9]);
  wrong[t] = count_wrong(a, b, lane, AT(row, column & 6), AT(row, column + 8));
}
