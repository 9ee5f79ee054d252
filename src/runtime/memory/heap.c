// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heap.c: heaps: one buffer of memory each, whose ranges are buffers too.
// heap_space.c knows which are taken, purgeable.c has the purgeable states.
#include "mettle/heap.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/machine.h"
#include "runtime/memory/heap_space.h"
#include "runtime/texture/texture.h"

// The alignment of every resource: Metal's, and a multiple of a cache line.
enum { ALIGNMENT = 256 };

struct mtl_heap {
  mtli_object object;
  mtl_heap_type type;
  bool tracks_hazards;
  size_t length_bytes;
  mtl_buffer *memory;    // +1; its label is the heap's
  pthread_mutex_t lock;  // of space
  mtli_heap_space space;
};

mtl_buffer *mtli_heap_memory(const mtl_heap *heap) {
  return heap->memory;
}

static size_t round_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// --- life -------------------------------------------------------------------

static void heap_destroy(mtli_object *object) {
  mtl_heap *heap = (mtl_heap *)object;
  pthread_mutex_destroy(&heap->lock);
  mtli_heap_space_clear(&heap->space);
  mtl_buffer_release(heap->memory);  // -1
  free(heap);
}

static mtl_status check_desc(const mtl_device *device,
                             const mtl_heap_desc *desc) {
  MTL_TRY(
      mtli_buffer_check_length(device, desc->length_bytes, "mtl_heap_create"));
  if ((unsigned)desc->type > MTL_HEAP_PLACEMENT) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_heap_create: type %d does not exist",
                     (int)desc->type);
  }
  return MTL_OK;
}

mtl_status mtl_heap_create(mtl_device *device, const mtl_heap_desc *desc,
                           mtl_heap **out_heap) {
  if (!device || !desc || !out_heap) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_heap_create: %s is NULL",
                     !device ? "device"
                     : !desc ? "desc"
                             : "out_heap");
  }
  *out_heap = NULL;
  MTL_TRY(mtli_device_check(device));
  if (!device->driver->has_heaps) {
    return mtli_fail(MTL_UNSUPPORTED, "device '%s' has no heaps",
                     device->info.name);
  }
  MTL_TRY(check_desc(device, desc));
  mtl_heap *heap = calloc(1, sizeof *heap);
  if (!heap) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a heap object");
  }
  const mtl_buffer_desc memory = {.length_bytes = round_up(desc->length_bytes),
                                  .storage_mode = desc->storage_mode,
                                  .hazard_tracking = desc->tracks_hazards
                                                         ? MTL_HAZARD_TRACKED
                                                         : MTL_HAZARD_UNTRACKED,
                                  .label = desc->label};
  const mtl_status status = mtl_buffer_create(device, &memory, &heap->memory);
  if (status != MTL_OK) {
    free(heap);
    return status;
  }
  mtli_object_init(&heap->object, heap_destroy);
  pthread_mutex_init(&heap->lock, NULL);
  heap->type = desc->type;
  heap->tracks_hazards = desc->tracks_hazards;
  heap->length_bytes = desc->length_bytes;
  heap->space.length = desc->length_bytes;
  *out_heap = heap;
  return MTL_OK;
}

mtl_heap *mtl_heap_retain(mtl_heap *heap) {
  if (heap) {
    mtli_object_retain(&heap->object);
  }
  return heap;
}

void mtl_heap_release(mtl_heap *heap) {
  if (heap) {
    mtli_object_release(&heap->object);
  }
}

mtl_device *mtl_heap_device(const mtl_heap *heap) {
  return heap->memory->device;
}

size_t mtl_heap_length(const mtl_heap *heap) {
  return heap->length_bytes;
}

mtl_heap_type mtl_heap_get_type(const mtl_heap *heap) {
  return heap->type;
}

mtl_storage_mode mtl_heap_storage_mode(const mtl_heap *heap) {
  return heap->memory->storage_mode;
}

bool mtl_heap_tracks_hazards(const mtl_heap *heap) {
  return heap->tracks_hazards;
}

void mtl_heap_set_label(mtl_heap *heap, const char *label) {
  mtl_buffer_set_label(heap->memory, label);
}

const char *mtl_heap_label(const mtl_heap *heap) {
  return mtl_buffer_label(heap->memory);
}

// --- sizes ------------------------------------------------------------------

size_t mtl_heap_used_bytes(const mtl_heap *heap) {
  pthread_mutex_t *lock = &((mtl_heap *)heap)->lock;
  pthread_mutex_lock(lock);
  const size_t used_bytes = mtli_heap_space_used(&heap->space);
  pthread_mutex_unlock(lock);
  return used_bytes;
}

