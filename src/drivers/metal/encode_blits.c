// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encode_blits.c: encodes copies, fills and updates of buffers, and the copies
// between a buffer and its shadow texture.
#include <string.h>

#include "drivers/metal/metal.h"

static void copy(id encoder, const mtl_buffer *source, size_t source_offset,
                 const mtl_buffer *target, size_t target_offset,
                 size_t length_bytes) {
  SEND(void (*)(id, SEL, id, unsigned long, id, unsigned long, unsigned long),
       encoder, copyBuffer, metal_object_of(source),
       metal_offset_of(source) + source_offset, metal_object_of(target),
       metal_offset_of(target) + target_offset, length_bytes);
}

static void copy_staged(id encoder, id source, const mtl_buffer *target,
                        size_t target_offset, size_t length_bytes) {
  SEND(void (*)(id, SEL, id, unsigned long, id, unsigned long, unsigned long),
       encoder, copyBuffer, source, 0ul, metal_object_of(target),
       metal_offset_of(target) + target_offset, length_bytes);
}

// Rows that follow each other without a gap are one copy.
static void copy_box(id encoder, const mtli_command *command) {
  const mtli_box_side *from = &command->copy_box.source;
  const mtli_box_side *to = &command->copy_box.target;
  size_t row_bytes = command->copy_box.row_bytes;
  uint32_t rows = command->copy_box.rows;
  if (from->row_pitch == row_bytes && to->row_pitch == row_bytes) {
    row_bytes *= rows;
    rows = 1;
  }
  for (uint32_t image = 0; image < command->copy_box.images; image++) {
    for (uint32_t row = 0; row < rows; row++) {
      copy(encoder, from->buffer,
           from->offset_bytes + image * from->image_pitch +
               row * from->row_pitch,
           to->buffer,
           to->offset_bytes + image * to->image_pitch + row * to->row_pitch,
           row_bytes);
    }
  }
}

static void fill_bytes(id encoder, const mtli_command *command) {
  SEND(void (*)(id, SEL, id, metal_range, unsigned char), encoder, fillBuffer,
       metal_object_of(command->fill.buffer),
       ((metal_range){metal_offset_of(command->fill.buffer) +
                          command->fill.offset_bytes,
                      command->fill.length_bytes}),
       command->fill.pattern[0]);
}

// Metal fills with one byte alone: another pattern is copied from a piece of
// it.
static mtl_status fill_pattern(metal_encoding *encoding, id encoder,
                               const mtli_command *command) {
  enum { PIECE_BYTES = 64 * 1024 };
  const size_t length = command->fill.length_bytes;
  const size_t piece_bytes = length < PIECE_BYTES ? length : PIECE_BYTES;
  const id source = metal_encoding_stage(encoding, NULL, piece_bytes);
  if (!source) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pattern");
  }
  uint8_t *piece = SEND(void *(*)(id, SEL), source, contents);
  for (size_t i = 0; i < piece_bytes; i++) {
    piece[i] = command->fill.pattern[i % 4];
  }
  for (size_t done = 0; done < length; done += piece_bytes) {
    const size_t rest = length - done;
    copy_staged(encoder, source, command->fill.buffer,
                command->fill.offset_bytes + done,
                rest < piece_bytes ? rest : piece_bytes);
  }
  return MTL_OK;
}

static mtl_status fill(metal_encoding *encoding, id encoder,
                       const mtli_command *command) {
  const uint8_t *pattern = command->fill.pattern;
  if (memcmp(pattern, pattern + 1, 3) != 0) {
    return fill_pattern(encoding, encoder, command);
  }
  fill_bytes(encoder, command);
  return MTL_OK;
}

static mtl_status update(metal_encoding *encoding, id encoder,
                         const mtli_command *command) {
  const id source = metal_encoding_stage(encoding, command->update.bytes,
                                         command->update.length_bytes);
  if (!source) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an update");
  }
  copy_staged(encoder, source, command->update.buffer,
              command->update.offset_bytes, command->update.length_bytes);
  return MTL_OK;
}

