// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_blits.c: records copies of texels. A region is a box of rows in the
// texture's buffer, so all of them are copies of rows of bytes.
#include "runtime/record/encoder.h"
#include "runtime/texture/texture.h"

static mtli_recording *recording_of(mtl_blit_encoder *encoder) {
  return ((mtli_encoder *)encoder)->recording;
}

// Checks a texture's side and finds it.
static bool find_side(mtl_blit_encoder *encoder, mtl_texture *texture,
                      mtl_region region, uint32_t level, uint32_t slice,
                      const char *part, const char *call,
                      mtli_texel_box *out_box) {
  mtli_recording *recording = recording_of(encoder);
  char text[256];
  if (!texture) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                        part);
    return false;
  }
  if (!mtli_texture_find_box(texture, region, level, slice, out_box, text,
                             sizeof text)) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: %s: %s", call,
                        part, text);
    return false;
  }
  return mtli_recording_check_device(recording, texture->buffer->device, part);
}

// The side of a buffer: rows as long as those of box, pitches as given.
static bool find_buffer_side(mtl_blit_encoder *encoder, mtl_buffer *buffer,
                             size_t offset_bytes, size_t bytes_per_row,
                             size_t bytes_per_image, const mtli_texel_box *box,
                             const char *call, mtli_box_side *out_side) {
  mtli_recording *recording = recording_of(encoder);
  if (!buffer) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: buffer is NULL",
                        call);
    return false;
  }
  const size_t row_pitch = bytes_per_row ? bytes_per_row : box->row_bytes;
  size_t image_pitch = bytes_per_image;
  size_t rows_end = 0, images_end = 0, end = 0;
  bool overflows =
      !bytes_per_image &&
      __builtin_mul_overflow(row_pitch, box->rows, &image_pitch);
  overflows |= box->rows && __builtin_mul_overflow(row_pitch, box->rows - 1,
                                                   &rows_end);
  overflows |= box->images && __builtin_mul_overflow(
                                  image_pitch, box->images - 1, &images_end);
  overflows |= __builtin_add_overflow(rows_end, images_end, &end) ||
               __builtin_add_overflow(end, box->row_bytes, &end) ||
               __builtin_add_overflow(end, offset_bytes, &end);
  const bool is_empty = !box->row_bytes || !box->rows || !box->images;
  if (overflows || (!is_empty && end > buffer->length_bytes) ||
      row_pitch < box->row_bytes) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: %u images of %u rows of %zu bytes, %zu and %zu "
                        "bytes apart, from offset %zu are not in buffer '%s' "
                        "of %zu bytes",
                        call, box->images, box->rows, box->row_bytes,
                        image_pitch, row_pitch, offset_bytes,
                        mtl_buffer_label(buffer), buffer->length_bytes);
    return false;
  }
  *out_side = (mtli_box_side){buffer, offset_bytes, row_pitch, image_pitch};
  return mtli_recording_check_device(recording, buffer->device, "a buffer");
}

static mtli_box_side side_of(const mtl_texture *texture,
                             const mtli_texel_box *box) {
  return (mtli_box_side){texture->buffer, box->offset_bytes, box->row_pitch,
                         box->image_pitch};
}

static void record(mtl_blit_encoder *encoder, const mtli_texel_box *box,
                   mtli_box_side source, mtli_box_side target) {
  mtli_recording *recording = recording_of(encoder);
  if (!box->row_bytes || !box->rows || !box->images) {
    return;
  }
  mtli_command *command =
      mtli_recording_add(recording, MTLI_COMMAND_COPY_BOX, true);
  if (command) {
    mtli_recording_use_buffer(recording, source.buffer);
    mtli_recording_use_buffer(recording, target.buffer);
    command->copy_box.source = source;
    command->copy_box.target = target;
    command->copy_box.row_bytes = box->row_bytes;
    command->copy_box.rows = box->rows;
    command->copy_box.images = box->images;
  }
}

void mtl_blit_encoder_copy_buffer_to_texture(
    mtl_blit_encoder *encoder, mtl_buffer *source, size_t source_offset_bytes,
    size_t bytes_per_row, size_t bytes_per_image, mtl_texture *target,
    mtl_region region, uint32_t level, uint32_t slice) {
  static const char call[] = "mtl_blit_encoder_copy_buffer_to_texture";
  mtli_texel_box box;
  mtli_box_side side;
  if (mtli_encoder_check((mtli_encoder *)encoder, call) &&
      find_side(encoder, target, region, level, slice, "target", call, &box) &&
      find_buffer_side(encoder, source, source_offset_bytes, bytes_per_row,
                       bytes_per_image, &box, call, &side)) {
    record(encoder, &box, side, side_of(target, &box));
  }
}

