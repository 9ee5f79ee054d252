// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture.h: shared by texture.c, texture_region.c and the encoders.
#ifndef MTLI_TEXTURE_H
#define MTLI_TEXTURE_H

#include "runtime/objects.h"
#include "runtime/texture/pixel_format.h"

static inline bool mtli_texture_is_cube(mtl_texture_type type) {
  return type == MTL_TEXTURE_CUBE || type == MTL_TEXTURE_CUBE_ARRAY;
}

// Layers of memory that a slice number may name: array elements and faces.
static inline uint32_t mtli_texture_slices(const mtl_texture *texture) {
  return texture->desc.array_length *
         (mtli_texture_is_cube(texture->desc.type) ? 6 : 1);
}

// Returns the name of a type in MSL ("texture2d_array").
const char *mtli_texture_type_name(mtl_texture_type type);

// Checks desc and counts the bytes that such a texture takes.
mtl_status mtli_texture_length(mtl_device *device, const mtl_texture_desc *desc,
                               const char *call, size_t *out_bytes);

// A box of texels as a place in the texture's buffer.
typedef struct mtli_texel_box {
  size_t offset_bytes;  // of the first texel, from the buffer's start
  size_t row_bytes;     // of the texels of a row of the box
  size_t row_pitch;     // from row to row
  size_t image_pitch;   // from image to image
  uint32_t rows;
  uint32_t images;
} mtli_texel_box;

// Finds region of level and slice. False if it is not in the texture, with the
// reason in text [capacity].
bool mtli_texture_find_box(const mtl_texture *texture, mtl_region region,
                           uint32_t level, uint32_t slice,
                           mtli_texel_box *out_box, char *text,
                           size_t capacity);

#endif
