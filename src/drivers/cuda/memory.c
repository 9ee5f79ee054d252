// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: chooses where buffers reside. Shared buffers of up to
// CUDA_SMALL_BYTES are pinned host memory, which kernels read across the bus.
// Larger ones are pages that migrate to whoever touches them, prefetched to the
// GPU before the first kernel that uses them. Private buffers are the GPU's.
// Managed ones have a copy on each side. client_memory.c has the client's.
#include <stdlib.h>
#include <string.h>

#include "drivers/cuda/cuda.h"

enum {
  SLAB_BYTES = 4 << 20,
};

// --- slabs -------------------------------------------------------------------

void cuda_slabs_init(cuda_slabs *slabs, bool is_host) {
  *slabs = (cuda_slabs){.is_host = is_host};
  pthread_mutex_init(&slabs->lock, NULL);
}

void cuda_slabs_end(cuda_slabs *slabs, bool is_inherited) {
  for (size_t i = 0; i < slabs->count && !is_inherited; i++) {
    if (slabs->is_host) {
      cuda.cuMemFreeHost((void *)(uintptr_t)slabs->allocations[i]);
    } else {
      cuda.cuMemFree(slabs->allocations[i]);
    }
  }
  for (int i = 0; i < CUDA_PIECE_SIZES; i++) {
    while (slabs->free[i]) {
      cuda_free_piece *next = slabs->free[i]->next;
      free(slabs->free[i]);
      slabs->free[i] = next;
    }
  }
  free(slabs->allocations);
  free(slabs->sizes_bytes);
}

void cuda_slabs_add_ranges(cuda_slabs *slabs,
                           void (*add)(void *context, uint64_t address,
                                       uint64_t bytes),
                           void *context) {
  pthread_mutex_lock(&slabs->lock);
  for (size_t i = 0; i < slabs->count; i++) {
    add(context, slabs->allocations[i], slabs->sizes_bytes[i]);
  }
  pthread_mutex_unlock(&slabs->lock);
}

static int size_class(size_t bytes) {
  int shift = CUDA_LEAST_PIECE_SHIFT;
  while (((size_t)1 << shift) < bytes) {
    shift++;
  }
  return shift - CUDA_LEAST_PIECE_SHIFT;
}

static mtl_status allocate(cuda_slabs *slabs, size_t bytes,
                           uint64_t *out_address) {
  if (!slabs->is_host) {
    return cuda_done(cuda.cuMemAlloc(out_address, bytes), "cuMemAlloc");
  }
  void *address = NULL;
  MTL_TRY(cuda_done(
      cuda.cuMemHostAlloc(&address, bytes,
                          CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
      "cuMemHostAlloc"));
  *out_address = (uintptr_t)address;
  return MTL_OK;
}

enum { PAGE_BYTES = 4096 };

static bool add_free(cuda_slabs *slabs, int class, uint64_t address) {
  cuda_free_piece *piece = malloc(sizeof *piece);
  if (piece) {
    *piece = (cuda_free_piece){.next = slabs->free[class], .address = address};
    slabs->free[class] = piece;
  }
  return piece != NULL;
}

// Cuts a new allocation into pieces of a size. The lock is held.
static mtl_status add_slab(cuda_slabs *slabs, int class) {
  const size_t piece_bytes = (size_t)1 << (class + CUDA_LEAST_PIECE_SHIFT);
  // Limits a slab of small pieces, which would have thousands.
  const size_t most = 1024 * piece_bytes;
  const size_t bytes = most < SLAB_BYTES ? most : SLAB_BYTES;
  uint64_t *grown = realloc(slabs->allocations,
                            (slabs->count + 1) * sizeof *slabs->allocations);
  if (!grown) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a buffer");
  }
  slabs->allocations = grown;
  size_t *sizes_bytes = realloc(slabs->sizes_bytes,
                                (slabs->count + 1) * sizeof *sizes_bytes);
  if (!sizes_bytes) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a buffer");
  }
  slabs->sizes_bytes = sizes_bytes;
  uint64_t address;
  // The driver's own pieces of pinned memory begin anywhere.
  MTL_TRY(allocate(slabs, bytes + PAGE_BYTES, &address));
  slabs->sizes_bytes[slabs->count] = bytes + PAGE_BYTES;
  slabs->allocations[slabs->count++] = address;
  address = (address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  for (size_t at = bytes; at > 0; at -= piece_bytes) {
    if (!add_free(slabs, class, address + at - piece_bytes)) {
      break;
    }
  }
  return MTL_OK;
}

