// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pools.c: the default pools of queue_alloca: one that suballocates slabs, one
// for requests larger than a slab, and one of host-visible memory where the
// device's memory is not.
#include "iree/hal/memory/passthrough_pool.h"
#include "iree/hal/memory/tlsf_pool.h"
#include "iree/hal/pool_set.h"
#include "mettle_hal.h"

enum {
  PRIORITY_HOST = 0,
  PRIORITY_LARGE = 1,
  PRIORITY_SMALL = 10,
  ALIGNMENT = 64,  // IREE_HAL_HEAP_BUFFER_ALIGNMENT, which compilers assume
};

static bool query_epoch(void *user_data, iree_async_axis_t axis,
                        uint64_t epoch) {
  mettle_device *device = user_data;
  return device->tracker &&
         iree_async_frontier_tracker_query_epoch(device->tracker, axis, epoch);
}

iree_hal_pool_epoch_query_t mettle_pools_epoch_query(mettle_device *device) {
  return (iree_hal_pool_epoch_query_t){.fn = query_epoch, .user_data = device};
}

static iree_status_t create_device_pools(mettle_device *device,
                                         iree_device_size_t slab_bytes) {
  const iree_hal_tlsf_pool_options_t small = {
      .tlsf_options = {
          .range_length = slab_bytes,
          .alignment = ALIGNMENT,
          .frontier_capacity = IREE_HAL_MEMORY_TLSF_DEFAULT_FRONTIER_CAPACITY}};
  IREE_RETURN_IF_ERROR(
      iree_hal_tlsf_pool_create(small, device->slabs, device->pool_notification,
                                mettle_pools_epoch_query(device),
                                device->host_allocator, &device->small_pool));
  const iree_hal_passthrough_pool_options_t large = {0};
  IREE_RETURN_IF_ERROR(iree_hal_passthrough_pool_create(
      large, device->slabs, device->pool_notification, device->host_allocator,
      &device->large_pool));
  IREE_RETURN_IF_ERROR(iree_hal_pool_set_register(
      &device->pools, PRIORITY_LARGE, device->large_pool));
  return iree_hal_pool_set_register(&device->pools, PRIORITY_SMALL,
                                    device->small_pool);
}

static iree_status_t create_host_pool(mettle_device *device) {
  IREE_RETURN_IF_ERROR(mettle_slab_provider_create(
      device, IREE_HAL_MEMORY_TYPE_HOST_LOCAL, &device->host_slabs));
  const iree_hal_passthrough_pool_options_t options = {0};
  IREE_RETURN_IF_ERROR(iree_hal_passthrough_pool_create(
      options, device->host_slabs, device->pool_notification,
      device->host_allocator, &device->host_pool));
  return iree_hal_pool_set_register(&device->pools, PRIORITY_HOST,
                                    device->host_pool);
}

iree_status_t mettle_pools_create(mettle_device *device,
                                  iree_device_size_t slab_bytes) {
  IREE_RETURN_IF_ERROR(iree_hal_pool_set_initialize(
      /*initial_capacity=*/3, device->host_allocator, &device->pools));
  IREE_RETURN_IF_ERROR(mettle_slab_provider_create(
      device, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, &device->slabs));
  IREE_RETURN_IF_ERROR(iree_async_notification_create(
      device->proactor, IREE_ASYNC_NOTIFICATION_FLAG_NONE,
      &device->pool_notification));
  IREE_RETURN_IF_ERROR(create_device_pools(device, slab_bytes));
  return device->is_unified ? iree_ok_status() : create_host_pool(device);
}

void mettle_pools_destroy(mettle_device *device) {
  if (device->pools.entries) {
    iree_hal_pool_set_deinitialize(&device->pools);
  }
  iree_hal_pool_release(device->host_pool);
  iree_hal_pool_release(device->large_pool);
  iree_hal_pool_release(device->small_pool);
  iree_hal_slab_provider_release(device->host_slabs);
  iree_hal_slab_provider_release(device->slabs);
  iree_async_notification_release(device->pool_notification);
}

iree_status_t mettle_pools_trim(mettle_device *device) {
  IREE_RETURN_IF_ERROR(iree_hal_pool_trim(device->small_pool));
  if (device->host_pool) {
    IREE_RETURN_IF_ERROR(iree_hal_pool_trim(device->host_pool));
  }
  return iree_hal_pool_trim(device->large_pool);
}

iree_status_t mettle_pools_select(mettle_device *device, iree_hal_pool_t *pool,
                                  iree_hal_buffer_params_t params,
                                  iree_device_size_t length,
                                  iree_hal_pool_t **out_pool) {
  *out_pool =
      pool ? pool : iree_hal_pool_set_select(&device->pools, params, length);
  if (*out_pool) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "no pool of the device has memory of type 0x%x and "
                          "usage 0x%x for %" PRIdsz " bytes",
                          params.type, params.usage, length);
}
