// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_byte_tiles.h: products of matrices of bytes, by tiles of words: a word
// is four bytes along a row of the left matrix, or along a column of the right
// one.
//
// The machine multiplies signed bytes by unsigned ones. Of two matrices of the
// same kind the right one's bytes are taken 128 higher, or lower, which is 128
// times the sum of the left one's row in each element: that is kept, and set
// right in the end. All is modulo 2^32.
#ifndef METTLE_BYTE_TILES_H
#define METTLE_BYTE_TILES_H

#include <mettle_fragments.h>

namespace __mettle {

typedef metal::vec<uint, 2> word_pair;  // a thread's words of a tile
constexpr uint byte_signs = 0x80808080u, even_bytes = 0x00ff00ffu;

template <typename A, typename B>
struct byte_product {
  static constexpr bool is_left_signed = !metal::is_same_v<A, uchar>;
  static constexpr bool is_right_signed = !metal::is_same_v<B, uchar>;
  static constexpr bool is_moved = is_left_signed == is_right_signed;

  // Sums are the bits of a tile's integers.
  METTLE_INLINE static tile_pair add(word_pair a, word_pair b, tile_pair c) {
    const ulong x = __builtin_bit_cast(ulong, a);
    const ulong y = __builtin_bit_cast(ulong, b);
    const ulong sum = __builtin_bit_cast(ulong, c);
    return __builtin_bit_cast(tile_pair,
                              is_left_signed ? __mettle_tile_dot_su(x, y, sum)
                                             : __mettle_tile_dot_us(x, y, sum));
  }
  METTLE_INLINE static word_pair right(word_pair b) {
    return is_moved ? b ^ byte_signs : b;
  }
  // The sum of the bytes of words of the left matrix.
  METTLE_INLINE static int sum_of(word_pair a) {
    const word_pair bytes = is_left_signed ? a ^ byte_signs : a;
    const word_pair twos = (bytes & even_bytes) + (bytes >> 8u & even_bytes);
    const word_pair sums = (twos & 0xffffu) + (twos >> 16u);
    return int(sums.x + sums.y) - (is_left_signed ? 2 * 4 * 128 : 0);
  }
  // Returns the correction to add to each sum of a row, from its four threads'
  // sums of bytes.
  METTLE_INLINE static int correction(int row) {
    row += shuffle(row, lane() ^ 1u);
    row += shuffle(row, lane() ^ 8u);
    return row * (is_left_signed ? -128 : 128);
  }
};

// Transposes bytes: byte i of four words becomes word i.
METTLE_INLINE void turn_bytes(word_pair (&words)[4]) {
  word_pair even[2], odd[2];
  for (int i = 0; i < 2; i++) {
    const word_pair first = words[2 * i], second = words[2 * i + 1];
    even[i] = (first & even_bytes) | ((second & even_bytes) << 8u);
    odd[i] = (first >> 8u & even_bytes) | (second & ~even_bytes);
  }
  words[0] = (even[0] & 0xffffu) | even[1] << 16u;
  words[1] = (odd[0] & 0xffffu) | odd[1] << 16u;
  words[2] = even[0] >> 16u | (even[1] & 0xffff0000u);
  words[3] = odd[0] >> 16u | (odd[1] & 0xffff0000u);
}

template <typename P>
METTLE_INLINE word_pair load_words(P source, long words_per_row,
                                   bool transposed) {
  return __builtin_bit_cast(
      word_pair,
      __mettle_tile_load_i64(source, ulong(words_per_row), transposed));
}
// Four tiles of a matrix whose columns are words, from 32 rows of 32 columns:
// tile t has the columns t, t + 4, and so on.
template <typename P>
METTLE_INLINE void load_columns(word_pair (&tiles)[4], P source, long stride) {
  for (int j = 0; j < 4; j++)
    tiles[j] = load_words(source + j * stride, stride, false);
  turn_bytes(tiles);
}

// Converts two adjacent fragments to four such tiles for each half of their
// rows, and back.
METTLE_INLINE void spread_tiles_of(const float (&f)[2][8],
                                   tile_pair (&tiles)[2][4]) {
  const uint l = lane(), from = (l & 22u) | (l & 1u) << 3;
  for (int i = 0; i < 8; i++) {
    float values[2];
    for (uint c = 0; c < 2; c++) {
      const float low = shuffle(f[0][i], from | c);
      const float high = shuffle(f[1][i], from | c);
      values[c] = l & 8u ? high : low;
    }
    tiles[i / 4][i % 4] = tile_pair(values[0], values[1]);
  }
}
METTLE_INLINE void fragments_of_spread(const tile_pair (&tiles)[2][4],
                                       float (&f)[2][8]) {
  const uint l = lane();
  for (uint g = 0; g < 2; g++)
    for (int i = 0; i < 8; i++) {
      const uint from = (l & 22u) | (l >> 3 & 1u) | g << 3;
      const tile_pair x = shuffle_pair(tiles[i / 4][i % 4], from);
      f[g][i] = l & 1u ? x.y : x.x;
    }
}

}  // namespace __mettle

#endif
