// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blit_encoder.c: records copies, fills, updates and synchronisations.
#include <string.h>

#include "runtime/record/encoder.h"

struct mtl_blit_encoder {
  mtli_encoder base;
};

static mtl_status create(mtl_command_buffer *command_buffer,
                         const mtl_encoder_desc *desc, const char *call,
                         mtl_blit_encoder **out_encoder) {
  if (!command_buffer || !out_encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     command_buffer ? "out_encoder" : "command_buffer");
  }
  *out_encoder = NULL;
  mtli_encoder *encoder = NULL;
  MTL_TRY(mtli_encoder_create(command_buffer, sizeof(mtl_blit_encoder),
                              MTL_WORK_BLIT_ENCODER, call, &encoder));
  MTL_TRY(mtli_encoder_set_desc(encoder, desc, call));
  *out_encoder = (mtl_blit_encoder *)encoder;
  return MTL_OK;
}

mtl_status mtl_blit_encoder_create(mtl_command_buffer *command_buffer,
                                   mtl_blit_encoder **out_encoder) {
  return create(command_buffer, NULL, "mtl_blit_encoder_create", out_encoder);
}

mtl_status mtl_blit_encoder_create_with(mtl_command_buffer *command_buffer,
                                        const mtl_encoder_desc *desc,
                                        mtl_blit_encoder **out_encoder) {
  return create(command_buffer, desc, "mtl_blit_encoder_create_with",
                out_encoder);
}

mtl_blit_encoder *mtl_blit_encoder_retain(mtl_blit_encoder *encoder) {
  if (encoder) {
    mtli_object_retain(&encoder->base.object);
  }
  return encoder;
}

void mtl_blit_encoder_release(mtl_blit_encoder *encoder) {
  if (encoder) {
    mtli_object_release(&encoder->base.object);
  }
}

mtl_status mtl_blit_encoder_end(mtl_blit_encoder *encoder) {
  return mtli_encoder_end((mtli_encoder *)encoder, "mtl_blit_encoder_end");
}

static bool check_open(mtl_blit_encoder *encoder, const char *call) {
  return mtli_encoder_check((mtli_encoder *)encoder, call);
}

// Checks one range of a buffer, named by its part in the call.
static bool check_range(mtl_blit_encoder *encoder, mtl_buffer *buffer,
                        size_t offset_bytes, size_t length_bytes,
                        const char *part, const char *call) {
  mtli_recording *recording = encoder->base.recording;
  if (!buffer) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                        part);
    return false;
  }
  if (offset_bytes > buffer->length_bytes ||
      length_bytes > buffer->length_bytes - offset_bytes) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: %zu bytes at offset %zu end past %s '%s' of %zu "
                        "bytes",
                        call, length_bytes, offset_bytes, part,
                        mtl_buffer_label(buffer), buffer->length_bytes);
    return false;
  }
  return mtli_recording_check_device(recording, buffer->device, part);
}

void mtl_blit_encoder_copy(mtl_blit_encoder *encoder, mtl_buffer *source,
                           size_t source_offset_bytes, mtl_buffer *target,
                           size_t target_offset_bytes, size_t length_bytes) {
  static const char call[] = "mtl_blit_encoder_copy";
  if (!check_open(encoder, call) ||
      !check_range(encoder, source, source_offset_bytes, length_bytes, "source",
                   call) ||
      !check_range(encoder, target, target_offset_bytes, length_bytes, "target",
                   call)) {
    return;
  }
  const size_t apart_bytes = source_offset_bytes < target_offset_bytes
                                 ? target_offset_bytes - source_offset_bytes
                                 : source_offset_bytes - target_offset_bytes;
  if (source == target && apart_bytes < length_bytes) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: %zu bytes at offsets %zu and %zu of buffer '%s' "
                        "overlap",
                        call, length_bytes, source_offset_bytes,
                        target_offset_bytes, mtl_buffer_label(source));
    return;
  }
  mtli_command *command =
      length_bytes
          ? mtli_recording_add(encoder->base.recording, MTLI_COMMAND_COPY, true)
          : NULL;
  if (command) {
    mtli_recording_use_buffer(encoder->base.recording, source);
    mtli_recording_use_buffer(encoder->base.recording, target);
    command->copy.source = source;
    command->copy.source_offset_bytes = source_offset_bytes;
    command->copy.target = target;
    command->copy.target_offset_bytes = target_offset_bytes;
    command->copy.length_bytes = length_bytes;
  }
}

// Records a fill with a pattern of 1, 2 or 4 bytes.
static void fill(mtl_blit_encoder *encoder, mtl_buffer *buffer,
                 size_t offset_bytes, size_t length_bytes, const void *pattern,
                 size_t pattern_bytes, const char *call) {
  if (!check_range(encoder, buffer, offset_bytes, length_bytes, "buffer",
                   call)) {
    return;
  }
  mtli_command *command =
      length_bytes
          ? mtli_recording_add(encoder->base.recording, MTLI_COMMAND_FILL, true)
          : NULL;
  if (command) {
    mtli_recording_use_buffer(encoder->base.recording, buffer);
    command->fill.buffer = buffer;
    command->fill.offset_bytes = offset_bytes;
    command->fill.length_bytes = length_bytes;
    for (size_t i = 0; i < sizeof command->fill.pattern; i++) {
      command->fill.pattern[i] = ((const uint8_t *)pattern)[i % pattern_bytes];
    }
  }
}

