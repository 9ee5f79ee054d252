// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sparse.h: the forms of read, sample and gather that also tell whether a sparse
// texture has memory there. Mettle has no sparse textures: every texel has.
#ifndef METTLE_SPARSE_H
#define METTLE_SPARSE_H

#include <metal_vector>

namespace metal {

template <typename T>
struct sparse_color {
  T __value;
  METTLE_INLINE bool resident() const { return true; }
  METTLE_INLINE T value() const { return __value; }
};

}  // namespace metal

namespace __mettle {

template <typename T>
METTLE_INLINE metal::sparse_color<T> sparse_of(T value) {
  return {value};
}

}  // namespace __mettle

// sparse_NAME, for a method of a texture.
#define METTLE_SPARSE_FORM(name)                            \
  template <typename... P>                                  \
  METTLE_INLINE auto sparse_##name(P... parameters) const { \
    return __mettle::sparse_of(this->name(parameters...));  \
  }

#endif
