// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: creates, describes and destroys IREE's device.
//
// Operations, buffers and semaphores retain the struct, not the device. When
// IREE releases the device, operations with waits that nobody has promised to
// satisfy fail, running operations are waited for, and the last reference frees
// the struct.
#include <string.h>

#include "memory/slots.h"
#include "mettle_hal.h"

static const iree_hal_device_vtable_t device_vtable;

mettle_device *mettle_device_cast(iree_hal_device_t *base) {
  IREE_HAL_ASSERT_TYPE(base, &device_vtable);
  return (mettle_device *)base;
}

void mettle_hal_device_options_initialize(
    mettle_hal_device_options *out_options) {
  *out_options = (mettle_hal_device_options){.queue_count = 2,
                                             .slab_bytes = 64 * 1024 * 1024};
}

void mettle_device_retain(mettle_device *device) {
  iree_atomic_ref_count_inc(&device->references);
}

static void device_free(mettle_device *device) {
  mettle_pools_destroy(device);
  iree_hal_allocator_release(device->allocator);
  iree_hal_channel_provider_release(device->channel_provider);
  mettle_workers_destroy(device->workers);
  for (uint32_t i = 0; i < device->queue_count; i++) {
    mtl_queue_release(device->queues[i].queue);
  }
  mtl_device_release(device->device);
  iree_async_proactor_pool_release(device->proactor_pool);
  iree_arena_block_pool_deinitialize(&device->block_pool);
  iree_notification_deinitialize(&device->idle);
  iree_slim_mutex_deinitialize(&device->profile_mutex);
  iree_slim_mutex_deinitialize(&device->mutex);
  iree_allocator_free(device->host_allocator, device);
}

void mettle_device_release(mettle_device *device) {
  if (iree_atomic_ref_count_dec(&device->references) == 1) {
    device_free(device);
  }
}

static iree_status_t create_queues(mettle_device *device, uint32_t count) {
  if (count < 1 || count > MAX_QUEUES) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a device of %u queues: 1 to %d are possible",
                            count, MAX_QUEUES);
  }
  for (uint32_t i = 0; i < count; i++) {
    mettle_queue *queue = &device->queues[i];
    queue->device = device;
    queue->ordinal = i;
    const mtl_queue_desc desc = {
        .label = "IREE", .max_command_buffers = MTL_UNLIMITED_COMMAND_BUFFERS};
    IREE_RETURN_IF_ERROR(
        mettle_status(mtl_queue_create(device->device, &desc, &queue->queue),
                      "mtl_queue_create"));
    device->queue_count = i + 1;
  }
  return iree_ok_status();
}

static iree_status_t device_open(mettle_device *device,
                                 const mettle_hal_device_options *options) {
  IREE_RETURN_IF_ERROR(iree_async_proactor_pool_get(device->proactor_pool, 0,
                                                    &device->proactor));
  IREE_RETURN_IF_ERROR(create_queues(device, options->queue_count));
  IREE_RETURN_IF_ERROR(
      mettle_workers_create(device->host_allocator, &device->workers));
  IREE_RETURN_IF_ERROR(mettle_allocator_create(device, &device->allocator));
  return mettle_pools_create(device, options->slab_bytes);
}

iree_status_t mettle_hal_device_create(
    mtl_device *mtl, const mettle_hal_device_options *options,
    const iree_hal_device_create_params_t *create_params,
    iree_allocator_t host_allocator, iree_hal_device_t **out_device) {
  *out_device = NULL;
  const mtl_device_info *info = mtl_device_get_info(mtl);
  mettle_device *device = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof *device, (void **)&device));
  memset(device, 0, sizeof *device);
  iree_hal_resource_initialize(&device_vtable, &device->resource);
  iree_atomic_ref_count_init(&device->references);
  device->host_allocator = host_allocator;
  device->device = mtl_device_retain(mtl);  // +1
  device->is_unified = info->has_unified_memory;
  device->math_mode = options->math_mode;
  device->identifier = IREE_SV(METTLE_HAL_DRIVER_NAME);
  device->proactor_pool = create_params->proactor_pool;
  iree_async_proactor_pool_retain(device->proactor_pool);  // +1
  iree_arena_block_pool_initialize(32 * 1024, host_allocator,
                                   &device->block_pool);
  iree_slim_mutex_initialize(&device->mutex);
  iree_slim_mutex_initialize(&device->profile_mutex);
  iree_notification_initialize(&device->idle);
  iree_status_t status = device_open(device, options);
  if (iree_status_is_ok(status)) {
    *out_device = (iree_hal_device_t *)device;
  } else {
    iree_hal_device_release((iree_hal_device_t *)device);
  }
  return status;
}

static void leave_topology(mettle_device *device) {
  if (device->tracker) {
    for (uint32_t i = 0; i < device->queue_count; i++) {
      iree_async_frontier_tracker_retire_axis(
          device->tracker, device->queues[i].axis,
          iree_status_from_code(IREE_STATUS_CANCELLED));
    }
    iree_async_frontier_tracker_release(device->tracker);  // -1
    device->tracker = NULL;
  }
  memset(&device->topology_info, 0, sizeof device->topology_info);
}

