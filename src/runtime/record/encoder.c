// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder.c: the life of an encoder, whatever it records.
#include "runtime/record/encoder.h"

#include <stdlib.h>

// Records the samples at one of an encoder's ends.
static void record_samples(const mtli_encoder *encoder, bool is_end) {
  for (int i = 0; i < MTL_MAX_SAMPLE_ATTACHMENTS; i++) {
    const mtl_sample_attachment *at = &encoder->samples[i];
    const uint32_t index = is_end ? at->end_index : at->start_index;
    if (at->samples && index != MTL_DONT_SAMPLE) {
      mtli_counters_sample(encoder->recording, at->samples, index, true);
    }
  }
}

static void close(mtli_encoder *encoder) {
  mtli_recording *recording = encoder->recording;
  encoder->is_open = false;
  if (encoder->has_samples) {
    record_samples(encoder, true);
  }
  if (recording->work_times) {
    mtli_work_times_close(recording);
  }
  recording->is_encoding = false;
}

static void encoder_destroy(mtli_object *object) {
  mtli_encoder *encoder = (mtli_encoder *)object;
  mtli_recording *recording = encoder->recording;
  if (encoder->is_open) {
    close(encoder);
  }
  for (int i = 0; encoder->has_samples && i < MTL_MAX_SAMPLE_ATTACHMENTS; i++) {
    mtl_counter_sample_buffer_release(encoder->samples[i].samples);  // -1
  }
  free(encoder);
  mtl_command_buffer_release(&recording->command_buffer);  // -1
}

mtl_status mtli_encoder_create(mtl_command_buffer *command_buffer,
                               size_t size_bytes, mtl_work_kind kind,
                               const char *call, mtli_encoder **out_encoder) {
  mtli_encoder *encoder = calloc(1, size_bytes);
  if (!encoder) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an encoder");
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtl_status status = mtli_recording_open(recording, call);
  if (status != MTL_OK) {
    free(encoder);
    return status;
  }
  mtli_object_init(&encoder->object, encoder_destroy);
  mtl_command_buffer_retain(command_buffer);  // +1
  encoder->recording = recording;
  encoder->is_open = true;
  if (recording->work_times) {
    mtli_work_times_open(recording, kind);
  }
  *out_encoder = encoder;
  return MTL_OK;
}

mtl_status mtli_encoder_set_desc(mtli_encoder *encoder,
                                 const mtl_encoder_desc *desc,
                                 const char *call) {
  if (!desc) {
    return MTL_OK;
  }
  if (desc->continues_encoder) {
    encoder->recording->encoder_count--;
  }
  const mtl_sample_attachment *samples = desc->samples;
  const mtl_device *device = encoder->recording->command_buffer.queue->device;
  for (int i = 0; i < MTL_MAX_SAMPLE_ATTACHMENTS; i++) {
    const uint32_t indices[] = {samples[i].start_index, samples[i].end_index};
    for (int end = 0; samples[i].samples && end < 2; end++) {
      const mtl_status status =
          indices[end] == MTL_DONT_SAMPLE
              ? MTL_OK
              : mtli_counters_check(samples[i].samples, indices[end], device,
                                    call);
      if (status != MTL_OK) {
        mtli_object_release(&encoder->object);
        return status;
      }
    }
  }
  for (int i = 0; i < MTL_MAX_SAMPLE_ATTACHMENTS; i++) {
    encoder->samples[i] = samples[i];
    mtl_counter_sample_buffer_retain(samples[i].samples);  // +1
    encoder->has_samples = encoder->has_samples || samples[i].samples;
  }
  record_samples(encoder, false);
  return MTL_OK;
}

mtl_status mtli_encoder_end(mtli_encoder *encoder, const char *call) {
  if (!encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: encoder is NULL", call);
  }
  if (!encoder->is_open) {
    return mtli_fail(MTL_INVALID_STATE, "%s: the encoder has ended already",
                     call);
  }
  close(encoder);
  return mtli_recording_close(encoder->recording);
}

bool mtli_encoder_check(mtli_encoder *encoder, const char *call) {
  if (!encoder) {
    return false;
  }
  // A committed recording belongs to the driver; its error is not ours to set.
  if (!encoder->is_open && !encoder->recording->is_committed) {
    mtli_recording_fail(encoder->recording, MTL_INVALID_STATE,
                        "%s: the encoder has ended", call);
  }
  return encoder->is_open;
}

bool mtli_encoder_check_counts(mtli_encoder *encoder, const mtl_buffer *buffer,
                               size_t offset_bytes, size_t count,
                               const char *call) {
  mtli_recording *recording = encoder->recording;
  if (!buffer) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: buffer is NULL",
                        call);
    return false;
  }
  const size_t needed_bytes = count * sizeof(uint32_t);
  if (offset_bytes % 4 || buffer->length_bytes < needed_bytes ||
      offset_bytes > buffer->length_bytes - needed_bytes) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: %zu bytes at offset %zu, a multiple of 4, do not "
                        "lie in buffer '%s' of %zu bytes",
                        call, needed_bytes, offset_bytes,
                        mtl_buffer_label(buffer), buffer->length_bytes);
    return false;
  }
  return mtli_recording_check_device(recording, buffer->device, "a buffer");
}