// True if an allocation of so many bytes is a piece; a larger one is an
// allocation of its own.
static bool is_piece(size_t bytes) {
  return bytes <= (size_t)1 << CUDA_LARGEST_PIECE_SHIFT;
}

mtl_status cuda_piece_take(cuda_slabs *slabs, size_t bytes,
                           uint64_t *out_address) {
  if (!is_piece(bytes)) {
    return allocate(slabs, bytes, out_address);
  }
  const int class = size_class(bytes);
  mtl_status status = MTL_OK;
  pthread_mutex_lock(&slabs->lock);
  if (!slabs->free[class]) {
    status = add_slab(slabs, class);
  }
  cuda_free_piece *piece = slabs->free[class];
  if (status == MTL_OK && !piece) {
    status = mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a buffer");
  }
  if (status == MTL_OK) {
    slabs->free[class] = piece->next;
    *out_address = piece->address;
    free(piece);
  }
  pthread_mutex_unlock(&slabs->lock);
  return status;
}

void cuda_piece_give(cuda_slabs *slabs, size_t bytes, uint64_t address) {
  if (!is_piece(bytes)) {
    if (slabs->is_host) {
      cuda.cuMemFreeHost((void *)(uintptr_t)address);
    } else {
      cuda.cuMemFree(address);
    }
    return;
  }
  pthread_mutex_lock(&slabs->lock);
  (void)add_free(slabs, size_class(bytes), address);
  pthread_mutex_unlock(&slabs->lock);
}

// --- buffers -----------------------------------------------------------------

static cuda_device *device_of(const cuda_buffer *buffer) {
  return cuda_device_of(buffer->buffer.device);
}

// Fills new memory of the GPU's: from its start on, or with zeros.
static mtl_status fill_new(cuda_buffer *made, const mtl_buffer_desc *desc) {
  cuda_device *device = device_of(made);
  return desc->bytes ? cuda_write(device, made->buffer.gpu_address, desc->bytes,
                                  desc->length_bytes)
                     : cuda_clear(device, made->buffer.gpu_address,
                                  desc->length_bytes);
}

// Contents need pages of their own: rounds up to pages.
static size_t pinned_bytes(size_t length_bytes) {
  return length_bytes < PAGE_BYTES ? PAGE_BYTES : length_bytes;
}

static mtl_status create_pinned(cuda_buffer *made,
                                const mtl_buffer_desc *desc) {
  MTL_TRY(cuda_piece_take(&device_of(made)->pinned,
                          pinned_bytes(desc->length_bytes),
                          &made->buffer.gpu_address));
  made->home = CUDA_PINNED;
  made->buffer.contents = (void *)(uintptr_t)made->buffer.gpu_address;
  if (desc->bytes) {
    memcpy(made->buffer.contents, desc->bytes, desc->length_bytes);
  } else {
    memset(made->buffer.contents, 0, desc->length_bytes);
  }
  return MTL_OK;
}

