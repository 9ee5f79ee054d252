// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPPTensorOpsMatMul2d.h: products of matrices, in memory or held together.
#ifndef METTLE_MPP_MATMUL2D
#define METTLE_MPP_MATMUL2D

#include <metal_compute>
#include <metal_tensor>
#include <mettle_byte_tiles.h>
#include <mettle_fragments.h>
#include <mettle_operands.h>
#include <mettle_packed_tiles.h>
#include <mettle_reductions.h>

namespace mpp {
namespace tensor_ops {

// No documented name, but programs write it for metal::remove_addrspace_t.
namespace __tensor_ops_detail {
template <typename T>
using __remove_addrspace_t = metal::remove_addrspace_t<T>;
}

// A length that the operands determine.
template <typename T>
inline constexpr T dynamic_length_v = T(-1);

// C = A * B or C += A * B, where A is M x K, as a tensor of the extents (K, M),
// B is K x N and C is M x N. A transposed operand is stored the other way round.
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  int m, n, k;  // k <= 0: the size of the operands
  bool transpose_left, transpose_right;
  bool relaxed_precision;  // allows less precision than is kept here
  mode matmul_mode;

  METTLE_INLINE constexpr matmul2d_descriptor(
      int M, int N, int K = dynamic_length_v<int>, bool left = false,
      bool right = false, bool relaxed = false, mode how = mode::multiply)
      : m(M),
        n(N),
        k(K),
        transpose_left(left),
        transpose_right(right),
        relaxed_precision(relaxed),
        matmul_mode(how) {}
};

}  // namespace tensor_ops
}  // namespace mpp

namespace __mettle {

template <mpp::tensor_ops::matmul2d_descriptor D, typename Scope>
struct product {
  static constexpr bool adds =
      D.matmul_mode ==
      mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate;
  static constexpr bool left_transposed = D.transpose_left;
  static constexpr bool right_transposed = D.transpose_right;

  // The extents over which products are summed.
  template <typename Left, typename Right>
  METTLE_INLINE static int length(const Left &left, const Right &right) {
    if constexpr (D.k > 0)
      return D.k;
    else if constexpr (!operand<Left>::is_cooperative)
      return int(left.get_extent(D.transpose_left ? 1 : 0));
    else
      return int(right.get_extent(D.transpose_right ? 0 : 1));
  }

  // Returns fragment (row, column) of an operand, which has no elements beyond
  // its size.
  template <typename S, typename T>
  METTLE_INLINE static void fetch(S (&out)[8], const T &from, int column,
                                  int row, int columns, int rows) {
    if constexpr (operand<T>::is_cooperative) {
      typedef typename operand<T>::layout layout;
      static_assert(layout::groups == 1, "one simdgroup holds an input");
      const int first = (row / 16 * layout::own_columns + column / 16) * 8;
      _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++) {
        const bool is_there =
            (layout::is_whole || layout::is_valid(first + i)) &&
            (columns >= layout::columns || layout::column(first + i) < columns);
        out[i] = is_there ? converted_element<S>(from[first + i]) : S(0);
      }
    } else if constexpr (operand<T>::is_packed) {
      load_packed_fragment(out, from, column, row,
                           lesser(int(from.get_extent(0)), columns),
                           lesser(int(from.get_extent(1)), rows));
    } else {
      load_fragment(out, from, column, row,
                    lesser(int(from.get_extent(0)), columns),
                    lesser(int(from.get_extent(1)), rows));
    }
  }
  template <typename S, typename T>
  METTLE_INLINE static void fetch_left(S (&out)[8], const T &left, int m, int k,
                                       int length) {
    if constexpr (D.transpose_left)
      fetch(out, left, m, k, D.m, length);
    else
      fetch(out, left, k, m, length, D.m);
  }
  template <typename S, typename T>
  METTLE_INLINE static void fetch_right(S (&out)[8], const T &right, int k,
                                        int n, int length) {
    if constexpr (D.transpose_right)
      fetch(out, right, k, n, length, D.n);
    else
      fetch(out, right, n, k, D.n, length);
  }

