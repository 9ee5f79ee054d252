// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_work.c: records work of the host's own at a place in a queue's order.
#include <string.h>

#include "runtime/recording.h"

static const char call[] = "mtl_command_buffer_host_work";

// Fails the recording and returns false unless work can be recorded now.
static bool check(mtli_recording *recording, const mtl_host_work *work) {
  if (recording->is_encoding) {
    mtli_recording_fail(recording, MTL_INVALID_STATE,
                        "%s: an encoder is open; end it before", call);
    return false;
  }
  if (!work || !work->function || (work->arguments_bytes && !work->arguments) ||
      (work->buffer_count && (!work->buffers || !work->offsets_bytes))) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: the work, its function, its arguments or its "
                        "buffers are NULL",
                        call);
    return false;
  }
  const mtl_device_info *info = &recording->command_buffer.queue->device->info;
  if (!info->runs_host_work) {
    mtli_recording_fail(recording, MTL_UNSUPPORTED,
                        "%s: device '%s' runs no work of the host's", call,
                        info->name);
  }
  return info->runs_host_work;
}

static bool check_buffers(mtli_recording *recording,
                          const mtl_host_work *work) {
  for (uint32_t i = 0; i < work->buffer_count; i++) {
    const mtl_buffer *buffer = work->buffers[i];
    if (!buffer || work->offsets_bytes[i] > buffer->length_bytes) {
      mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                          "%s: buffer %u is %s", call, i,
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

void mtl_command_buffer_host_work(mtl_command_buffer *command_buffer,
                                  const mtl_host_work *work) {
  if (!command_buffer) {
    return;
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  // The list is immutable once committed, its error no longer ours to set.
  if (recording->is_committed || !check(recording, work) ||
      !check_buffers(recording, work) || work->piece_count == 0) {
    return;
  }
  const char *name = work->name ? work->name : "";
  const mtli_host_work recorded = {
      .function = work->function,
      .name = copy(recording, name, strlen(name) + 1),
      .arguments = copy(recording, work->arguments, work->arguments_bytes),
      .addresses = mtli_recording_allocate(
          recording, (work->buffer_count + 1) * sizeof(void *)),
      .buffer_count = work->buffer_count,
      .scratch_bytes = work->scratch_bytes,
      .piece_count = work->piece_count,
      .piece_ns = work->piece_ns,
  };
  if (!recorded.name || !recorded.arguments || !recorded.addresses) {
    return;
  }
  for (uint32_t i = 0; i < work->buffer_count; i++) {
    mtli_recording_use_buffer(recording, work->buffers[i]);
    recorded.addresses[i] = (char *)(uintptr_t)work->buffers[i]->gpu_address +
                            work->offsets_bytes[i];
  }
  mtli_command *command =
      mtli_recording_add(recording, MTLI_COMMAND_HOST_WORK, true);
  if (command) {
    command->host_work = recorded;
  }
}
