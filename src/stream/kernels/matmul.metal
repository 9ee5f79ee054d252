// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matmul.metal: out = alpha * (a x b) + beta * bias. type_0 to type_3 are the
// types of a, b, bias and out.
struct matmul {
  shape batch;  // strides of a, b, bias, out
  uint m, n, k;
  uint row_blocks;
  long a_row, a_column, b_row, b_column;
  long bias_row, bias_column, out_row, out_column;
  float alpha, beta;
};

static inline void finish(constant matmul &p, device const uchar *bias,
                          device uchar *out, thread const long *base, uint row,
                          uint column, float sum) {
  float value = p.alpha * sum;
  if (p.beta != 0) {
    const long from = base[2] + long(row) * p.bias_row +
                      long(column) * p.bias_column;
    value = fma(p.beta, load_float(type_2, bias, from), value);
  }
  store(type_3, out,
        base[3] + long(row) * p.out_row + long(column) * p.out_column, value);
}

// A thread for each column and eight rows: a's elements serve a whole
// simdgroup, b's rows are read along the lanes. Where option is 1 they, and
// out's, lie in one piece; where it is PACKED, b comes from pack_columns.
constant constexpr uint ROWS = 8;
constant constexpr uint PACKED = 3;
constant constexpr uint COLUMNS = 64;  // of a packed block, and of threadgroups
constant constexpr uint PACKED_ROWS = 32;  // a thread's

// Brings b's columns into blocks of 64, row after row in float: neighbours in a
// block do not fight for places in the caches, whatever b's strides.
kernel void pack_columns(device const uchar *b [[buffer(0)]],
                         device float *out [[buffer(1)]],
                         constant matmul &p [[buffer(2)]],
                         uint3 at [[thread_position_in_grid]],
                         uint3 block [[threadgroup_position_in_grid]],
                         uint3 lane [[thread_position_in_threadgroup]]) {
  long base[4];
  locate(p.batch, at.z, 4, base);
  const uint blocks = (p.n + COLUMNS - 1) / COLUMNS;
  const ulong to = ((ulong(at.z) * blocks + block.x) * p.k) * COLUMNS + lane.x;
  const uint first = at.y * PACKED_ROWS;
  const uint end = min(first + PACKED_ROWS, p.k);
  for (uint k = first; k < end; ++k) {
    const long row = option == 2 ? long(k) : long(k) * p.b_row;
    const long column = option == 1 ? long(at.x) : long(at.x) * p.b_column;
    out[to + ulong(k) * COLUMNS] = load_float(type_1, b, base[1] + row + column);
  }
}

kernel void matmul_columns(device const uchar *a [[buffer(0)]],
                           device const uchar *b [[buffer(1)]],
                           device const uchar *bias [[buffer(2)]],
                           device uchar *out [[buffer(3)]],
                           constant matmul &p [[buffer(4)]],
                           uint3 at [[thread_position_in_grid]],
                           uint3 block [[threadgroup_position_in_grid]],
                           uint3 lane [[thread_position_in_threadgroup]]) {
  long base[4];
  locate(p.batch, at.z, 4, base);
  const uint row = at.y * ROWS;
  float sums[ROWS];
  long from[ROWS];
  for (uint r = 0; r < ROWS; ++r) {
    sums[r] = 0;
    from[r] = base[0] + long(min(row + r, p.m - 1)) * p.a_row;
  }
  long b_from = base[1] + (option == 1 ? long(at.x) : long(at.x) * p.b_column);
  if (option == PACKED) {
    const ulong blocks = (p.n + COLUMNS - 1) / COLUMNS;
    b_from = long((ulong(at.z) * blocks + block.x) * p.k * COLUMNS) +
             long(lane.x);
  }
  for (uint k = 0; k < p.k; ++k) {
    const float factor = load_float(type_1, b, b_from);
    for (uint r = 0; r < ROWS; ++r) {
      sums[r] = fma(load_float(type_0, a, from[r]), factor, sums[r]);
      from[r] += p.a_column;
    }
    b_from += option == PACKED ? long(COLUMNS) : p.b_row;
  }
  for (uint r = 0; r < ROWS; ++r) {
    if (row + r < p.m) {
      finish(p, bias, out, base, row + r, at.x, sums[r]);
    }
  }
}

// A simdgroup for each column and `option` rows, with k along the lanes: for b
// whose columns lie in one piece, as the weights of linear layers do, and a
// whose rows do.
kernel void matmul_dots(device const uchar *a [[buffer(0)]],
                        device const uchar *b [[buffer(1)]],
                        device const uchar *bias [[buffer(2)]],
                        device uchar *out [[buffer(3)]],
                        constant matmul &p [[buffer(4)]],
                        uint3 at [[thread_position_in_grid]]) {
  long base[4];
  locate(p.batch, at.z / p.row_blocks, 4, base);
  const uint row = at.z % p.row_blocks * option;
  const uint column = at.y;
  float sums[4] = {0, 0, 0, 0};
  for (uint k = at.x; k < p.k; k += 32) {
    const float factor = load_float(
        type_1, b, base[1] + long(column) * p.b_column + long(k));
    for (uint r = 0; r < option; ++r) {
      const long from =
          base[0] + long(min(row + r, p.m - 1)) * p.a_row + long(k);
      sums[r] = fma(load_float(type_0, a, from), factor, sums[r]);
    }
  }
  for (uint r = 0; r < option; ++r) {
    const float sum = simd_sum(sums[r]);
    if (at.x == 0 && row + r < p.m) {
      finish(p, bias, out, base, row + r, column, sum);
    }
  }
}
