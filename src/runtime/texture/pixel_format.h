// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pixel_format.h: how the components of each pixel format lie in a texel.
#ifndef MTLI_PIXEL_FORMAT_H
#define MTLI_PIXEL_FORMAT_H

#include "code/texture_abi.h"
#include "mettle/texture.h"

typedef struct mtli_pixel_format {
  mtl_pixel_format format;
  const char *name;
  uint8_t bytes;  // of a texel
  uint8_t texel_class;
  uint8_t shift[4];  // bits, red first
  uint8_t bits[4];   // 0: not there
  bool is_depth;
} mtli_pixel_format;

// Returns NULL for an unknown format.
const mtli_pixel_format *mtli_pixel_format_find(mtl_pixel_format format);

// Fills in the members that depend on the format and swizzle (MTL_SWIZZLE_SAME
// or a source for each component).
void mtli_pixel_format_describe(const mtli_pixel_format *format,
                                const mtl_swizzle swizzle[4],
                                mtli_texture_descriptor *descriptor);

// Returns the tables of the sRGB curve, made at the first call.
const mtli_srgb_tables *mtli_srgb(void);

#endif
