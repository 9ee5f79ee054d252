// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// allocator.c: allocates single buffers. They are shared if host and device
// share their memory, else private to the device unless the host needs access.
#include <string.h>

#include "mettle_hal.h"

typedef struct mettle_allocator {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  mettle_device *device;  // which owns it
  IREE_STATISTICS(iree_hal_allocator_statistics_t statistics;)
} mettle_allocator;

static const iree_hal_allocator_vtable_t allocator_vtable;

iree_status_t mettle_allocator_create(mettle_device *device,
                                      iree_hal_allocator_t **out_allocator) {
  mettle_allocator *allocator = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      device->host_allocator, sizeof *allocator, (void **)&allocator));
  memset(allocator, 0, sizeof *allocator);
  iree_hal_resource_initialize(&allocator_vtable, &allocator->resource);
  allocator->host_allocator = device->host_allocator;
  allocator->device = device;
  *out_allocator = (iree_hal_allocator_t *)allocator;
  return iree_ok_status();
}

static void allocator_destroy(iree_hal_allocator_t *IREE_RESTRICT base) {
  mettle_allocator *allocator = (mettle_allocator *)base;
  iree_allocator_free(allocator->host_allocator, allocator);
}

static iree_allocator_t allocator_host_allocator(
    const iree_hal_allocator_t *IREE_RESTRICT base) {
  return ((const mettle_allocator *)base)->host_allocator;
}

static iree_status_t allocator_trim(iree_hal_allocator_t *IREE_RESTRICT base) {
  (void)base;
  return iree_ok_status();
}

static void allocator_query_statistics(
    iree_hal_allocator_t *IREE_RESTRICT base,
    iree_hal_allocator_statistics_t *IREE_RESTRICT out_statistics) {
  IREE_STATISTICS({
    mettle_allocator *allocator = (mettle_allocator *)base;
    memcpy(out_statistics, &allocator->statistics, sizeof *out_statistics);
  });
  (void)base;
  (void)out_statistics;
}

#define HOST_TYPES \
  (IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED)
#define MAPPING_USAGES                           \
  (IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED |        \
   IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |    \
   IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM | \
   IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE)

mtl_storage_mode mettle_storage_of(const mettle_device *device,
                                   iree_hal_memory_type_t *type) {
  *type &= ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
  if (device->is_unified) {
    *type |= HOST_TYPES | IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
    return MTL_STORAGE_SHARED;
  }
  if (*type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) {
    *type |= HOST_TYPES | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
    return MTL_STORAGE_SHARED;
  }
  *type |= IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  return MTL_STORAGE_PRIVATE;
}

static iree_status_t allocator_query_memory_heaps(
    iree_hal_allocator_t *IREE_RESTRICT base, iree_host_size_t capacity,
    iree_hal_allocator_memory_heap_t *IREE_RESTRICT heaps,
    iree_host_size_t *IREE_RESTRICT out_count) {
  const mettle_device *device = ((mettle_allocator *)base)->device;
  const iree_host_size_t count = device->is_unified ? 1 : 2;
  *out_count = count;
  if (capacity < count) {
    // The caller asks again with room.
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  }
  for (iree_host_size_t i = 0; i < count; i++) {
    iree_hal_memory_type_t type = i == 0 ? IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL
                                         : IREE_HAL_MEMORY_TYPE_HOST_LOCAL;
    const mtl_storage_mode storage = mettle_storage_of(device, &type);
    heaps[i] = (iree_hal_allocator_memory_heap_t){
        .type = type,
        .allowed_usage = IREE_HAL_BUFFER_USAGE_TRANSFER |
                         IREE_HAL_BUFFER_USAGE_DISPATCH |
                         (storage == MTL_STORAGE_SHARED ? MAPPING_USAGES : 0),
        .max_allocation_size =
            mtl_device_get_info(device->device)->max_buffer_bytes,
        .min_alignment = IREE_HAL_HEAP_BUFFER_ALIGNMENT};
  }
  return iree_ok_status();
}

