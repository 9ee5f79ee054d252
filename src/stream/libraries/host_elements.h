// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_elements.h: converts half, bfloat and float elements in host memory to
// float.
#ifndef METTLE_STREAM_HOST_ELEMENTS_H
#define METTLE_STREAM_HOST_ELEMENTS_H

#include <stdint.h>
#include <string.h>

#include "mettle/library.h"

static inline float host_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t host_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Converts a half without branches, so that loops over it vectorise. Scaling by
// 2^112 rebiases half's exponents, also of denormals, to float's.
static inline float host_float_of_half(uint16_t half) {
  const uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
  const uint32_t finite =
      host_bits_of_float(host_float_of_bits(magnitude) * 0x1p112f);
  const uint32_t other = magnitude | 0x7f800000u;  // infinity, NaN
  const uint32_t bits = (half & 0x7c00) == 0x7c00 ? other : finite;
  return host_float_of_bits(bits | (uint32_t)(half & 0x8000) << 16);
}

static inline uint16_t host_half_of_float(float value) {
  const uint32_t bits = host_bits_of_float(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude >= 0x47800000u) {  // 65536 and more
    half = magnitude > 0x7f800000u ? 0x7e00 : 0x7c00;
  } else if (magnitude < 0x38800000u) {  // less than 2^-14: a denormal
    // The sum's last bit is worth 2^-24: rounding is the addition's.
    half =
        host_bits_of_float(host_float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
  } else {  // to the nearest, ties to even; may carry into infinity
    half = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000u) >> 13;
  }
  return (uint16_t)(half | sign);
}

static inline float host_float_of_bfloat(uint16_t bfloat) {
  return host_float_of_bits((uint32_t)bfloat << 16);
}

static inline uint16_t host_bfloat_of_float(float value) {
  const uint32_t bits = host_bits_of_float(value);
  const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  return (uint16_t)(value != value ? (bits >> 16 | 0x40) : rounded >> 16);
}

// Element i of half, bfloat or float memory.
static inline float host_load(mtl_data_type type, const void *data, int64_t i) {
  switch (type) {
    case MTL_TYPE_HALF: return host_float_of_half(((const uint16_t *)data)[i]);
    case MTL_TYPE_BFLOAT:
      return host_float_of_bfloat(((const uint16_t *)data)[i]);
    default: return ((const float *)data)[i];
  }
}

static inline void host_store(mtl_data_type type, void *data, int64_t i,
                              float value) {
  switch (type) {
    case MTL_TYPE_HALF:
      ((uint16_t *)data)[i] = host_half_of_float(value);
      break;
    case MTL_TYPE_BFLOAT:
      ((uint16_t *)data)[i] = host_bfloat_of_float(value);
      break;
    default: ((float *)data)[i] = value; break;
  }
}

// Reads count elements that lie stride apart.
void host_load_row(mtl_data_type type, const void *data, int64_t from,
                   int64_t stride, int64_t count, float *target);
void host_store_row(mtl_data_type type, void *data, int64_t to, int64_t stride,
                    int64_t count, const float *source);

#endif