void mtl_blit_encoder_copy_texture_to_buffer(
    mtl_blit_encoder *encoder, mtl_texture *source, mtl_region region,
    uint32_t level, uint32_t slice, mtl_buffer *target,
    size_t target_offset_bytes, size_t bytes_per_row, size_t bytes_per_image) {
  static const char call[] = "mtl_blit_encoder_copy_texture_to_buffer";
  mtli_texel_box box;
  mtli_box_side side;
  if (mtli_encoder_check((mtli_encoder *)encoder, call) &&
      find_side(encoder, source, region, level, slice, "source", call, &box) &&
      find_buffer_side(encoder, target, target_offset_bytes, bytes_per_row,
                       bytes_per_image, &box, call, &side)) {
    record(encoder, &box, side_of(source, &box), side);
  }
}

// Texels must not be written while they are read.
static bool may_overlap(mtl_texture *source, const mtli_texel_box *from,
                        mtl_texture *target, const mtli_texel_box *to) {
  const size_t from_end = from->offset_bytes +
                          (from->images - 1) * from->image_pitch +
                          (from->rows - 1) * from->row_pitch + from->row_bytes;
  const size_t to_end = to->offset_bytes + (to->images - 1) * to->image_pitch +
                        (to->rows - 1) * to->row_pitch + to->row_bytes;
  const bool is_empty = !from->row_bytes || !from->rows || !from->images;
  return !is_empty && source->buffer == target->buffer &&
         from->offset_bytes < to_end && to->offset_bytes < from_end;
}

// Two boxes of one texture may lie between each other's rows.
static bool regions_meet(mtl_region a, mtl_region b) {
  return a.x < b.x + a.width && b.x < a.x + a.width && a.y < b.y + a.height &&
         b.y < a.y + a.height && a.z < b.z + a.depth && b.z < a.z + a.depth;
}

void mtl_blit_encoder_copy_texture(mtl_blit_encoder *encoder,
                                   mtl_texture *source, mtl_region region,
                                   uint32_t source_level, uint32_t source_slice,
                                   mtl_texture *target, mtl_region target_at,
                                   uint32_t target_level,
                                   uint32_t target_slice) {
  static const char call[] = "mtl_blit_encoder_copy_texture";
  mtli_texel_box from, to;
  target_at.width = region.width;
  target_at.height = region.height;
  target_at.depth = region.depth;
  if (!mtli_encoder_check((mtli_encoder *)encoder, call) ||
      !find_side(encoder, source, region, source_level, source_slice, "source",
                 call, &from) ||
      !find_side(encoder, target, target_at, target_level, target_slice,
                 "target", call, &to)) {
    return;
  }
  if (from.row_bytes != to.row_bytes) {
    mtli_recording_fail(recording_of(encoder), MTL_INVALID_ARGUMENT,
                        "%s: texels of %u and %u bytes, with %u and %u samples",
                        call, source->descriptor.texel_bytes,
                        target->descriptor.texel_bytes,
                        source->desc.sample_count, target->desc.sample_count);
    return;
  }
  const bool same_image = source == target && source_level == target_level &&
                          source_slice == target_slice;
  if (same_image ? regions_meet(region, target_at)
                 : may_overlap(source, &from, target, &to)) {
    mtli_recording_fail(recording_of(encoder), MTL_INVALID_ARGUMENT,
                        "%s: the regions of texture '%s' overlap", call,
                        mtl_texture_label(source));
    return;
  }
  record(encoder, &from, side_of(source, &from), side_of(target, &to));
}

void mtl_blit_encoder_synchronize_texture(mtl_blit_encoder *encoder,
                                          mtl_texture *texture) {
  static const char call[] = "mtl_blit_encoder_synchronize_texture";
  if (!mtli_encoder_check((mtli_encoder *)encoder, call)) {
    return;
  }
  if (!texture || texture->desc.storage_mode != MTL_STORAGE_MANAGED) {
    mtli_recording_fail(recording_of(encoder), MTL_INVALID_ARGUMENT,
                        texture ? "%s: texture '%s' is not managed"
                                : "%s: texture is NULL%s",
                        call, texture ? mtl_texture_label(texture) : "");
    return;
  }
  mtl_blit_encoder_synchronize(encoder, texture->buffer);
}
