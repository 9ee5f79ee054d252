// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// command_buffer.c: records the HAL's commands as a list that encode.c replays
// at each submission, since Metal's command buffers run once and the HAL's many
// times. Commands are checked and resolved when they are recorded, as far as
// possible.
#include <string.h>

#include "mettle_hal.h"

typedef struct mettle_command_buffer {
  iree_hal_command_buffer_t base;
  iree_allocator_t host_allocator;
  mettle_device *device;
  iree_arena_allocator_t arena;
  iree_hal_resource_set_t *resources;  // NULL if the client keeps them
  uint64_t profile_id;
  mettle_command *first;
  mettle_command *last;
  uint32_t count;
  iree_atomic_int64_t last_ns;  // how long it takes to run; 0: not known
} mettle_command_buffer;

// A thread may itself perform work that takes no longer than this: 5 ms.
#define SHORT_NS 5000000

static const iree_hal_command_buffer_vtable_t command_buffer_vtable;

bool mettle_command_buffer_isa(iree_hal_command_buffer_t *base) {
  return iree_hal_resource_is(&base->resource, &command_buffer_vtable);
}

static mettle_command_buffer *cast(iree_hal_command_buffer_t *base) {
  IREE_HAL_ASSERT_TYPE(base, &command_buffer_vtable);
  return (mettle_command_buffer *)base;
}

iree_status_t mettle_command_buffer_create(
    mettle_device *device, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t categories, iree_hal_queue_affinity_t affinity,
    iree_host_size_t binding_capacity, iree_hal_command_buffer_t **out) {
  mettle_command_buffer *buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      device->host_allocator,
      sizeof *buffer +
          iree_hal_command_buffer_validation_state_size(mode, binding_capacity),
      (void **)&buffer));
  iree_hal_command_buffer_initialize(device->allocator, mode, categories,
                                     affinity, binding_capacity, buffer + 1,
                                     &command_buffer_vtable, &buffer->base);
  buffer->host_allocator = device->host_allocator;
  buffer->device = device;
  mettle_device_retain(device);  // +1
  buffer->profile_id = mettle_device_next_id(device);
  buffer->resources = NULL;
  buffer->first = buffer->last = NULL;
  buffer->count = 0;
  iree_atomic_store(&buffer->last_ns, 0, iree_memory_order_relaxed);
  iree_arena_initialize(&device->block_pool, &buffer->arena);
  iree_status_t status = iree_ok_status();
  if (!iree_all_bits_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED)) {
    status =
        iree_hal_resource_set_allocate(&device->block_pool, &buffer->resources);
  }
  if (iree_status_is_ok(status)) {
    *out = &buffer->base;
  } else {
    iree_hal_command_buffer_release(&buffer->base);
  }
  return status;
}

static void command_buffer_destroy(iree_hal_command_buffer_t *base) {
  mettle_command_buffer *buffer = cast(base);
  mettle_device *device = buffer->device;
  iree_hal_resource_set_free(buffer->resources);
  iree_arena_deinitialize(&buffer->arena);
  iree_allocator_free(buffer->host_allocator, buffer);
  mettle_device_release(device);  // -1
}

const mettle_command *mettle_command_buffer_commands(
    iree_hal_command_buffer_t *base, uint32_t *out_count) {
  *out_count = cast(base)->count;
  return cast(base)->first;
}

uint64_t mettle_command_buffer_profile_id(iree_hal_command_buffer_t *base) {
  return cast(base)->profile_id;
}

void mettle_command_buffer_ran(iree_hal_command_buffer_t *base, uint64_t ns) {
  // Relaxed, all: an estimate. More than twice what it was before may be
  // another program's doing.
  mettle_command_buffer *buffer = cast(base);
  const int64_t before =
      iree_atomic_load(&buffer->last_ns, iree_memory_order_relaxed);
  const int64_t now = (int64_t)ns + 1;
  iree_atomic_store(&buffer->last_ns,
                    before && now > 2 * before ? 2 * before : now,
                    iree_memory_order_relaxed);
}

bool mettle_command_buffer_is_short(iree_hal_command_buffer_t *base) {
  const int64_t ns =
      iree_atomic_load(&cast(base)->last_ns, iree_memory_order_relaxed);
  return ns > 0 && ns <= SHORT_NS;
}

static iree_status_t command_buffer_begin(iree_hal_command_buffer_t *base) {
  mettle_command_buffer *buffer = cast(base);
  if (buffer->first) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the command buffer has been recorded before");
  }
  return iree_ok_status();
}