  // One step of 16 along k, for all of a simdgroup's fragments.
  template <typename Layout, typename S, typename Left, typename Right>
  METTLE_INLINE static void step(S (&sums)[Layout::capacity / 8][8],
                                 const Left &left, const Right &right, int k,
                                 int length) {
    S a[Layout::own_rows][8];
    _Pragma("clang loop unroll(full)") for (int i = 0; i < Layout::own_rows;
                                            i++)
        fetch_left(a[i], left, Layout::first_row() + 16 * i, k, length);
    S b[Layout::own_columns][8];
    _Pragma("clang loop unroll(full)") for (int j = 0; j < Layout::own_columns;
                                            j++)
        fetch_right(b[j], right, k, Layout::first_column() + 16 * j, length);
    if constexpr (metal::is_same_v<S, float>) {
      multiply_add_fragments<left_transposed, right_transposed,
                             Layout::own_rows, Layout::own_columns>(sums, a, b);
    } else {
      _Pragma("clang loop unroll(full)") for (int f = 0;
                                              f < Layout::capacity / 8; f++)
          multiply_add_fragment<left_transposed, right_transposed>(
              sums[f], a[f / Layout::own_columns], b[f % Layout::own_columns]);
    }
  }

  // The same for sums that are tiles: of whole tiles of memory, or of what
  // there is.
  template <bool Whole, typename Layout, typename Left, typename Right>
  METTLE_INLINE static void step_of_tiles(
      tile_pair (&sums)[2 * Layout::own_rows][2 * Layout::own_columns],
      const Left &left, const Right &right, int k, int end) {
    constexpr bool ta = left_transposed, tb = right_transposed;
    tile_pair a[2 * Layout::own_rows];
    _Pragma("clang loop unroll(full)") for (int i = 0;
                                            i < 2 * Layout::own_rows; i++) {
      const int m = Layout::first_row() + 8 * i;
      a[i] = tile_of<Whole, ta>(left, ta ? m : k, ta ? k : m, ta ? D.m : end,
                                ta ? end : D.m);
    }
    _Pragma("clang loop unroll(full)") for (int j = 0;
                                            j < 2 * Layout::own_columns; j++) {
      const int n = Layout::first_column() + 8 * j;
      const tile_pair b =
          tile_of<Whole, tb>(right, tb ? k : n, tb ? n : k, tb ? end : D.n,
                             tb ? D.n : end);
      _Pragma("clang loop unroll(full)") for (int i = 0;
                                              i < 2 * Layout::own_rows; i++)
          sums[i][j] = tile_multiply_add<float>(a[i], b, sums[i][j]);
    }
  }
  template <bool Whole, bool Transposed, typename T>
  METTLE_INLINE static tile_pair tile_of(const T &from, int column, int row,
                                         int columns, int rows) {
    if constexpr (Whole && !is_of_codes<T>())
      return load_tile<Transposed>(
          from.__data() + (long(row) * from.__stride(1) + column),
          from.__stride(1));
    else
      return load_tile<Transposed>(from, column, row,
                                   lesser(int(from.get_extent(0)), columns),
                                   lesser(int(from.get_extent(1)), rows));
  }
  // True if all rows, or columns, of the simdgroup's fragments are in memory.
  template <typename T>
  METTLE_INLINE static bool covers(const T &from, bool transposed, int first,
                                   int count, int most) {
    return from.__stride(0) == 1 && first + count <= most &&
           first + count <= int(from.get_extent(transposed ? 0 : 1));
  }