static void device_destroy(iree_hal_device_t *base) {
  mettle_device *device = (mettle_device *)base;
  mettle_ops_close(device);
  leave_topology(device);
  mettle_device_release(device);  // -1, of create
}

mtl_device *mettle_hal_device_handle(iree_hal_device_t *base) {
  return iree_hal_resource_is((const iree_hal_resource_t *)base, &device_vtable)
             ? ((mettle_device *)base)->device
             : NULL;
}

uint64_t mettle_device_next_id(mettle_device *device) {
  return (uint64_t)iree_atomic_fetch_add(&device->next_id, 1,
                                         iree_memory_order_relaxed) +
         1;
}

iree_hal_queue_affinity_t mettle_queue_affinity(const mettle_queue *queue) {
  return 1ull << queue->ordinal;
}

mettle_queue *mettle_device_queue(mettle_device *device,
                                  iree_hal_queue_affinity_t affinity) {
  for (uint32_t i = 0; i < device->queue_count; i++) {
    if ((affinity >> i) & 1) {
      return &device->queues[i];
    }
  }
  return &device->queues[0];
}

static iree_string_view_t device_id(iree_hal_device_t *base) {
  return mettle_device_cast(base)->identifier;
}

static iree_allocator_t device_host_allocator(iree_hal_device_t *base) {
  return mettle_device_cast(base)->host_allocator;
}

static iree_hal_allocator_t *device_allocator(iree_hal_device_t *base) {
  return mettle_device_cast(base)->allocator;
}

static void replace_device_allocator(iree_hal_device_t *base,
                                     iree_hal_allocator_t *allocator) {
  mettle_device *device = mettle_device_cast(base);
  iree_hal_allocator_retain(allocator);
  iree_hal_allocator_release(device->allocator);
  device->allocator = allocator;
}

static void replace_channel_provider(iree_hal_device_t *base,
                                     iree_hal_channel_provider_t *provider) {
  mettle_device *device = mettle_device_cast(base);
  iree_hal_channel_provider_retain(provider);
  iree_hal_channel_provider_release(device->channel_provider);
  device->channel_provider = provider;
}

static iree_status_t device_trim(iree_hal_device_t *base) {
  mettle_device *device = mettle_device_cast(base);
  IREE_RETURN_IF_ERROR(iree_hal_allocator_trim(device->allocator));
  IREE_RETURN_IF_ERROR(mettle_pools_trim(device));
  iree_arena_block_pool_trim(&device->block_pool);
  return iree_ok_status();
}

// Programs made for IREE's target "metal" ask for a device of that name.
static iree_status_t query_i64(iree_hal_device_t *base,
                               iree_string_view_t category,
                               iree_string_view_t key, int64_t *out_value) {
  mettle_device *device = mettle_device_cast(base);
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
    *out_value = iree_string_view_match_pattern(device->identifier, key) ||
                 iree_string_view_match_pattern(IREE_SV("metal"), key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.executable.format"))) {
    *out_value = iree_string_view_equal(key, IREE_SV(METTLE_EXECUTABLE_FORMAT));
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.device")) &&
      iree_string_view_equal(key, IREE_SV("concurrency"))) {
    *out_value = device->queue_count;
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.dispatch")) &&
      iree_string_view_equal(key, IREE_SV("concurrency"))) {
    *out_value = mtl_device_get_info(device->device)->compute_units;
    return iree_ok_status();
  }
  return iree_make_status(
      IREE_STATUS_NOT_FOUND, "the device does not know '%.*s :: %.*s'",
      (int)category.size, category.data, (int)key.size, key.data);
}

static iree_status_t query_capabilities(
    iree_hal_device_t *base, iree_hal_device_capabilities_t *out_capabilities) {
  (void)base;
  memset(out_capabilities, 0, sizeof *out_capabilities);
  return iree_ok_status();
}

static const iree_hal_device_topology_info_t *topology_info(
    iree_hal_device_t *base) {
  return &mettle_device_cast(base)->topology_info;
}

static iree_status_t refine_topology_edge(iree_hal_device_t *source,
                                          iree_hal_device_t *target,
                                          iree_hal_topology_edge_t *edge) {
  (void)source;
  (void)target;
  (void)edge;
  return iree_ok_status();
}

static iree_status_t assign_topology_info(
    iree_hal_device_t *base, const iree_hal_device_topology_info_t *info) {
  mettle_device *device = mettle_device_cast(base);
  leave_topology(device);
  if (!info) {
    return iree_ok_status();
  }
  const iree_async_axis_t axis = info->frontier.base_axis;
  for (uint32_t i = 0; i < device->queue_count; i++) {
    mettle_queue *queue = &device->queues[i];
    queue->axis = iree_async_axis_make_queue(
        iree_async_axis_session(axis), iree_async_axis_machine(axis),
        iree_async_axis_device_index(axis), (uint8_t)i);
    IREE_RETURN_IF_ERROR(iree_async_frontier_tracker_register_axis(
        info->frontier.tracker, queue->axis, /*semaphore=*/NULL));
  }
  device->topology_info = *info;
  device->tracker = info->frontier.tracker;
  iree_async_frontier_tracker_retain(device->tracker);  // +1
  return iree_ok_status();
}

