// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_operands.h: the operands of tensor operations, and how a scope holds
// them.
#ifndef METTLE_OPERANDS_H
#define METTLE_OPERANDS_H

#include <metal_cooperative_tensor>
#include <metal_tensor>

namespace __mettle {

template <typename T>
struct operand {
  static constexpr bool is_operand = false;
};
template <typename T, typename E, typename D, typename... Tags>
struct operand<metal::tensor<T, E, D, Tags...>> {
  typedef metal::tensor<T, E, D, Tags...> type;
  static constexpr bool is_operand = true, is_cooperative = false;
  static constexpr bool is_packed = __mettle::is_packed<typename type::value_type>;
  static constexpr bool is_scaled = type::__is_scaled;
  typedef number_of<typename type::value_type> element;
  static constexpr size_t rank = E::rank();
};
template <typename T, typename E, typename L>
struct operand<metal::cooperative_tensor<T, E, L>> {
  static constexpr bool is_operand = true, is_cooperative = true;
  static constexpr bool is_packed = false, is_scaled = false;
  typedef metal::remove_cv_t<T> element;
  static constexpr size_t rank = E::rank();
  typedef L layout;
};
template <typename T>
struct operand<device T> : operand<metal::remove_cv_t<T>> {};
template <typename T>
struct operand<threadgroup T> : operand<metal::remove_cv_t<T>> {};
template <typename T>
using operand_of = operand<metal::remove_cvref_t<T>>;
template <typename T>
using operand_element = typename operand_of<T>::element;

template <typename T, typename... Others>
inline constexpr bool is_any_of = (metal::is_same_v<T, Others> || ...);
template <typename T>
inline constexpr bool is_byte = is_any_of<T, char, int8_t, uchar>;

// The combinations of element types that Metal has: left, right, sum. Those of
// 26.4 are of uchar. Packed formats are as the numbers that they unpack to.
template <typename A, typename B, typename C>
constexpr bool is_product() {
  constexpr bool is_half = is_any_of<A, half> || is_any_of<B, half>;
  constexpr bool is_bfloat = is_any_of<A, bfloat> || is_any_of<B, bfloat>;
  constexpr bool is_float = is_any_of<A, float> || is_any_of<B, float>;
  if constexpr (!is_any_of<A, half, bfloat, float> && !is_byte<A>)
    return false;
  else if constexpr (!is_any_of<B, half, bfloat, float> && !is_byte<B>)
    return false;
  else if constexpr (is_byte<A> && is_byte<B>)
    return is_any_of<C, int>;
  else if constexpr (is_float)
    return is_any_of<C, float>;
  else if constexpr (is_half && is_bfloat)
    return is_any_of<C, bfloat, half, float>;
  else if constexpr (is_half)
    return is_any_of<C, half, float>;
  else
    return is_any_of<C, bfloat, float>;
}

// How a scope holds a matrix.
template <typename Scope, int Columns, int Rows>
struct layout_in;
template <int N, int Columns, int Rows>
struct layout_in<metal::execution_simdgroups<N>, Columns, Rows> {
  typedef fragment_layout<Columns, Rows, N> type;
};
template <int Columns, int Rows>
struct layout_in<metal::execution_thread, Columns, Rows> {
  typedef thread_layout<Columns, Rows> type;
};

// Memory by which simdgroups pass on their elements.
template <typename T, int Count, int Which>
METTLE_INLINE threadgroup T *exchange_memory() {
  static __attribute__((section(".mettle.threadgroup"))) threadgroup T
      memory[Count];
  return memory;
}

template <typename T>
METTLE_INLINE T lesser(T a, T b) {
  return a < b ? a : b;
}

}  // namespace __mettle

#endif
