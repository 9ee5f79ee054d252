// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.c: the commands of an indirect command buffer, as they are
// recorded and edited: by the host, and by blits when they run.
#include "runtime/objects.h"
#include "runtime/record/indirect_commands.h"

#include <stdlib.h>
#include <string.h>

static void set_weak(mtli_weak **place, mtli_weak *weak) {
  mtli_weak *before = *place;
  *place = weak;
  mtli_weak_release(before);  // -1
}

// Empties a command. The lock is held.
static void clear(mtl_indirect_command_buffer *commands, uint32_t index) {
  mtli_indirect_record *record = &commands->records[index];
  mtli_indirect_binding *bindings = mtli_indirect_bindings(commands, index);
  for (uint32_t i = 0; i < commands->desc.max_buffers; i++) {
    set_weak(&bindings[i].buffer, NULL);
    bindings[i].address = 0;
  }
  memset(mtli_indirect_threadgroup_bytes(commands, index), 0,
         commands->desc.max_threadgroup_memory * sizeof(uint32_t));
  set_weak(&record->pipeline, NULL);
  *record = (mtli_indirect_record){.version = ++commands->last_version};
}

// --- life -------------------------------------------------------------------

static void commands_destroy(mtli_object *object) {
  mtl_indirect_command_buffer *commands = (mtl_indirect_command_buffer *)object;
  mtl_device *device = commands->device;
  while (commands->executions) {
    mtli_execution_destroy(commands->executions);
  }
  for (uint32_t i = 0; commands->records && i < commands->desc.max_commands;
       i++) {
    clear(commands, i);
  }
  if (commands->native) {
    mtli_indirect_slots_of(commands)->destroy(device, commands->native);
  }
  pthread_mutex_destroy(&commands->lock);
  mtl_buffer_release(commands->memory);  // -1
  free(commands->seen_versions);
  free(commands->records);
  free(commands->bindings);
  free(commands->threadgroup_bytes);
  free(commands->label);
  free(commands);
  mtl_device_release(device);  // -1
}

static mtl_status check_desc(const mtl_indirect_command_buffer_desc *desc) {
  static const char call[] = "mtl_indirect_command_buffer_create";
  const uint32_t known =
      MTL_INDIRECT_DISPATCH_THREADGROUPS | MTL_INDIRECT_DISPATCH_THREADS;
  if (desc->max_commands == 0 ||
      desc->max_commands > MTL_MAX_INDIRECT_COMMANDS) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u commands are not within 1 to %d", call,
                     desc->max_commands, MTL_MAX_INDIRECT_COMMANDS);
  }
  if (desc->command_types & ~known) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: command types %#x: only dispatches are there, %#x",
                     call, desc->command_types, known);
  }
  if (desc->max_buffers > MTL_MAX_BUFFER_ARGUMENTS) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %u buffers are more than %d",
                     call, desc->max_buffers, MTL_MAX_BUFFER_ARGUMENTS);
  }
  if (desc->max_threadgroup_memory > MTL_MAX_THREADGROUP_ARGUMENTS) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u lengths of threadgroup memory are more than %d",
                     call, desc->max_threadgroup_memory,
                     MTL_MAX_THREADGROUP_ARGUMENTS);
  }
  return MTL_OK;
}

static void fill_defaults(mtl_indirect_command_buffer_desc *desc) {
  desc->label = NULL;
  if (!desc->command_types) {
    desc->command_types =
        MTL_INDIRECT_DISPATCH_THREADGROUPS | MTL_INDIRECT_DISPATCH_THREADS;
  }
  if (!desc->max_buffers) {
    desc->max_buffers = MTL_MAX_BUFFER_ARGUMENTS;
  }
  if (!desc->max_threadgroup_memory) {
    desc->max_threadgroup_memory = MTL_MAX_THREADGROUP_ARGUMENTS;
  }
}

