// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_memory.c: the memory in which kernels encode indirect commands
// (code/indirect_abi.h). It exists once somebody has asked for its address.
// From then on each edit by the host is written to the command's slot, and
// changes by kernels are read before the next edit or execution.
#include <inttypes.h>
#include <string.h>

#include "code/indirect_abi.h"
#include "runtime/objects.h"
#include "runtime/record/indirect_commands.h"

static size_t slot_bytes(const mtl_indirect_command_buffer_desc *desc) {
  const size_t lengths_bytes =
      (desc->max_threadgroup_memory * sizeof(uint32_t) + 7) / 8 * 8;
  return sizeof(mtli_indirect_slot) + desc->max_buffers * sizeof(uint64_t) +
         lengths_bytes;
}

static mtli_indirect_slot *slot_of(const mtl_indirect_command_buffer *commands,
                                   uint32_t index) {
  char *memory = (char *)(uintptr_t)commands->memory->gpu_address;
  return (mtli_indirect_slot *)(memory + sizeof(mtli_indirect_head) +
                                index * slot_bytes(&commands->desc));
}

static uint32_t *lengths_in(const mtl_indirect_command_buffer *commands,
                            mtli_indirect_slot *slot) {
  return (uint32_t *)(slot->buffers + commands->desc.max_buffers);
}

void mtli_indirect_write_out(mtl_indirect_command_buffer *commands,
                             uint32_t index) {
  if (!commands->memory) {
    return;
  }
  const mtli_indirect_record *record = &commands->records[index];
  const mtli_indirect_binding *bindings =
      mtli_indirect_bindings(commands, index);
  mtli_indirect_slot *slot = slot_of(commands, index);
  slot->pipeline = record->pipeline_id;
  slot->kind = record->kind;
  slot->has_barrier = record->has_barrier;
  const uint32_t grid[] = {record->grid.x, record->grid.y, record->grid.z};
  const uint32_t group[] = {record->group.x, record->group.y, record->group.z};
  memcpy(slot->grid, grid, sizeof grid);
  memcpy(slot->group, group, sizeof group);
  for (uint32_t i = 0; i < commands->desc.max_buffers; i++) {
    slot->buffers[i] = bindings[i].address;
  }
  memcpy(lengths_in(commands, slot),
         mtli_indirect_threadgroup_bytes(commands, index),
         commands->desc.max_threadgroup_memory * sizeof(uint32_t));
}

// Gives the weak reference of a buffer, if address is in it.
static mtli_weak *weak_if_in(const mtli_indirect_binding *binding,
                             uint64_t address) {
  mtl_buffer *buffer =
      binding->buffer ? (mtl_buffer *)mtli_weak_promote(binding->buffer) : NULL;
  if (!buffer) {
    return NULL;
  }
  const bool is_in = address - buffer->gpu_address < buffer->length_bytes;
  mtl_buffer_release(buffer);  // -1
  return is_in ? mtli_weak_retain(binding->buffer) : NULL;  // +1
}

// Binds the buffer at an address that a kernel has set; near is another
// command's buffer at the same index, which often is the same buffer.
static void bind(mtl_device *device, mtli_indirect_binding *binding,
                 uint64_t address, const mtli_indirect_binding *near) {
  if (address == binding->address && binding->buffer &&
      mtli_weak_target(binding->buffer)) {
    return;
  }
  mtli_weak *weak = weak_if_in(near, address);  // +1
  if (!weak && address) {
    mtl_buffer *buffer = mtli_buffer_at(device, address);  // +1
    weak = buffer ? mtli_weak_of(&buffer->weak, &buffer->object) : NULL;  // +1
    mtl_buffer_release(buffer);                                           // -1
  }
  mtli_weak_release(binding->buffer);  // -1
  binding->buffer = weak;
  binding->address = address;
}

void mtli_indirect_take_in(mtl_indirect_command_buffer *commands,
                           uint32_t index) {
  if (!commands->memory) {
    return;
  }
  mtli_indirect_slot *slot = slot_of(commands, index);
  if (slot->version == commands->seen_versions[index]) {
    return;
  }
  commands->seen_versions[index] = slot->version;
  mtli_indirect_record *record = &commands->records[index];
  mtli_indirect_binding *bindings = mtli_indirect_bindings(commands, index);
  const mtli_indirect_binding *near =
      mtli_indirect_bindings(commands, index ? index - 1 : 0);
  record->version = ++commands->last_version;
  record->kind = (mtli_indirect_kind)slot->kind;
  record->has_barrier = slot->has_barrier != 0;
  record->grid = (mtl_size){slot->grid[0], slot->grid[1], slot->grid[2]};
  record->group = (mtl_size){slot->group[0], slot->group[1], slot->group[2]};
  for (uint32_t i = 0; i < commands->desc.max_buffers; i++) {
    bind(commands->device, &bindings[i], slot->buffers[i], &near[i]);
  }
  memcpy(mtli_indirect_threadgroup_bytes(commands, index),
         lengths_in(commands, slot),
         commands->desc.max_threadgroup_memory * sizeof(uint32_t));
  if (record->pipeline_id != slot->pipeline) {
    mtli_weak_release(record->pipeline);  // -1
    record->pipeline =
        mtli_pipeline_of_id(commands->device, slot->pipeline);  // +1
    record->pipeline_id = slot->pipeline;
  }
}