static iree_status_t create_channel(iree_hal_device_t *base,
                                    iree_hal_queue_affinity_t affinity,
                                    iree_hal_channel_params_t params,
                                    iree_hal_channel_t **out_channel) {
  (void)base;
  (void)affinity;
  (void)params;
  *out_channel = NULL;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "Mettle has no collectives: a device is alone");
}

static iree_status_t create_command_buffer(
    iree_hal_device_t *base, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t categories, iree_hal_queue_affinity_t affinity,
    iree_host_size_t binding_capacity, iree_hal_command_buffer_t **out) {
  return mettle_command_buffer_create(mettle_device_cast(base), mode,
                                      categories, affinity, binding_capacity,
                                      out);
}

static iree_status_t create_event(iree_hal_device_t *base,
                                  iree_hal_queue_affinity_t affinity,
                                  iree_hal_event_flags_t flags,
                                  iree_hal_event_t **out_event) {
  (void)affinity;
  (void)flags;
  return mettle_event_create(mettle_device_cast(base)->host_allocator,
                             out_event);
}

static iree_status_t create_executable_cache(
    iree_hal_device_t *base, iree_string_view_t identifier,
    iree_hal_executable_cache_t **out_cache) {
  (void)identifier;
  return mettle_executable_cache_create(mettle_device_cast(base), out_cache);
}

static iree_status_t create_semaphore(iree_hal_device_t *base,
                                      iree_hal_queue_affinity_t affinity,
                                      uint64_t initial_value,
                                      iree_hal_semaphore_flags_t flags,
                                      iree_hal_semaphore_t **out_semaphore) {
  (void)affinity;
  (void)flags;
  return mettle_semaphore_create(mettle_device_cast(base), initial_value,
                                 out_semaphore);
}

// The host waits for other drivers' semaphores.
static iree_hal_semaphore_compatibility_t query_semaphore_compatibility(
    iree_hal_device_t *base, iree_hal_semaphore_t *semaphore) {
  (void)base;
  return mettle_semaphore_isa(semaphore)
             ? IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL
             : IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY;
}

static iree_status_t query_queue_pool_backend(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    iree_hal_queue_pool_backend_t *out_backend) {
  (void)affinity;
  mettle_device *device = mettle_device_cast(base);
  out_backend->slab_provider = device->slabs;
  out_backend->notification = device->pool_notification;
  out_backend->epoch_query = mettle_pools_epoch_query(device);
  return iree_ok_status();
}

static iree_status_t profiling_begin(
    iree_hal_device_t *base,
    const iree_hal_device_profiling_options_t *options) {
  return mettle_profile_begin(mettle_device_cast(base), options);
}

static iree_status_t profiling_flush(iree_hal_device_t *base) {
  return mettle_profile_flush(mettle_device_cast(base));
}

static iree_status_t profiling_end(iree_hal_device_t *base) {
  return mettle_profile_end(mettle_device_cast(base));
}

static iree_status_t external_capture_begin(
    iree_hal_device_t *base,
    const iree_hal_device_external_capture_options_t *options) {
  (void)base;
  (void)options;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "no tool outside captures Mettle's work");
}

static iree_status_t external_capture_end(iree_hal_device_t *base) {
  (void)base;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "no tool outside captures Mettle's work");
}

static const iree_hal_device_vtable_t device_vtable = {
    .destroy = device_destroy,
    .id = device_id,
    .host_allocator = device_host_allocator,
    .device_allocator = device_allocator,
    .replace_device_allocator = replace_device_allocator,
    .replace_channel_provider = replace_channel_provider,
    .trim = device_trim,
    .query_i64 = query_i64,
    .query_capabilities = query_capabilities,
    .topology_info = topology_info,
    .refine_topology_edge = refine_topology_edge,
    .assign_topology_info = assign_topology_info,
    .create_channel = create_channel,
    .create_command_buffer = create_command_buffer,
    .create_event = create_event,
    .create_executable_cache = create_executable_cache,
    .import_file = mettle_import_file,
    .create_semaphore = create_semaphore,
    .query_semaphore_compatibility = query_semaphore_compatibility,
    .query_queue_pool_backend = query_queue_pool_backend,
    .queue_alloca = mettle_queue_alloca,
    .queue_dealloca = mettle_queue_dealloca,
    .queue_fill = mettle_queue_fill,
    .queue_update = mettle_queue_update,
    .queue_copy = mettle_queue_copy,
    .queue_read = mettle_queue_read,
    .queue_write = mettle_queue_write,
    .queue_host_call = mettle_queue_host_call,
    .queue_dispatch = mettle_queue_dispatch,
    .queue_execute = mettle_queue_execute,
    .queue_flush = mettle_queue_flush,
    .profiling_begin = profiling_begin,
    .profiling_flush = profiling_flush,
    .profiling_end = profiling_end,
    .external_capture_begin = external_capture_begin,
    .external_capture_end = external_capture_end,
};