// Makes room for the commands: the device's, or records of the runtime's.
static mtl_status make_room(mtl_indirect_command_buffer *commands) {
  const mtl_indirect_command_buffer_desc *desc = &commands->desc;
  const size_t count = desc->max_commands;
  const mtli_indirect_slots *slots = mtli_indirect_slots_of(commands);
  if (slots) {
    return slots->create(commands->device, desc, &commands->native);
  }
  commands->bindings =
      calloc(count * desc->max_buffers, sizeof *commands->bindings);
  commands->threadgroup_bytes = calloc(count * desc->max_threadgroup_memory,
                                       sizeof *commands->threadgroup_bytes);
  if (commands->bindings && commands->threadgroup_bytes) {
    commands->records = calloc(count, sizeof *commands->records);
  }
  return commands->records
             ? MTL_OK
             : mtli_fail(MTL_OUT_OF_MEMORY,
                         "no memory for %zu indirect commands", count);
}

mtl_status mtl_indirect_command_buffer_create(
    mtl_device *device, const mtl_indirect_command_buffer_desc *desc,
    mtl_indirect_command_buffer **out_commands) {
  if (!device || !desc || !out_commands) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_indirect_command_buffer_create: %s is NULL",
                     !device ? "device"
                     : !desc ? "desc"
                             : "out_commands");
  }
  *out_commands = NULL;
  MTL_TRY(mtli_device_check(device));
  MTL_TRY(check_desc(desc));
  if (!device->driver->executes_indirect_commands) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "device '%s' has no indirect command buffers",
                     device->info.name);
  }
  mtl_indirect_command_buffer *commands = calloc(1, sizeof *commands);
  if (!commands) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an object");
  }
  mtli_object_init(&commands->object, commands_destroy);
  pthread_mutex_init(&commands->lock, NULL);
  commands->device = mtl_device_retain(device);  // +1
  commands->desc = *desc;
  commands->label = mtli_label_copy(desc->label);
  fill_defaults(&commands->desc);
  commands->desc.label = commands->label;
  const mtl_status status = make_room(commands);
  commands->desc.label = NULL;
  if (status != MTL_OK) {
    mtli_object_release(&commands->object);
    return status;
  }
  *out_commands = commands;
  return MTL_OK;
}

mtl_indirect_command_buffer *mtl_indirect_command_buffer_retain(
    mtl_indirect_command_buffer *commands) {
  if (commands) {
    mtli_object_retain(&commands->object);
  }
  return commands;
}

void mtl_indirect_command_buffer_release(
    mtl_indirect_command_buffer *commands) {
  if (commands) {
    mtli_object_release(&commands->object);
  }
}

void *mtli_indirect_native(const mtl_indirect_command_buffer *commands) {
  return commands->native;
}

uint32_t mtl_indirect_command_buffer_size(
    const mtl_indirect_command_buffer *commands) {
  return commands->desc.max_commands;
}

mtl_device *mtl_indirect_command_buffer_device(
    const mtl_indirect_command_buffer *commands) {
  return commands->device;
}

void mtl_indirect_command_buffer_set_label(
    mtl_indirect_command_buffer *commands, const char *label) {
  mtli_label_set(commands->device, &commands->label, label);
}

const char *mtl_indirect_command_buffer_label(
    const mtl_indirect_command_buffer *commands) {
  return commands->label ? commands->label : "";
}

// --- edits of the host's ----------------------------------------------------

// Checks the command that a call edits.
static mtl_status check(const mtl_indirect_command_buffer *commands,
                        uint32_t first, uint32_t count, const char *call) {
  if (!commands) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: commands is NULL", call);
  }
  MTL_TRY(mtli_device_check(commands->device));
  if (!mtli_indirect_has_range(commands, first, count)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u commands from %u on; there are %u", call, count,
                     first, commands->desc.max_commands);
  }
  return MTL_OK;
}

static mtl_status check_device(const mtl_indirect_command_buffer *commands,
                               const mtl_device *device, const char *what,
                               const char *call) {
  return device == commands->device
             ? MTL_OK
             : mtli_fail(MTL_INVALID_ARGUMENT,
                         "%s: %s is of device '%s', the commands of '%s'", call,
                         what, device->info.name, commands->device->info.name);
}

