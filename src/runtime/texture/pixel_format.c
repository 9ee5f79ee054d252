// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pixel_format.c: the table of pixel formats, and the sRGB curve.
#include "runtime/texture/pixel_format.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define FORMAT(name, bytes, texel_class, ...)                           \
  {                                                                     \
    MTL_FORMAT_##name, #name, bytes, MTLI_CLASS_##texel_class,          \
        __VA_ARGS__, false                                              \
  }
// The components' widths alone: they follow one another.
#define R(bits) {0}, {bits}
#define RG(bits) {0, bits}, {bits, bits}
#define RGBA(bits) {0, bits, 2 * (bits), 3 * (bits)}, {bits, bits, bits, bits}

// Source     Metal: MTLPixelFormat
static const mtli_pixel_format formats[] = {
    FORMAT(A8_UNORM, 1, UNORM, {0}, {0, 0, 0, 8}),
    FORMAT(R8_UNORM, 1, UNORM, R(8)),
    FORMAT(R8_UNORM_SRGB, 1, SRGB, R(8)),
    FORMAT(R8_SNORM, 1, SNORM, R(8)),
    FORMAT(R8_UINT, 1, UINT, R(8)),
    FORMAT(R8_SINT, 1, SINT, R(8)),
    FORMAT(R16_UNORM, 2, UNORM, R(16)),
    FORMAT(R16_SNORM, 2, SNORM, R(16)),
    FORMAT(R16_UINT, 2, UINT, R(16)),
    FORMAT(R16_SINT, 2, SINT, R(16)),
    FORMAT(R16_FLOAT, 2, FLOAT, R(16)),
    FORMAT(RG8_UNORM, 2, UNORM, RG(8)),
    FORMAT(RG8_UNORM_SRGB, 2, SRGB, RG(8)),
    FORMAT(RG8_SNORM, 2, SNORM, RG(8)),
    FORMAT(RG8_UINT, 2, UINT, RG(8)),
    FORMAT(RG8_SINT, 2, SINT, RG(8)),
    FORMAT(B5G6R5_UNORM, 2, UNORM, {11, 5, 0}, {5, 6, 5}),
    FORMAT(A1BGR5_UNORM, 2, UNORM, {11, 6, 1, 0}, {5, 5, 5, 1}),
    FORMAT(ABGR4_UNORM, 2, UNORM, {12, 8, 4, 0}, {4, 4, 4, 4}),
    FORMAT(BGR5A1_UNORM, 2, UNORM, {10, 5, 0, 15}, {5, 5, 5, 1}),
    FORMAT(R32_UINT, 4, UINT, R(32)),
    FORMAT(R32_SINT, 4, SINT, R(32)),
    FORMAT(R32_FLOAT, 4, FLOAT, R(32)),
    FORMAT(RG16_UNORM, 4, UNORM, RG(16)),
    FORMAT(RG16_SNORM, 4, SNORM, RG(16)),
    FORMAT(RG16_UINT, 4, UINT, RG(16)),
    FORMAT(RG16_SINT, 4, SINT, RG(16)),
    FORMAT(RG16_FLOAT, 4, FLOAT, RG(16)),
    FORMAT(RGBA8_UNORM, 4, UNORM, RGBA(8)),
    FORMAT(RGBA8_UNORM_SRGB, 4, SRGB, RGBA(8)),
    FORMAT(RGBA8_SNORM, 4, SNORM, RGBA(8)),
    FORMAT(RGBA8_UINT, 4, UINT, RGBA(8)),
    FORMAT(RGBA8_SINT, 4, SINT, RGBA(8)),
    FORMAT(BGRA8_UNORM, 4, UNORM, {16, 8, 0, 24}, {8, 8, 8, 8}),
    FORMAT(BGRA8_UNORM_SRGB, 4, SRGB, {16, 8, 0, 24}, {8, 8, 8, 8}),
    FORMAT(RGB10A2_UNORM, 4, UNORM, {0, 10, 20, 30}, {10, 10, 10, 2}),
    FORMAT(RGB10A2_UINT, 4, UINT, {0, 10, 20, 30}, {10, 10, 10, 2}),
    FORMAT(RG11B10_FLOAT, 4, FLOAT, {0, 11, 22}, {11, 11, 10}),
    FORMAT(RGB9E5_FLOAT, 4, SHARED_EXPONENT, {0, 9, 18}, {9, 9, 9}),
    FORMAT(BGR10A2_UNORM, 4, UNORM, {20, 10, 0, 30}, {10, 10, 10, 2}),
    FORMAT(RG32_UINT, 8, UINT, RG(32)),
    FORMAT(RG32_SINT, 8, SINT, RG(32)),
    FORMAT(RG32_FLOAT, 8, FLOAT, RG(32)),
    FORMAT(RGBA16_UNORM, 8, UNORM, RGBA(16)),
    FORMAT(RGBA16_SNORM, 8, SNORM, RGBA(16)),
    FORMAT(RGBA16_UINT, 8, UINT, RGBA(16)),
    FORMAT(RGBA16_SINT, 8, SINT, RGBA(16)),
    FORMAT(RGBA16_FLOAT, 8, FLOAT, RGBA(16)),
    FORMAT(RGBA32_UINT, 16, UINT, RGBA(32)),
    FORMAT(RGBA32_SINT, 16, SINT, RGBA(32)),
    FORMAT(RGBA32_FLOAT, 16, FLOAT, RGBA(32)),
    {MTL_FORMAT_DEPTH16_UNORM, "DEPTH16_UNORM", 2, MTLI_CLASS_UNORM, R(16),
     true},
    {MTL_FORMAT_DEPTH32_FLOAT, "DEPTH32_FLOAT", 4, MTLI_CLASS_FLOAT, R(32),
     true},
};

