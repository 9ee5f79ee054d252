// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: allocates host memory, so that contents can be written and read
// back.
#include <string.h>

#include "drivers/null/null.h"

mtl_status null_buffer_create(mtl_buffer *buffer, const mtl_buffer_desc *desc) {
  char *bytes = desc->no_copy_bytes;
  if (buffer->parent) {
    bytes = (char *)(uintptr_t)buffer->parent->gpu_address +
            buffer->parent_offset_bytes;
  } else if (!bytes) {
    mtli_pages *pages = &((null_buffer *)buffer)->pages;
    MTL_TRY(mtli_buffer_create_pages(desc, pages));
    bytes = pages->bytes;
  }
  if (desc->bytes) {
    memcpy(bytes, desc->bytes, desc->length_bytes);
  }
  buffer->gpu_address = (uintptr_t)bytes;
  buffer->contents = desc->storage_mode == MTL_STORAGE_PRIVATE ? NULL : bytes;
  return MTL_OK;
}

void null_buffer_destroy(mtl_buffer *buffer) {
  mtli_pages_destroy(&((null_buffer *)buffer)->pages);
}

mtl_status null_buffer_advise(mtl_buffer *buffer, mtli_advice advice) {
  void *bytes = (void *)(uintptr_t)buffer->gpu_address;
  if (advice == MTLI_ADVICE_DISCARD) {
    mtli_pages_discard(bytes, buffer->length_bytes);
  } else {
    mtli_pages_prefault(bytes, buffer->length_bytes);
  }
  return MTL_OK;
}

mtl_status null_buffer_modified(mtl_buffer *buffer, size_t offset_bytes,
                                size_t length_bytes) {
  (void)buffer;
  (void)offset_bytes;
  (void)length_bytes;
  return MTL_OK;  // one memory
}

// Kernels read the host's memory: the descriptor can stay where it is.
mtl_status null_texture_create(mtl_texture *texture) {
  texture->resource_id = (uintptr_t)&texture->descriptor;
  return MTL_OK;
}

void null_texture_destroy(mtl_texture *texture) {
  (void)texture;
}