static mtl_status create_moving(cuda_buffer *made,
                                const mtl_buffer_desc *desc) {
  MTL_TRY(cuda_done(
      cuda.cuMemAllocManaged(&made->allocation, desc->length_bytes + PAGE_BYTES,
                             CU_MEM_ATTACH_GLOBAL),
      "cuMemAllocManaged"));
  made->home = CUDA_MANAGED;
  made->buffer.gpu_address =
      (made->allocation + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  made->buffer.contents = (void *)(uintptr_t)made->buffer.gpu_address;
  cuda.cuMemAdvise(made->buffer.gpu_address, desc->length_bytes,
                   CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device_of(made)->gpu);
  if (desc->bytes) {
    memcpy(made->buffer.contents, desc->bytes, desc->length_bytes);
    return MTL_OK;
  }
  return fill_new(made, desc);
}

static mtl_status create_own(cuda_buffer *made, const mtl_buffer_desc *desc) {
  cuda_device *device = device_of(made);
  MTL_TRY(cuda_piece_take(&device->memory, desc->length_bytes,
                          &made->buffer.gpu_address));
  made->home = CUDA_PIECE;
  if (desc->storage_mode == MTL_STORAGE_MANAGED) {
    MTL_TRY(mtli_pages_create(desc->length_bytes, 0, &made->host));
    made->buffer.contents = made->host.bytes;
    if (desc->bytes) {
      memcpy(made->host.bytes, desc->bytes, desc->length_bytes);
    }
  }
  return fill_new(made, desc);
}

// Describes memory that another library allocated; it keeps its address.
static mtl_status take_others(cuda_buffer *made, const mtl_buffer_desc *desc) {
  const CUdeviceptr address = (uintptr_t)desc->no_copy_bytes;
  unsigned type = 0;
  int gpu = -1;
  if (cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 address) ||
      cuda.cuPointerGetAttribute(&gpu, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 address) ||
      type != CU_MEMORYTYPE_DEVICE || gpu != device_of(made)->gpu) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_buffer_create: no_copy_bytes %p in private storage "
                     "is no address in the memory of device '%s'",
                     desc->no_copy_bytes, device_of(made)->device.info.name);
  }
  made->home = CUDA_OTHERS;
  made->buffer.gpu_address = address;
  return MTL_OK;
}

static mtl_status create_part(cuda_buffer *made, const mtl_buffer_desc *desc) {
  const mtl_buffer *parent = made->buffer.parent;
  const size_t offset = made->buffer.parent_offset_bytes;
  made->home = CUDA_PART;
  made->buffer.gpu_address = parent->gpu_address + offset;
  if (parent->contents) {
    made->buffer.contents = (char *)parent->contents + offset;
  }
  if (!desc->bytes) {
    return MTL_OK;
  }
  if (made->buffer.contents) {
    memcpy(made->buffer.contents, desc->bytes, desc->length_bytes);
  }
  return desc->storage_mode == MTL_STORAGE_SHARED ? MTL_OK
                                                  : fill_new(made, desc);
}

mtl_status cuda_buffer_create(mtl_buffer *base, const mtl_buffer_desc *desc) {
  cuda_buffer *made = (cuda_buffer *)base;
  if (cuda_lost_text()) {
    return mtli_fail(MTL_KERNEL_FAULT, "%s", cuda_lost_text());
  }
  cuda_enter(device_of(made));
  const mtl_status status =
      base->parent          ? create_part(made, desc)
      : desc->no_copy_bytes && desc->storage_mode == MTL_STORAGE_PRIVATE
          ? take_others(made, desc)
      : desc->no_copy_bytes ? cuda_client_memory_create(made, desc)
      : desc->storage_mode != MTL_STORAGE_SHARED ? create_own(made, desc)
      : desc->length_bytes <= CUDA_SMALL_BYTES   ? create_pinned(made, desc)
                                                 : create_moving(made, desc);
  cuda_leave();
  if (status != MTL_OK) {
    cuda_buffer_destroy(base);
  }
  return status;
}

