// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// buffer.c: checks, accounts for and lists buffers; drivers/*/memory.c has the
// memory, addresses.c finds a buffer by an address.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "runtime/objects.h"
#include "runtime/weak.h"

// The alignment that kernels rely on
// (src/compiler/passes/lower/enter_kernel.c).
enum { BOUND_ALIGNMENT = 16 };

// True if all buffers are to end where a page does.
static bool are_ends_guarded(void) {
  const char *setting = getenv("METTLE_GUARD_ENDS");
  return setting && strcmp(setting, "1") == 0;
}

static size_t end_alignment(const mtl_buffer_desc *desc) {
  return desc->guard_alignment_bytes           ? desc->guard_alignment_bytes
         : desc->guarded || are_ends_guarded() ? BOUND_ALIGNMENT
                                               : 0;
}

mtl_status mtli_buffer_create_pages(const mtl_buffer_desc *desc,
                                    mtli_pages *out_pages) {
  const size_t alignment_bytes = end_alignment(desc);
  return desc->guarded ? mtli_pages_create_wide(desc->length_bytes,
                                                alignment_bytes, out_pages)
                       : mtli_pages_create(desc->length_bytes, alignment_bytes,
                                           out_pages);
}

static mtl_status check_no_copy(const mtl_device *device,
                                const mtl_buffer_desc *desc) {
  const uint64_t alignment_bytes = device->info.no_copy_alignment_bytes;
  if (desc->bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: both bytes and no_copy_bytes are set");
  }
  // Private memory: the address is the device's own, as for memory of other
  // libraries.
  const bool is_devices = desc->storage_mode == MTL_STORAGE_PRIVATE &&
                          device->info.runs_native_work;
  if (desc->storage_mode != MTL_STORAGE_SHARED && !is_devices) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: no_copy_bytes needs shared storage");
  }
  if ((uintptr_t)desc->no_copy_bytes % alignment_bytes ||
      desc->length_bytes % alignment_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: no_copy_bytes %p and its length of "
                     "%zu bytes must be multiples of %" PRIu64
                     " on device '%s'",
                     desc->no_copy_bytes, desc->length_bytes, alignment_bytes,
                     device->info.name);
  }
  if (desc->guarded) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: no_copy_bytes cannot be guarded");
  }
  return MTL_OK;
}

mtl_status mtli_buffer_check_length(const mtl_device *device,
                                    size_t length_bytes, const char *call) {
  const uint64_t limit_bytes = device->info.max_buffer_bytes;
  return length_bytes > 0 && length_bytes <= limit_bytes
             ? MTL_OK
             : mtli_fail(MTL_INVALID_ARGUMENT,
                         "%s: length %zu is not within 1 to %" PRIu64
                         " bytes, the limit of device '%s'",
                         call, length_bytes, limit_bytes, device->info.name);
}

static mtl_status check_desc(const mtl_device *device,
                             const mtl_buffer_desc *desc) {
  MTL_TRY(mtli_buffer_check_length(device, desc->length_bytes,
                                   "mtl_buffer_create"));
  if ((unsigned)desc->storage_mode > MTL_STORAGE_PRIVATE) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: storage mode %d does not exist",
                     (int)desc->storage_mode);
  }
  if ((unsigned)desc->hazard_tracking > MTL_HAZARD_UNTRACKED) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: hazard tracking %d does not exist",
                     (int)desc->hazard_tracking);
  }
  const uint32_t alignment_bytes = desc->guard_alignment_bytes;
  if (alignment_bytes > BOUND_ALIGNMENT ||
      (alignment_bytes & (alignment_bytes - 1))) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: a guard alignment of %u bytes is not "
                     "1, 2, 4, 8 or 16",
                     alignment_bytes);
  }
  return desc->no_copy_bytes ? check_no_copy(device, desc) : MTL_OK;
}

static void trace_memory(const mtl_device *device) {
  if (mtli_trace_is_on()) {
    mtli_trace_counter(
        device->info.name, "bytes of buffers", mtli_now_ns(),
        atomic_load_explicit(&device->allocated_bytes, memory_order_relaxed));
  }
}