  // Sums products of operands in memory, if tiles support their elements.
  template <typename Layout, typename Left, typename Right>
  METTLE_INLINE static void by_tiles(float (&sums)[Layout::capacity / 8][8],
                                     const Left &left, const Right &right,
                                     int end) {
    constexpr int across = Layout::own_columns;
    tile_pair tiles[2 * Layout::own_rows][2 * across];
    _Pragma("clang loop unroll(full)") for (int f = 0; f < Layout::capacity / 8;
                                            f++) {
      tile_pair four[2][2];
      tiles_of(sums[f], four);
      for (int i = 0; i < 4; i++)
        tiles[f / across * 2 + i / 2][f % across * 2 + i % 2] =
            four[i / 2][i % 2];
    }
    int k = 0;
    const int known = lesser(
        end, lesser(int(left.get_extent(left_transposed ? 1 : 0)),
                    int(right.get_extent(right_transposed ? 0 : 1))));
    if (covers(left, left_transposed, Layout::first_row(),
               16 * Layout::own_rows, D.m) &&
        covers(right, !right_transposed, Layout::first_column(), 16 * across,
               D.n)) {
      if constexpr (is_of_codes<Right>() && !is_of_codes<Left>())
        k = by_words<Layout>(tiles, left, right, known);
      for (; k + 8 <= known; k += 8)
        step_of_tiles<true, Layout>(tiles, left, right, k, end);
    }
    for (; k < end; k += 8)
      step_of_tiles<false, Layout>(tiles, left, right, k, end);
    _Pragma("clang loop unroll(full)") for (int f = 0; f < Layout::capacity / 8;
                                            f++) {
      tile_pair four[2][2];
      for (int i = 0; i < 4; i++)
        four[i / 2][i % 2] =
            tiles[f / across * 2 + i / 2][f % across * 2 + i % 2];
      fragment_of(four, sums[f]);
    }
  }

  // The same of a right operand of bytes or a packed format, as far as whole
  // lines of words go along k; returns that.
  template <typename Layout, typename Left, typename Right>
  METTLE_INLINE static int by_words(
      tile_pair (&sums)[2 * Layout::own_rows][2 * Layout::own_columns],
      const Left &left, const Right &right, int known) {
    typedef packed_words<Right> words;
    constexpr bool tb = right_transposed;
    constexpr int across = 2 * Layout::own_columns;
    // Words of eight lines: a column of tiles, or those of some columns.
    constexpr int step = tb ? words::per_line : 8;
    constexpr int each = tb ? 8 : words::per_line;
    constexpr int sets = (8 * across + each - 1) / each;
    if (!words::fits(right)) return 0;
    const int first = Layout::first_column();
    int k = 0;
    for (; k + step <= known; k += step) {
      uint loaded[sets];
      float scales[sets];
      _Pragma("clang loop unroll(full)") for (int s = 0; s < sets; s++) {
        const int n = first + s * each;
        const int there = 8 * across - s * each;
        loaded[s] = tb ? words::load(right, k, n)
                       : words::load(right, n, k,
                                     uint(there / words::per_word));
        scales[s] = words::scale(right, tb ? k : n, tb ? n : k);
      }
      _Pragma("clang loop unroll(full)") for (int t = 0; t < step / 8; t++)
          step_of_words<Layout, words>(sums, left, loaded, scales, k, t);
    }
    return k;
  }
  template <typename Layout, typename Words, typename Left, int Sets>
  METTLE_INLINE static void step_of_words(
      tile_pair (&sums)[2 * Layout::own_rows][2 * Layout::own_columns],
      const Left &left, const uint (&loaded)[Sets], const float (&scales)[Sets],
      int k, int t) {
    constexpr bool ta = left_transposed, tb = right_transposed;
    constexpr int rows = 2 * Layout::own_rows, across = 2 * Layout::own_columns;
    tile_pair a[rows];
    _Pragma("clang loop unroll(full)") for (int i = 0; i < rows; i++) {
      const int m = Layout::first_row() + 8 * i, at = k + 8 * t;
      a[i] = tile_of<true, ta>(left, ta ? m : at, ta ? at : m, 0, 0);
    }
    _Pragma("clang loop unroll(full)") for (int j = 0; j < across; j++) {
      constexpr int each = tb ? 1 : Words::per_line / 8;
      const tile_pair b = Words::template tile<tb>(
          loaded[j / each], tb ? t : j % each, scales[j / each]);
      _Pragma("clang loop unroll(full)") for (int i = 0; i < rows; i++)
          sums[i][j] = tile_multiply_add<float>(a[i], b, sums[i][j]);
    }
  }

