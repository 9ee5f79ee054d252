// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_work.c: records work other than kernels in a queue's order: host
// functions, and work put on a queue of the device's native interface.
#include <string.h>

#include "runtime/record/recording.h"

// The common arguments of both kinds.
typedef struct work {
  const char *call;
  const char *name;
  bool has_function;
  const void *arguments;
  size_t arguments_bytes;
  mtl_buffer *const *buffers;
  const size_t *offsets_bytes;
  uint32_t buffer_count;
} work;

// Fails the recording and returns false unless work can be recorded now.
static bool check(mtli_recording *recording, const work *it) {
  if (recording->is_encoding) {
    mtli_recording_fail(recording, MTL_INVALID_STATE,
                        "%s: an encoder is open; end it before", it->call);
    return false;
  }
  if (!it->has_function || (it->arguments_bytes && !it->arguments) ||
      (it->buffer_count && (!it->buffers || !it->offsets_bytes))) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: the work, its function, its arguments or its "
                        "buffers are NULL",
                        it->call);
    return false;
  }
  return true;
}

static bool check_buffers(mtli_recording *recording, const work *it) {
  for (uint32_t i = 0; i < it->buffer_count; i++) {
    const mtl_buffer *buffer = it->buffers[i];
    if (!buffer || it->offsets_bytes[i] > buffer->length_bytes) {
      mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                          "%s: buffer %u is %s", it->call, i,
                          buffer ? "shorter than its offset" : "NULL");
      return false;
    }
    if (!mtli_recording_check_device(recording, buffer->device, "a buffer")) {
      return false;
    }
  }
  return true;
}

static void *copy(mtli_recording *recording, const void *bytes, size_t size) {
  void *target = mtli_recording_allocate(recording, size ? size : 1);
  if (target && size) {
    memcpy(target, bytes, size);
  }
  return target;
}

// Records the common part; NULL on failure.
static mtli_host_work *record(mtli_recording *recording, const work *it) {
  const char *name = it->name ? it->name : "";
  const mtli_host_work recorded = {
      .name = copy(recording, name, strlen(name) + 1),
      .arguments = copy(recording, it->arguments, it->arguments_bytes),
      .addresses = mtli_recording_allocate(
          recording, (it->buffer_count + 1) * sizeof(void *)),
      .buffer_count = it->buffer_count,
  };
  if (!recorded.name || !recorded.arguments || !recorded.addresses) {
    return NULL;
  }
  for (uint32_t i = 0; i < it->buffer_count; i++) {
    mtli_recording_use_buffer(recording, it->buffers[i]);
    recorded.addresses[i] = (char *)(uintptr_t)it->buffers[i]->gpu_address +
                            it->offsets_bytes[i];
  }
  mtli_command *command =
      mtli_recording_add(recording, MTLI_COMMAND_HOST_WORK, true);
  if (!command) {
    return NULL;
  }
  command->host_work = recorded;
  return &command->host_work;
}

void mtl_command_buffer_host_work(mtl_command_buffer *command_buffer,
                                  const mtl_host_work *given) {
  static const mtl_host_work nothing = {0};
  if (!command_buffer) {
    return;
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtl_device_info *info = &command_buffer->queue->device->info;
  const mtl_host_work *from = given ? given : &nothing;
  const work it = {.call = "mtl_command_buffer_host_work",
                   .name = from->name,
                   .has_function = from->function != NULL,
                   .arguments = from->arguments,
                   .arguments_bytes = from->arguments_bytes,
                   .buffers = from->buffers,
                   .offsets_bytes = from->offsets_bytes,
                   .buffer_count = from->buffer_count};
  // The list is immutable once committed, its error no longer ours to set.
  if (recording->is_committed || !check(recording, &it)) {
    return;
  }
  if (!info->runs_host_work) {
    mtli_recording_fail(recording, MTL_UNSUPPORTED,
                        "%s: device '%s' runs no work of the host's", it.call,
                        info->name);
    return;
  }
  if (!check_buffers(recording, &it) || from->piece_count == 0) {
    return;
  }
  mtli_host_work *recorded = record(recording, &it);
  if (recorded) {
    recorded->function = from->function;
    recorded->scratch_bytes = from->scratch_bytes;
    recorded->piece_count = from->piece_count;
    recorded->piece_ns = from->piece_ns;
  }
}

void mtl_command_buffer_native_work(mtl_command_buffer *command_buffer,
                                    const mtl_native_work *given) {
  static const mtl_native_work nothing = {0};
  if (!command_buffer) {
    return;
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtl_device_info *info = &command_buffer->queue->device->info;
  const mtl_native_work *from = given ? given : &nothing;
  const work it = {.call = "mtl_command_buffer_native_work",
                   .name = from->name,
                   .has_function = from->function != NULL,
                   .arguments = from->arguments,
                   .arguments_bytes = from->arguments_bytes,
                   .buffers = from->buffers,
                   .offsets_bytes = from->offsets_bytes,
                   .buffer_count = from->buffer_count};
  if (recording->is_committed || !check(recording, &it)) {
    return;
  }
  if (!info->runs_native_work) {
    mtli_recording_fail(recording, MTL_UNSUPPORTED,
                        "%s: device '%s' has no interface of its own", it.call,
                        info->name);
    return;
  }
  mtli_host_work *recorded =
      check_buffers(recording, &it) ? record(recording, &it) : NULL;
  if (recorded) {
    recorded->native = from->function;
    recorded->piece_count = 1;
  }
}