size_t mtl_heap_current_allocated_bytes(const mtl_heap *heap) {
  const size_t page_bytes = mtli_machine_page_bytes();
  return (heap->length_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

size_t mtl_heap_max_available_bytes(const mtl_heap *heap,
                                    size_t alignment_bytes) {
  const size_t alignment =
      alignment_bytes > ALIGNMENT ? alignment_bytes : ALIGNMENT;
  if (alignment & (alignment - 1)) {
    return 0;  // no power of two
  }
  pthread_mutex_t *lock = &((mtl_heap *)heap)->lock;
  pthread_mutex_lock(lock);
  const size_t largest = mtli_heap_space_largest(&heap->space, alignment);
  pthread_mutex_unlock(lock);
  return largest;
}

static mtl_status check_pointers(const void *owner, const char *owner_name,
                                 const void *desc, const void *out,
                                 const char *call) {
  if (owner && desc && out) {
    return MTL_OK;
  }
  return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                   !owner  ? owner_name
                   : !desc ? "desc"
                           : "the place for the result");
}

mtl_status mtl_device_heap_buffer_size_and_align(mtl_device *device,
                                                 size_t length_bytes,
                                                 mtl_size_and_align *out_size) {
  static const char call[] = "mtl_device_heap_buffer_size_and_align";
  MTL_TRY(check_pointers(device, "device", call, out_size, call));
  MTL_TRY(mtli_buffer_check_length(device, length_bytes, call));
  *out_size = (mtl_size_and_align){.size_bytes = round_up(length_bytes),
                                   .align_bytes = ALIGNMENT};
  return MTL_OK;
}

mtl_status mtl_device_heap_texture_size_and_align(
    mtl_device *device, const mtl_texture_desc *desc,
    mtl_size_and_align *out_size) {
  static const char call[] = "mtl_device_heap_texture_size_and_align";
  MTL_TRY(check_pointers(device, "device", desc, out_size, call));
  size_t length_bytes = 0;
  MTL_TRY(mtli_texture_length(device, desc, call, &length_bytes));
  *out_size = (mtl_size_and_align){.size_bytes = round_up(length_bytes),
                                   .align_bytes = ALIGNMENT};
  return MTL_OK;
}

// --- resources --------------------------------------------------------------

static mtl_status check_buffer(const mtl_heap *heap,
                               const mtl_buffer_desc *desc, size_t offset_bytes,
                               const char *call) {
  const mtl_storage_mode mode = heap->memory->storage_mode;
  if (desc->length_bytes == 0 || desc->length_bytes > heap->length_bytes) {
    return mtli_fail(
        desc->length_bytes ? MTL_OUT_OF_MEMORY : MTL_INVALID_ARGUMENT,
        "%s: length %zu is not within 1 to %zu bytes, all of heap '%s'", call,
        desc->length_bytes, heap->length_bytes, mtl_heap_label(heap));
  }
  if (desc->storage_mode != mode) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: storage mode %d; that of heap '%s' is %d", call,
                     (int)desc->storage_mode, mtl_heap_label(heap), (int)mode);
  }
  if (desc->no_copy_bytes || desc->guarded) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %s: memory of a heap is what it is", call,
                     desc->guarded ? "guarded" : "no_copy_bytes");
  }
  if (heap->type == MTL_HEAP_AUTOMATIC && offset_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: offset %zu in heap '%s', which finds places itself",
                     call, offset_bytes, mtl_heap_label(heap));
  }
  if (offset_bytes % ALIGNMENT ||
      offset_bytes > heap->length_bytes - desc->length_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %zu bytes at offset %zu, a multiple of %d, do not "
                     "lie in heap '%s' of %zu bytes",
                     call, desc->length_bytes, offset_bytes, ALIGNMENT,
                     mtl_heap_label(heap), heap->length_bytes);
  }
  return MTL_OK;
}

// Returns a resource's range; the last one may end with the heap.
static mtli_heap_range range_of(const mtl_heap *heap, size_t first,
                                size_t length_bytes) {
  const size_t rest_bytes = heap->length_bytes - first;
  const size_t rounded_bytes = round_up(length_bytes);
  return (mtli_heap_range){
      .first = first,
      .length = rounded_bytes < rest_bytes ? rounded_bytes : rest_bytes};
}