  // The same of bytes, as far as whole tiles of words go along k; returns that.
  // The left side is not transposed. The columns of the right one are words in
  // memory if it is transposed; if not, 32 are made at once.
  template <typename Layout, typename Left, typename Right>
  METTLE_INLINE static int by_bytes(int (&sums)[Layout::capacity / 8][8],
                                    const Left &left, const Right &right,
                                    int end) {
    typedef byte_product<operand_element<Left>, operand_element<Right>> bytes;
    constexpr int rows = 2 * Layout::own_rows, across = Layout::own_columns;
    const int known =
        lesser(end, lesser(int(left.get_extent(0)),
                           int(right.get_extent(right_transposed ? 0 : 1))));
    if constexpr (operand<Right>::is_packed) {
      if (!packed_words<Right>::fits(right)) return 0;
    } else if (!is_of_words(right)) {
      return 0;
    }
    if (!is_of_words(left) || known < 32 ||
        !covers(left, false, Layout::first_row(), 16 * Layout::own_rows, D.m) ||
        !covers(right, !right_transposed, Layout::first_column(), 16 * across,
                D.n))
      return 0;
    tile_pair tiles[rows][2 * across];
    exchange<Layout, true>(sums, tiles);
    int row_sums[rows] = {};
    int k = 0;
    for (; k + 32 <= known; k += 32) {
      word_pair a[rows];
      _Pragma("clang loop unroll(full)") for (int i = 0; i < rows; i++) {
        const long stride = left.__stride(1);
        a[i] = load_words(
            left.__data() + ((Layout::first_row() + 8 * i) * stride + k),
            stride / 4, false);
        if constexpr (bytes::is_moved) row_sums[i] += bytes::sum_of(a[i]);
      }
      _Pragma("clang loop unroll(full)") for (int g = 0; g < 2 * across;
                                              g += 4) {
        word_pair b[4];
        fetch_words<Layout>(b, right, k, g);
        _Pragma("clang loop unroll(full)") for (int j = 0;
                                                j < 4 && g + j < 2 * across;
                                                j++) b[j] = bytes::right(b[j]);
        // Products of one left tile stay adjacent.
        _Pragma("clang loop unroll(full)") for (int i = 0; i < rows; i++)
            _Pragma("clang loop unroll(full)") for (int j = 0;
                                                    j < 4 && g + j < 2 * across;
                                                    j++)
                tiles[i][g + j] = bytes::add(a[i], b[j], tiles[i][g + j]);
      }
    }
    exchange<Layout, false>(sums, tiles);
    if constexpr (bytes::is_moved)
      _Pragma("clang loop unroll(full)") for (int i = 0; i < rows; i++) {
        const int add = bytes::correction(row_sums[i]);
        for (int j = 0; j < 4 * across; j++)
          sums[i / 2 * across + j / 4][i % 2 * 4 + j % 4] += add;
      }
    return k;
  }
  // Loads tiles of words of the right side, starting with number g.
  template <typename Layout, typename Right>
  METTLE_INLINE static void fetch_words(word_pair (&b)[4], const Right &right,
                                        int k, int g) {
    const long stride = right.__stride(1);
    const int n = Layout::first_column() + 8 * g;
    if constexpr (operand<Right>::is_packed) {
      _Pragma("clang loop unroll(full)") for (
          int j = 0; j < 4 && g + j < 2 * Layout::own_columns; j++)
          b[j] = turned_words<operand_element<Right>>(
              packed_words<Right>::load(right, k, n + 8 * j));
    } else if constexpr (right_transposed) {
      _Pragma("clang loop unroll(full)") for (
          int j = 0; j < 4 && g + j < 2 * Layout::own_columns; j++)
          b[j] = load_words(right.__data() + ((n + 8 * j) * stride + k),
                            stride / 4, true);
    } else {
      load_columns(b, right.__data() + (k * stride + n), stride);
    }
  }
  // True if rows are words, each at a multiple of 4 bytes.
  template <typename T>
  METTLE_INLINE static bool is_of_words(const T &from) {
    return from.__stride(0) == 1 &&
           ((ulong(from.__data()) | ulong(from.__stride(1))) & 3u) == 0;
  }
  // Moves sums from fragments to the tiles of by_bytes, or back.
  template <typename Layout, bool ToTiles>
  METTLE_INLINE static void exchange(
      int (&sums)[Layout::capacity / 8][8],
      tile_pair (&tiles)[2 * Layout::own_rows][2 * Layout::own_columns]) {
    constexpr int across = Layout::own_columns, step = right_transposed ? 1 : 2;
    _Pragma("clang loop unroll(full)") for (int f = 0; f < Layout::capacity / 8;
                                            f += step) {
      const int row = f / across * 2, column = f % across * 2;
      float of_floats[step][8];
      tile_pair some[2][2 * step];
      for (int i = 0; i < 8 * step; i++)
        of_floats[i / 8][i % 8] =
            __builtin_bit_cast(float, sums[f + i / 8][i % 8]);
      for (int i = 0; i < 4 * step; i++)
        some[i / (2 * step)][i % (2 * step)] =
            tiles[row + i / (2 * step)][column + i % (2 * step)];
      if constexpr (right_transposed) {
        if constexpr (ToTiles) tiles_of(of_floats[0], some);
        else fragment_of(some, of_floats[0]);
      } else {
        if constexpr (ToTiles) spread_tiles_of(of_floats, some);
        else fragments_of_spread(some, of_floats);
      }
      for (int i = 0; i < 8 * step; i++)
        sums[f + i / 8][i % 8] =
            __builtin_bit_cast(int, of_floats[i / 8][i % 8]);
      for (int i = 0; i < 4 * step; i++)
        tiles[row + i / (2 * step)][column + i % (2 * step)] =
            some[i / (2 * step)][i % (2 * step)];
    }
  }

