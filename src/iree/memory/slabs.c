// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// slabs.c: provides slabs for IREE's pools, each a Mettle buffer.
#include <string.h>

#include "mettle_hal.h"

typedef struct slab_provider {
  iree_hal_slab_provider_t base;
  iree_allocator_t host_allocator;
  mettle_device *device;  // which outlives its pools
  iree_hal_memory_type_t type;
  mtl_storage_mode storage_mode;
  iree_atomic_int64_t acquired;
  iree_atomic_int64_t released;
} slab_provider;

static const iree_hal_slab_provider_vtable_t provider_vtable;

iree_status_t mettle_slab_provider_create(mettle_device *device,
                                          iree_hal_memory_type_t type,
                                          iree_hal_slab_provider_t **out) {
  slab_provider *provider = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      device->host_allocator, sizeof *provider, (void **)&provider));
  memset(provider, 0, sizeof *provider);
  iree_hal_slab_provider_initialize(&provider_vtable, &provider->base);
  provider->host_allocator = device->host_allocator;
  provider->device = device;
  provider->storage_mode = mettle_storage_of(device, &type);
  provider->type = type;
  *out = &provider->base;
  return iree_ok_status();
}

static void provider_destroy(iree_hal_slab_provider_t *base) {
  slab_provider *provider = (slab_provider *)base;
  iree_allocator_free(provider->host_allocator, provider);
}

static iree_status_t acquire_slab(iree_hal_slab_provider_t *base,
                                  iree_device_size_t min_length,
                                  iree_hal_slab_t *out_slab) {
  slab_provider *provider = (slab_provider *)base;
  memset(out_slab, 0, sizeof *out_slab);
  const mtl_buffer_desc desc = {.length_bytes = (size_t)min_length,
                                .storage_mode = provider->storage_mode,
                                .hazard_tracking = MTL_HAZARD_UNTRACKED,
                                .label = "IREE slab"};
  mtl_buffer *buffer = NULL;
  IREE_RETURN_IF_ERROR(
      mettle_status(mtl_buffer_create(provider->device->device, &desc, &buffer),
                    "mtl_buffer_create"));
  out_slab->base_ptr = mtl_buffer_contents(buffer);
  out_slab->length = min_length;
  out_slab->provider_handle = (uint64_t)(uintptr_t)buffer;
  iree_atomic_fetch_add(&provider->acquired, 1, iree_memory_order_relaxed);
  return iree_ok_status();
}

static void release_slab(iree_hal_slab_provider_t *base,
                         const iree_hal_slab_t *slab) {
  slab_provider *provider = (slab_provider *)base;
  iree_atomic_fetch_add(&provider->released, 1, iree_memory_order_relaxed);
  mtl_buffer_release((mtl_buffer *)(uintptr_t)slab->provider_handle);
}

static iree_status_t wrap_buffer(
    iree_hal_slab_provider_t *base, const iree_hal_slab_t *slab,
    iree_device_size_t slab_offset, iree_device_size_t allocation_size,
    iree_hal_buffer_params_t params,
    iree_hal_buffer_release_callback_t release_callback,
    iree_hal_buffer_t **out_buffer) {
  slab_provider *provider = (slab_provider *)base;
  return mettle_buffer_wrap(
      provider->device, (mtl_buffer *)(uintptr_t)slab->provider_handle,
      (size_t)slab_offset, iree_hal_buffer_placement_undefined(), &params,
      allocation_size, release_callback, out_buffer);
}

static void prefault(iree_hal_slab_provider_t *base, iree_hal_slab_t *slab) {
  slab_provider *provider = (slab_provider *)base;
  if (provider->device->is_unified && slab->base_ptr) {
    memset(slab->base_ptr, 0, (size_t)slab->length);
  }
}

static void trim(iree_hal_slab_provider_t *base,
                 iree_hal_slab_provider_trim_flags_t flags) {
  (void)base;
  (void)flags;  // the provider keeps no unused slabs
}

static void query_stats(const iree_hal_slab_provider_t *base,
                        iree_hal_slab_provider_visited_set_t *visited,
                        iree_hal_slab_provider_stats_t *out_stats) {
  slab_provider *provider = (slab_provider *)base;
  if (iree_hal_slab_provider_visited(visited, base)) {
    return;
  }
  out_stats->total_acquired += (uint64_t)iree_atomic_load(
      &provider->acquired, iree_memory_order_relaxed);
  out_stats->total_released += (uint64_t)iree_atomic_load(
      &provider->released, iree_memory_order_relaxed);
}

static void query_properties(const iree_hal_slab_provider_t *base,
                             iree_hal_memory_type_t *out_memory_type,
                             iree_hal_buffer_usage_t *out_supported_usage) {
  const slab_provider *provider = (const slab_provider *)base;
  *out_memory_type = provider->type;
  *out_supported_usage = IREE_HAL_BUFFER_USAGE_TRANSFER |
                         IREE_HAL_BUFFER_USAGE_DISPATCH |
                         IREE_HAL_BUFFER_USAGE_SHARING_EXPORT |
                         IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE |
                         IREE_HAL_BUFFER_USAGE_SHARING_CONCURRENT |
                         IREE_HAL_BUFFER_USAGE_SHARING_IMMUTABLE;
  if (provider->storage_mode == MTL_STORAGE_SHARED) {
    *out_supported_usage |=
        IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED |
        IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
        IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL |
        IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM |
        IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE;
  }
}

static const iree_hal_slab_provider_vtable_t provider_vtable = {
    .destroy = provider_destroy,
    .acquire_slab = acquire_slab,
    .release_slab = release_slab,
    .wrap_buffer = wrap_buffer,
    .prefault = prefault,
    .trim = trim,
    .query_stats = query_stats,
    .query_properties = query_properties,
};