const mtli_pixel_format *mtli_pixel_format_find(mtl_pixel_format format) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (formats[i].format == format) {
      return &formats[i];
    }
  }
  return NULL;
}

size_t mtl_pixel_format_bytes(mtl_pixel_format format) {
  const mtli_pixel_format *found = mtli_pixel_format_find(format);
  return found ? found->bytes : 0;
}

static bool is_plain(const mtl_swizzle swizzle[4]) {
  return swizzle[0] == MTL_SWIZZLE_SAME && swizzle[1] == MTL_SWIZZLE_SAME &&
         swizzle[2] == MTL_SWIZZLE_SAME && swizzle[3] == MTL_SWIZZLE_SAME;
}

static mtli_texel_kind kind_of(const mtli_pixel_format *format,
                               const mtl_swizzle swizzle[4]) {
  if (format->texel_class == MTLI_CLASS_UNORM) {
    return format->bytes == 4 ? MTLI_TEXEL_UNORM32
           : format->bits[0] == 8 && format->bytes == 1 && is_plain(swizzle)
               ? MTLI_TEXEL_UNORM8
               : MTLI_TEXEL_ANY;
  }
  if (!is_plain(swizzle)) {
    return MTLI_TEXEL_ANY;
  }
  if (format->bits[0] == 32) {
    return format->bytes == 4    ? MTLI_TEXEL_WORD
           : format->bytes == 16 ? MTLI_TEXEL_WORDS4
                                 : MTLI_TEXEL_ANY;
  }
  return format->format == MTL_FORMAT_RGBA16_FLOAT ? MTLI_TEXEL_HALVES4
                                                   : MTLI_TEXEL_ANY;
}

static float divisor_of(const mtli_pixel_format *format, uint32_t bits) {
  switch (format->texel_class) {
    case MTLI_CLASS_UNORM:
    case MTLI_CLASS_SRGB: return bits ? (float)((1u << bits) - 1) : 1.0f;
    case MTLI_CLASS_SNORM: return bits ? (float)((1u << (bits - 1)) - 1) : 1.0f;
    default: return 1.0f;
  }
}

void mtli_pixel_format_describe(const mtli_pixel_format *format,
                                const mtl_swizzle swizzle[4],
                                mtli_texture_descriptor *descriptor) {
  descriptor->kind = kind_of(format, swizzle);
  descriptor->texel_class = format->texel_class;
  descriptor->texel_bytes = format->bytes;
  descriptor->srgb = (uintptr_t)mtli_srgb();
  for (uint32_t c = 0; c < 4; c++) {
    const uint32_t source =
        swizzle[c] >= MTL_SWIZZLE_RED ? swizzle[c] - MTL_SWIZZLE_RED : c;
    const bool is_fixed =
        swizzle[c] == MTL_SWIZZLE_ZERO || swizzle[c] == MTL_SWIZZLE_ONE;
    const uint32_t bits = is_fixed ? 0 : format->bits[source];
    const bool is_one =
        swizzle[c] == MTL_SWIZZLE_ONE || (!is_fixed && source == 3);
    descriptor->bits[c] = bits;
    descriptor->shift[c] = bits ? format->shift[source] : 0;
    descriptor->divisor[c] = divisor_of(format, bits);
    descriptor->missing[c] = !bits && is_one ? 1.0f : 0.0f;
  }
}

static mtli_srgb_tables srgb_tables;

// Source     MSL specification, "Conversion rules for sRGBA and sBGRA"; the
//            curve is IEC 61966-2-1
static double to_linear(double c) {
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void srgb_fill(void) {
  for (int i = 0; i < 256; i++) {
    srgb_tables.linear[i] = (float)to_linear(i / 255.0);
    // The least float that is not below the middle between two bytes.
    const double middle = i < 255 ? to_linear((i + 0.5) / 255.0) : 2.0;
    const float limit = (float)middle;
    srgb_tables.limits[i] = limit < middle ? nextafterf(limit, 3.0f) : limit;
  }
}

const mtli_srgb_tables *mtli_srgb(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, srgb_fill);
  return &srgb_tables;
}
