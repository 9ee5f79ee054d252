# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_prelude.py: what kernels written for mx.fast.metal_kernel find in front of
them: MLX's names of types, and the functions that its documentation gives."""

PRELUDE = r"""#include <metal_stdlib>
#include <metal_math>
using namespace metal;

typedef half float16_t;
typedef bfloat bfloat16_t;

struct complex64_t {
  float real;
  float imag;
  complex64_t() = default;
  constexpr complex64_t(float r, float i) : real(r), imag(i) {}
  constexpr complex64_t(float r) : real(r), imag(0) {}
};
constexpr complex64_t operator+(complex64_t a, complex64_t b) {
  return complex64_t(a.real + b.real, a.imag + b.imag);
}
constexpr complex64_t operator-(complex64_t a, complex64_t b) {
  return complex64_t(a.real - b.real, a.imag - b.imag);
}
constexpr complex64_t operator-(complex64_t a) {
  return complex64_t(-a.real, -a.imag);
}
constexpr complex64_t operator*(complex64_t a, complex64_t b) {
  return complex64_t(a.real * b.real - a.imag * b.imag,
                     a.real * b.imag + a.imag * b.real);
}
constexpr bool operator==(complex64_t a, complex64_t b) {
  return a.real == b.real && a.imag == b.imag;
}

template <typename T>
struct Limits {
  static constexpr constant T max = numeric_limits<T>::max();
  static constexpr constant T min = numeric_limits<T>::lowest();
  static constexpr constant T finite_max = numeric_limits<T>::max();
  static constexpr constant T finite_min = numeric_limits<T>::lowest();
};
#define METTLE_FLOAT_LIMITS(T)                                               \
  template <>                                                                \
  struct Limits<T> {                                                         \
    static constexpr constant T max = numeric_limits<T>::infinity();         \
    static constexpr constant T min = -numeric_limits<T>::infinity();        \
    static constexpr constant T finite_max = numeric_limits<T>::max();       \
    static constexpr constant T finite_min = numeric_limits<T>::lowest();    \
  };
METTLE_FLOAT_LIMITS(float)
METTLE_FLOAT_LIMITS(half)
METTLE_FLOAT_LIMITS(bfloat)
#undef METTLE_FLOAT_LIMITS

template <typename T, typename U>
inline T ceildiv(T n, U m) {
  return (n + m - 1) / m;
}

// Where element elem of an array in row order lies, in elements.
template <typename Index = int64_t>
inline Index elem_to_loc(Index elem, constant const int *shape,
                         constant const int64_t *strides, int ndim) {
  Index place = 0;
  for (int d = ndim - 1; d >= 0; d--) {
    place += Index(elem % shape[d]) * Index(strides[d]);
    elem /= shape[d];
  }
  return place;
}
template <typename Index = int64_t>
inline Index elem_to_loc(uint elem, constant const int *shape,
                         constant const int64_t *strides, int ndim) {
  return elem_to_loc<Index>(Index(elem), shape, strides, ndim);
}
// The same of a place in three dimensions, x the innermost.
template <typename Index = int64_t>
inline Index elem_to_loc(uint3 elem, constant const int *shape,
                         constant const int64_t *strides, int ndim) {
  Index place = Index(elem.x) * Index(strides[ndim - 1]);
  if (ndim > 1) place += Index(elem.y) * Index(strides[ndim - 2]);
  Index rest = elem.z;
  for (int d = ndim - 3; d >= 0; d--) {
    place += Index(rest % shape[d]) * Index(strides[d]);
    rest /= shape[d];
  }
  return place;
}
"""

_UINT = ["dispatch_quadgroups_per_threadgroup",
         "dispatch_simdgroups_per_threadgroup",
         "quadgroup_index_in_threadgroup", "quadgroups_per_threadgroup",
         "simdgroup_index_in_threadgroup", "simdgroups_per_threadgroup",
         "thread_execution_width", "thread_index_in_quadgroup",
         "thread_index_in_simdgroup", "thread_index_in_threadgroup",
         "threads_per_simdgroup"]
_UINT3 = ["dispatch_threads_per_threadgroup", "grid_origin", "grid_size",
          "thread_position_in_grid", "thread_position_in_threadgroup",
          "threadgroup_position_in_grid", "threadgroups_per_grid",
          "threads_per_grid", "threads_per_threadgroup"]
# Attributes that a body may name as if they were its parameters.
ATTRIBUTES = {**{name: "uint" for name in _UINT},
              **{name: "uint3" for name in _UINT3}}