// Makes the memory, with the commands as they are.
static mtl_status create(mtl_indirect_command_buffer *commands) {
  const mtl_indirect_command_buffer_desc *desc = &commands->desc;
  const size_t length_bytes =
      sizeof(mtli_indirect_head) + desc->max_commands * slot_bytes(desc);
  mtl_buffer *memory;
  MTL_TRY(mtl_buffer_create(
      commands->device,
      &(mtl_buffer_desc){.length_bytes = length_bytes,
                         .storage_mode = MTL_STORAGE_PRIVATE,
                         .label = "indirect command buffer"},
      &memory));
  uint64_t *seen = calloc(desc->max_commands, sizeof *seen);
  if (!seen) {
    mtl_buffer_release(memory);  // -1
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %u indirect commands",
                     desc->max_commands);
  }
  const mtli_indirect_head head = {
      .count = desc->max_commands,
      .slot_bytes = slot_bytes(desc),
      .max_buffers = desc->max_buffers,
      .max_threadgroup_memory = desc->max_threadgroup_memory,
      .inherits =
          (desc->inherit_buffers ? MTLI_INDIRECT_INHERITS_BUFFERS : 0) |
          (desc->inherit_pipeline ? MTLI_INDIRECT_INHERITS_PIPELINE : 0)};
  memset((void *)(uintptr_t)memory->gpu_address, 0, length_bytes);
  memcpy((void *)(uintptr_t)memory->gpu_address, &head, sizeof head);
  pthread_mutex_lock(&commands->lock);
  const bool is_first = !commands->memory;
  if (is_first) {
    commands->memory = memory;  // +1
    commands->seen_versions = seen;
    for (uint32_t i = 0; i < desc->max_commands; i++) {
      mtli_indirect_write_out(commands, i);
    }
  }
  pthread_mutex_unlock(&commands->lock);
  if (!is_first) {
    free(seen);
    mtl_buffer_release(memory);  // -1
  }
  return MTL_OK;
}

mtl_buffer *mtli_indirect_memory(mtl_indirect_command_buffer *commands) {
  pthread_mutex_lock(&commands->lock);
  mtl_buffer *memory = commands->memory;
  pthread_mutex_unlock(&commands->lock);
  return memory;
}

mtl_status mtl_indirect_command_buffer_resource_id(
    mtl_indirect_command_buffer *commands, uint64_t *out_id) {
  static const char call[] = "mtl_indirect_command_buffer_resource_id";
  if (!commands || !out_id) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     commands ? "out_id" : "commands");
  }
  *out_id = 0;
  mtl_device *device = commands->device;
  MTL_TRY(mtli_device_check(device));
  if (!device->driver->kernels_encode_commands) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "%s: kernels of device '%s' encode no commands", call,
                     device->info.name);
  }
  const mtli_indirect_slots *slots = mtli_indirect_slots_of(commands);
  if (slots) {
    *out_id = slots->resource_id(commands->native);
    return MTL_OK;
  }
  if (!mtli_indirect_memory(commands)) {
    MTL_TRY(create(commands));
  }
  *out_id = mtli_indirect_memory(commands)->gpu_address;
  return MTL_OK;
}

// Lists commands that kernels may encode, for a device that keeps them itself.
static void list_use(mtli_recording *recording,
                     mtl_indirect_command_buffer *commands,
                     mtl_resource_usage usage) {
  mtli_used_commands *use = mtli_recording_allocate(recording, sizeof *use);
  if (use) {
    *use = (mtli_used_commands){.next = recording->command_buffer.used_commands,
                                .commands = commands,
                                .usage = usage};
    recording->command_buffer.used_commands = use;
  }
}

void mtl_compute_encoder_use_commands(mtl_compute_encoder *encoder,
                                      mtl_indirect_command_buffer *commands,
                                      mtl_resource_usage usage) {
  static const char call[] = "mtl_compute_encoder_use_commands";
  mtli_encoder *base = (mtli_encoder *)encoder;
  if (!mtli_indirect_check_use(base, commands, call)) {
    return;
  }
  mtl_buffer *memory = mtli_indirect_memory(commands);
  mtli_recording_keep(base->recording, &commands->object);
  if (commands->native) {
    list_use(base->recording, commands, usage);
  } else if (memory) {
    mtl_compute_encoder_use_buffer(encoder, memory, usage);
  }
}
