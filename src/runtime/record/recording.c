// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recording.c: the list that encoders append to: its memory, its retained
// objects, and its first error.
#include "runtime/record/indirect_commands.h"
#include "runtime/record/recording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/check.h"
#include "runtime/record/counters.h"

void mtli_recording_fail(mtli_recording *recording, mtl_status status,
                         const char *format, ...) {
  if (recording->error != MTL_OK) {
    return;
  }
  recording->error = status;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&recording->error_text, format, arguments) < 0) {
    recording->error_text = NULL;
  }
  va_end(arguments);
}

void *mtli_recording_allocate(mtli_recording *recording, size_t size_bytes) {
  void *bytes = mtli_arena_allocate(&recording->arena, size_bytes);
  if (!bytes) {
    mtli_recording_fail(recording, MTL_OUT_OF_MEMORY,
                        "no memory to record %zu bytes", size_bytes);
  }
  return bytes;
}

mtli_command *mtli_recording_add(mtli_recording *recording,
                                 mtli_command_kind kind, bool is_ordered) {
  mtli_command *command = mtli_recording_allocate(
      recording, MTLI_COMMAND_BYTES + recording->driver->command_bytes);
  if (!command) {
    return NULL;
  }
  command->kind = kind;
  command->is_ordered = is_ordered;
  command->orders = MTLI_ORDERS_ALL;
  command->encoder = recording->encoder_count;
  if (recording->last_command) {
    recording->last_command->next = command;
  } else {
    recording->command_buffer.commands = command;
  }
  recording->last_command = command;
  if (recording->work_times) {
    mtli_work_times_add(recording, command);
  }
  return command;
}

void mtli_recording_order(mtli_recording *recording, const mtl_order *order) {
  mtli_command *command =
      mtli_check_is_on()
          ? mtli_recording_add(recording, MTLI_COMMAND_ORDER, false)
          : NULL;
  if (command) {
    if (order->fence) {
      mtli_recording_keep(recording, &order->fence->object);
    }
    command->order = *order;
  }
}

// Tells whether object was seen lately, and remembers it.
static bool seen(mtli_recording *recording, const void *object) {
  const uintptr_t address = (uintptr_t)object;
  const size_t slot = (address >> 5 ^ address >> 12) & (MTLI_SEEN_COUNT - 1);
  if (recording->seen[slot] == object) {
    return true;
  }
  recording->seen[slot] = object;
  return false;
}

// Makes room for one more pointer in *array.
static bool grow(mtli_recording *recording, void *array, size_t count,
                 size_t *capacity) {
  if (count < *capacity) {
    return true;
  }
  void **pointers;
  const size_t wanted = *capacity ? 2 * *capacity : 16;
  pointers = realloc(*(void **)array, wanted * sizeof(void *));
  if (!pointers) {
    mtli_recording_fail(recording, MTL_OUT_OF_MEMORY,
                        "no memory to keep %zu objects", wanted);
    return false;
  }
  *(void **)array = pointers;
  *capacity = wanted;
  return true;
}

void mtli_recording_use_buffer(mtli_recording *recording, mtl_buffer *buffer) {
  if (seen(recording, buffer) ||
      !grow(recording, &recording->buffers, recording->buffer_count,
            &recording->buffer_capacity)) {
    return;
  }
  recording->buffers[recording->buffer_count++] = buffer;
  if (!recording->unretained_references) {
    mtl_buffer_retain(buffer);  // +1
  }
}

void mtli_recording_keep(mtli_recording *recording, mtli_object *object) {
  if (seen(recording, object) ||
      !grow(recording, &recording->objects, recording->object_count,
            &recording->object_capacity)) {
    return;
  }
  recording->objects[recording->object_count++] = object;
  mtli_object_retain(object);  // +1
}

void mtli_recording_use_texture(mtli_recording *recording,
                                mtl_texture *texture) {
  mtli_recording_use_buffer(recording, texture->buffer);
  if (!recording->unretained_references) {
    mtli_recording_keep(recording, &texture->object);
  }
}

void mtli_recording_use_pipeline(mtli_recording *recording,
                                 mtl_pipeline *pipeline) {
  if (!recording->unretained_references) {
    mtli_recording_keep(recording, &pipeline->object);
  }
}

