// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.c: buffers of samples of the device's clock, and the commands that
// take and resolve them.
#include "mettle/counters.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/record/compute_encoder.h"
#include "runtime/record/counters.h"

struct mtl_counter_sample_buffer {
  mtli_object object;
  mtl_buffer *buffer;  // +1; a uint64_t each
  uint32_t count;
};

mtl_status mtl_device_sample_timestamps(mtl_device *device,
                                        uint64_t *out_host_ns,
                                        uint64_t *out_device) {
  if (!device || !out_host_ns || !out_device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_device_sample_timestamps: %s is NULL",
                     !device        ? "device"
                     : !out_host_ns ? "out_host_ns"
                                    : "out_device");
  }
  *out_host_ns = *out_device = 0;
  MTL_TRY(mtli_device_check(device));
  return device->driver->device_timestamps(device, out_host_ns, out_device);
}

static void samples_destroy(mtli_object *object) {
  mtl_counter_sample_buffer *samples = (mtl_counter_sample_buffer *)object;
  mtl_buffer_release(samples->buffer);  // -1
  free(samples);
}

static mtl_status check_desc(const mtl_counter_sample_buffer_desc *desc) {
  static const char call[] = "mtl_counter_sample_buffer_create";
  if (desc->sample_count == 0 || desc->sample_count > MTL_MAX_COUNTER_SAMPLES) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u samples are not within 1 to %d", call,
                     desc->sample_count, MTL_MAX_COUNTER_SAMPLES);
  }
  if (desc->storage_mode != MTL_STORAGE_SHARED &&
      desc->storage_mode != MTL_STORAGE_PRIVATE) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: storage mode %d is neither shared nor private", call,
                     (int)desc->storage_mode);
  }
  return MTL_OK;
}

mtl_status mtl_counter_sample_buffer_create(
    mtl_device *device, const mtl_counter_sample_buffer_desc *desc,
    mtl_counter_sample_buffer **out_samples) {
  if (!device || !desc || !out_samples) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_counter_sample_buffer_create: %s is NULL",
                     !device ? "device"
                     : !desc ? "desc"
                             : "out_samples");
  }
  *out_samples = NULL;
  MTL_TRY(check_desc(desc));
  const size_t length_bytes = desc->sample_count * sizeof(uint64_t);
  mtl_counter_sample_buffer *samples = calloc(1, sizeof *samples);
  void *errors = malloc(length_bytes);
  if (!samples || !errors) {
    free(samples);
    free(errors);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %u samples",
                     desc->sample_count);
  }
  memset(errors, 0xff, length_bytes);  // MTL_COUNTER_ERROR, each
  const mtl_buffer_desc buffer = {.length_bytes = length_bytes,
                                  .storage_mode = desc->storage_mode,
                                  .bytes = errors,
                                  .label = desc->label};
  const mtl_status status =
      mtl_buffer_create(device, &buffer, &samples->buffer);
  free(errors);
  if (status != MTL_OK) {
    free(samples);
    return status;
  }
  mtli_object_init(&samples->object, samples_destroy);
  samples->count = desc->sample_count;
  *out_samples = samples;
  return MTL_OK;
}

mtl_counter_sample_buffer *mtl_counter_sample_buffer_retain(
    mtl_counter_sample_buffer *samples) {
  if (samples) {
    mtli_object_retain(&samples->object);
  }
  return samples;
}

void mtl_counter_sample_buffer_release(mtl_counter_sample_buffer *samples) {
  if (samples) {
    mtli_object_release(&samples->object);
  }
}

uint32_t mtl_counter_sample_buffer_count(
    const mtl_counter_sample_buffer *samples) {
  return samples->count;
}

const char *mtl_counter_sample_buffer_label(
    const mtl_counter_sample_buffer *samples) {
  return mtl_buffer_label(samples->buffer);
}

static bool has_range(const mtl_counter_sample_buffer *samples, uint32_t first,
                      uint32_t count) {
  return first <= samples->count && count <= samples->count - first;
}

