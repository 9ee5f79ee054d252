// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// slots.h: the device's slots that files other than device.c implement. The HAL
// has no types for its slots, so device.c's table checks the signatures.
#ifndef METTLE_IREE_SLOTS_H
#define METTLE_IREE_SLOTS_H

#include "mettle_hal.h"

iree_status_t mettle_queue_fill(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_buffer_t *target,
    iree_device_size_t offset, iree_device_size_t length, const void *pattern,
    iree_host_size_t pattern_length, iree_hal_fill_flags_t flags);
iree_status_t mettle_queue_update(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, const void *source,
    iree_host_size_t source_offset, iree_hal_buffer_t *target,
    iree_device_size_t offset, iree_device_size_t length,
    iree_hal_update_flags_t flags);
iree_status_t mettle_queue_copy(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_buffer_t *source,
    iree_device_size_t source_offset, iree_hal_buffer_t *target,
    iree_device_size_t offset, iree_device_size_t length,
    iree_hal_copy_flags_t flags);
iree_status_t mettle_queue_dispatch(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_executable_t *executable,
    iree_hal_executable_function_t function,
    const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
    const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
iree_status_t mettle_queue_execute(iree_hal_device_t *base,
                                   iree_hal_queue_affinity_t affinity,
                                   const iree_hal_semaphore_list_t waits,
                                   const iree_hal_semaphore_list_t signals,
                                   iree_hal_command_buffer_t *command_buffer,
                                   iree_hal_buffer_binding_table_t table,
                                   iree_hal_execute_flags_t flags);
iree_status_t mettle_queue_alloca(iree_hal_device_t *base,
                                  iree_hal_queue_affinity_t affinity,
                                  const iree_hal_semaphore_list_t waits,
                                  const iree_hal_semaphore_list_t signals,
                                  iree_hal_pool_t *pool,
                                  iree_hal_buffer_params_t params,
                                  iree_device_size_t length,
                                  iree_hal_alloca_flags_t flags,
                                  iree_hal_buffer_t **IREE_RESTRICT out_buffer);
iree_status_t mettle_queue_dealloca(iree_hal_device_t *base,
                                    iree_hal_queue_affinity_t affinity,
                                    const iree_hal_semaphore_list_t waits,
                                    const iree_hal_semaphore_list_t signals,
                                    iree_hal_buffer_t *buffer,
                                    iree_hal_dealloca_flags_t flags);
iree_status_t mettle_queue_flush(iree_hal_device_t *base,
                                 iree_hal_queue_affinity_t affinity);
iree_status_t mettle_queue_host_call(iree_hal_device_t *base,
                                     iree_hal_queue_affinity_t affinity,
                                     const iree_hal_semaphore_list_t waits,
                                     const iree_hal_semaphore_list_t signals,
                                     iree_hal_host_call_t call,
                                     const uint64_t args[4],
                                     iree_hal_host_call_flags_t flags);
iree_status_t mettle_queue_read(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_file_t *file,
    uint64_t file_offset, iree_hal_buffer_t *buffer, iree_device_size_t offset,
    iree_device_size_t length, iree_hal_read_flags_t flags);
iree_status_t mettle_queue_write(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_buffer_t *buffer,
    iree_device_size_t offset, iree_hal_file_t *file, uint64_t file_offset,
    iree_device_size_t length, iree_hal_write_flags_t flags);
iree_status_t mettle_import_file(iree_hal_device_t *base,
                                 iree_hal_queue_affinity_t affinity,
                                 iree_hal_memory_access_t access,
                                 iree_io_file_handle_t *handle,
                                 iree_hal_external_file_flags_t flags,
                                 iree_hal_file_t **out_file);

#endif