void mtl_blit_encoder_fill(mtl_blit_encoder *encoder, mtl_buffer *buffer,
                           size_t offset_bytes, size_t length_bytes,
                           uint8_t value) {
  static const char call[] = "mtl_blit_encoder_fill";
  if (check_open(encoder, call)) {
    fill(encoder, buffer, offset_bytes, length_bytes, &value, 1, call);
  }
}

void mtl_blit_encoder_fill_pattern(mtl_blit_encoder *encoder,
                                   mtl_buffer *buffer, size_t offset_bytes,
                                   size_t length_bytes, const void *pattern,
                                   size_t pattern_bytes) {
  static const char call[] = "mtl_blit_encoder_fill_pattern";
  if (!check_open(encoder, call)) {
    return;
  }
  if (!pattern ||
      (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4)) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        pattern ? "%s: a pattern of %zu bytes; it has 1, 2 or 4"
                                : "%s: the pattern of %zu bytes is NULL",
                        call, pattern_bytes);
    return;
  }
  if (length_bytes % pattern_bytes) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: %zu bytes are no multiple of the pattern's %zu",
                        call, length_bytes, pattern_bytes);
    return;
  }
  fill(encoder, buffer, offset_bytes, length_bytes, pattern, pattern_bytes,
       call);
}

// Checks the arguments of mtl_blit_encoder_update, except the range.
static bool check_update(mtl_blit_encoder *encoder, const void *bytes,
                         size_t length_bytes, const char *call) {
  mtli_recording *recording = encoder->base.recording;
  if (length_bytes > MTL_MAX_UPDATE_BYTES) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: %zu bytes are over the limit of %d", call,
                        length_bytes, MTL_MAX_UPDATE_BYTES);
    return false;
  }
  if (!bytes && length_bytes) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: bytes is NULL",
                        call);
    return false;
  }
  return true;
}

void mtl_blit_encoder_update(mtl_blit_encoder *encoder, mtl_buffer *buffer,
                             size_t offset_bytes, const void *bytes,
                             size_t length_bytes) {
  static const char call[] = "mtl_blit_encoder_update";
  if (!check_open(encoder, call) ||
      !check_update(encoder, bytes, length_bytes, call) ||
      !check_range(encoder, buffer, offset_bytes, length_bytes, "buffer",
                   call) ||
      !length_bytes) {
    return;
  }
  mtli_recording *recording = encoder->base.recording;
  void *copy = mtli_recording_allocate(recording, length_bytes);
  mtli_command *command =
      copy ? mtli_recording_add(recording, MTLI_COMMAND_UPDATE, true) : NULL;
  if (command) {
    memcpy(copy, bytes, length_bytes);
    mtli_recording_use_buffer(recording, buffer);
    command->update.buffer = buffer;
    command->update.offset_bytes = offset_bytes;
    command->update.length_bytes = length_bytes;
    command->update.bytes = copy;
  }
}

void mtl_blit_encoder_synchronize(mtl_blit_encoder *encoder,
                                  mtl_buffer *buffer) {
  static const char call[] = "mtl_blit_encoder_synchronize";
  if (!check_open(encoder, call) ||
      !check_range(encoder, buffer, 0, 0, "buffer", call)) {
    return;
  }
  if (buffer->storage_mode != MTL_STORAGE_MANAGED) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: buffer '%s' is not managed", call,
                        mtl_buffer_label(buffer));
    return;
  }
  mtli_command *command = mtli_recording_add(encoder->base.recording,
                                             MTLI_COMMAND_SYNCHRONIZE, true);
  if (command) {
    mtli_recording_use_buffer(encoder->base.recording, buffer);
    command->synchronize.buffer = buffer;
  }
}

// As for compute encoders: encoders of a queue run in order.
static void use_fence(mtl_blit_encoder *encoder, mtl_fence *fence,
                      bool is_update, const char *call) {
  if (!check_open(encoder, call)) {
    return;
  }
  if (!fence) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: fence is NULL", call);
    return;
  }
  if (mtli_recording_check_device(encoder->base.recording, fence->device,
                                  "a fence")) {
    mtli_recording_fence(encoder->base.recording, fence, is_update);
  }
}

void mtl_blit_encoder_update_fence(mtl_blit_encoder *encoder,
                                   mtl_fence *fence) {
  use_fence(encoder, fence, true, "mtl_blit_encoder_update_fence");
}

void mtl_blit_encoder_wait_fence(mtl_blit_encoder *encoder, mtl_fence *fence) {
  use_fence(encoder, fence, false, "mtl_blit_encoder_wait_fence");
}
