// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// client_memory.c: buffers over the client's memory (no_copy_bytes). CUDA pins
// it when a kernel is about to use it: copies alone need no pinning, and a
// client that wraps the same memory in many buffers, or never releases them,
// pins it once or never. What the host cannot write, such as a mapped file of
// weights, is copied to the GPU instead, for it stays as it is.
#include <stdio.h>
#include <stdlib.h>

#include "drivers/cuda/cuda.h"

// --- pinned memory -----------------------------------------------------------

// Memory that is pinned for all devices of the process, and by how many buffers
// it is used.
struct cuda_pinning {
  struct cuda_pinning *next;
  char *first;
  size_t bytes;
  size_t users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_pinning *pinnings;

// True if the host can read, but not write, every page of the memory.
static bool is_read_only(const void *bytes, size_t length_bytes) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) {
    return false;
  }
  uintptr_t at = (uintptr_t)bytes;
  const uintptr_t end = at + length_bytes;
  char *line = NULL;
  size_t capacity = 0;
  while (at < end && getline(&line, &capacity, maps) > 0) {
    unsigned long first, last;
    char rights[5];
    if (sscanf(line, "%lx-%lx %4s", &first, &last, rights) != 3 || last <= at) {
      continue;
    }
    if (first > at || rights[0] != 'r' || rights[1] != '-') {
      break;
    }
    at = last;
  }
  free(line);
  fclose(maps);
  return at >= end;
}

static CUresult pin(void *bytes, size_t length_bytes) {
  const unsigned flags =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
  CUresult result = cuda.cuMemHostRegister(bytes, length_bytes, flags);
  if (result == CUDA_ERROR_INVALID_VALUE && is_read_only(bytes, length_bytes)) {
    result = cuda.cuMemHostRegister(bytes, length_bytes,
                                    flags | CU_MEMHOSTREGISTER_READ_ONLY);
  }
  return result;
}

static cuda_pinning *find_around(const char *bytes, size_t length_bytes) {
  cuda_pinning *it = pinnings;
  while (it && !(bytes >= it->first &&
                 bytes + length_bytes <= it->first + it->bytes)) {
    it = it->next;
  }
  return it;
}

// True if others, such as torch, have pinned the memory's first and last byte.
static bool is_pinned(const char *bytes, size_t length_bytes) {
  unsigned first = 0, last = 0;
  return cuda.cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    (uintptr_t)bytes) == CUDA_SUCCESS &&
         cuda.cuPointerGetAttribute(&last, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    (uintptr_t)bytes + length_bytes - 1) ==
             CUDA_SUCCESS &&
         first == CU_MEMORYTYPE_HOST && last == CU_MEMORYTYPE_HOST;
}

// Pins the memory, or finds that it is. The lock is held.
static mtl_status take_pinning(char *bytes, size_t length_bytes,
                               cuda_pinning **out_pinning) {
  cuda_pinning *it = find_around(bytes, length_bytes);
  if (it) {
    it->users++;
    *out_pinning = it;
    return MTL_OK;
  }
  cuda_pinning *made = malloc(sizeof *made);
  if (!made) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a buffer");
  }
  const CUresult result = pin(bytes, length_bytes);
  if (result == CUDA_SUCCESS) {
    *made = (cuda_pinning){
        .next = pinnings, .first = bytes, .bytes = length_bytes, .users = 1};
    pinnings = made;
    *out_pinning = made;
    return MTL_OK;
  }
  free(made);
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED &&
      is_pinned(bytes, length_bytes)) {
    return MTL_OK;
  }
  return cuda_done(result, "cuMemHostRegister of no_copy_bytes");
}

static void give_pinning(cuda_pinning *pinning) {
  pthread_mutex_lock(&lock);
  if (--pinning->users == 0) {
    cuda_pinning **at = &pinnings;
    while (*at != pinning) {
      at = &(*at)->next;
    }
    *at = pinning->next;
    cuda.cuMemHostUnregister(pinning->first);
    free(pinning);
  }
  pthread_mutex_unlock(&lock);
}

// --- buffers -----------------------------------------------------------------

mtl_status cuda_client_memory_create(cuda_buffer *made,
                                     const mtl_buffer_desc *desc) {
  made->buffer.contents = desc->no_copy_bytes;
  if (desc->length_bytes > CUDA_SMALL_BYTES &&
      is_read_only(desc->no_copy_bytes, desc->length_bytes)) {
    cuda_device *device = cuda_device_of(made->buffer.device);
    MTL_TRY(cuda_piece_take(&device->memory, desc->length_bytes,
                            &made->buffer.gpu_address));
    made->home = CUDA_PIECE;
    return cuda_write(device, made->buffer.gpu_address, desc->no_copy_bytes,
                      desc->length_bytes);
  }
  made->buffer.gpu_address = (uintptr_t)desc->no_copy_bytes;
  made->home = CUDA_CLIENTS;
  if (cuda_device_of(made->buffer.device)->shares_addresses) {
    return MTL_OK;
  }
  MTL_TRY(cuda_client_memory_pin(&made->buffer));
  return cuda_done(cuda.cuMemHostGetDevicePointer(&made->buffer.gpu_address,
                                                  desc->no_copy_bytes, 0),
                   "cuMemHostGetDevicePointer");
}

void cuda_client_memory_destroy(cuda_buffer *buffer) {
  if (buffer->pinning) {
    give_pinning(buffer->pinning);
  }
}

mtl_status cuda_client_memory_pin(mtl_buffer *base) {
  cuda_buffer *buffer = cuda_buffer_whole(base);
  // Acquire: whoever sees it sees the memory pinned.
  if (buffer->home != CUDA_CLIENTS ||
      atomic_load_explicit(&buffer->is_pinned, memory_order_acquire)) {
    return MTL_OK;
  }
  mtl_status status = MTL_OK;
  pthread_mutex_lock(&lock);
  if (!atomic_load_explicit(&buffer->is_pinned, memory_order_relaxed)) {
    status = take_pinning(buffer->buffer.contents, buffer->buffer.length_bytes,
                          &buffer->pinning);
    atomic_store_explicit(&buffer->is_pinned, status == MTL_OK,
                          memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

bool cuda_client_memory_is_pageable(const mtl_buffer *base) {
  const cuda_buffer *buffer = cuda_buffer_whole(base);
  return buffer->home == CUDA_CLIENTS &&
         !atomic_load_explicit(&buffer->is_pinned, memory_order_acquire);
}
