// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hal_driver.h: the interface of a program that links the driver: its
// registration, and the Mettle objects behind IREE's. docs/iree.md is the
// guide.
#ifndef METTLE_IREE_HAL_DRIVER_H
#define METTLE_IREE_HAL_DRIVER_H

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "mettle/mettle.h"

#ifdef __cplusplus
extern "C" {
#endif

// The driver's name: --device=mettle, --device=mettle://cpu-discrete.
#define METTLE_HAL_DRIVER_NAME "mettle"

// Registers the driver's factory. Devices are named by their path, the name
// that mtl_device_by_name takes or a number counted from 0; without one it is
// Mettle's default device.
//
// Errors     IREE_STATUS_ALREADY_EXISTS  registered before
IREE_API_EXPORT iree_status_t
mettle_hal_driver_module_register(iree_hal_driver_registry_t *registry);

// Options of a device. mettle_hal_device_options_initialize gives defaults.
typedef struct mettle_hal_device_options {
  // Queues, each the bit of its number in an affinity; 1 to 16. Default 2.
  uint32_t queue_count;
  // Bytes of one block of memory that queue_alloca cuts. Default 64 MiB.
  iree_device_size_t slab_bytes;
  // What kernels may do with floating point: Metal's default is fast.
  mtl_math_mode math_mode;
} mettle_hal_device_options;
IREE_API_EXPORT void mettle_hal_device_options_initialize(
    mettle_hal_device_options *out_options);

// Makes an IREE device of a Mettle device.
//
// Ownership  Retains device; the IREE device is yours.
IREE_API_EXPORT iree_status_t mettle_hal_device_create(
    mtl_device *device, const mettle_hal_device_options *options,
    const iree_hal_device_create_params_t *create_params,
    iree_allocator_t host_allocator, iree_hal_device_t **out_device);

// Returns the Mettle device, or NULL if device is another driver's. Borrowed.
IREE_API_EXPORT mtl_device *mettle_hal_device_handle(iree_hal_device_t *device);

// Returns the Mettle buffer that holds a buffer of this driver, and the offset
// of its first byte.
//
// Ownership  out_buffer is borrowed from buffer.
// Errors     IREE_STATUS_INVALID_ARGUMENT     another driver's buffer
//            IREE_STATUS_FAILED_PRECONDITION  a queue_alloca that has not been
//                                             made yet, or is gone
IREE_API_EXPORT iree_status_t mettle_hal_buffer_handle(
    iree_hal_buffer_t *buffer, mtl_buffer **out_buffer, size_t *out_offset);

// Gives the event beside a semaphore: it has the semaphore's value, and
// UINT64_MAX once the semaphore has failed. Command buffers of the same Mettle
// device may wait for it.
//
// Ownership  out_event is borrowed from semaphore.
// Errors     IREE_STATUS_INVALID_ARGUMENT  another driver's semaphore
IREE_API_EXPORT iree_status_t mettle_hal_semaphore_export_event(
    iree_hal_semaphore_t *semaphore, mtl_event **out_event);

#ifdef __cplusplus
}
#endif
#endif
