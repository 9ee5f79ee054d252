// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// buffer.c: an IREE buffer over a range of a Mettle buffer.
#include "iree/hal/local/transient_buffer.h"
#include "mettle_hal.h"

static const iree_hal_buffer_vtable_t buffer_vtable;

iree_status_t mettle_buffer_wrap(mettle_device *device, mtl_buffer *mtl,
                                 size_t offset,
                                 iree_hal_buffer_placement_t placement,
                                 const iree_hal_buffer_params_t *params,
                                 iree_device_size_t length,
                                 iree_hal_buffer_release_callback_t callback,
                                 iree_hal_buffer_t **out_buffer) {
  mettle_buffer *buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator,
                                             sizeof *buffer, (void **)&buffer));
  iree_hal_buffer_initialize(placement, &buffer->base, length, 0, length,
                             params->type, params->access, params->usage,
                             &buffer_vtable, &buffer->base);
  buffer->host_allocator = device->host_allocator;
  buffer->device = device;
  mettle_device_retain(device);             // +1
  buffer->buffer = mtl_buffer_retain(mtl);  // +1; NULL for an empty buffer
  buffer->offset = offset;
  buffer->address = mtl ? mtl_buffer_gpu_address(mtl) + offset : 0;
  buffer->release_callback = callback;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

static void buffer_destroy(iree_hal_buffer_t *base) {
  mettle_buffer *buffer = (mettle_buffer *)base;
  mettle_device *device = buffer->device;
  if (buffer->release_callback.fn) {
    buffer->release_callback.fn(buffer->release_callback.user_data, base);
  }
  mtl_buffer_release(buffer->buffer);  // -1
  iree_allocator_free(buffer->host_allocator, buffer);
  mettle_device_release(device);  // -1
}

iree_status_t mettle_range_resolve(iree_hal_buffer_t *base,
                                   iree_device_size_t offset,
                                   iree_device_size_t length,
                                   mettle_range *out_range) {
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(
      iree_hal_buffer_byte_offset(base), iree_hal_buffer_byte_length(base),
      offset, length, &offset, &length));
  iree_hal_buffer_t *allocated = iree_hal_buffer_allocated_buffer(base);
  while (iree_hal_local_transient_buffer_isa(allocated)) {
    iree_hal_buffer_t *backing =
        iree_hal_local_transient_buffer_backing_buffer(allocated);
    if (!backing) {
      return iree_make_status(
          IREE_STATUS_FAILED_PRECONDITION,
          "the buffer has no memory: its queue_alloca has not run yet, or its "
          "queue_dealloca has");
    }
    offset += iree_hal_buffer_byte_offset(backing);
    allocated = iree_hal_buffer_allocated_buffer(backing);
  }
  if (!iree_hal_resource_is(&allocated->resource, &buffer_vtable)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the buffer is another driver's");
  }
  mettle_buffer *buffer = (mettle_buffer *)allocated;
  *out_range = (mettle_range){.buffer = buffer,
                              .offset = buffer->offset + (size_t)offset,
                              .length = (size_t)length,
                              .address = buffer->address + offset};
  return iree_ok_status();
}

iree_status_t mettle_hal_buffer_handle(iree_hal_buffer_t *base,
                                       mtl_buffer **out_buffer,
                                       size_t *out_offset) {
  *out_buffer = NULL;
  *out_offset = 0;
  mettle_range range;
  IREE_RETURN_IF_ERROR(
      mettle_range_resolve(base, 0, IREE_HAL_WHOLE_BUFFER, &range));
  *out_buffer = range.buffer->buffer;
  *out_offset = range.offset;
  return iree_ok_status();
}

static iree_status_t buffer_map_range(iree_hal_buffer_t *base,
                                      iree_hal_mapping_mode_t mode,
                                      iree_hal_memory_access_t access,
                                      iree_device_size_t offset,
                                      iree_device_size_t length,
                                      iree_hal_buffer_mapping_t *mapping) {
  (void)mode;
  (void)access;
  mettle_buffer *buffer = (mettle_buffer *)base;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_memory_type(
      iree_hal_buffer_memory_type(base), IREE_HAL_MEMORY_TYPE_HOST_VISIBLE));
  char *bytes = buffer->buffer ? mtl_buffer_contents(buffer->buffer) : NULL;
  if (buffer->buffer && !bytes) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                            "the buffer is private to the device");
  }
  mapping->contents = iree_make_byte_span(
      bytes ? bytes + buffer->offset + offset : NULL, (iree_host_size_t)length);
  return iree_ok_status();
}

static iree_status_t buffer_unmap_range(iree_hal_buffer_t *base,
                                        iree_device_size_t offset,
                                        iree_device_size_t length,
                                        iree_hal_buffer_mapping_t *mapping) {
  (void)base;
  (void)offset;
  (void)length;
  (void)mapping;
  return iree_ok_status();
}

// Does nothing: host-visible memory is Metal's shared storage.
static iree_status_t buffer_range_is_shared(iree_hal_buffer_t *base,
                                            iree_device_size_t offset,
                                            iree_device_size_t length) {
  (void)base;
  (void)offset;
  (void)length;
  return iree_ok_status();
}

static const iree_hal_buffer_vtable_t buffer_vtable = {
    .recycle = iree_hal_buffer_recycle,
    .destroy = buffer_destroy,
    .map_range = buffer_map_range,
    .unmap_range = buffer_unmap_range,
    .invalidate_range = buffer_range_is_shared,
    .flush_range = buffer_range_is_shared,
};
