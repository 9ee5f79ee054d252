// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a product finds its sides: as rows or columns of any type, in memory
// that is written between the load and the product or between two products, one
// tile for both; and a sum that is changed in each turn of a loop. Each thread
// counts what differs from sums of its own.
// run: floats --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: halves --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: bfloats --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: written --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: loaded_late --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: square --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: one_sum --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: two_lefts --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

enum { PITCH = 20, SIZE = 8 * PITCH };

// Small whole numbers: all their sums are exact.
static float number(uint i) {
  return float(i * 7 % 11) - 4;
}

// Sums up the products of two tiles' elements.
template <typename A, typename B>
static float product(A left, B right, uint row, uint column) {
  float sum = 0;
  for (uint k = 0; k < 8; k++) { sum += left(row, k) * right(k, column); }
  return sum;
}

template <typename E>
static uint count_wrong(simdgroup_float8x8 sum, uint lane, E expected) {
  const uint row = ((lane >> 2) & 4) | ((lane >> 1) & 3);
  const uint column = ((lane >> 1) & 4) | ((lane << 1) & 2);
  uint wrong = 0;
  for (uint i = 0; i < 2; i++) {
    wrong += sum.thread_elements()[i] != expected(row, column + i);
  }
  return wrong;
}

// Fills memory of the simdgroup's own with numbers from first on.
template <typename T>
static void fill(threadgroup T *memory, uint first, uint lane) {
  for (uint i = lane; i < 2 * SIZE; i += 32) {
    memory[i] = T(number(first + i));
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

#define KERNEL(name, T)                                                  \
  static uint name##_of(threadgroup T *memory, uint s, uint lane);       \
  kernel void name(device uint *wrong [[buffer(0)]],                     \
                   uint t [[thread_index_in_threadgroup]],               \
                   uint s [[simdgroup_index_in_threadgroup]],            \
                   uint lane [[thread_index_in_simdgroup]]) {            \
    threadgroup T memory[2 * 2 * SIZE];                                  \
    fill(memory + s * 2 * SIZE, s, lane);                                \
    wrong[t] = name##_of(memory + s * 2 * SIZE, s, lane);                \
  }                                                                      \
  static uint name##_of(threadgroup T *memory, uint s, uint lane)

// Element (row, column) of the first and the second tile in memory.
#define FIRST(row, column) number(s + (row) * PITCH + (column))
#define SECOND(row, column) number(s + SIZE + (row) * PITCH + (column))
#define LEFT(element) [=](uint row, uint k) { return element; }
#define RIGHT(element) [=](uint k, uint column) { return element; }
#define EXPECTED(left, right)                           \
  [=](uint row, uint column) {                          \
    return product(LEFT(left), RIGHT(right), row, column); \
  }

// All four combinations of transposed and plain sides.
template <typename T>
static uint count_turned(threadgroup T *memory, uint s, uint lane) {
  uint wrong = 0;
  simdgroup_matrix<T, 8, 8> a, b;
  simdgroup_float8x8 plain(0), left(0), right(0), both(0);
  simdgroup_load(a, memory, PITCH);
  simdgroup_load(b, memory + SIZE, PITCH);
  simdgroup_multiply_accumulate(plain, a, b, plain);
  simdgroup_load(b, memory + SIZE, PITCH, ulong2(0), true);
  simdgroup_multiply_accumulate(right, a, b, right);
  simdgroup_load(a, memory, PITCH, ulong2(0), true);
  simdgroup_multiply_accumulate(both, a, b, both);
  simdgroup_load(b, memory + SIZE, PITCH);
  simdgroup_multiply_accumulate(left, a, b, left);
  wrong += count_wrong(plain, lane, EXPECTED(FIRST(row, k), SECOND(k, column)));
  wrong += count_wrong(right, lane, EXPECTED(FIRST(row, k), SECOND(column, k)));
  wrong += count_wrong(left, lane, EXPECTED(FIRST(k, row), SECOND(k, column)));
  wrong += count_wrong(both, lane, EXPECTED(FIRST(k, row), SECOND(column, k)));
  return wrong;
}

KERNEL(floats, float) { return count_turned(memory, s, lane); }
KERNEL(halves, half) { return count_turned(memory, s, lane); }
KERNEL(bfloats, bfloat) { return count_turned(memory, s, lane); }

KERNEL(written, float) {
  simdgroup_float8x8 a, b, sum(0);
  simdgroup_load(a, memory, PITCH);
  simdgroup_load(b, memory + SIZE, PITCH);
  simdgroup_store(b, memory, PITCH);
  simdgroup_multiply_accumulate(sum, a, b, sum);
  return count_wrong(sum, lane, EXPECTED(FIRST(row, k), SECOND(k, column)));
}

KERNEL(loaded_late, float) {
  simdgroup_float8x8 a, b, c, sum(0), other(0);
  simdgroup_load(a, memory, PITCH);
  simdgroup_load(b, memory + SIZE, PITCH);
  simdgroup_multiply_accumulate(sum, a, b, sum);
  simdgroup_store(a, memory + SIZE, PITCH);
  simdgroup_load(c, memory + SIZE, PITCH);
  simdgroup_multiply_accumulate(other, a, c, other);
  return count_wrong(sum, lane, EXPECTED(FIRST(row, k), SECOND(k, column))) +
         count_wrong(other, lane, EXPECTED(FIRST(row, k), FIRST(k, column)));
}

KERNEL(square, float) {
  simdgroup_float8x8 a, b, sum(0), other(0);
  simdgroup_load(a, memory, PITCH);
  simdgroup_load(b, memory + SIZE, PITCH);
  simdgroup_multiply_accumulate(sum, a, a, sum);
  simdgroup_multiply_accumulate(other, b, a, other);
  return count_wrong(sum, lane, EXPECTED(FIRST(row, k), FIRST(k, column))) +
         count_wrong(other, lane, EXPECTED(SECOND(row, k), FIRST(k, column)));
}

KERNEL(one_sum, float) {
  simdgroup_float8x8 sum(0);
  for (uint turn = 0; turn < 3; turn++) {
    simdgroup_float8x8 a, b;
    simdgroup_load(a, memory + turn, PITCH);
    simdgroup_load(b, memory + SIZE + turn, PITCH);
    sum.thread_elements()[0] += 1;
    sum.thread_elements()[1] *= 2;
    simdgroup_multiply_accumulate(sum, a, b, sum);
  }
  return count_wrong(sum, lane, [=](uint row, uint column) {
    float expected = 0;
    for (uint turn = 0; turn < 3; turn++) {
      expected = column % 2 ? expected * 2 : expected + 1;
      for (uint k = 0; k < 8; k++) {
        expected += FIRST(row, k + turn) * SECOND(k, column + turn);
      }
    }
    return expected;
  });
}

// Three products share each left side.
KERNEL(two_lefts, float) {
  simdgroup_float8x8 sums[2][3];
  for (uint i = 0; i < 6; i++) { sums[i / 3][i % 3] = simdgroup_float8x8(i); }
  for (uint turn = 0; turn < 3; turn++) {
    for (uint i = 0; i < 2; i++) {
      simdgroup_float8x8 a;
      simdgroup_load(a, memory + turn + i * 4, PITCH);
      for (uint j = 0; j < 3; j++) {
        simdgroup_float8x8 b;
        simdgroup_load(b, memory + SIZE + turn + j * 3, PITCH);
        simdgroup_multiply_accumulate(sums[i][j], a, b, sums[i][j]);
      }
    }
  }
  uint wrong = 0;
  for (uint i = 0; i < 6; i++) {
    wrong += count_wrong(
        sums[i / 3][i % 3], lane, [=](uint row, uint column) {
          float expected = row == column ? i : 0;
          for (uint turn = 0; turn < 3; turn++) {
            for (uint k = 0; k < 8; k++) {
              expected += FIRST(row, k + turn + i / 3 * 4) *
                          SECOND(k, column + turn + i % 3 * 3);
            }
          }
          return expected;
        });
  }
  return wrong;
}