// Gives the slots of a device that keeps the commands itself, with the lock
// held; NULL without it for others.
static const mtli_indirect_slots *open_native(
    mtl_indirect_command_buffer *commands) {
  const mtli_indirect_slots *slots = mtli_indirect_slots_of(commands);
  if (slots) {
    pthread_mutex_lock(&commands->lock);
  }
  return slots;
}

static mtl_status close_native(mtl_indirect_command_buffer *commands) {
  pthread_mutex_unlock(&commands->lock);
  return MTL_OK;
}

// Opens a command for an edit; close ends it.
static mtli_indirect_record *open(mtl_indirect_command_buffer *commands,
                                  uint32_t index) {
  pthread_mutex_lock(&commands->lock);
  mtli_indirect_take_in(commands, index);
  mtli_indirect_record *record = &commands->records[index];
  record->version = ++commands->last_version;
  return record;
}

static mtl_status close(mtl_indirect_command_buffer *commands,
                        uint32_t index) {
  mtli_indirect_write_out(commands, index);
  pthread_mutex_unlock(&commands->lock);
  return MTL_OK;
}

mtl_status mtl_indirect_command_buffer_set_pipeline(
    mtl_indirect_command_buffer *commands, uint32_t index,
    mtl_pipeline *pipeline) {
  static const char call[] = "mtl_indirect_command_buffer_set_pipeline";
  MTL_TRY(check(commands, index, 1, call));
  if (commands->desc.inherit_pipeline) {
    return mtli_fail(MTL_INVALID_STATE, "%s: the pipeline is inherited", call);
  }
  mtli_weak *weak = NULL;
  uint64_t id = 0;
  if (pipeline) {
    MTL_TRY(check_device(commands, pipeline->device, "a pipeline", call));
    if (pipeline->is_foreign) {
      return mtli_fail(MTL_UNSUPPORTED,
                       "%s: '%s' was compiled for another machine than this "
                       "one (METTLE_CPU_TARGET) and cannot run",
                       call, pipeline->kernel->name);
    }
  }
  const mtli_indirect_slots *slots = open_native(commands);
  if (slots) {
    slots->set_pipeline(commands->native, index, pipeline);
    return close_native(commands);
  }
  if (pipeline) {
    id = mtli_pipeline_id(pipeline);
    weak = mtli_weak_of(&pipeline->weak, &pipeline->object);  // +1
    if (!weak || !id) {
      mtli_weak_release(weak);  // -1
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a reference");
    }
  }
  mtli_indirect_record *record = open(commands, index);
  set_weak(&record->pipeline, weak);
  record->pipeline_id = id;
  return close(commands, index);
}

static mtl_status check_binding(const mtl_buffer *buffer, size_t offset_bytes,
                                uint32_t buffer_index, const char *call) {
  const uint64_t alignment = buffer->device->info.buffer_offset_alignment_bytes;
  if (offset_bytes >= buffer->length_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: offset %zu is past the end of buffer '%s' of %zu "
                     "bytes at index %u",
                     call, offset_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes, buffer_index);
  }
  if (offset_bytes % alignment) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: offset %zu of buffer '%s' at index %u is not a "
                     "multiple of %u",
                     call, offset_bytes, mtl_buffer_label(buffer), buffer_index,
                     (unsigned)alignment);
  }
  return MTL_OK;
}