  template <typename Left, typename Right, typename Target>
  METTLE_INLINE static void by_fragments(const Left &left, const Right &right,
                                         Target &target) {
    typedef typename layout_in<Scope, D.n, D.m>::type layout;
    typedef sum_t<operand_element<Left>, operand_element<Right>> S;
    typedef operand_element<Target> C;
    metal::cooperative_tensor<C, metal::extents<int, D.n, D.m>, layout> held;
    if constexpr (adds && operand<Target>::is_cooperative)
      held = target;
    else if constexpr (adds)
      held.load(target);
    S sums[layout::capacity / 8][8];
    _Pragma("clang loop unroll(full)") for (int i = 0; i < layout::capacity;
                                            i++) sums[i / 8][i % 8] =
        adds ? converted_element<S>(held[i]) : S(0);
    const int end = length(left, right);
    if constexpr (operand<Left>::is_cooperative ||
                  operand<Right>::is_cooperative) {
      constexpr int last = cooperative_length<Left, Right>();
      _Pragma("clang loop unroll(full)") for (int k = 0; k < last; k += 16)
          step<layout>(sums, left, right, k, end);
    } else if constexpr (has_tiles<Left, S>() &&
                         (has_tiles<Right, S>() ||
                          (metal::is_same_v<S, float> &&
                           is_of_codes<Right>()))) {
      by_tiles<layout>(sums, left, right, end);
    } else {
      int k = 0;
      if constexpr (is_byte<operand_element<Left>> &&
                    is_byte<operand_element<Right>> && !left_transposed &&
                    !operand<Left>::is_packed && is_of_nibbles<Right>() &&
                    (right_transposed || layout::own_columns % 2 == 0))
        k = by_bytes<layout>(sums, left, right, end);
      for (; k < end; k += 16) step<layout>(sums, left, right, k, end);
    }
    _Pragma("clang loop unroll(full)") for (int i = 0; i < layout::capacity;
                                            i++) held[i] =
        converted_element<C>(sums[i / 8][i % 8]);
    if constexpr (operand<Target>::is_cooperative)
      target = held;
    else
      held.store(target);
  }