// Counts length_bytes as allocated, if they fit beside the rest.
static mtl_status reserve(mtl_device *device, size_t length_bytes) {
  const uint64_t limit_bytes = device->memory_bytes;
  uint64_t used_bytes =
      atomic_load_explicit(&device->allocated_bytes, memory_order_relaxed);
  do {
    if (used_bytes > limit_bytes || length_bytes > limit_bytes - used_bytes) {
      return mtli_fail(MTL_OUT_OF_MEMORY,
                       "no room for a buffer of %zu bytes: device '%s' has "
                       "%" PRIu64 " of its %" PRIu64 " bytes in use",
                       length_bytes, device->info.name, used_bytes,
                       limit_bytes);
    }
    // Relaxed: a count, nothing is published through it.
  } while (!atomic_compare_exchange_weak_explicit(
      &device->allocated_bytes, &used_bytes, used_bytes + length_bytes,
      memory_order_relaxed, memory_order_relaxed));
  trace_memory(device);
  return MTL_OK;
}

static void give_back(mtl_device *device, size_t length_bytes) {
  atomic_fetch_sub_explicit(&device->allocated_bytes, length_bytes,
                            memory_order_relaxed);
  trace_memory(device);
}

static void list_add(mtl_buffer *buffer) {
  mtl_device *device = buffer->device;
  pthread_mutex_lock(&device->lock);
  buffer->next = device->buffers;
  if (buffer->next) {
    buffer->next->previous = buffer;
  }
  device->buffers = buffer;
  pthread_mutex_unlock(&device->lock);
}

static void list_remove(mtl_buffer *buffer) {
  mtl_device *device = buffer->device;
  if (mtli_device_is_inherited(device)) {
    return;  // the lock may have been held at the fork; nobody reads the list
  }
  pthread_mutex_lock(&device->lock);
  if (buffer->previous) {
    buffer->previous->next = buffer->next;
  } else {
    device->buffers = buffer->next;
  }
  if (buffer->next) {
    buffer->next->previous = buffer->previous;
  }
  mtli_released *released =
      &device->released[device->released_count++ % MTLI_RELEASED_COUNT];
  *released = (mtli_released){.first = buffer->gpu_address,
                              .length_bytes = buffer->length_bytes};
  if (buffer->label) {
    snprintf(released->label, sizeof released->label, "%s", buffer->label);
  }
  pthread_mutex_unlock(&device->lock);
}

static void buffer_destroy(mtli_object *object) {
  mtl_buffer *buffer = (mtl_buffer *)object;
  mtl_device *device = buffer->device;
  if (!mtli_device_is_inherited(device)) {
    mtli_weak_end(&buffer->weak, mtl_buffer_label(buffer));
  }
  list_remove(buffer);
  device->driver->buffer_destroy(buffer);
  if (buffer->heap) {
    mtli_heap_leave(buffer);
  } else if (buffer->viewed) {
    mtl_buffer_release(buffer->viewed);  // -1
  } else {
    give_back(device, buffer->length_bytes);
  }
  if (buffer->deallocator) {
    buffer->deallocator(buffer->deallocator_context, buffer->no_copy_bytes,
                        buffer->length_bytes);
  }
  free(buffer->label);
  free(buffer);
  mtl_device_release(device);  // -1
}

// parent is the memory to lie in, or NULL.
static mtl_status buffer_allocate(mtl_device *device,
                                  const mtl_buffer_desc *desc,
                                  mtl_buffer *parent, size_t offset_bytes,
                                  mtl_buffer **out_buffer) {
  mtl_buffer *buffer = calloc(1, device->driver->buffer_bytes);
  if (!buffer) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a buffer object");
  }
  mtli_object_init(&buffer->object, buffer_destroy);
  buffer->device = device;
  buffer->length_bytes = desc->length_bytes;
  buffer->storage_mode = desc->storage_mode;
  buffer->hazard_tracking = desc->hazard_tracking;
  buffer->guarded = desc->guarded;
  buffer->parent = parent;
  buffer->parent_offset_bytes = offset_bytes;
  buffer->no_copy_bytes = desc->no_copy_bytes;
  buffer->deallocator = desc->no_copy_bytes ? desc->deallocator : NULL;
  buffer->deallocator_context = desc->deallocator_context;
  const mtl_status status = device->driver->buffer_create(buffer, desc);
  if (status != MTL_OK) {
    free(buffer);
    return status;
  }
  buffer->label = mtli_label_copy(desc->label);
  mtl_device_retain(device);  // +1
  *out_buffer = buffer;
  return MTL_OK;
}

mtl_status mtl_buffer_create(mtl_device *device, const mtl_buffer_desc *desc,
                             mtl_buffer **out_buffer) {
  if (!device || !desc || !out_buffer) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_buffer_create: %s is NULL",
                     !device ? "device"
                     : !desc ? "desc"
                             : "out_buffer");
  }
  *out_buffer = NULL;
  MTL_TRY(mtli_device_check(device));
  MTL_TRY(check_desc(device, desc));
  MTL_TRY(reserve(device, desc->length_bytes));
  const mtl_status status = buffer_allocate(device, desc, NULL, 0, out_buffer);
  if (status != MTL_OK) {
    give_back(device, desc->length_bytes);
    return status;
  }
  list_add(*out_buffer);
  return MTL_OK;
}

