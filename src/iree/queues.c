// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queues.c: implements the HAL's queue slots; each makes an operation.
#include <string.h>

#include "iree/hal/local/transient_buffer.h"
#include "memory/slots.h"
#include "mettle_hal.h"

static iree_hal_buffer_ref_t make_ref(iree_hal_buffer_t *buffer,
                                      iree_device_size_t offset,
                                      iree_device_size_t length) {
  return (iree_hal_buffer_ref_t){
      .buffer = buffer, .offset = offset, .length = length};
}

// Makes an operation of one command, with bytes behind it.
static iree_status_t one_command(
    mettle_device *device, iree_hal_queue_affinity_t affinity,
    iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
    mettle_command_kind kind, iree_host_size_t resource_capacity,
    iree_host_size_t payload_bytes, mettle_op **out_op, void **out_payload) {
  char *payload = NULL;
  const iree_host_size_t command_bytes =
      iree_host_align(sizeof(mettle_command), iree_max_align_t);
  IREE_RETURN_IF_ERROR(mettle_op_create(
      device, affinity, waits, signals, OP_COMMANDS, resource_capacity,
      command_bytes + payload_bytes, out_op, (void **)&payload));
  mettle_command *command = (mettle_command *)payload;
  memset(command, 0, sizeof *command);
  command->kind = kind;
  (*out_op)->own_commands = command;
  *out_payload = payload + command_bytes;
  return iree_ok_status();
}

iree_status_t mettle_queue_fill(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_buffer_t *target,
    iree_device_size_t offset, iree_device_size_t length, const void *pattern,
    iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  (void)flags;
  mettle_op *op = NULL;
  void *payload = NULL;
  IREE_RETURN_IF_ERROR(one_command(mettle_device_cast(base), affinity, waits,
                                   signals, COMMAND_FILL, 1, 0, &op, &payload));
  mettle_op_keep(op, target);
  op->own_commands->target = make_ref(target, offset, length);
  iree_status_t status =
      mettle_command_set_pattern(op->own_commands, pattern, pattern_length);
  if (!iree_status_is_ok(status)) {
    mettle_op_discard(op);
    return status;
  }
  return mettle_op_submit(op);
}

iree_status_t mettle_queue_update(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, const void *source,
    iree_host_size_t source_offset, iree_hal_buffer_t *target,
    iree_device_size_t offset, iree_device_size_t length,
    iree_hal_update_flags_t flags) {
  (void)flags;
  mettle_op *op = NULL;
  void *bytes = NULL;
  IREE_RETURN_IF_ERROR(one_command(mettle_device_cast(base), affinity, waits,
                                   signals, COMMAND_UPDATE, 1,
                                   (iree_host_size_t)length, &op, &bytes));
  mettle_op_keep(op, target);
  memcpy(bytes, (const char *)source + source_offset, (size_t)length);
  op->own_commands->target = make_ref(target, offset, length);
  op->own_commands->bytes = bytes;
  return mettle_op_submit(op);
}

iree_status_t mettle_queue_copy(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_buffer_t *source,
    iree_device_size_t source_offset, iree_hal_buffer_t *target,
    iree_device_size_t offset, iree_device_size_t length,
    iree_hal_copy_flags_t flags) {
  (void)flags;
  mettle_op *op = NULL;
  void *payload = NULL;
  IREE_RETURN_IF_ERROR(one_command(mettle_device_cast(base), affinity, waits,
                                   signals, COMMAND_COPY, 2, 0, &op, &payload));
  mettle_op_keep(op, source);
  mettle_op_keep(op, target);
  op->own_commands->source = make_ref(source, source_offset, length);
  op->own_commands->target = make_ref(target, offset, length);
  return mettle_op_submit(op);
}

