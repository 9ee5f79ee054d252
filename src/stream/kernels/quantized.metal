// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// quantized.metal: products with weights of 4 bits. type_0 is a's type, type_1
// that of scales and zeros, type_2 out's, type_3 that of experts (0: none).
struct int4_product {
  uint k, group_size, experts, columns;
  long a_row, a_column;
  // Expert, row, element.
  long weights[3], scales[3], zeros[3];
  long expert_stride;
  long out_row, out_column;
};

// Bits of option. A simdgroup's 32 pairs of elements lie in one or two groups:
// the first 16 in one, and the other 16 in one.
constant constexpr uint HALVES_IN_GROUPS = 1;
constant constexpr uint IS_DENSE = 2;  // elements of a and weights lie in a row
constant constexpr uint COLUMNS = 4;   // for each simdgroup

// The scale or zero of pair, of the 32 from base on.
static inline float of_group(device const uchar *values, long row, long step,
                             constant int4_product &p, uint base, uint pair) {
  const uint pairs = p.group_size / 2;
  if (!(option & HALVES_IN_GROUPS)) {
    return load_float(type_1, values, row + long(pair / pairs) * step);
  }
  const long first = base / pairs;
  const long second = min(base + 16, p.k / 2 - 1) / pairs;
  const float low = load_float(type_1, values, row + first * step);
  const float high = load_float(type_1, values, row + second * step);
  return pair - base < 16 ? low : high;
}

// A simdgroup for each COLUMNS elements of a row of out: x counts lanes, y
// COLUMNS columns, z rows.
kernel void int4_product_rows(device const uchar *a [[buffer(0)]],
                              device const uchar *weights [[buffer(1)]],
                              device const uchar *scales [[buffer(2)]],
                              device const uchar *zeros [[buffer(3)]],
                              device const uchar *experts [[buffer(4)]],
                              device uchar *out [[buffer(5)]],
                              constant int4_product &p [[buffer(6)]],
                              uint3 at [[thread_position_in_grid]]) {
  long expert = 0;
  if (type_3 != 0) {
    expert = load_long(type_3, experts, long(at.z) * p.expert_stride);
  }
  const bool exists = expert >= 0 && expert < long(p.experts);
  const long e = exists ? expert : 0;
  const bool is_dense = option & IS_DENSE;
  const long a_step = is_dense ? 1 : p.a_column;
  const long w_step = is_dense ? 1 : p.weights[2];
  const uint first = at.y * COLUMNS;
  const long x = long(at.z) * p.a_row;
  float sums[COLUMNS] = {};
  for (uint base = 0; base < p.k / 2; base += 32) {
    const uint pair = base + at.x;
    if (pair >= p.k / 2) {
      continue;
    }
    const long even = x + long(2 * pair) * a_step;
    const float a_even = load_float(type_0, a, even);
    const float a_odd = load_float(type_0, a, even + a_step);
    for (uint i = 0; i < COLUMNS; ++i) {
      const long row = min(first + i, p.columns - 1);
      const uint bits = weights[e * p.weights[0] + row * p.weights[1] +
                                long(pair) * w_step];
      const float scale =
          of_group(scales, e * p.scales[0] + row * p.scales[1], p.scales[2],
                   p, base, pair);
      const float zero = of_group(zeros, e * p.zeros[0] + row * p.zeros[1],
                                  p.zeros[2], p, base, pair);
      sums[i] = fma(a_even, fma(scale, float(bits & 15), zero), sums[i]);
      sums[i] = fma(a_odd, fma(scale, float(bits >> 4), zero), sums[i]);
    }
  }
  for (uint i = 0; i < COLUMNS; ++i) {
    const float sum = simd_sum(sums[i]);
    if (at.x == 0 && first + i < p.columns) {
      store(type_2, out, long(at.z) * p.out_row + long(first + i) * p.out_column,
            exists ? sum : NAN);
    }
  }
}