mtl_status mtl_counter_sample_buffer_resolve(mtl_counter_sample_buffer *samples,
                                             uint32_t first, uint32_t count,
                                             uint64_t *out_ticks) {
  static const char call[] = "mtl_counter_sample_buffer_resolve";
  if (!samples || (!out_ticks && count)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     samples ? "out_ticks" : "samples");
  }
  if (!has_range(samples, first, count)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u samples from %u on are not among the %u of '%s'",
                     call, count, first, samples->count,
                     mtl_counter_sample_buffer_label(samples));
  }
  const uint64_t *ticks = mtl_buffer_contents(samples->buffer);
  if (!ticks) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: '%s' is private; a blit encoder resolves it", call,
                     mtl_counter_sample_buffer_label(samples));
  }
  if (count) {
    memcpy(out_ticks, ticks + first, count * sizeof *ticks);
  }
  return MTL_OK;
}

// --- commands ----------------------------------------------------------------

mtl_status mtli_counters_check(const mtl_counter_sample_buffer *samples,
                               uint32_t index, const mtl_device *device,
                               const char *call) {
  if (!samples) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: samples is NULL", call);
  }
  if (index >= samples->count) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: sample %u is not among the %u of '%s'", call, index,
                     samples->count, mtl_counter_sample_buffer_label(samples));
  }
  if (samples->buffer->device != device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: the sample buffer is of device '%s', the command "
                     "buffer of '%s'",
                     call, samples->buffer->device->info.name,
                     device->info.name);
  }
  return MTL_OK;
}

void mtli_counters_sample(mtli_recording *recording,
                          mtl_counter_sample_buffer *samples, uint32_t index,
                          bool is_ordered) {
  mtli_command *command =
      mtli_recording_add(recording, MTLI_COMMAND_SAMPLE, is_ordered);
  if (command) {
    mtli_recording_use_buffer(recording, samples->buffer);
    command->sample.buffer = samples->buffer;
    command->sample.offset_bytes = index * sizeof(uint64_t);
  }
}

static void sample(mtli_encoder *encoder, mtl_counter_sample_buffer *samples,
                   uint32_t index, bool is_ordered, const char *call) {
  if (!mtli_encoder_check(encoder, call)) {
    return;
  }
  mtli_recording *recording = encoder->recording;
  const mtl_status status = mtli_counters_check(
      samples, index, recording->command_buffer.queue->device, call);
  if (status == MTL_OK) {
    mtli_counters_sample(recording, samples, index, is_ordered);
  } else {
    mtli_recording_fail(recording, status, "%s", mtl_last_error());
  }
}

void mtl_compute_encoder_sample_counters(mtl_compute_encoder *encoder,
                                         mtl_counter_sample_buffer *samples,
                                         uint32_t index, bool is_ordered) {
  sample((mtli_encoder *)encoder, samples, index, is_ordered,
         "mtl_compute_encoder_sample_counters");
  if (encoder && is_ordered) {
    // Later commands wait for the sample.
    mtli_order_next(encoder, MTLI_ORDERS_ALL);
  }
}

void mtl_blit_encoder_sample_counters(mtl_blit_encoder *encoder,
                                      mtl_counter_sample_buffer *samples,
                                      uint32_t index, bool is_ordered) {
  sample((mtli_encoder *)encoder, samples, index, is_ordered,
         "mtl_blit_encoder_sample_counters");
}

void mtl_blit_encoder_resolve_counters(mtl_blit_encoder *encoder,
                                       mtl_counter_sample_buffer *samples,
                                       uint32_t first, uint32_t count,
                                       mtl_buffer *target,
                                       size_t target_offset_bytes) {
  static const char call[] = "mtl_blit_encoder_resolve_counters";
  if (!mtli_encoder_check((mtli_encoder *)encoder, call)) {
    return;
  }
  mtli_recording *recording = ((mtli_encoder *)encoder)->recording;
  if (!samples || !has_range(samples, first, count)) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        samples ? "%s: %u samples from %u on are not all there"
                                : "%s: samples is NULL (%u from %u on)",
                        call, count, first);
    return;
  }
  if (target_offset_bytes % sizeof(uint64_t)) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: offset %zu is no multiple of 8", call,
                        target_offset_bytes);
    return;
  }
  mtl_blit_encoder_copy(encoder, samples->buffer, first * sizeof(uint64_t),
                        target, target_offset_bytes, count * sizeof(uint64_t));
}