iree_status_t mettle_queue_dispatch(iree_hal_device_t *base,
                                    iree_hal_queue_affinity_t affinity,
                                    const iree_hal_semaphore_list_t waits,
                                    const iree_hal_semaphore_list_t signals,
                                    iree_hal_executable_t *executable,
                                    iree_hal_executable_function_t function,
                                    const iree_hal_dispatch_config_t config,
                                    iree_const_byte_span_t constants,
                                    const iree_hal_buffer_ref_list_t bindings,
                                    iree_hal_dispatch_flags_t flags) {
  mettle_dispatch prepared;
  IREE_RETURN_IF_ERROR(mettle_dispatch_prepare(executable, function, config,
                                               constants, bindings.count, flags,
                                               &prepared));
  const iree_host_size_t bindings_bytes = iree_host_align(
      bindings.count * sizeof *bindings.values, iree_max_align_t);
  mettle_op *op = NULL;
  char *payload = NULL;
  IREE_RETURN_IF_ERROR(one_command(
      mettle_device_cast(base), affinity, waits, signals, COMMAND_DISPATCH,
      bindings.count + 2, bindings_bytes + prepared.constants_bytes, &op,
      (void **)&payload));
  memcpy(payload, bindings.values, bindings.count * sizeof *bindings.values);
  memcpy(payload + bindings_bytes, constants.data, prepared.constants_bytes);
  prepared.bindings = (const iree_hal_buffer_ref_t *)payload;
  prepared.constants = payload + bindings_bytes;
  op->own_commands->dispatch = prepared;
  if (!(flags & IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES)) {
    mettle_op_keep(op, executable);
    mettle_op_keep(op, prepared.group_count_ref.buffer);
    for (iree_host_size_t i = 0; i < bindings.count; i++) {
      mettle_op_keep(op, bindings.values[i].buffer);
    }
  }
  return mettle_op_submit(op);
}

static iree_status_t barrier(mettle_device *device,
                             iree_hal_queue_affinity_t affinity,
                             iree_hal_semaphore_list_t waits,
                             iree_hal_semaphore_list_t signals) {
  mettle_op *op = NULL;
  IREE_RETURN_IF_ERROR(mettle_op_create(device, affinity, waits, signals,
                                        OP_BARRIER, 0, 0, &op, NULL));
  return mettle_op_submit(op);
}

iree_status_t mettle_queue_execute(iree_hal_device_t *base,
                                   iree_hal_queue_affinity_t affinity,
                                   const iree_hal_semaphore_list_t waits,
                                   const iree_hal_semaphore_list_t signals,
                                   iree_hal_command_buffer_t *command_buffer,
                                   iree_hal_buffer_binding_table_t table,
                                   iree_hal_execute_flags_t flags) {
  mettle_device *device = mettle_device_cast(base);
  uint32_t count = 0;
  if (command_buffer && !mettle_command_buffer_isa(command_buffer)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the command buffer is another driver's");
  }
  if (command_buffer) {
    mettle_command_buffer_commands(command_buffer, &count);
  }
  if (count == 0) {
    return barrier(device, affinity, waits, signals);
  }
  mettle_op *op = NULL;
  iree_hal_buffer_binding_t *bindings = NULL;
  IREE_RETURN_IF_ERROR(mettle_op_create(
      device, affinity, waits, signals, OP_EXECUTE, table.count + 1,
      table.count * sizeof *bindings, &op, (void **)&bindings));
  memcpy(bindings, table.bindings, table.count * sizeof *bindings);
  op->command_buffer = command_buffer;
  op->table = (iree_hal_buffer_binding_table_t){.count = table.count,
                                                .bindings = bindings};
  mettle_op_keep(op, command_buffer);
  if (!(flags & IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME)) {
    for (iree_host_size_t i = 0; i < table.count; i++) {
      mettle_op_keep(op, bindings[i].buffer);
    }
  }
  return mettle_op_submit(op);
}

static iree_status_t check_alloca(mettle_device *device,
                                  iree_hal_alloca_flags_t flags,
                                  iree_device_size_t length,
                                  iree_hal_buffer_params_t *params) {
  const iree_hal_alloca_flags_t known =
      IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME |
      IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER;
  if (flags & ~known) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "queue_alloca has no flags 0x%" PRIx64,
                            (uint64_t)(flags & ~known));
  }
  const iree_hal_buffer_compatibility_t compatibility =
      iree_hal_allocator_query_buffer_compatibility(device->allocator, *params,
                                                    length, params, NULL);
  if (!(compatibility & IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "queue_alloca: no memory of type 0x%x and usage "
                            "0x%x",
                            params->type, params->usage);
  }
  return iree_ok_status();
}

