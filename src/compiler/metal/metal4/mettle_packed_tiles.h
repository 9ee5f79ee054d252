// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_packed_tiles.h: tiles of right operands of bytes or of a packed format,
// from words that each thread of a simdgroup loads: a thread's row of a tile is a
// line of memory, its pair of columns one of four words along it.
#ifndef METTLE_PACKED_TILES_H
#define METTLE_PACKED_TILES_H

#include <mettle_byte_tiles.h>

namespace __mettle {

// The thread that has a pair of columns of a row of a tile.
METTLE_INLINE uint thread_of(uint row, uint pair) {
  return row_bits(int(row)) | (pair & 1u) | (pair & 2u) << 2;
}

template <typename Tensor>
struct packed_words {
  typedef typename Tensor::value_type element;
  static constexpr int bits = format<element>::bits;
  static constexpr int per_word = 32 / bits, per_line = 4 * per_word;

  // True if each line of words begins at a multiple of 4 bytes, and blocks of
  // scales where lines do.
  METTLE_INLINE static bool fits(const Tensor &from) {
    if (from.__stride(0) != 1 ||
        ((from.__first() | from.__stride(1)) & (per_word - 1)) != 0 ||
        (ulong(from.__bytes()) & 3u) != 0)
      return false;
    if constexpr (Tensor::__is_scaled)
      return per_line <= 32 && from.__first_of_scales() % per_line == 0;
    return true;
  }
  // Loads the words of eight lines, starting with (column, row); 0 for a thread
  // whose word is not among the first count.
  METTLE_INLINE static uint load(const Tensor &from, int column, int row,
                                 uint count = 4) {
    const uint l = lane(), word = tile_column(l) / 2;
    if (word >= count) return 0;
    const long at = from.__first() + (row + int(tile_row(l))) * from.__stride(1) +
                    column + int(word) * per_word;
    return *reinterpret_cast<
        typename bare<typename Tensor::element_type>::word *>(
        from.__bytes() + at * bits / 8);
  }
  METTLE_INLINE static float number(uint word, uint place) {
    const uint code = word >> (place * bits) & ((1u << bits) - 1u);
    if constexpr (is_packed<element>)
      return float(format<element>::decode(code));
    else
      return float(element(code));
  }
  // Returns the tile of elements 8 * t on of eight lines, which are its columns
  // if turned, or its rows; scales are those of the threads' lines.
  template <bool Turned>
  METTLE_INLINE static tile_pair tile(uint words, int t, float scales) {
    const uint l = lane(), r = tile_row(l), c = tile_column(l);
    float out[2];
    for (uint i = 0; i < 2; i++) {
      const uint line = Turned ? c + i : r, place = 8u * t + (Turned ? r : c + i);
      const uint from = thread_of(line, place / per_word);
      out[i] = number(shuffle(words, from), place % per_word);
      if constexpr (Tensor::__is_scaled) out[i] *= shuffle(scales, from);
    }
    return tile_pair(out[0], out[1]);
  }
  // The scale of the thread's line.
  METTLE_INLINE static float scale(const Tensor &from, int column, int row) {
    if constexpr (Tensor::__is_scaled)
      return from.__scale(column, row + int(tile_row(lane())));
    else
      return 1;
  }
};

// Spreads four numbers of four bits to the bytes of a word.
template <typename Number>
METTLE_INLINE uint spread_nibbles(uint four) {
  const uint twos = (four | four << 8) & even_bytes;
  const uint ones = (twos | twos << 4) & 0x0f0f0f0fu;
  if constexpr (metal::is_same_v<Number, uchar>)
    return ones;
  else
    return ones | (ones & 0x08080808u) * 0x1eu;
}
// Returns the words of bytes of a tile whose columns are eight lines, from 32
// numbers of four bits of each.
template <typename Number>
METTLE_INLINE word_pair turned_words(uint words) {
  const uint l = lane(), r = tile_row(l), c = tile_column(l);
  uint out[2];
  for (uint i = 0; i < 2; i++)
    out[i] = spread_nibbles<Number>(
        shuffle(words, thread_of(c + i, r / 2)) >> (r & 1u) * 16u & 0xffffu);
  return word_pair(out[0], out[1]);
}

}  // namespace __mettle

#endif