mtl_status metal_encode_blit(metal_encoding *encoding,
                             const mtli_command *command) {
  const id encoder = metal_encoding_blit(encoding);
  switch (command->kind) {
    case MTLI_COMMAND_COPY:
      copy(encoder, command->copy.source, command->copy.source_offset_bytes,
           command->copy.target, command->copy.target_offset_bytes,
           command->copy.length_bytes);
      return MTL_OK;
    case MTLI_COMMAND_COPY_BOX: copy_box(encoder, command); return MTL_OK;
    case MTLI_COMMAND_FILL: return fill(encoding, encoder, command);
    case MTLI_COMMAND_UPDATE: return update(encoding, encoder, command);
    case MTLI_COMMAND_SYNCHRONIZE:
      SET_OBJECT(encoder, synchronizeResource,
                 metal_object_of(command->synchronize.buffer));
      return MTL_OK;
    default:
      return mtli_fail(MTL_UNSUPPORTED, "device '%s' has no command %d",
                       encoding->command_buffer->queue->device->info.name,
                       (int)command->kind);
  }
}

// --- shadows -------------------------------------------------------------------

// The place and size of a level of one slice.
typedef struct piece {
  unsigned long offset_bytes, row_bytes, image_bytes;
  metal_size size;
} piece;

static piece piece_of(const mtl_texture *texture, uint32_t level,
                      uint32_t slice) {
  const mtli_texture_level *it = &texture->descriptor.levels[level];
  return (piece){metal_offset_of(texture->buffer) + texture->offset_bytes +
                     it->offset_bytes + slice * it->image_bytes,
                 it->row_bytes,
                 it->image_bytes,
                 {it->width, it->height, it->depth}};
}

static uint32_t slices_of(const mtl_texture *texture) {
  const bool is_cube = texture->desc.type == MTL_TEXTURE_CUBE ||
                       texture->desc.type == MTL_TEXTURE_CUBE_ARRAY;
  return texture->desc.array_length * (is_cube ? 6 : 1);
}

typedef void to_texture(id, SEL, id, unsigned long, unsigned long,
                        unsigned long, metal_size, id, unsigned long,
                        unsigned long, metal_size);
typedef void to_buffer(id, SEL, id, unsigned long, unsigned long, metal_size,
                       metal_size, id, unsigned long, unsigned long,
                       unsigned long);

// Copies all mipmap levels of all slices between a texture and its shadow in a
// buffer: to the texture if is_fill, otherwise to the buffer.
static void copy_shadow(metal_encoding *encoding, const metal_texture *of,
                        bool is_fill) {
  const mtl_texture *texture = &of->texture;
  const id encoder = metal_encoding_blit(encoding);
  const id buffer = metal_object_of(texture->buffer);
  const metal_size origin = {0, 0, 0};
  const uint32_t slices = slices_of(texture);
  for (uint32_t i = 0; i < texture->desc.level_count * slices; i++) {
    const unsigned long level = i / slices, slice = i % slices;
    const piece it = piece_of(texture, (uint32_t)level, (uint32_t)slice);
    if (is_fill) {
      SEND(to_texture *, encoder, copyBufferToTexture, buffer, it.offset_bytes,
           it.row_bytes, it.image_bytes, it.size, of->base, slice, level,
           origin);
    } else {
      SEND(to_buffer *, encoder, copyTextureToBuffer, of->base, slice, level,
           origin, it.size, buffer, it.offset_bytes, it.row_bytes,
           it.image_bytes);
    }
  }
}

void metal_shadow_fill(metal_encoding *encoding, metal_texture *texture) {
  copy_shadow(encoding, texture, true);
}

void metal_shadow_drain(metal_encoding *encoding, metal_texture *texture) {
  copy_shadow(encoding, texture, false);
}
