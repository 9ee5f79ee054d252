// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_reductions.h: reductions of the rows or columns that a simdgroup, or a
// thread, holds together.
#ifndef METTLE_REDUCTIONS_H
#define METTLE_REDUCTIONS_H

#include <metal_cooperative_tensor>
#include <metal_limits>

namespace mpp {
namespace tensor_ops {

enum class reduction_operation { sum, max, min };

template <typename T>
struct reduction_operation_identity {
  static constexpr T sum_identity = T(0);
  static constexpr T max_identity = metal::numeric_limits<T>::lowest();
  static constexpr T min_identity = metal::numeric_limits<T>::max();
};
#define METTLE_IDENTITY(T)                                                     \
  template <>                                                                  \
  struct reduction_operation_identity<T> {                                     \
    static constexpr T sum_identity = T(0);                                    \
    static constexpr T max_identity = T(-metal::numeric_limits<T>::infinity()); \
    static constexpr T min_identity = metal::numeric_limits<T>::infinity();    \
  };
METTLE_IDENTITY(float)
METTLE_IDENTITY(half)
METTLE_IDENTITY(bfloat)
#undef METTLE_IDENTITY

}  // namespace tensor_ops
}  // namespace mpp

namespace __mettle {

template <typename T>
METTLE_INLINE T reduced(T a, T b, mpp::tensor_ops::reduction_operation op) {
  typedef mpp::tensor_ops::reduction_operation of;
  if (op == of::sum) return T(a + b);
  if constexpr (metal::is_integral_v<T>)
    return (op == of::max) == (a > b) ? a : b;
  else
    return T(op == of::max ? __builtin_fmaxf(float(a), float(b))
                           : __builtin_fminf(float(a), float(b)));
}

// Reduces a simdgroup's or a thread's elements of each row or column. The
// identity counts once.
template <typename Source, typename Target, typename T>
METTLE_INLINE void reduce(const Source &source, Target &target,
                          mpp::tensor_ops::reduction_operation op,
                          T identity) {
  typedef typename Source::layout_type from;
  typedef typename Target::layout_type to;
  static_assert(to::template fits<from>,
                "the result has an element for each row, or column");
  typedef mpp::tensor_ops::reduction_operation of;
  const T start = op == of::sum ? T(0) : identity;
  T parts[to::capacity];
  _Pragma("clang loop unroll(full)") for (int i = 0; i < to::capacity; i++)
      parts[i] = start;
  _Pragma("clang loop unroll(full)") for (int i = 0; i < from::capacity; i++) {
    const int place = to::template own<from>(i);
    const T sum = reduced(parts[place], T(source[i]), op);
    parts[place] = from::is_valid(i) ? sum : parts[place];
  }
  _Pragma("clang loop unroll(full)") for (int i = 0; i < to::capacity; i++) {
    if constexpr (from::groups != 0) {
      // Threads of one row differ in bits 0 and 3, of one column in the others.
      constexpr uint bits[2][3] = {{2, 4, 16}, {1, 8, 0}};
      for (uint b : bits[to::is_of_rows])
        if (b) parts[i] = reduced(parts[i], shuffle(parts[i], lane() ^ b), op);
    }
    const T whole = op == of::sum ? T(parts[i] + identity) : parts[i];
    target[i] = converted_element<typename Target::value_type>(whole);
  }
}

}  // namespace __mettle

namespace mpp {
namespace tensor_ops {

template <typename T, typename SE, typename SL, typename DT, typename DE,
          typename DL>
METTLE_INLINE void reduce_rows(
    const metal::cooperative_tensor<T, SE, SL> &source,
    metal::cooperative_tensor<DT, DE, DL> &destination,
    reduction_operation op = reduction_operation::sum,
    __mettle::identity_t<T> identity =
        reduction_operation_identity<T>::sum_identity) {
  static_assert(DL::is_of_rows, "the result is one of rows");
  __mettle::reduce(source, destination, op, identity);
}
template <typename T, typename SE, typename SL, typename DT, typename DE,
          typename DL>
METTLE_INLINE void reduce_columns(
    const metal::cooperative_tensor<T, SE, SL> &source,
    metal::cooperative_tensor<DT, DE, DL> &destination,
    reduction_operation op = reduction_operation::sum,
    __mettle::identity_t<T> identity =
        reduction_operation_identity<T>::sum_identity) {
  static_assert(!DL::is_of_rows, "the result is one of columns");
  __mettle::reduce(source, destination, op, identity);
}

// True if destination.map_iterator(iterator of source) has an element.
template <typename ST, typename SE, typename SL, typename DT, typename DE,
          typename DL>
METTLE_INLINE constexpr bool is_iterator_compatible(
    const metal::cooperative_tensor<ST, SE, SL> &,
    const metal::cooperative_tensor<DT, DE, DL> &) {
  if constexpr (DE::rank() == 1 && SE::rank() == 2)
    return DL::template fits<SL>;
  else
    return metal::is_same_v<SL, DL>;
}

}  // namespace tensor_ops
}  // namespace mpp

#endif
