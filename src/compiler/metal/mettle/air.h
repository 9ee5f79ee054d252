// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// air.h: functions of Apple's intermediate representation that programs
// declare for themselves, `... __asm("air.wait_simdgroup_events")`, and that no
// header of Metal's has. A declaration with such a label finds its definition
// here by the label with '_' for '.' (frontend/kernels.cpp).
//
// Copies by a simdgroup: the threads that call it share the elements out among
// themselves and are done when it returns, so an event is nothing to wait for;
// the wait makes what was copied visible to the simdgroup.
#ifndef METTLE_AIR_H
#define METTLE_AIR_H

#include <metal_compute>
#include <metal_vector>
#include <mettle/simd.h>

namespace __mettle {

// This thread's index among the threads that run this, and their number.
struct copiers {
  ulong place, count;
};
METTLE_INLINE copiers active_copiers() {
  const uint active = __mettle_ballot(true);
  const uint below = active & ((1u << lane()) - 1);
  return {(ulong)__builtin_popcount(below), (ulong)__builtin_popcount(active)};
}

// A tile, `width` by `height` elements, rows `row` elements apart and
// neighbours `step`. The destination's elements beyond the source's tile,
// which begins at `offset` from the destination's, become zero or, if
// `to_edge`, what the source has at its nearest edge.
template <typename T, typename To, typename From>
METTLE_INLINE void copy_tile(To to, ulong to_row, ulong to_step, ulong2 to_tile,
                             From from, ulong from_row, ulong from_step,
                             ulong2 from_tile, long2 offset, bool to_edge) {
  const copiers mine = active_copiers();
  const long width = from_tile.x, height = from_tile.y;
  for (ulong y = 0; y < to_tile.y; y++) {
    for (ulong x = mine.place; x < to_tile.x; x += mine.count) {
      long column = (long)x + offset.x, row = (long)y + offset.y;
      bool inside = column >= 0 && column < width && row >= 0 && row < height;
      if (to_edge && width > 0 && height > 0) {
        column = column < 0 ? 0 : column < width ? column : width - 1;
        row = row < 0 ? 0 : row < height ? row : height - 1;
        inside = true;
      }
      T value = {};
      if (inside) value = from[(ulong)row * from_row + column * from_step];
      to[y * to_row + x * to_step] = value;
    }
  }
}

// Elements of one, two, four, eight or sixteen bytes that are aligned, and any
// others a byte after the other.
#define METTLE_AIR_COPY(name, to_space, from_space)                           \
  extern "C" METTLE_INLINE thread void *air_simdgroup_async_copy_2d_##name(   \
      ulong size, ulong alignment, to_space void *to, ulong to_row,           \
      ulong to_step, ulong2 to_tile, const from_space void *from,             \
      ulong from_row, ulong from_step, ulong2 from_tile, long2 offset,        \
      int clamp) {                                                            \
    METTLE_AIR_COPY_AS(2, ushort, to_space, from_space)                       \
    METTLE_AIR_COPY_AS(4, uint, to_space, from_space)                         \
    METTLE_AIR_COPY_AS(8, ulong, to_space, from_space)                        \
    METTLE_AIR_COPY_AS(16, uint4, to_space, from_space)                       \
    for (ulong i = 0; i < size; i++)                                          \
      copy_tile<uchar>((to_space uchar *)to + i, to_row *size, to_step *size, \
                       to_tile, (const from_space uchar *)from + i,           \
                       from_row *size, from_step *size, from_tile, offset,    \
                       clamp == 1);                                           \
    return nullptr;                                                           \
  }                                                                           \
  extern "C" METTLE_INLINE thread void *air_simdgroup_async_copy_1d_##name(   \
      ulong size, ulong alignment, to_space void *to,                         \
      const from_space void *from, ulong count) {                             \
    const ulong2 tile(count, 1);                                              \
    return air_simdgroup_async_copy_2d_##name(size, alignment, to, count, 1,  \
                                              tile, from, count, 1, tile,     \
                                              long2(0), 0);                   \
  }
#define METTLE_AIR_COPY_AS(bytes, type, to_space, from_space)              \
  if (size == bytes && alignment >= bytes) {                               \
    copy_tile<type>((to_space type *)to, to_row, to_step, to_tile,         \
                    (const from_space type *)from, from_row, from_step,    \
                    from_tile, offset, clamp == 1);                        \
    return nullptr;                                                        \
  }

METTLE_AIR_COPY(p3i8_p1i8, threadgroup, device)
METTLE_AIR_COPY(p1i8_p3i8, device, threadgroup)
#undef METTLE_AIR_COPY
#undef METTLE_AIR_COPY_AS

extern "C" METTLE_INLINE void air_wait_simdgroup_events(int, thread void *) {
  metal::simdgroup_barrier(metal::mem_flags::mem_device |
                           metal::mem_flags::mem_threadgroup);
}

}  // namespace __mettle

#endif