void cuda_buffer_destroy(mtl_buffer *base) {
  cuda_buffer *buffer = (cuda_buffer *)base;
  cuda_device *device = device_of(buffer);
  mtli_pages_destroy(&buffer->host);
  if (mtli_device_is_inherited(base->device)) {
    return;
  }
  cuda_enter(device);
  switch (buffer->home) {
    case CUDA_PINNED:
      cuda_piece_give(&device->pinned, pinned_bytes(base->length_bytes),
                      base->gpu_address);
      break;
    case CUDA_PIECE:
      cuda_piece_give(&device->memory, base->length_bytes, base->gpu_address);
      break;
    case CUDA_MANAGED: cuda.cuMemFree(buffer->allocation); break;
    case CUDA_CLIENTS: cuda_client_memory_destroy(buffer); break;
    case CUDA_OTHERS:
    case CUDA_PART:
    case CUDA_NOWHERE: break;
  }
  cuda_leave();
}

cuda_buffer *cuda_buffer_whole(const mtl_buffer *part) {
  const cuda_buffer *buffer = (const cuda_buffer *)part;
  while (buffer->home == CUDA_PART) {
    buffer = (const cuda_buffer *)buffer->buffer.parent;
  }
  return (cuda_buffer *)buffer;
}

bool cuda_buffer_is_hidden(const mtl_buffer *base) {
  const cuda_buffer *buffer = cuda_buffer_whole(base);
  return buffer->home == CUDA_PIECE || buffer->home == CUDA_OTHERS;
}

// Does nothing: all memory is resident and stays.
mtl_status cuda_buffer_advise(mtl_buffer *buffer, mtli_advice advice) {
  (void)buffer;
  (void)advice;
  return MTL_OK;
}

mtl_status cuda_buffer_modified(mtl_buffer *buffer, size_t offset_bytes,
                                size_t length_bytes) {
  return cuda_write(cuda_device_of(buffer->device),
                    buffer->gpu_address + offset_bytes,
                    (const char *)buffer->contents + offset_bytes,
                    length_bytes);
}

// --- textures ----------------------------------------------------------------

// Replaces the host's tables by the GPU's copy, of which there is one.
static mtl_status find_srgb(cuda_device *device, uint64_t *address) {
  if (!*address) {
    return MTL_OK;
  }
  mtl_status status = MTL_OK;
  pthread_mutex_lock(&device->srgb_lock);
  if (!device->srgb) {
    uint64_t made;
    cuda_enter(device);
    status = cuda_piece_take(&device->memory, sizeof(mtli_srgb_tables), &made);
    cuda_leave();
    if (status == MTL_OK) {
      status = cuda_write(device, made, (const void *)(uintptr_t)*address,
                          sizeof(mtli_srgb_tables));
    }
    device->srgb = status == MTL_OK ? made : 0;
  }
  *address = device->srgb;
  pthread_mutex_unlock(&device->srgb_lock);
  return status;
}

mtl_status cuda_texture_create(mtl_texture *base) {
  cuda_texture *texture = (cuda_texture *)base;
  cuda_device *device = cuda_device_of(base->buffer->device);
  cuda_enter(device);
  mtl_status status = cuda_piece_take(
      &device->descriptors, sizeof base->descriptor, &texture->piece);
  cuda_leave();
  if (status != MTL_OK) {
    return status;
  }
  mtli_texture_descriptor descriptor = base->descriptor;
  status = find_srgb(device, &descriptor.srgb);
  if (status == MTL_OK) {
    status = cuda_write(device, texture->piece, &descriptor, sizeof descriptor);
  }
  if (status != MTL_OK) {
    cuda_texture_destroy(base);
    return status;
  }
  base->resource_id = texture->piece;
  return MTL_OK;
}

void cuda_texture_destroy(mtl_texture *base) {
  cuda_texture *texture = (cuda_texture *)base;
  cuda_device *device = cuda_device_of(base->buffer->device);
  if (!mtli_device_is_inherited(&device->device)) {
    cuda_piece_give(&device->descriptors, sizeof base->descriptor,
                    texture->piece);
  }
}