static iree_hal_buffer_compatibility_t allocator_query_compatibility(
    iree_hal_allocator_t *IREE_RESTRICT base,
    iree_hal_buffer_params_t *IREE_RESTRICT params,
    iree_device_size_t *IREE_RESTRICT allocation_size) {
  const mettle_device *device = ((mettle_allocator *)base)->device;
  iree_hal_buffer_compatibility_t result =
      IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE;
  const bool must_map =
      (params->usage & MAPPING_USAGES) &&
      !iree_all_bits_set(params->usage, IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL);
  if (must_map) {
    params->type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  }
  if (mettle_storage_of(device, &params->type) == MTL_STORAGE_SHARED) {
    result |= IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE;
  } else {
    params->usage &= ~(MAPPING_USAGES | IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL);
  }
  if (!device->is_unified &&
      iree_all_bits_set(params->type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL |
                                          IREE_HAL_MEMORY_TYPE_HOST_VISIBLE)) {
    result |= IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE;
  }
  if (iree_any_bit_set(params->usage, IREE_HAL_BUFFER_USAGE_TRANSFER)) {
    result |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  }
  if (iree_any_bit_set(params->usage,
                       IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE |
                           IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS |
                           IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ)) {
    result |= IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH;
  }
  if (*allocation_size == 0) {
    *allocation_size = 4;  // Metal has no empty buffers
  }
  return result;
}

static iree_hal_buffer_placement_t placement_of(
    const mettle_allocator *allocator, const iree_hal_buffer_params_t *params) {
  return (iree_hal_buffer_placement_t){
      .device = (iree_hal_device_t *)allocator->device,
      .queue_affinity = params->queue_affinity ? params->queue_affinity
                                               : IREE_HAL_QUEUE_AFFINITY_ANY};
}

static iree_status_t allocator_allocate(
    iree_hal_allocator_t *IREE_RESTRICT base,
    const iree_hal_buffer_params_t *IREE_RESTRICT params,
    iree_device_size_t allocation_size,
    iree_hal_buffer_t **IREE_RESTRICT out_buffer) {
  mettle_allocator *allocator = (mettle_allocator *)base;
  mettle_device *device = allocator->device;
  iree_hal_buffer_params_t fitted = *params;
  const iree_device_size_t wanted = allocation_size;
  allocator_query_compatibility(base, &fitted, &allocation_size);
  const mtl_buffer_desc desc = {
      .length_bytes = (size_t)allocation_size,
      .storage_mode = mettle_storage_of(device, &fitted.type),
      .hazard_tracking = MTL_HAZARD_UNTRACKED};
  mtl_buffer *buffer = NULL;
  IREE_RETURN_IF_ERROR(mettle_status(
      mtl_buffer_create(device->device, &desc, &buffer), "mtl_buffer_create"));
  iree_status_t status = mettle_buffer_wrap(
      device, buffer, 0, placement_of(allocator, &fitted), &fitted, wanted,
      iree_hal_buffer_release_callback_null(), out_buffer);
  mtl_buffer_release(buffer);
  if (iree_status_is_ok(status)) {
    IREE_STATISTICS(iree_hal_allocator_statistics_record_alloc(
        &allocator->statistics, fitted.type, allocation_size));
  }
  return status;
}

static void allocator_deallocate(iree_hal_allocator_t *IREE_RESTRICT base,
                                 iree_hal_buffer_t *IREE_RESTRICT buffer) {
  IREE_STATISTICS({
    mettle_allocator *allocator = (mettle_allocator *)base;
    iree_hal_allocator_statistics_record_free(
        &allocator->statistics, iree_hal_buffer_memory_type(buffer),
        iree_hal_buffer_allocation_size(buffer));
  });
  (void)base;
  iree_hal_buffer_destroy(buffer);
}

