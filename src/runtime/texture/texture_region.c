// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_region.c: where a box of texels lies, and the host's way to it.
#include <stdio.h>
#include <string.h>

#include "runtime/texture/texture.h"

static bool fits(uint32_t first, uint32_t count, uint32_t side) {
  return first <= side && count <= side - first;
}

bool mtli_texture_find_box(const mtl_texture *texture, mtl_region region,
                           uint32_t level, uint32_t slice,
                           mtli_texel_box *out_box, char *text,
                           size_t capacity) {
  const uint32_t slices = mtli_texture_slices(texture);
  if (level >= texture->desc.level_count || slice >= slices) {
    snprintf(text, capacity, "level %u, slice %u; texture '%s' has %u and %u",
             level, slice, mtl_texture_label(texture),
             texture->desc.level_count, slices);
    return false;
  }
  const mtli_texture_level *place = &texture->descriptor.levels[level];
  if (!fits(region.x, region.width, place->width) ||
      !fits(region.y, region.height, place->height) ||
      !fits(region.z, region.depth, place->depth)) {
    snprintf(text, capacity,
             "%ux%ux%u texels at %u, %u, %u are not in level %u of texture "
             "'%s', which has %ux%ux%u",
             region.width, region.height, region.depth, region.x, region.y,
             region.z, level, mtl_texture_label(texture), place->width,
             place->height, place->depth);
    return false;
  }
  const size_t texel_bytes =
      (size_t)texture->descriptor.texel_bytes * texture->desc.sample_count;
  *out_box = (mtli_texel_box){
      .offset_bytes = texture->offset_bytes + place->offset_bytes +
                      ((size_t)slice + region.z) * place->image_bytes +
                      (size_t)region.y * place->row_bytes +
                      region.x * texel_bytes,
      .row_bytes = region.width * texel_bytes,
      .row_pitch = place->row_bytes,
      .image_pitch = place->image_bytes,
      .rows = region.height,
      .images = region.depth,
  };
  return true;
}

// The client's side of a copy: pitches of 0 leave no gap.
static void fill_pitches(const mtli_texel_box *box, size_t *bytes_per_row,
                         size_t *bytes_per_image) {
  *bytes_per_row = *bytes_per_row ? *bytes_per_row : box->row_bytes;
  *bytes_per_image =
      *bytes_per_image ? *bytes_per_image : *bytes_per_row * box->rows;
}

static mtl_status find_host_box(const mtl_texture *texture, mtl_region region,
                                uint32_t level, uint32_t slice,
                                const void *bytes, const char *call,
                                mtli_texel_box *out_box) {
  char text[256];
  if (!texture || !bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     texture ? "bytes" : "texture");
  }
  MTL_TRY(mtli_device_check(texture->buffer->device));
  if (!texture->buffer->contents) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: texture '%s' is private", call,
                     mtl_texture_label(texture));
  }
  if (!mtli_texture_find_box(texture, region, level, slice, out_box, text,
                             sizeof text)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s", call, text);
  }
  return MTL_OK;
}

// Returns the bytes from the box's first to behind its last.
static size_t span_bytes(const mtli_texel_box *box) {
  return (box->images - 1) * box->image_pitch +
         (box->rows - 1) * box->row_pitch + box->row_bytes;
}

static bool is_empty(const mtli_texel_box *box) {
  return !box->row_bytes || !box->rows || !box->images;
}

mtl_status mtl_texture_replace_region(mtl_texture *texture, mtl_region region,
                                      uint32_t level, uint32_t slice,
                                      const void *bytes, size_t bytes_per_row,
                                      size_t bytes_per_image) {
  mtli_texel_box box;
  MTL_TRY(find_host_box(texture, region, level, slice, bytes,
                        "mtl_texture_replace_region", &box));
  if (is_empty(&box)) {
    return MTL_OK;
  }
  fill_pitches(&box, &bytes_per_row, &bytes_per_image);
  char *first = (char *)texture->buffer->contents + box.offset_bytes;
  for (size_t z = 0; z < box.images; z++) {
    for (size_t y = 0; y < box.rows; y++) {
      memcpy(first + z * box.image_pitch + y * box.row_pitch,
             (const char *)bytes + z * bytes_per_image + y * bytes_per_row,
             box.row_bytes);
    }
  }
  return mtl_buffer_did_modify_range(texture->buffer, box.offset_bytes,
                                     span_bytes(&box));
}

mtl_status mtl_texture_get_bytes(mtl_texture *texture, mtl_region region,
                                 uint32_t level, uint32_t slice,
                                 void *out_bytes, size_t bytes_per_row,
                                 size_t bytes_per_image) {
  mtli_texel_box box;
  MTL_TRY(find_host_box(texture, region, level, slice, out_bytes,
                        "mtl_texture_get_bytes", &box));
  fill_pitches(&box, &bytes_per_row, &bytes_per_image);
  const char *first =
      (const char *)texture->buffer->contents + box.offset_bytes;
  for (size_t z = 0; z < box.images; z++) {
    for (size_t y = 0; y < box.rows; y++) {
      memcpy((char *)out_bytes + z * bytes_per_image + y * bytes_per_row,
             first + z * box.image_pitch + y * box.row_pitch, box.row_bytes);
    }
  }
  return MTL_OK;
}
