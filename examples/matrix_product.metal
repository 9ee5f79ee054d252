// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrix_product.metal: C = A B, a tile of 16 x 16 elements a threadgroup.
#include <metal_stdlib>
using namespace metal;

#define TILE 16

struct Sizes {
  uint rows;     // of A and C
  uint inner;    // columns of A, rows of B
  uint columns;  // of B and C
};

kernel void matrix_product(device const float *a [[buffer(0)]],
                           device const float *b [[buffer(1)]],
                           device float *c [[buffer(2)]],
                           constant Sizes &sizes [[buffer(3)]],
                           uint2 position [[thread_position_in_grid]],
                           uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[TILE][TILE];
  threadgroup float b_tile[TILE][TILE];
  const uint row = position.y, column = position.x;
  float sum = 0;
  for (uint start = 0; start < sizes.inner; start += TILE) {
    const uint a_column = start + local.x, b_row = start + local.y;
    // Zeros past the edges add nothing, so that any size works.
    a_tile[local.y][local.x] = row < sizes.rows && a_column < sizes.inner
                                   ? a[row * sizes.inner + a_column]
                                   : 0;
    b_tile[local.y][local.x] = b_row < sizes.inner && column < sizes.columns
                                   ? b[b_row * sizes.columns + column]
                                   : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < TILE; ++i) {
      sum = fma(a_tile[local.y][i], b_tile[i][local.x], sum);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (row < sizes.rows && column < sizes.columns) {
    c[row * sizes.columns + column] = sum;
  }
}