// Takes the caller's bytes, or the pages around them on devices that want whole
// pages: these use them in place, and leave alone what lies beside.
static iree_status_t import_host(mettle_allocator *allocator,
                                 const iree_hal_buffer_params_t *params,
                                 const iree_hal_external_buffer_t *external,
                                 iree_hal_buffer_release_callback_t callback,
                                 iree_hal_buffer_t **out_buffer) {
  const uintptr_t unit =
      (uintptr_t)mtl_device_get_info(allocator->device->device)
          ->no_copy_alignment_bytes;
  const uintptr_t first = (uintptr_t)external->handle.host_allocation.ptr;
  const uintptr_t end = first + external->size;
  const uintptr_t first_unit = first & ~(unit - 1);
  const uintptr_t end_unit = (end + unit - 1) & ~(unit - 1);
  if (external->size == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no bytes to import");
  }
  const mtl_buffer_desc desc = {.length_bytes = end_unit - first_unit,
                                .no_copy_bytes = (void *)first_unit,
                                .hazard_tracking = MTL_HAZARD_UNTRACKED};
  mtl_buffer *buffer = NULL;
  IREE_RETURN_IF_ERROR(mettle_status(
      mtl_buffer_create(allocator->device->device, &desc, &buffer),
      "mtl_buffer_create"));
  iree_status_t status =
      mettle_buffer_wrap(allocator->device, buffer, first - first_unit,
                         placement_of(allocator, params), params,
                         external->size, callback, out_buffer);
  mtl_buffer_release(buffer);
  return status;
}

static iree_status_t import_device(mettle_allocator *allocator,
                                   const iree_hal_buffer_params_t *params,
                                   const iree_hal_external_buffer_t *external,
                                   iree_hal_buffer_release_callback_t callback,
                                   iree_hal_buffer_t **out_buffer) {
  mtl_buffer *buffer =
      (mtl_buffer *)(uintptr_t)external->handle.device_allocation.ptr;
  if (!buffer || mtl_buffer_device(buffer) != allocator->device->device ||
      mtl_buffer_length(buffer) < external->size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "not an mtl_buffer of this device with %" PRIdsz
                            " bytes or more",
                            external->size);
  }
  return mettle_buffer_wrap(allocator->device, buffer, 0,
                            placement_of(allocator, params), params,
                            external->size, callback, out_buffer);
}

static iree_status_t allocator_import(
    iree_hal_allocator_t *IREE_RESTRICT base,
    const iree_hal_buffer_params_t *IREE_RESTRICT params,
    iree_hal_external_buffer_t *IREE_RESTRICT external,
    iree_hal_buffer_release_callback_t callback,
    iree_hal_buffer_t **IREE_RESTRICT out_buffer) {
  mettle_allocator *allocator = (mettle_allocator *)base;
  iree_hal_buffer_params_t fitted = *params;
  switch (external->type) {
    case IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION:
      fitted.type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
      mettle_storage_of(allocator->device, &fitted.type);
      return import_host(allocator, &fitted, external, callback, out_buffer);
    case IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION:
      mettle_storage_of(allocator->device, &fitted.type);
      return import_device(allocator, &fitted, external, callback, out_buffer);
    default:
      return iree_make_status(IREE_STATUS_UNAVAILABLE,
                              "buffers of external type %d cannot be imported",
                              (int)external->type);
  }
}

static iree_status_t allocator_export(iree_hal_allocator_t *IREE_RESTRICT base,
                                      iree_hal_buffer_t *IREE_RESTRICT buffer,
                                      iree_hal_external_buffer_type_t type,
                                      iree_hal_external_buffer_flags_t flags,
                                      iree_hal_external_buffer_t *IREE_RESTRICT
                                          out_external) {
  (void)base;
  mtl_buffer *handle = NULL;
  size_t offset = 0;
  if (type != IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "buffers cannot be exported as external type %d",
                            (int)type);
  }
  IREE_RETURN_IF_ERROR(mettle_hal_buffer_handle(buffer, &handle, &offset));
  if (offset != 0) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "a part of an mtl_buffer cannot be exported: "
                            "mettle_hal_buffer_handle tells where it lies");
  }
  out_external->type = type;
  out_external->flags = flags;
  out_external->size = iree_hal_buffer_allocation_size(buffer);
  out_external->handle.device_allocation.ptr = (uint64_t)(uintptr_t)handle;
  return iree_ok_status();
}

static bool allocator_supports_virtual_memory(
    iree_hal_allocator_t *IREE_RESTRICT base) {
  (void)base;
  return false;
}

#define NO_VIRTUAL_MEMORY                     \
  iree_make_status(IREE_STATUS_UNIMPLEMENTED, \
                   "Metal has no virtual memory to map")

