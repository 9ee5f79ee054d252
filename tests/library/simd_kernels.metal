// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd_kernels.metal: simdgroup and quadgroup functions and 8x8 matrices, for
// test_simd.py. Every kernel runs groups of 64 threads and writes one row of
// `out` a function, [functions][threads].
#include <metal_stdlib>
using namespace metal;

#define THREAD                                        \
  uint i [[thread_position_in_grid]],                 \
      uint total [[threads_per_grid]]
#define ROW(number, value) out[number * total + i] = value;

template <typename T>
void exchanges(device const T *x, device T *out, uint i, uint total) {
  T v = x[i], w = T(v + T(1));
  ROW(0, simd_shuffle(v, (i * 7 + 3) & 31))
  ROW(1, simd_shuffle_up(v, 3))
  ROW(2, simd_shuffle_down(v, 5))
  ROW(3, simd_shuffle_xor(v, 9))
  ROW(4, simd_shuffle_rotate_up(v, 7))
  ROW(5, simd_shuffle_rotate_down(v, 7))
  ROW(6, simd_shuffle_and_fill_up(v, w, 4))
  ROW(7, simd_shuffle_and_fill_down(v, w, 4))
  ROW(8, simd_shuffle_and_fill_up(v, w, 3, 8))
  ROW(9, simd_broadcast(v, 11))
  ROW(10, simd_broadcast_first(v))
  ROW(11, quad_shuffle(v, (i + 1) & 3))
  ROW(12, quad_shuffle_up(v, 1))
  ROW(13, quad_shuffle_down(v, 2))
  ROW(14, quad_shuffle_xor(v, 3))
  ROW(15, quad_shuffle_rotate_up(v, 1))
  ROW(16, quad_shuffle_rotate_down(v, 1))
  ROW(17, quad_broadcast(v, 2))
}
template <typename T>
void reductions(device const T *x, device T *out, uint i, uint total) {
  T v = x[i];
  ROW(0, simd_sum(v))
  ROW(1, simd_min(v))
  ROW(2, simd_max(v))
  ROW(3, simd_product(v))
  ROW(4, simd_prefix_inclusive_sum(v))
  ROW(5, simd_prefix_exclusive_sum(v))
  ROW(6, quad_sum(v))
  ROW(7, quad_min(v))
  ROW(8, quad_max(v))
  ROW(9, quad_prefix_inclusive_sum(v))
  ROW(10, quad_prefix_exclusive_sum(v))
}

#define KERNELS(T)                                                         \
  kernel void exchange_##T(device const T *x [[buffer(0)]],                \
                           device T *out [[buffer(1)]], THREAD) {          \
    exchanges(x, out, i, total);                                           \
  }                                                                        \
  kernel void reduce_##T(device const T *x [[buffer(0)]],                  \
                         device T *out [[buffer(1)]], THREAD) {            \
    reductions(x, out, i, total);                                          \
  }
KERNELS(float)
KERNELS(half)
KERNELS(int)
KERNELS(uint)
KERNELS(short)
KERNELS(uchar)
KERNELS(long)

kernel void votes(device const uint *x [[buffer(0)]],
                  device uint *out [[buffer(1)]], THREAD) {
  uint v = x[i];
  ROW(0, (uint)(simd_vote::vote_t)simd_ballot(v & 1))
  ROW(1, simd_all(v < 100))
  ROW(2, simd_any(v == 7))
  ROW(3, simd_is_first())
  ROW(4, simd_and(v | 0xf0))
  ROW(5, simd_or(v))
  ROW(6, simd_xor(v))
  ROW(7, (uint)(quad_vote::vote_t)quad_ballot(v & 1))
  ROW(8, quad_all(v & 1))
  ROW(9, quad_any(v & 1))
  uint seen = 0;
  // Only some threads reach this.
  if (v & 1) seen = (uint)(simd_vote::vote_t)simd_active_threads_mask();
  ROW(10, seen)
  uint part = 0;
  if (v & 1) part = simd_sum(v);
  ROW(11, part)
}

// Sums and extremes of 64 bits, as PyTorch's kernels make them: threads that
// are not there, or have left, give the filling.
template <typename F>
long folded(long value, long identity, F both) {
  for (ushort step = 16; step > 0; step /= 2)
    value = both(value, as_type<long>(simd_shuffle_and_fill_down(
                            as_type<int2>(value), as_type<int2>(identity),
                            step)));
  return as_type<long>(simd_broadcast(as_type<int2>(value), 0));
}
kernel void folds_of_some(device const uint *x [[buffer(0)]],
                          device long *out [[buffer(1)]], THREAD) {
  auto sum = [](long a, long b) { return a + b; };
  auto most = [](long a, long b) { return max(a, b); };
  ROW(0, folded(1, 0, sum))
  ROW(1, folded(-5 - (long)i, LONG_MIN, most))
  if (x[i] == 0) return;
  ROW(2, folded(3, 0, sum))
  ROW(3, folded(-2 - (long)x[i], LONG_MIN, most))
}

// One simdgroup: c = a * b + c with b transposed in memory, and the layout.
kernel void tiles(device const float *a [[buffer(0)]],
                  device const half *b [[buffer(1)]],
                  device float *c [[buffer(2)]],
                  device float *elements [[buffer(3)]],
                  uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 left, sum;
  simdgroup_half8x8 right;
  simdgroup_load(left, a, 16, ulong2(3, 1));
  simdgroup_load(right, b, 8, 0, true);
  simdgroup_load(sum, c);
  elements[2 * lane] = left.thread_elements()[0];
  elements[2 * lane + 1] = left.thread_elements()[1];
  simdgroup_multiply_accumulate(sum, left, right, sum);
  simdgroup_store(sum, c);
  simdgroup_float8x8 diagonal(2.0f);
  simdgroup_store(diagonal, c + 64);
}
