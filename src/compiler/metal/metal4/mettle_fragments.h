// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_fragments.h: products of fragments, 16 x 16 elements that a simdgroup
// holds as metal_cooperative_tensor says, and fragments of tensors in memory.
#ifndef METTLE_FRAGMENTS_H
#define METTLE_FRAGMENTS_H

#include <metal_cooperative_tensor>
#include <metal_simdgroup_matrix>

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

// A thread's elements of a tile of 8 x 8 (metal_simdgroup_matrix). Elements
// 4 * h + 2 * p and the next of a fragment are those of the tile of rows 8 * h
// to 8 * h + 7 and of the columns 2 * p, 2 * p + 1 and so on by fours: "half p".
typedef metal::vec<float, 2> tile_pair;
METTLE_INLINE tile_pair half_of(const float (&f)[8], int h, int p) {
  return tile_pair(f[4 * h + 2 * p], f[4 * h + 2 * p + 1]);
}
METTLE_INLINE tile_pair shuffle_pair(tile_pair x, uint from) {
  return __builtin_bit_cast(
      tile_pair, shuffle_component(__builtin_bit_cast(ulong, x), from));
}
METTLE_INLINE tile_pair chosen(bool second, tile_pair a, tile_pair b) {
  return tile_pair(second ? b.x : a.x, second ? b.y : a.y);
}
// Returns one element of a row of four that another thread has: of elements 4 *
// g on, the one that the low bits of i select.
METTLE_INLINE float shuffle_one(const float (&f)[8], int g, uint i, uint from) {
  tile_pair low = shuffle_pair(half_of(f, g, 0), from);
  tile_pair high = shuffle_pair(half_of(f, g, 1), from);
  tile_pair pair = chosen(i & 2u, low, high);
  return i & 1u ? pair.y : pair.x;
}

// Returns the tile of columns 8 * t on of a fragment's rows 8 * h on.
METTLE_INLINE tile_pair tile_of(const float (&f)[8], int h, int t) {
  uint l = lane();
  uint from = (l & 22u) | (l >> 3 & 1u) | uint(t) << 3;
  return chosen(l & 1u, shuffle_pair(half_of(f, h, 0), from),
                shuffle_pair(half_of(f, h, 1), from));
}
// Returns the tile of rows 8 * h and columns 8 * t on of a left fragment.
template <bool Transposed>
METTLE_INLINE tile_pair left_tile(const float (&a)[8], int h, int t) {
  if constexpr (!Transposed) return tile_of(a, h, t);
  uint l = lane(), r = tile_row(l);
  float out[2];
  for (uint i = 0; i < 2; i++) {
    uint from = row_bits_of_columns(tile_column(l) + i) |
                column_bits_of_rows(8u * h + r);
    out[i] = shuffle_one(a, t, r, from);
  }
  return tile_pair(out[0], out[1]);
}
// Returns the tile of rows 8 * t on and half q of the columns of a right
// fragment.
template <bool Transposed>
METTLE_INLINE tile_pair right_tile(const float (&b)[8], int t, int q) {
  if constexpr (!Transposed) return half_of(b, t, q);
  uint l = lane(), r = tile_row(l), first = 2u * tile_column(l) + 2u * q;
  float out[2];
  for (uint i = 0; i < 2; i++) {
    uint from = row_bits_of_columns((first + i) & 7u) |
                column_bits_of_rows(8u * t + r);
    float upper = shuffle_one(b, 0, r, from);
    float lower = shuffle_one(b, 1, r, from);
    out[i] = first & 8u ? lower : upper;
  }
  return tile_pair(out[0], out[1]);
}