static iree_status_t create_transient(mettle_device *device,
                                      mettle_queue *queue,
                                      iree_hal_alloca_flags_t flags,
                                      iree_hal_buffer_params_t params,
                                      iree_device_size_t length,
                                      iree_hal_buffer_t **out_buffer) {
  iree_hal_buffer_placement_t placement = {
      .device = (iree_hal_device_t *)device,
      .queue_affinity = mettle_queue_affinity(queue),
      .flags = IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS};
  if (flags & IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME) {
    placement.flags |= IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME;
  }
  return iree_hal_local_transient_buffer_create(
      placement, params, length, length, device->host_allocator, out_buffer);
}

// Makes the buffer that there is at once, and the operation that gives it
// memory.
static iree_status_t submit_alloca(
    mettle_device *device, iree_hal_queue_affinity_t affinity,
    iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
    iree_hal_pool_t *pool, iree_hal_buffer_params_t params,
    iree_device_size_t length, iree_hal_alloca_flags_t flags,
    iree_hal_buffer_t *transient) {
  mettle_op *op = NULL;
  mettle_alloca *alloca = NULL;
  IREE_RETURN_IF_ERROR(mettle_op_create(device, affinity, waits, signals,
                                        OP_ALLOCA, 1, sizeof *alloca, &op,
                                        (void **)&alloca));
  memset(alloca, 0, sizeof *alloca);
  alloca->pool = pool;
  alloca->params = params;
  alloca->length = length;
  alloca->flags = flags;
  op->alloca = alloca;
  op->transient = transient;
  mettle_op_keep(op, transient);
  if (mettle_op_is_ready(op)) {
    iree_status_t status = mettle_alloca_try(op);
    if (!iree_status_is_ok(status)) {
      mettle_op_discard(op);
      return status;
    }
  }
  return mettle_op_submit(op);
}

iree_status_t mettle_queue_alloca(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_pool_t *pool,
    iree_hal_buffer_params_t params, iree_device_size_t length,
    iree_hal_alloca_flags_t flags,
    iree_hal_buffer_t **IREE_RESTRICT out_buffer) {
  *out_buffer = NULL;
  mettle_device *device = mettle_device_cast(base);
  IREE_RETURN_IF_ERROR(check_alloca(device, flags, length, &params));
  iree_hal_buffer_t *buffer = NULL;
  iree_status_t status = iree_ok_status();
  if (length == 0) {
    IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(
        device->allocator, params, 0, &buffer));
    status = barrier(device, affinity, waits, signals);
  } else {
    IREE_RETURN_IF_ERROR(
        mettle_pools_select(device, pool, params, length, &pool));
    IREE_RETURN_IF_ERROR(create_transient(device,
                                          mettle_device_queue(device, affinity),
                                          flags, params, length, &buffer));
    status = submit_alloca(device, affinity, waits, signals, pool, params,
                           length, flags, buffer);
  }
  if (iree_status_is_ok(status)) {
    *out_buffer = buffer;
  } else {
    iree_hal_buffer_release(buffer);
  }
  return status;
}

iree_status_t mettle_queue_dealloca(iree_hal_device_t *base,
                                    iree_hal_queue_affinity_t affinity,
                                    const iree_hal_semaphore_list_t waits,
                                    const iree_hal_semaphore_list_t signals,
                                    iree_hal_buffer_t *buffer,
                                    iree_hal_dealloca_flags_t flags) {
  (void)flags;  // the HAL has turned PREFER_ORIGIN into affinity
  mettle_device *device = mettle_device_cast(base);
  if (iree_hal_buffer_allocation_placement(buffer).device != base ||
      !iree_hal_local_transient_buffer_isa(buffer)) {
    return barrier(device, affinity, waits, signals);
  }
  if (!iree_hal_local_transient_buffer_begin_dealloca(buffer)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the buffer has been deallocated before");
  }
  mettle_op *op = NULL;
  iree_status_t status = mettle_op_create(device, affinity, waits, signals,
                                          OP_DEALLOCA, 1, 0, &op, NULL);
  if (iree_status_is_ok(status)) {
    op->transient = buffer;
    mettle_op_keep(op, buffer);
    status = mettle_op_submit(op);
  }
  if (!iree_status_is_ok(status)) {
    iree_hal_local_transient_buffer_abort_dealloca(buffer);
  }
  return status;
}

iree_status_t mettle_queue_flush(iree_hal_device_t *base,
                                 iree_hal_queue_affinity_t affinity) {
  (void)base;
  (void)affinity;
  return iree_ok_status();
}