static iree_status_t command_buffer_end(iree_hal_command_buffer_t *base) {
  mettle_command_buffer *buffer = cast(base);
  if (buffer->resources) {
    iree_hal_resource_set_freeze(buffer->resources);
  }
  return iree_ok_status();
}

static iree_status_t begin_debug_group(
    iree_hal_command_buffer_t *base, iree_string_view_t label,
    iree_hal_label_color_t color, const iree_hal_label_location_t *location) {
  (void)base;
  (void)label;
  (void)color;
  (void)location;
  return iree_ok_status();
}

static iree_status_t end_debug_group(iree_hal_command_buffer_t *base) {
  (void)base;
  return iree_ok_status();
}

static iree_status_t keep(mettle_command_buffer *buffer, const void *resource) {
  if (!buffer->resources || !resource) {
    return iree_ok_status();
  }
  return iree_hal_resource_set_insert(buffer->resources, 1, &resource);
}

static iree_status_t append(mettle_command_buffer *buffer,
                            mettle_command_kind kind,
                            mettle_command **out_command) {
  mettle_command *command = NULL;
  IREE_RETURN_IF_ERROR(
      iree_arena_allocate(&buffer->arena, sizeof *command, (void **)&command));
  memset(command, 0, sizeof *command);
  command->kind = kind;
  command->index = buffer->count++;
  if (buffer->last) {
    buffer->last->next = command;
  } else {
    buffer->first = command;
  }
  buffer->last = command;
  *out_command = command;
  return iree_ok_status();
}

static iree_status_t append_barrier(iree_hal_command_buffer_t *base) {
  mettle_command *command = NULL;
  return append(cast(base), COMMAND_BARRIER, &command);
}

static iree_status_t execution_barrier(
    iree_hal_command_buffer_t *base, iree_hal_execution_stage_t source_stages,
    iree_hal_execution_stage_t target_stages,
    iree_hal_execution_barrier_flags_t flags,
    iree_host_size_t memory_barrier_count,
    const iree_hal_memory_barrier_t *memory_barriers,
    iree_host_size_t buffer_barrier_count,
    const iree_hal_buffer_barrier_t *buffer_barriers) {
  (void)source_stages;
  (void)target_stages;
  (void)flags;
  (void)memory_barrier_count;
  (void)memory_barriers;
  (void)buffer_barrier_count;
  (void)buffer_barriers;
  return append_barrier(base);
}

static iree_status_t signal_event(iree_hal_command_buffer_t *base,
                                  iree_hal_event_t *event,
                                  iree_hal_execution_stage_t source_stages) {
  (void)source_stages;
  return keep(cast(base), event);
}

static iree_status_t reset_event(iree_hal_command_buffer_t *base,
                                 iree_hal_event_t *event,
                                 iree_hal_execution_stage_t source_stages) {
  (void)source_stages;
  return keep(cast(base), event);
}

static iree_status_t wait_events(
    iree_hal_command_buffer_t *base, iree_host_size_t event_count,
    const iree_hal_event_t **events, iree_hal_execution_stage_t source_stages,
    iree_hal_execution_stage_t target_stages,
    iree_host_size_t memory_barrier_count,
    const iree_hal_memory_barrier_t *memory_barriers,
    iree_host_size_t buffer_barrier_count,
    const iree_hal_buffer_barrier_t *buffer_barriers) {
  (void)source_stages;
  (void)target_stages;
  (void)memory_barrier_count;
  (void)memory_barriers;
  (void)buffer_barrier_count;
  (void)buffer_barriers;
  for (iree_host_size_t i = 0; i < event_count; i++) {
    IREE_RETURN_IF_ERROR(keep(cast(base), events[i]));
  }
  return append_barrier(base);
}

static iree_status_t advise_buffer(iree_hal_command_buffer_t *base,
                                   iree_hal_buffer_ref_t buffer_ref,
                                   iree_hal_memory_advise_flags_t flags,
                                   uint64_t arg0, uint64_t arg1) {
  (void)base;
  (void)buffer_ref;
  (void)flags;
  (void)arg0;
  (void)arg1;
  return iree_ok_status();
}

static iree_status_t fill_buffer(iree_hal_command_buffer_t *base,
                                 iree_hal_buffer_ref_t target,
                                 const void *pattern,
                                 iree_host_size_t pattern_length,
                                 iree_hal_fill_flags_t flags) {
  (void)flags;
  mettle_command_buffer *buffer = cast(base);
  mettle_command *command = NULL;
  IREE_RETURN_IF_ERROR(keep(buffer, target.buffer));
  IREE_RETURN_IF_ERROR(append(buffer, COMMAND_FILL, &command));
  command->target = target;
  return mettle_command_set_pattern(command, pattern, pattern_length);
}