  // True unless a right operand is of a packed format that has no words of
  // bytes: they are of turned numbers of four bits.
  template <typename Right>
  static constexpr bool is_of_nibbles() {
    if constexpr (operand<Right>::is_packed)
      return right_transposed && packed_words<Right>::bits == 4;
    return true;
  }
  // True if words hold an operand's elements, from which they become floats.
  template <typename T>
  static constexpr bool is_of_codes() {
    return operand<T>::is_packed || is_byte<operand_element<T>>;
  }
  // True if an operand's elements load as tiles of sums of that type.
  template <typename T, typename S>
  static constexpr bool has_tiles() {
    return metal::is_same_v<S, float> &&
           (is_any_of<operand_element<T>, half, bfloat, float> ||
            operand<T>::is_packed);
  }

  template <typename Left, typename Right>
  static constexpr int cooperative_length() {
    if constexpr (D.k > 0)
      return D.k;
    else if constexpr (operand<Left>::is_cooperative)
      return int(Left::get_static_extent(D.transpose_left ? 1 : 0));
    else
      return int(Right::get_static_extent(D.transpose_right ? 0 : 1));
  }

  template <typename T>
  METTLE_INLINE static auto fetch_one(const T &from, int column, int row) {
    if constexpr (operand<T>::is_cooperative)
      return from[row * operand<T>::layout::columns + column];
    else if constexpr (operand<T>::is_packed)
      return column < int(from.get_extent(0)) && row < int(from.get_extent(1))
                 ? from.__number(column, row)
                 : decltype(from.__number(column, row))(0);
    else
      return from.load(column, row);
  }
  template <typename Left, typename Right, typename Target>
  METTLE_INLINE static void by_thread(const Left &left, const Right &right,
                                      Target &target) {
    typedef sum_t<operand_element<Left>, operand_element<Right>> S;
    typedef operand_element<Target> C;
    const int end = length(left, right);
    for (int m = 0; m < D.m; m++)
      for (int n = 0; n < D.n; n++) {
        S sum = S(0);
        if constexpr (adds) sum = converted_element<S>(fetch_one(target, n, m));
        for (int k = 0; k < end; k++)
          sum = multiply_add(
              converted_element<S>(fetch_one(left, D.transpose_left ? m : k,
                                             D.transpose_left ? k : m)),
              converted_element<S>(fetch_one(right, D.transpose_right ? k : n,
                                             D.transpose_right ? n : k)),
              sum);
        if constexpr (operand<Target>::is_cooperative)
          target[m * D.n + n] = converted_element<C>(sum);
        else
          target.store(converted_element<C>(sum), n, m);
      }
  }

  // Stores simdgroups' elements to memory where each simdgroup finds them.
  template <int Which, typename T>
  METTLE_INLINE static auto shared(const T &from) {
    if constexpr (operand<T>::is_cooperative) {
      typedef typename operand<T>::layout layout;
      typedef operand_element<T> E;
      metal::tensor<threadgroup E,
                    metal::extents<int, layout::columns, layout::rows>,
                    metal::tensor_inline>
          memory(exchange_memory<E, layout::columns * layout::rows, Which>(),
                 {});
      from.store(memory);
      return memory;
    } else {
      return from;
    }
  }

