// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// products.metal: products of n x n matrices by simdgroup_matrix: 128 threads
// and 64 x 64 a threadgroup, 32 x 32 a simdgroup.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

template <typename T>
struct block {
  simdgroup_matrix<T, 8, 8> x[4], y[4];
  simdgroup_float8x8 sums[4][4];

  void clear() {
    for (int i = 0; i < 16; i++) {
      sums[i / 4][i % 4] = simdgroup_float8x8(0);
    }
  }
  template <typename P>
  void add(P a, uint a_row, P b, uint b_row) {
    for (int i = 0; i < 4; i++) {
      simdgroup_load(x[i], a + 8 * i * a_row, a_row);
      simdgroup_load(y[i], b + 8 * i, b_row);
    }
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) {
        simdgroup_multiply_accumulate(sums[i][j], x[i], y[j], sums[i][j]);
      }
    }
  }
  void store(device float *c, uint n) {
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) {
        simdgroup_store(sums[i][j], c + 8 * i * n + 8 * j, n);
      }
    }
  }
};

#define PARAMETERS(T)                                                      \
  device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],        \
      device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],       \
      uint2 group [[threadgroup_position_in_grid]],                        \
      uint simd [[simdgroup_index_in_threadgroup]]

#define DIRECT(name, T)                                                    \
  kernel void name(PARAMETERS(T)) {                                        \
    const uint row = group.y * 64 + simd / 2 * 32;                         \
    const uint column = group.x * 64 + simd % 2 * 32;                      \
    block<T> own;                                                          \
    own.clear();                                                           \
    for (uint k = 0; k < n; k += 8) {                                      \
      own.add(a + row * n + k, n, b + k * n + column, n);                  \
    }                                                                      \
    own.store(c + row * n + column, n);                                    \
  }
DIRECT(direct_float, float)
DIRECT(direct_half, half)
DIRECT(direct_bfloat, bfloat)

kernel void staged_half(PARAMETERS(half),
                        uint l [[thread_index_in_threadgroup]]) {
  threadgroup half ta[64 * 40], tb[32 * 72];
  const uint row = simd / 2 * 32, column = simd % 2 * 32;
  block<half> own;
  own.clear();
  for (uint k = 0; k < n; k += 32) {
    for (uint i = l; i < 256; i += 128) {
      const uint y = i / 4, x = i % 4 * 8, r = i / 8, s = i % 8 * 8;
      *(threadgroup uint4 *)(ta + y * 40 + x) =
          *(device const uint4 *)(a + (group.y * 64 + y) * n + k + x);
      *(threadgroup uint4 *)(tb + r * 72 + s) =
          *(device const uint4 *)(b + (k + r) * n + group.x * 64 + s);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 32; j += 8) {
      own.add((threadgroup const half *)ta + row * 40 + j, 40u,
              (threadgroup const half *)tb + j * 72 + column, 72u);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  own.store(c + (group.y * 64 + row) * n + group.x * 64 + column, n);
}