mtl_status mtl_indirect_command_buffer_set_buffer(
    mtl_indirect_command_buffer *commands, uint32_t index, mtl_buffer *buffer,
    size_t offset_bytes, uint32_t buffer_index) {
  static const char call[] = "mtl_indirect_command_buffer_set_buffer";
  MTL_TRY(check(commands, index, 1, call));
  if (commands->desc.inherit_buffers) {
    return mtli_fail(MTL_INVALID_STATE, "%s: buffers are inherited", call);
  }
  if (buffer_index >= commands->desc.max_buffers) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: buffer index %u; the last one "
                     "is %u",
                     call, buffer_index, commands->desc.max_buffers - 1);
  }
  mtli_weak *weak = NULL;
  if (buffer) {
    MTL_TRY(check_device(commands, buffer->device, "a buffer", call));
    MTL_TRY(check_binding(buffer, offset_bytes, buffer_index, call));
  }
  const mtli_indirect_slots *slots = open_native(commands);
  if (slots) {
    slots->set_buffer(commands->native, index, buffer,
                      buffer ? offset_bytes : 0, buffer_index);
    return close_native(commands);
  }
  if (buffer) {
    weak = mtli_weak_of(&buffer->weak, &buffer->object);  // +1
    if (!weak) {
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a reference");
    }
  }
  (void)open(commands, index);
  mtli_indirect_binding *binding =
      &mtli_indirect_bindings(commands, index)[buffer_index];
  set_weak(&binding->buffer, weak);
  binding->address = buffer ? buffer->gpu_address + offset_bytes : 0;
  return close(commands, index);
}

mtl_status mtl_indirect_command_buffer_set_threadgroup_memory(
    mtl_indirect_command_buffer *commands, uint32_t index, size_t length_bytes,
    uint32_t memory_index) {
  static const char call[] =
      "mtl_indirect_command_buffer_set_threadgroup_memory";
  MTL_TRY(check(commands, index, 1, call));
  if (memory_index >= commands->desc.max_threadgroup_memory) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: index %u; the last one is %u",
                     call, memory_index,
                     commands->desc.max_threadgroup_memory - 1);
  }
  // Metal: setThreadgroupMemoryLength
  if (length_bytes % 16 || length_bytes > UINT32_MAX) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %zu bytes at index %u are not a multiple of 16 below "
                     "4 GiB",
                     call, length_bytes, memory_index);
  }
  const mtli_indirect_slots *slots = open_native(commands);
  if (slots) {
    slots->set_threadgroup_memory(commands->native, index, length_bytes,
                                  memory_index);
    return close_native(commands);
  }
  (void)open(commands, index);
  mtli_indirect_threadgroup_bytes(commands, index)[memory_index] =
      (uint32_t)length_bytes;
  return close(commands, index);
}

static mtl_status dispatch(mtl_indirect_command_buffer *commands,
                           uint32_t index, mtl_size grid, mtl_size group,
                           mtli_indirect_kind kind, const char *call) {
  MTL_TRY(check(commands, index, 1, call));
  const uint32_t type = kind == MTLI_INDIRECT_THREADS
                            ? MTL_INDIRECT_DISPATCH_THREADS
                            : MTL_INDIRECT_DISPATCH_THREADGROUPS;
  if (!(commands->desc.command_types & type)) {
    return mtli_fail(MTL_INVALID_STATE,
                     "%s: the command types %#x are without %#x", call,
                     commands->desc.command_types, type);
  }
  const mtli_indirect_slots *slots = open_native(commands);
  if (slots) {
    slots->dispatch(commands->native, index, type, grid, group);
    return close_native(commands);
  }
  mtli_indirect_record *record = open(commands, index);
  record->kind = kind;
  record->grid = grid;
  record->group = group;
  return close(commands, index);
}

mtl_status mtl_indirect_command_buffer_dispatch_threadgroups(
    mtl_indirect_command_buffer *commands, uint32_t index, mtl_size groups,
    mtl_size group) {
  return dispatch(commands, index, groups, group, MTLI_INDIRECT_THREADGROUPS,
                  "mtl_indirect_command_buffer_dispatch_threadgroups");
}

mtl_status mtl_indirect_command_buffer_dispatch_threads(
    mtl_indirect_command_buffer *commands, uint32_t index, mtl_size grid,
    mtl_size group) {
  return dispatch(commands, index, grid, group, MTLI_INDIRECT_THREADS,
                  "mtl_indirect_command_buffer_dispatch_threads");
}