  template <typename Left, typename Right, typename Target>
  METTLE_INLINE static void run(const Left &left, const Right &right,
                                Target &target) {
    static_assert(operand<Left>::rank == 2 && operand<Right>::rank == 2 &&
                      operand<Target>::rank == 2,
                  "the operands of matmul2d have two dimensions");
    static_assert(
        is_product<operand_element<Left>, operand_element<Right>, operand_element<Target>>(),
        "matmul2d has no product of these types of elements");
    static_assert(!operand<Target>::is_packed,
                  "the result of matmul2d has no packed format");
    static_assert(!operand<Left>::is_scaled || !D.transpose_left,
                  "a left operand with scales is not transposed");
    static_assert(!operand<Right>::is_scaled || D.transpose_right,
                  "a right operand with scales is transposed");
    if constexpr (metal::is_same_v<Scope, metal::execution_thread>) {
      by_thread(left, right, target);
    } else if constexpr ((operand<Left>::is_cooperative ||
                          operand<Right>::is_cooperative) &&
                         !metal::is_same_v<Scope,
                                           metal::execution_simdgroup>) {
      metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
      const auto a = shared<0>(left);
      const auto b = shared<1>(right);
      metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
      by_fragments(a, b, target);
    } else {
      by_fragments(left, right, target);
    }
  }
};

}  // namespace __mettle

namespace mpp {
namespace tensor_ops {

template <matmul2d_descriptor Descriptor, typename Scope, class... Args>
class matmul2d {
  static constexpr bool is_thread =
      metal::is_same_v<Scope, metal::execution_thread>;
  static constexpr matmul2d_descriptor D = Descriptor;
  static_assert(D.m > 0 && D.n > 0,
                "matmul2d_descriptor needs the rows and columns of the result");
  template <typename T, typename Coord, int Columns, int Rows>
  using held = metal::cooperative_tensor<
      T, metal::extents<Coord, Columns, Rows>,
      typename __mettle::layout_in<Scope, Columns, Rows>::type>;
  typedef typename __mettle::layout_in<Scope, D.n, D.m>::type target_layout;

 public:
  static constexpr matmul2d_descriptor descriptor = Descriptor;

  template <typename T, typename Coord = int>
  using __left = held<T, Coord, D.transpose_left ? D.m : D.k,
                      D.transpose_left ? D.k : D.m>;
  template <typename T, typename Coord = int>
  using __right = held<T, Coord, D.transpose_right ? D.k : D.n,
                       D.transpose_right ? D.n : D.k>;
  // What the functions below return.
  template <typename Left, typename Right, typename T, typename Coord = int>
  using cooperative_tensor_left_input_t = __left<Left, Coord>;
  template <typename Left, typename Right, typename T, typename Coord = int>
  using cooperative_tensor_right_input_t = __right<Right, Coord>;
  template <typename Left, typename Right, typename T, typename Coord = int>
  using cooperative_tensor_destination_t = held<T, Coord, D.n, D.m>;
  template <typename Left, typename Right, typename T, typename Coord = int>
  using cooperative_tensor_row_reduction_destination_t =
      metal::cooperative_tensor<T, metal::extents<Coord, D.m>,
                                __mettle::row_layout<target_layout>>;
  template <typename Left, typename Right, typename T, typename Coord = int>
  using cooperative_tensor_column_reduction_destination_t =
      metal::cooperative_tensor<T, metal::extents<Coord, D.n>,
                                __mettle::column_layout<target_layout>>;