mtl_status mtli_buffer_create_in(mtl_heap *heap, mtl_buffer *memory,
                                 const mtl_buffer_desc *desc,
                                 size_t offset_bytes, mtl_buffer **out_buffer) {
  MTL_TRY(
      buffer_allocate(memory->device, desc, memory, offset_bytes, out_buffer));
  (*out_buffer)->heap = mtl_heap_retain(heap);  // +1
  list_add(*out_buffer);
  return MTL_OK;
}

static mtl_status check_view(mtl_device *device, const mtl_buffer *buffer) {
  static const char call[] = "mtl_buffer_create_remote_view";
  mtl_device *other = buffer->device;
  if (other == device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: buffer '%s' is of device '%s' itself", call,
                     mtl_buffer_label(buffer), device->info.name);
  }
  if (buffer->storage_mode != MTL_STORAGE_PRIVATE) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: buffer '%s' is not private",
                     call, mtl_buffer_label(buffer));
  }
  return other->driver == device->driver ? MTL_OK
                                         : mtli_no_device_reach(device, other);
}

mtl_status mtl_buffer_create_remote_view(mtl_device *device, mtl_buffer *buffer,
                                         mtl_buffer **out_view) {
  if (!device || !buffer || !out_view) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create_remote_view: %s is NULL",
                     !device   ? "device"
                     : !buffer ? "buffer"
                               : "out_view");
  }
  *out_view = NULL;
  MTL_TRY(mtli_device_check(device));
  MTL_TRY(check_view(device, buffer));
  // A view's view is one of the memory itself, which may be device's own.
  mtl_buffer *memory = buffer->parent ? buffer->parent : buffer;
  if (memory->device != device) {
    MTL_TRY(device->driver->device_reach(device, memory->device));
  }
  const mtl_buffer_desc desc = {.length_bytes = buffer->length_bytes,
                                .storage_mode = MTL_STORAGE_PRIVATE,
                                .hazard_tracking = buffer->hazard_tracking,
                                .label = buffer->label};
  MTL_TRY(buffer_allocate(device, &desc, memory, buffer->parent_offset_bytes,
                          out_view));
  (*out_view)->viewed = mtl_buffer_retain(buffer);  // +1
  list_add(*out_view);
  return MTL_OK;
}

mtl_buffer *mtl_buffer_retain(mtl_buffer *buffer) {
  if (buffer) {
    mtli_object_retain(&buffer->object);
  }
  return buffer;
}

void mtl_buffer_release(mtl_buffer *buffer) {
  if (buffer) {
    mtli_object_release(&buffer->object);
  }
}

void *mtl_buffer_contents(const mtl_buffer *buffer) {
  return buffer->contents;
}

size_t mtl_buffer_length(const mtl_buffer *buffer) {
  return buffer->length_bytes;
}

mtl_storage_mode mtl_buffer_storage_mode(const mtl_buffer *buffer) {
  return buffer->storage_mode;
}

mtl_device *mtl_buffer_device(const mtl_buffer *buffer) {
  return buffer->device;
}

uint64_t mtl_buffer_gpu_address(const mtl_buffer *buffer) {
  return buffer->gpu_address;
}

mtl_status mtl_buffer_did_modify_range(mtl_buffer *buffer, size_t offset_bytes,
                                       size_t length_bytes) {
  if (!buffer) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_did_modify_range: buffer is NULL");
  }
  MTL_TRY(mtli_device_check(buffer->device));
  if (buffer->storage_mode == MTL_STORAGE_PRIVATE) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_did_modify_range: buffer '%s' is private",
                     mtl_buffer_label(buffer));
  }
  if (offset_bytes > buffer->length_bytes ||
      length_bytes > buffer->length_bytes - offset_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_did_modify_range: %zu bytes at offset %zu end "
                     "past buffer '%s' of %zu bytes",
                     length_bytes, offset_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes);
  }
  if (buffer->storage_mode == MTL_STORAGE_SHARED || length_bytes == 0) {
    return MTL_OK;
  }
  return buffer->device->driver->buffer_modified(buffer, offset_bytes,
                                                 length_bytes);
}

void mtl_buffer_set_label(mtl_buffer *buffer, const char *label) {
  mtli_label_set(buffer->device, &buffer->label, label);
}

const char *mtl_buffer_label(const mtl_buffer *buffer) {
  return buffer->label ? buffer->label : "";
}