bool mtli_recording_check_device(mtli_recording *recording,
                                 const mtl_device *device, const char *what) {
  const mtl_device *own = recording->command_buffer.queue->device;
  if (device == own) {
    return true;
  }
  mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                      "%s is of device '%s', the command buffer of '%s'", what,
                      device->info.name, own->info.name);
  return false;
}

mtl_status mtli_recording_open(mtli_recording *recording, const char *call) {
  if (recording->is_committed) {
    return mtli_fail(MTL_INVALID_STATE,
                     "%s: the command buffer is committed already", call);
  }
  if (recording->is_encoding) {
    return mtli_fail(MTL_INVALID_STATE,
                     "%s: another encoder of the command buffer is open", call);
  }
  recording->is_encoding = true;
  recording->encoder_count++;
  return MTL_OK;
}

mtl_status mtli_recording_close(mtli_recording *recording) {
  recording->is_encoding = false;
  if (recording->error == MTL_OK) {
    return MTL_OK;
  }
  return mtli_fail_text(recording->error, recording->error_text
                                              ? recording->error_text
                                              : "out of memory");
}

void mtli_recording_clear(mtli_recording *recording) {
  for (; recording->executes; recording->executes = recording->executes->next) {
    mtli_execution_end(recording->executes);
  }
  recording->command_buffer.commands = NULL;
  recording->command_buffer.residents = NULL;
  recording->command_buffer.resident_count = 0;
  recording->command_buffer.used_commands = NULL;
  recording->residency_sets = NULL;
  recording->last_command = NULL;
  for (size_t i = 0; i < recording->buffer_count; i++) {
    if (!recording->unretained_references) {
      mtl_buffer_release(recording->buffers[i]);  // -1
    }
  }
  for (size_t i = 0; i < recording->object_count; i++) {
    mtli_object_release(recording->objects[i]);  // -1
  }
  free(recording->buffers);
  free(recording->objects);
  recording->buffers = NULL;
  recording->objects = NULL;
  recording->buffer_count = 0;
  recording->object_count = 0;
  mtli_arena_clear(&recording->arena);
  mtli_inline_bytes_clear(recording);
}

// Adds the recorded wait or signal of an event.
// True if the command buffer's queue can wait for event and signal it.
static bool check_event(mtli_recording *recording, const mtl_event *event,
                        const char *call) {
  const mtl_device *own = recording->command_buffer.queue->device;
  const mtl_device *other = event->device;
  if (own == other || !own->driver->has_host_events ||
      !other->driver->has_host_events) {
    return mtli_recording_check_device(recording, other, call);
  }
  if (!event->is_shared) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: event '%s' is of device '%s', the command buffer "
                        "of '%s'; only shared events go between devices",
                        call, event->label ? event->label : "",
                        other->info.name, own->info.name);
  }
  return event->is_shared;
}

static void event_command(mtl_command_buffer *command_buffer, mtl_event *event,
                          uint64_t value, mtli_command_kind kind,
                          const char *call) {
  if (!command_buffer) {
    return;
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (recording->is_committed) {
    return;  // the list is immutable, its error no longer ours to set
  }
  if (recording->is_encoding) {
    mtli_recording_fail(recording, MTL_INVALID_STATE,
                        "%s: an encoder is open; end it before", call);
    return;
  }
  if (!event) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: event is NULL",
                        call);
    return;
  }
  if (!check_event(recording, event, call)) {
    return;
  }
  mtli_command *command = mtli_recording_add(recording, kind, true);
  if (command) {
    // Kept in any case: an event may end as soon as its value is seen, before
    // the call that raised it has returned.
    mtli_recording_keep(recording, &event->object);
    command->event.event = event;
    command->event.value = value;
  }
}

void mtl_command_buffer_wait_event(mtl_command_buffer *command_buffer,
                                   mtl_event *event, uint64_t value) {
  event_command(command_buffer, event, value, MTLI_COMMAND_WAIT,
                "mtl_command_buffer_wait_event");
}

void mtl_command_buffer_signal_event(mtl_command_buffer *command_buffer,
                                     mtl_event *event, uint64_t value) {
  event_command(command_buffer, event, value, MTLI_COMMAND_SIGNAL,
                "mtl_command_buffer_signal_event");
}