// Finds and takes a place. The lock is held.
static mtl_status take_place(mtl_heap *heap, size_t length_bytes,
                             size_t *offset_bytes, const char *call) {
  if (heap->type == MTL_HEAP_AUTOMATIC &&
      !mtli_heap_space_find(&heap->space, length_bytes, ALIGNMENT,
                            offset_bytes)) {
    return mtli_fail(MTL_OUT_OF_MEMORY,
                     "%s: no place for %zu bytes in heap '%s': %zu of %zu are "
                     "in use, the largest place has %zu",
                     call, length_bytes, mtl_heap_label(heap),
                     mtli_heap_space_used(&heap->space), heap->length_bytes,
                     mtli_heap_space_largest(&heap->space, ALIGNMENT));
  }
  if (!mtli_heap_space_take(&heap->space,
                            range_of(heap, *offset_bytes, length_bytes))) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "%s: no memory for a place", call);
  }
  return MTL_OK;
}

static void give_place(mtl_heap *heap, size_t offset_bytes,
                       size_t length_bytes) {
  pthread_mutex_lock(&heap->lock);
  mtli_heap_space_give(&heap->space,
                       range_of(heap, offset_bytes, length_bytes));
  pthread_mutex_unlock(&heap->lock);
}

mtl_status mtl_heap_create_buffer(mtl_heap *heap, const mtl_buffer_desc *desc,
                                  size_t offset_bytes,
                                  mtl_buffer **out_buffer) {
  static const char call[] = "mtl_heap_create_buffer";
  MTL_TRY(check_pointers(heap, "heap", desc, out_buffer, call));
  *out_buffer = NULL;
  MTL_TRY(mtli_device_check(heap->memory->device));
  MTL_TRY(check_buffer(heap, desc, offset_bytes, call));
  pthread_mutex_lock(&heap->lock);
  mtl_status status = take_place(heap, desc->length_bytes, &offset_bytes, call);
  pthread_mutex_unlock(&heap->lock);
  MTL_TRY(status);
  mtl_buffer_desc own = *desc;
  own.hazard_tracking = heap->memory->hazard_tracking;
  status =
      mtli_buffer_create_in(heap, heap->memory, &own, offset_bytes, out_buffer);
  if (status != MTL_OK) {
    give_place(heap, offset_bytes, desc->length_bytes);
  }
  return status;
}

void mtli_heap_leave(const mtl_buffer *buffer) {
  mtl_heap *heap = buffer->heap;
  if (!mtli_device_is_inherited(buffer->device) &&
      !atomic_load_explicit(&buffer->is_aliasable, memory_order_relaxed)) {
    give_place(heap, buffer->parent_offset_bytes, buffer->length_bytes);
  }
  mtl_heap_release(heap);  // -1
}

mtl_heap *mtl_buffer_heap(const mtl_buffer *buffer) {
  return buffer->heap;
}

size_t mtl_buffer_heap_offset(const mtl_buffer *buffer) {
  return buffer->parent_offset_bytes;
}

mtl_heap *mtl_texture_heap(const mtl_texture *texture) {
  return texture->buffer->heap;
}

size_t mtl_texture_heap_offset(const mtl_texture *texture) {
  return texture->buffer->parent_offset_bytes;
}

mtl_status mtl_buffer_make_aliasable(mtl_buffer *buffer) {
  static const char call[] = "mtl_buffer_make_aliasable";
  if (!buffer || !buffer->heap) {
    return mtli_fail(
        MTL_INVALID_ARGUMENT, "%s: %s", call,
        buffer ? "the resource lies in no heap" : "the resource is NULL");
  }
  MTL_TRY(mtli_device_check(buffer->device));
  // Relaxed: the heap's lock orders the place.
  if (!atomic_exchange_explicit(&buffer->is_aliasable, true,
                                memory_order_relaxed)) {
    give_place(buffer->heap, buffer->parent_offset_bytes, buffer->length_bytes);
  }
  return MTL_OK;
}

mtl_status mtl_texture_make_aliasable(mtl_texture *texture) {
  return mtl_buffer_make_aliasable(texture ? texture->buffer : NULL);
}

bool mtl_buffer_is_aliasable(const mtl_buffer *buffer) {
  return buffer->heap &&
         (buffer->heap->type == MTL_HEAP_PLACEMENT ||
          atomic_load_explicit(&buffer->is_aliasable, memory_order_relaxed));
}

bool mtl_texture_is_aliasable(const mtl_texture *texture) {
  return mtl_buffer_is_aliasable(texture->buffer);
}