static iree_status_t query_granularity(
    iree_hal_allocator_t *IREE_RESTRICT base, iree_hal_buffer_params_t params,
    iree_device_size_t *IREE_RESTRICT out_minimum,
    iree_device_size_t *IREE_RESTRICT out_recommended) {
  (void)base;
  (void)params;
  *out_minimum = *out_recommended = 0;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t virtual_reserve(
    iree_hal_allocator_t *IREE_RESTRICT base,
    iree_hal_queue_affinity_t affinity, iree_device_size_t size,
    iree_hal_buffer_t **IREE_RESTRICT out_buffer) {
  (void)base;
  (void)affinity;
  (void)size;
  *out_buffer = NULL;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t virtual_release(iree_hal_allocator_t *IREE_RESTRICT base,
                                     iree_hal_buffer_t *IREE_RESTRICT buffer) {
  (void)base;
  (void)buffer;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t physical_allocate(
    iree_hal_allocator_t *IREE_RESTRICT base, iree_hal_buffer_params_t params,
    iree_device_size_t size, iree_allocator_t host_allocator,
    iree_hal_physical_memory_t **IREE_RESTRICT out_memory) {
  (void)base;
  (void)params;
  (void)size;
  (void)host_allocator;
  *out_memory = NULL;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t physical_free(iree_hal_allocator_t *IREE_RESTRICT base,
                                   iree_hal_physical_memory_t *IREE_RESTRICT
                                       memory) {
  (void)base;
  (void)memory;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t virtual_map(
    iree_hal_allocator_t *IREE_RESTRICT base,
    iree_hal_buffer_t *IREE_RESTRICT buffer, iree_device_size_t offset,
    iree_hal_physical_memory_t *IREE_RESTRICT memory,
    iree_device_size_t memory_offset, iree_device_size_t size) {
  (void)base;
  (void)buffer;
  (void)offset;
  (void)memory;
  (void)memory_offset;
  (void)size;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t virtual_unmap(iree_hal_allocator_t *IREE_RESTRICT base,
                                   iree_hal_buffer_t *IREE_RESTRICT buffer,
                                   iree_device_size_t offset,
                                   iree_device_size_t size) {
  (void)base;
  (void)buffer;
  (void)offset;
  (void)size;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t virtual_protect(iree_hal_allocator_t *IREE_RESTRICT base,
                                     iree_hal_buffer_t *IREE_RESTRICT buffer,
                                     iree_device_size_t offset,
                                     iree_device_size_t size,
                                     iree_hal_queue_affinity_t affinity,
                                     iree_hal_memory_protection_t protection) {
  (void)base;
  (void)buffer;
  (void)offset;
  (void)size;
  (void)affinity;
  (void)protection;
  return NO_VIRTUAL_MEMORY;
}

static iree_status_t virtual_advise(iree_hal_allocator_t *IREE_RESTRICT base,
                                    iree_hal_buffer_t *IREE_RESTRICT buffer,
                                    iree_device_size_t offset,
                                    iree_device_size_t size,
                                    iree_hal_queue_affinity_t affinity,
                                    iree_hal_memory_advice_t advice) {
  (void)base;
  (void)buffer;
  (void)offset;
  (void)size;
  (void)affinity;
  (void)advice;
  return NO_VIRTUAL_MEMORY;
}

static const iree_hal_allocator_vtable_t allocator_vtable = {
    .destroy = allocator_destroy,
    .host_allocator = allocator_host_allocator,
    .trim = allocator_trim,
    .query_statistics = allocator_query_statistics,
    .query_memory_heaps = allocator_query_memory_heaps,
    .query_buffer_compatibility = allocator_query_compatibility,
    .allocate_buffer = allocator_allocate,
    .deallocate_buffer = allocator_deallocate,
    .import_buffer = allocator_import,
    .export_buffer = allocator_export,
    .supports_virtual_memory = allocator_supports_virtual_memory,
    .virtual_memory_query_granularity = query_granularity,
    .virtual_memory_reserve = virtual_reserve,
    .virtual_memory_release = virtual_release,
    .physical_memory_allocate = physical_allocate,
    .physical_memory_free = physical_free,
    .virtual_memory_map = virtual_map,
    .virtual_memory_unmap = virtual_unmap,
    .virtual_memory_protect = virtual_protect,
    .virtual_memory_advise = virtual_advise,
};