mtl_status mtl_indirect_command_buffer_set_barrier(
    mtl_indirect_command_buffer *commands, uint32_t index, bool has_barrier) {
  MTL_TRY(check(commands, index, 1, "mtl_indirect_command_buffer_set_barrier"));
  const mtli_indirect_slots *slots = open_native(commands);
  if (slots) {
    slots->set_barrier(commands->native, index, has_barrier);
    return close_native(commands);
  }
  open(commands, index)->has_barrier = has_barrier;
  return close(commands, index);
}

static void clear_range(mtl_indirect_command_buffer *commands, uint32_t first,
                        uint32_t count) {
  pthread_mutex_lock(&commands->lock);
  for (uint32_t i = 0; i < count; i++) {
    mtli_indirect_take_in(commands, first + i);
    clear(commands, first + i);
    mtli_indirect_write_out(commands, first + i);
  }
  pthread_mutex_unlock(&commands->lock);
}

mtl_status mtl_indirect_command_buffer_reset(
    mtl_indirect_command_buffer *commands, uint32_t first, uint32_t count) {
  MTL_TRY(check(commands, first, count, "mtl_indirect_command_buffer_reset"));
  const mtli_indirect_slots *slots = open_native(commands);
  if (slots) {
    slots->reset(commands->native, first, count);
    return close_native(commands);
  }
  clear_range(commands, first, count);
  return MTL_OK;
}

// --- edits of blits ---------------------------------------------------------

// Copies a command. The locks are held.
static void copy(mtl_indirect_command_buffer *source, uint32_t source_index,
                 mtl_indirect_command_buffer *target, uint32_t target_index) {
  mtli_indirect_take_in(source, source_index);
  mtli_indirect_take_in(target, target_index);
  clear(target, target_index);
  const mtli_indirect_record *from = &source->records[source_index];
  mtli_indirect_record *to = &target->records[target_index];
  const uint64_t version = to->version;
  *to = *from;
  to->version = version;
  (void)mtli_weak_retain(to->pipeline);  // +1
  const mtli_indirect_binding *from_bindings =
      mtli_indirect_bindings(source, source_index);
  mtli_indirect_binding *to_bindings =
      mtli_indirect_bindings(target, target_index);
  // What is past the target's room is not bound (mtl_blit_encoder_copy_commands
  // has compared them).
  for (uint32_t i = 0; i < source->desc.max_buffers; i++) {
    to_bindings[i] = from_bindings[i];
    (void)mtli_weak_retain(to_bindings[i].buffer);  // +1
  }
  memcpy(mtli_indirect_threadgroup_bytes(target, target_index),
         mtli_indirect_threadgroup_bytes(source, source_index),
         source->desc.max_threadgroup_memory * sizeof(uint32_t));
  mtli_indirect_write_out(target, target_index);
}

// Locks both in the order of their addresses: copies in the other direction may
// run at the same time.
static void lock_both(mtl_indirect_command_buffer *a,
                      mtl_indirect_command_buffer *b) {
  mtl_indirect_command_buffer *first = (uintptr_t)a < (uintptr_t)b ? a : b;
  mtl_indirect_command_buffer *second = first == a ? b : a;
  pthread_mutex_lock(&first->lock);
  if (second != first) {
    pthread_mutex_lock(&second->lock);
  }
}

void mtli_edit_indirect_commands(const mtli_indirect_edit *edit) {
  mtl_indirect_command_buffer *source = edit->source;
  mtl_indirect_command_buffer *target = edit->target;
  if (!source) {
    clear_range(target, edit->target_first, edit->count);
    return;
  }
  lock_both(source, target);
  for (uint32_t i = 0; i < edit->count; i++) {
    copy(source, edit->source_first + i, target, edit->target_first + i);
  }
  if (source != target) {
    pthread_mutex_unlock(&source->lock);
  }
  pthread_mutex_unlock(&target->lock);
}
