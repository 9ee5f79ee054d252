// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// executable_cache.c: prepares executables, without a cache of its own:
// Mettle's compiler has one on disk.
#include "mettle_hal.h"

typedef struct executable_cache {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  mettle_device *device;
} executable_cache;

static const iree_hal_executable_cache_vtable_t cache_vtable;

iree_status_t mettle_executable_cache_create(
    mettle_device *device, iree_hal_executable_cache_t **out) {
  executable_cache *cache = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator,
                                             sizeof *cache, (void **)&cache));
  iree_hal_resource_initialize(&cache_vtable, &cache->resource);
  cache->host_allocator = device->host_allocator;
  cache->device = device;
  mettle_device_retain(device);  // +1
  *out = (iree_hal_executable_cache_t *)cache;
  return iree_ok_status();
}

static void cache_destroy(iree_hal_executable_cache_t *base) {
  executable_cache *cache = (executable_cache *)base;
  mettle_device *device = cache->device;
  iree_allocator_free(cache->host_allocator, cache);
  mettle_device_release(device);  // -1
}

static iree_status_t cache_infer_format(iree_hal_executable_cache_t *base,
                                        iree_hal_executable_caching_mode_t mode,
                                        iree_const_byte_span_t data,
                                        iree_host_size_t capacity, char *format,
                                        iree_host_size_t *out_size) {
  (void)base;
  (void)mode;
  return mettle_executable_infer_format(data, capacity, format, out_size);
}

static bool cache_can_prepare_format(iree_hal_executable_cache_t *base,
                                     iree_hal_executable_caching_mode_t mode,
                                     iree_string_view_t format) {
  (void)base;
  (void)mode;
  return iree_string_view_equal(format, IREE_SV(METTLE_EXECUTABLE_FORMAT));
}

static iree_status_t cache_prepare_executable(
    iree_hal_executable_cache_t *base,
    const iree_hal_executable_params_t *params,
    iree_hal_executable_t **out_executable) {
  executable_cache *cache = (executable_cache *)base;
  if (!cache_can_prepare_format(base, params->caching_mode,
                                params->executable_format)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "no executable format '%.*s' here: Mettle runs "
                            "'" METTLE_EXECUTABLE_FORMAT
                            "', which "
                            "iree-compile --iree-hal-target-device=metal makes",
                            (int)params->executable_format.size,
                            params->executable_format.data);
  }
  return mettle_executable_create(cache->device, params, out_executable);
}

static const iree_hal_executable_cache_vtable_t cache_vtable = {
    .destroy = cache_destroy,
    .infer_format = cache_infer_format,
    .can_prepare_format = cache_can_prepare_format,
    .prepare_executable = cache_prepare_executable,
};
