// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd.h: the mettle.simd.* functions that the compiler knows, and what
// metal_simdgroup, metal_quadgroup and metal_simdgroup_matrix build from them:
// shuffles, reductions and prefixes of every component type.
#ifndef METTLE_SIMD_H
#define METTLE_SIMD_H

#include <metal_elementwise>

namespace __mettle {

#define METTLE_KNOWN(type, name, symbol, ...)                  \
  extern "C" type __mettle_##name(__VA_ARGS__) __asm__(symbol) \
      __attribute__((convergent, nothrow));

METTLE_KNOWN(uint, shuffle_i32, "mettle.simd.shuffle.i32", uint, uint)
METTLE_KNOWN(ulong, shuffle_i64, "mettle.simd.shuffle.i64", ulong, uint)
METTLE_KNOWN(uint, ballot, "mettle.simd.ballot", bool)

#define METTLE_KNOWN_REDUCE(op, T, type) \
  METTLE_KNOWN(type, reduce_##op##_##T, "mettle.simd.reduce." #op "." #T, type)
#define METTLE_KNOWN_SCAN(op, T, type)                         \
  METTLE_KNOWN(type, inclusive_##op##_##T,                     \
               "mettle.simd.scan.inclusive." #op "." #T, type) \
  METTLE_KNOWN(type, exclusive_##op##_##T,                     \
               "mettle.simd.scan.exclusive." #op "." #T, type)

METTLE_KNOWN_REDUCE(add, i32, uint)
METTLE_KNOWN_REDUCE(mul, i32, uint)
METTLE_KNOWN_REDUCE(and, i32, uint)
METTLE_KNOWN_REDUCE(or, i32, uint)
METTLE_KNOWN_REDUCE(xor, i32, uint)
METTLE_KNOWN_REDUCE(min, i32, int)
METTLE_KNOWN_REDUCE(max, i32, int)
METTLE_KNOWN_REDUCE(min, u32, uint)
METTLE_KNOWN_REDUCE(max, u32, uint)
METTLE_KNOWN_REDUCE(add, i64, ulong)
METTLE_KNOWN_REDUCE(mul, i64, ulong)
METTLE_KNOWN_REDUCE(and, i64, ulong)
METTLE_KNOWN_REDUCE(or, i64, ulong)
METTLE_KNOWN_REDUCE(xor, i64, ulong)
METTLE_KNOWN_REDUCE(min, i64, long)
METTLE_KNOWN_REDUCE(max, i64, long)
METTLE_KNOWN_REDUCE(min, u64, ulong)
METTLE_KNOWN_REDUCE(max, u64, ulong)
METTLE_KNOWN_REDUCE(add, f32, float)
METTLE_KNOWN_REDUCE(mul, f32, float)
METTLE_KNOWN_REDUCE(min, f32, float)
METTLE_KNOWN_REDUCE(max, f32, float)
METTLE_KNOWN_SCAN(add, i32, uint)
METTLE_KNOWN_SCAN(mul, i32, uint)
METTLE_KNOWN_SCAN(add, i64, ulong)
METTLE_KNOWN_SCAN(mul, i64, ulong)
METTLE_KNOWN_SCAN(add, f32, float)
METTLE_KNOWN_SCAN(mul, f32, float)

// mettle.position of a built-in input; 11 is MTLI_THREAD_INDEX_IN_SIMDGROUP of
// code/code.h.
extern "C" uint __mettle_position(uint builtin,
                                  uint dimension) __asm__("mettle.position")
    __attribute__((nothrow, const));
METTLE_INLINE uint lane() {
  return __mettle_position(11, 0);
}
METTLE_INLINE uint first_lane() {
  return __builtin_ctz(__mettle_ballot(true));
}

// The number of a thread, of `width` threads. Others are taken modulo width; the
// checker (compiler/check/lane_numbers.c) reports their use.
METTLE_INLINE uint lane_number(uint lane, uint width) {
  return lane & (width - 1);
}

// A component as the bits of an integer of at least 32 bits, and back.
template <typename T>
METTLE_INLINE T shuffle_component(T value, uint source) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(
        T, __mettle_shuffle_i64(__builtin_bit_cast(ulong, value), source));
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(
        T, __mettle_shuffle_i32(__builtin_bit_cast(uint, value), source));
  else if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(
        T, (ushort)__mettle_shuffle_i32(__builtin_bit_cast(ushort, value),
                                        source));
  else
    return (T)__mettle_shuffle_i32((uint)value, source);
}
template <typename T>
METTLE_INLINE T shuffle(T value, uint source) {
  if constexpr (count<T> == 1)
    return shuffle_component(value, source);
  else if constexpr (count<T> == 2)
    return T(shuffle(value.x, source), shuffle(value.y, source));
  else if constexpr (count<T> == 3)
    return T(shuffle(value.x, source), shuffle(value.y, source),
             shuffle(value.z, source));
  else
    return T(shuffle(value.x, source), shuffle(value.y, source),
             shuffle(value.z, source), shuffle(value.w, source));
}

// True if a thread is active, so that its value can be read.
METTLE_INLINE bool is_active(uint lane) {
  return __mettle_ballot(true) >> lane & 1;
}

// The thread's place in its run of `width` threads decides between the two; a
// thread reads both, from threads that read it too. What is not active gives
// the filling: sums, products and extremes of 64 bits are made of this, with
// their identity, where threadgroups end within a simdgroup.
// Source: c10/metal/reduction_utils.h, PyTorch 2.13
template <typename T>
METTLE_INLINE T fill_up(T data, T filling, uint delta, uint width) {
  uint place = lane() & (width - 1);
  uint source = (lane() & ~(width - 1)) | ((place - delta) & (width - 1));
  T inside = shuffle(data, source);
  T outside = shuffle(filling, source);
  return !is_active(source) ? filling : place >= delta ? inside : outside;
}
template <typename T>
METTLE_INLINE T fill_down(T data, T filling, uint delta, uint width) {
  uint place = lane() & (width - 1);
  uint source = (lane() & ~(width - 1)) | ((place + delta) & (width - 1));
  T inside = shuffle(data, source);
  T outside = shuffle(filling, source);
  return !is_active(source)      ? filling
         : place + delta < width ? inside
                                 : outside;
}

// Scalar functions for map(): floating point in float, small integers in 32
// bits, where the low bits come out right.
#define METTLE_SIMD_ARITHMETIC(name, symbol)       \
  struct name {                                    \
    template <typename T>                          \
    METTLE_INLINE static T call(T value) {         \
      if constexpr (metal::is_floating_point_v<T>) \
        return __mettle_##symbol##_f32(value);     \
      else if constexpr (sizeof(T) == 8)           \
        return __mettle_##symbol##_i64(value);     \
      else                                         \
        return __mettle_##symbol##_i32(value);     \
    }                                              \
  };
#define METTLE_SIMD_ORDER(name, symbol)            \
  struct name {                                    \
    template <typename T>                          \
    METTLE_INLINE static T call(T value) {         \
      if constexpr (metal::is_floating_point_v<T>) \
        return __mettle_##symbol##_f32(value);     \
      else if constexpr (sizeof(T) == 8) {         \
        if constexpr (metal::is_signed_v<T>)       \
          return __mettle_##symbol##_i64(value);   \
        else                                       \
          return __mettle_##symbol##_u64(value);   \
      } else if constexpr (metal::is_signed_v<T>)  \
        return __mettle_##symbol##_i32(value);     \
      else                                         \
        return __mettle_##symbol##_u32(value);     \
    }                                              \
  };
#define METTLE_SIMD_BITWISE(name, symbol)               \
  struct name {                                         \
    template <typename T>                               \
    METTLE_INLINE static T call(T value) {              \
      static_assert(metal::is_integral_v<T>,            \
                    "bitwise functions need integers"); \
      if constexpr (sizeof(T) == 8)                     \
        return __mettle_##symbol##_i64(value);          \
      else                                              \
        return __mettle_##symbol##_i32(value);          \
    }                                                   \
  };
METTLE_SIMD_ARITHMETIC(simd_add, reduce_add)
METTLE_SIMD_ARITHMETIC(simd_mul, reduce_mul)
METTLE_SIMD_ARITHMETIC(simd_inclusive_add, inclusive_add)
METTLE_SIMD_ARITHMETIC(simd_inclusive_mul, inclusive_mul)
METTLE_SIMD_ARITHMETIC(simd_exclusive_add, exclusive_add)
METTLE_SIMD_ARITHMETIC(simd_exclusive_mul, exclusive_mul)
METTLE_SIMD_ORDER(simd_min, reduce_min)
METTLE_SIMD_ORDER(simd_max, reduce_max)
METTLE_SIMD_BITWISE(simd_and, reduce_and)
METTLE_SIMD_BITWISE(simd_or, reduce_or)
METTLE_SIMD_BITWISE(simd_xor, reduce_xor)
#undef METTLE_SIMD_ARITHMETIC
#undef METTLE_SIMD_ORDER
#undef METTLE_SIMD_BITWISE
#undef METTLE_KNOWN_REDUCE
#undef METTLE_KNOWN_SCAN

}  // namespace __mettle

#endif