  // Selected by the element types of left, right and result.
  template <typename Left, typename Right, typename T, typename Coord = int>
  METTLE_INLINE auto get_left_input_cooperative_tensor() const {
    check<Left, Right, T>();
    static_assert(D.k > 0, "an input that is held together needs K");
    return __left<Left, Coord>();
  }
  template <typename Left, typename Right, typename T, typename Coord = int>
  METTLE_INLINE auto get_right_input_cooperative_tensor() const {
    check<Left, Right, T>();
    static_assert(D.k > 0, "an input that is held together needs K");
    return __right<Right, Coord>();
  }
  // Selected by the elements that another tensor holds.
  template <typename Left, typename Right, typename T, typename Coord = int,
            typename E, typename X, typename L>
  METTLE_INLINE auto get_left_input_cooperative_tensor(
      const metal::cooperative_tensor<E, X, L> &source) const {
    auto result = get_left_input_cooperative_tensor<Left, Right, T, Coord>();
    take(result, source);
    return result;
  }
  template <typename Left, typename Right, typename T, typename Coord = int,
            typename E, typename X, typename L>
  METTLE_INLINE auto get_right_input_cooperative_tensor(
      const metal::cooperative_tensor<E, X, L> &source) const {
    auto result = get_right_input_cooperative_tensor<Left, Right, T, Coord>();
    take(result, source);
    return result;
  }
  template <typename Left, typename Right, typename T, typename E, typename X,
            typename L>
  METTLE_INLINE constexpr bool is_compatible_as_left_input(
      const metal::cooperative_tensor<E, X, L> &) const {
    return metal::is_same_v<typename __left<Left>::layout_type, L>;
  }
  template <typename Left, typename Right, typename T, typename E, typename X,
            typename L>
  METTLE_INLINE constexpr bool is_compatible_as_right_input(
      const metal::cooperative_tensor<E, X, L> &) const {
    return metal::is_same_v<typename __right<Right>::layout_type, L>;
  }

  // Selected by the operands' types and the result's element type.
  template <typename Left, typename Right, typename T, typename Coord = int>
  METTLE_INLINE auto get_destination_cooperative_tensor() const {
    return held<T, Coord, D.n, D.m>();
  }
  template <typename Left, typename Right, typename T, typename Coord = int>
  METTLE_INLINE auto get_row_reduction_destination_cooperative_tensor() const {
    check_reduction();
    return cooperative_tensor_row_reduction_destination_t<Left, Right, T,
                                                          Coord>();
  }
  template <typename Left, typename Right, typename T, typename Coord = int>
  METTLE_INLINE auto get_column_reduction_destination_cooperative_tensor()
      const {
    check_reduction();
    return cooperative_tensor_column_reduction_destination_t<Left, Right, T,
                                                             Coord>();
  }

  template <typename Left, typename Right, typename Target>
  METTLE_INLINE void run(Left &&left, Right &&right, Target &&target) const {
    static_assert(__mettle::operand_of<Left>::is_operand &&
                      __mettle::operand_of<Right>::is_operand &&
                      __mettle::operand_of<Target>::is_operand,
                  "the operands of run are tensors");
    __mettle::product<Descriptor, Scope>::run(left, right, target);
  }

 private:
  template <typename Left, typename Right, typename T>
  METTLE_INLINE static void check() {
    static_assert(__mettle::is_product<__mettle::number_of<Left>,
                                       __mettle::number_of<Right>, T>(),
                  "matmul2d has no product of these types of elements");
  }
  METTLE_INLINE static void check_reduction() {
    static_assert(is_thread ||
                      metal::is_same_v<Scope, metal::execution_simdgroup>,
                  "one simdgroup or one thread reduces what it holds");
  }
  template <typename To, typename From>
  METTLE_INLINE static void take(To &result, const From &source) {
    static_assert(metal::is_same_v<typename To::layout_type,
                                   typename From::layout_type>,
                  "the source has the extents of the input, in its scope");
    _Pragma("clang loop unroll(full)") for (int i = 0; i < To::get_capacity();
                                            i++) result[i] =
        __mettle::converted_element<typename To::value_type>(source[i]);
  }
};

}  // namespace tensor_ops
}  // namespace mpp

#endif
