// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of integers for templates, and move, of <metal_utility>.
// run: sums --grid 1 0=zeros:f32:3 1=f32:3,4
// expect: 0: 30 3 4
#include <metal_stdlib>
using namespace metal;

struct Pair {
  float a, b;
};

template <typename F, int... values>
static void each(F f, metal::integer_sequence<int, values...>) {
  (f(values), ...);
}

kernel void sums(device float *out [[buffer(0)]],
                 device Pair *pairs [[buffer(1)]]) {
  float sum = 0;
  each([&](int i) { sum += i * i; }, make_integer_sequence<int, 5>{});
  out[0] = sum;
  out[1] = make_index_sequence<3>::size();
  static_assert(
      is_same_v<index_sequence_for<int, float>, index_sequence<0, 1>>);
  Pair p = metal::move(pairs[0]);
  Pair q = move(p);
  out[2] = q.b;
}
