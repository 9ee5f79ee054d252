// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_fragments.h: products of fragments, 16 x 16 elements that a simdgroup
// holds as metal_cooperative_tensor says, and fragments of tensors in memory.
#ifndef METTLE_FRAGMENTS_H
#define METTLE_FRAGMENTS_H

#include <metal_cooperative_tensor>

namespace __mettle {

// The thread bits of a row, and of a column of four.
constexpr uint row_bits(int row) {
  return uint((row & 3) << 1 | (row & 4) << 2);
}
constexpr uint column_bits(int column) {
  return uint((column >> 2 & 1) | (column >> 3 & 1) << 3);
}
METTLE_INLINE uint row_bits_of_columns(uint column) {
  return (column & 3u) << 1 | (column & 4u) << 2;
}
METTLE_INLINE uint column_bits_of_rows(uint row) {
  return (row >> 2 & 1u) | (row >> 3 & 1u) << 3;
}

// Elements of column k of a, or of row k if transposed, in this thread's rows.
template <bool Transposed, typename S>
METTLE_INLINE void left_of(const S (&a)[8], int k, S (&out)[2]) {
  uint l = lane();
  if constexpr (!Transposed) {
    for (int h = 0; h < 2; h++)
      out[h] = shuffle(a[4 * h + (k & 3)], (l & 22u) | column_bits(k));
  } else {
    uint r = uint(fragment_row());
    for (int h = 0; h < 2; h++) {
      uint from = row_bits(k & 7) | column_bits_of_rows(r + 8u * h);
      S values[4];
      for (int j = 0; j < 4; j++)
        values[j] = shuffle(a[4 * (k >> 3) + j], from);
      S low = r & 1u ? values[1] : values[0];
      S high = r & 1u ? values[3] : values[2];
      out[h] = r & 2u ? high : low;
    }
  }
}
// Elements of row k of b, or of column k if transposed, in its columns.
template <bool Transposed, typename S>
METTLE_INLINE void right_of(const S (&b)[8], int k, S (&out)[4]) {
  uint l = lane();
  if constexpr (!Transposed) {
    for (int j = 0; j < 4; j++)
      out[j] = shuffle(b[4 * (k >> 3) + j], row_bits(k & 7) | (l & 9u));
  } else {
    uint q = uint(fragment_column());
    for (int j = 0; j < 4; j++) {
      uint from = row_bits_of_columns((q + j) & 7u) | column_bits(k);
      S low = shuffle(b[k & 3], from);
      S high = shuffle(b[4 + (k & 3)], from);
      out[j] = q & 8u ? high : low;
    }
  }
}

METTLE_INLINE float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
METTLE_INLINE int multiply_add(int a, int b, int c) {
  return int(uint(a) * uint(b) + uint(c));
}

// c + a * b, the products added by rising k, those of floats fused.
template <bool LeftTransposed, bool RightTransposed, typename S>
METTLE_INLINE void multiply_add_fragment(S (&c)[8], const S (&a)[8],
                                         const S (&b)[8]) {
  _Pragma("clang loop unroll(full)") for (int k = 0; k < 16; k++) {
    S left[2], right[4];
    left_of<LeftTransposed>(a, k, left);
    right_of<RightTransposed>(b, k, right);
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++) c[i] =
        multiply_add(left[i >> 2], right[i & 3], c[i]);
  }
}

// What products of such elements are summed in.
template <typename A, typename B>
using sum_t =
    metal::conditional_t<metal::is_integral_v<A> && metal::is_integral_v<B>,
                         int, float>;

// The fragment of a matrix in memory that begins at a column and a row, of what
// is before the ends; the rest is 0.
template <typename S, typename Tensor>
METTLE_INLINE void load_fragment(S (&out)[8], const Tensor &source, int column,
                                 int row, int column_end, int row_end) {
  const long across = source.__stride(0), down = source.__stride(1);
  const int c = column + fragment_column(), r = row + fragment_row();
  auto first = source.__data() + (long(r) * down + long(c) * across);
  if (column + 16 <= column_end && row + 16 <= row_end && across == 1) {
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++) out[i] =
        converted_element<S>(typename Tensor::value_type(
            first[(i >> 2) * 8 * down + (i & 3)]));
  } else {
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++) {
      const bool is_there =
          c + (i & 3) < column_end && r + (i >> 2) * 8 < row_end;
      out[i] = is_there ? converted_element<S>(typename Tensor::value_type(
                              first[(i >> 2) * 8 * down + (i & 3) * across]))
                        : S(0);
    }
  }
}

}  // namespace __mettle

#endif