// Converts fragments to four tiles of neighbouring columns, and back.
METTLE_INLINE void tiles_of(const float (&f)[8], tile_pair (&tiles)[2][2]) {
  for (int h = 0; h < 2; h++)
    for (int t = 0; t < 2; t++) tiles[h][t] = tile_of(f, h, t);
}
METTLE_INLINE void fragment_of(const tile_pair (&tiles)[2][2], float (&f)[8]) {
  uint l = lane();
  for (int h = 0; h < 2; h++)
    for (uint p = 0; p < 2; p++) {
      uint from = (l & 22u) | p | (l & 1u) << 3;
      tile_pair x = chosen(l & 8u, shuffle_pair(tiles[h][0], from),
                           shuffle_pair(tiles[h][1], from));
      f[4 * h + 2 * p] = x.x;
      f[4 * h + 2 * p + 1] = x.y;
    }
}

// Loads a tile, or its transpose, as floats.
template <bool Transposed, typename P>
METTLE_INLINE tile_pair load_tile(P source, long elements_per_row) {
  metal::simdgroup_matrix<typename bare<metal::remove_reference_t<
                              decltype(*source)>>::type,
                          8, 8>
      tile;
  metal::simdgroup_load(tile, source, ulong(elements_per_row), ulong2(0),
                        Transposed);
  return __builtin_bit_cast(tile_pair, tile_floats(tile.thread_elements()));
}
// The same of what is before the ends of a matrix, 0 elsewhere; first_column
// and first_row as it is stored.
template <bool Transposed, typename Tensor>
METTLE_INLINE tile_pair load_tile(const Tensor &from, int first_column,
                                  int first_row, int column_end, int row_end) {
  uint l = lane();
  float out[2];
  for (int i = 0; i < 2; i++) {
    int r = int(tile_row(l)), c = int(tile_column(l)) + i;
    int column = first_column + (Transposed ? r : c);
    int row = first_row + (Transposed ? c : r);
    bool is_there = column < column_end && row < row_end;
    out[i] =
        is_there ? converted_element<float>(from.__number(column, row)) : 0.0f;
  }
  return tile_pair(out[0], out[1]);
}

// c + a * b, of Rows fragments a by Columns fragments b. Products of floats are
// added one by one, fused, in the order of k. Those of one tile of a follow each
// other: the compiler multiplies by several at once. Where fragments were loaded
// by their lanes it loads these tiles (recognise_fragments.c).
template <bool LeftTransposed, bool RightTransposed, int Rows, int Columns>
METTLE_INLINE void multiply_add_fragments(float (&c)[Rows * Columns][8],
                                          const float (&a)[Rows][8],
                                          const float (&b)[Columns][8]) {
  tile_pair right[2][2 * Columns];
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 4 * Columns; i++)
      right[i & 1][i >> 1] =
          right_tile<RightTransposed>(b[i >> 2], i & 1, i >> 1 & 1);
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 4 * Rows; i++) {
    const int row = i >> 2, h = i >> 1 & 1, t = i & 1;
    const tile_pair left = left_tile<LeftTransposed>(a[row], h, t);
    _Pragma("clang loop unroll(full)") for (int j = 0; j < 2 * Columns; j++) {
      float(&f)[8] = c[row * Columns + (j >> 1)];
      const int q = j & 1;
      tile_pair sum =
          tile_multiply_add<float>(left, right[t][j], half_of(f, h, q));
      f[4 * h + 2 * q] = sum.x;
      f[4 * h + 2 * q + 1] = sum.y;
    }
  }
}
// The same of integers, which wrap, and of one fragment each.
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

// The type in which products of such elements are summed.
template <typename A, typename B>
using sum_t =
    metal::conditional_t<metal::is_integral_v<A> && metal::is_integral_v<B>,
                         int, float>;

// Loads the fragment whose first element is at (column, row) of a matrix in
// memory; elements at or past column_end or row_end are 0.
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
// The same of a packed format.
template <typename S, typename Tensor>
METTLE_INLINE void load_packed_fragment(S (&out)[8], const Tensor &source,
                                        int column, int row, int column_end,
                                        int row_end) {
  const int c = column + fragment_column(), r = row + fragment_row();
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++) {
    const int x = c + (i & 3), y = r + (i >> 2) * 8;
    out[i] = x < column_end && y < row_end
                 ? converted_element<S>(source.__number(x, y))
                 : S(0);
  }
}

}  // namespace __mettle

#endif
