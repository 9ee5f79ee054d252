// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// quantized.metal: products with weights of 4 bits. type_0 is a's type, type_1
// that of scales and zeros, type_2 out's, type_3 that of experts (0: none).
struct int4_product {
  uint k, group_size, experts;
  long a_row, a_column;
  // Expert, row, element.
  long weights[3], scales[3], zeros[3];
  long expert_stride;
  long out_row, out_column;
};

// A simdgroup for each element of out: x counts lanes, y columns, z rows.
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
  const long row = long(at.y), e = exists ? expert : 0;
  const long w = e * p.weights[0] + row * p.weights[1];
  const long s = e * p.scales[0] + row * p.scales[1];
  const long z = e * p.zeros[0] + row * p.zeros[1];
  const long x = long(at.z) * p.a_row;
  float sum = 0;
  for (uint pair = at.x; pair < p.k / 2; pair += 32) {
    const uint bits = weights[w + long(pair) * p.weights[2]];
    const long group = 2 * pair / p.group_size;
    const float scale = load_float(type_1, scales, s + group * p.scales[2]);
    const float zero = load_float(type_1, zeros, z + group * p.zeros[2]);
    const long even = x + long(2 * pair) * p.a_column;
    sum = fma(load_float(type_0, a, even),
              fma(scale, float(bits & 15), zero), sum);
    sum = fma(load_float(type_0, a, even + p.a_column),
              fma(scale, float(bits >> 4), zero), sum);
  }
  sum = simd_sum(sum);
  if (at.x == 0) {
    store(type_2, out, long(at.z) * p.out_row + row * p.out_column,
          exists ? sum : NAN);
  }
}