static iree_status_t update_buffer(iree_hal_command_buffer_t *base,
                                   const void *source,
                                   iree_host_size_t source_offset,
                                   iree_hal_buffer_ref_t target,
                                   iree_hal_update_flags_t flags) {
  (void)flags;
  mettle_command_buffer *buffer = cast(base);
  mettle_command *command = NULL;
  void *bytes = NULL;
  IREE_RETURN_IF_ERROR(keep(buffer, target.buffer));
  IREE_RETURN_IF_ERROR(iree_arena_allocate(
      &buffer->arena, (iree_host_size_t)target.length, &bytes));
  memcpy(bytes, (const char *)source + source_offset, (size_t)target.length);
  IREE_RETURN_IF_ERROR(append(buffer, COMMAND_UPDATE, &command));
  command->target = target;
  command->bytes = bytes;
  return iree_ok_status();
}

static iree_status_t copy_buffer(iree_hal_command_buffer_t *base,
                                 iree_hal_buffer_ref_t source,
                                 iree_hal_buffer_ref_t target,
                                 iree_hal_copy_flags_t flags) {
  (void)flags;
  mettle_command_buffer *buffer = cast(base);
  mettle_command *command = NULL;
  IREE_RETURN_IF_ERROR(keep(buffer, source.buffer));
  IREE_RETURN_IF_ERROR(keep(buffer, target.buffer));
  IREE_RETURN_IF_ERROR(append(buffer, COMMAND_COPY, &command));
  command->source = source;
  command->target = target;
  return iree_ok_status();
}

static iree_status_t collective(iree_hal_command_buffer_t *base,
                                iree_hal_channel_t *channel,
                                iree_hal_collective_op_t op, uint32_t param,
                                iree_hal_buffer_ref_t send,
                                iree_hal_buffer_ref_t receive,
                                iree_device_size_t element_count) {
  (void)base;
  (void)channel;
  (void)op;
  (void)param;
  (void)send;
  (void)receive;
  (void)element_count;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "Mettle has no collectives: a device is alone");
}

static iree_status_t copy_bytes(mettle_command_buffer *buffer,
                                const void *bytes, iree_host_size_t length,
                                const void **out_copy) {
  void *copy = NULL;
  IREE_RETURN_IF_ERROR(iree_arena_allocate(&buffer->arena, length, &copy));
  memcpy(copy, bytes, length);
  *out_copy = copy;
  return iree_ok_status();
}

static iree_status_t dispatch(iree_hal_command_buffer_t *base,
                              iree_hal_executable_t *executable,
                              iree_hal_executable_function_t function,
                              const iree_hal_dispatch_config_t config,
                              iree_const_byte_span_t constants,
                              iree_hal_buffer_ref_list_t bindings,
                              iree_hal_dispatch_flags_t flags) {
  mettle_command_buffer *buffer = cast(base);
  mettle_dispatch prepared;
  IREE_RETURN_IF_ERROR(mettle_dispatch_prepare(executable, function, config,
                                               constants, bindings.count, flags,
                                               &prepared));
  IREE_RETURN_IF_ERROR(keep(buffer, executable));
  IREE_RETURN_IF_ERROR(keep(buffer, prepared.group_count_ref.buffer));
  for (iree_host_size_t i = 0; i < bindings.count; i++) {
    IREE_RETURN_IF_ERROR(keep(buffer, bindings.values[i].buffer));
  }
  const void *copy = NULL;
  IREE_RETURN_IF_ERROR(copy_bytes(buffer, bindings.values,
                                  bindings.count * sizeof *bindings.values,
                                  &copy));
  prepared.bindings = copy;
  IREE_RETURN_IF_ERROR(copy_bytes(
      buffer, constants.data, prepared.constants_bytes, &prepared.constants));
  mettle_command *command = NULL;
  IREE_RETURN_IF_ERROR(append(buffer, COMMAND_DISPATCH, &command));
  command->dispatch = prepared;
  return iree_ok_status();
}

static const iree_hal_command_buffer_vtable_t command_buffer_vtable = {
    .destroy = command_buffer_destroy,
    .begin = command_buffer_begin,
    .end = command_buffer_end,
    .begin_debug_group = begin_debug_group,
    .end_debug_group = end_debug_group,
    .execution_barrier = execution_barrier,
    .signal_event = signal_event,
    .reset_event = reset_event,
    .wait_events = wait_events,
    .advise_buffer = advise_buffer,
    .fill_buffer = fill_buffer,
    .update_buffer = update_buffer,
    .copy_buffer = copy_buffer,
    .collective = collective,
    .dispatch = dispatch,
};
