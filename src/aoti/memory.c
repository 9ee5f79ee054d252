// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: allocates and fills the memory of a model's constants.
#include <string.h>

#include "aoti/fold.h"

AOTITorchError aoti_torch_mps_malloc(void **out_buffer, size_t num_bytes) {
  AOTI_CHECK_NOT_NULL(out_buffer);
  return mtl_memory_allocate(NULL, num_bytes, MTL_MEMORY_FOR_HOST, out_buffer);
}

AOTITorchError aoti_torch_mps_free(void *buffer) {
  mtl_buffer *found = NULL;
  size_t offset_bytes = 0;
  if (buffer && mtl_memory_find(buffer, &found, &offset_bytes) == MTL_OK) {
    fold_constants_freed(found);
    mtl_buffer_release(found);  // -1
  }
  return mtl_memory_free(buffer);
}

// Finds the buffer of target, +1, and checks that the range lies in it.
static mtl_status find_range(const void *target, size_t offset_bytes,
                             size_t size_bytes, mtl_buffer **out_buffer,
                             size_t *out_offset_bytes) {
  size_t start_bytes = 0;
  AOTI_TRY(mtl_memory_find(target, out_buffer, &start_bytes));
  const size_t room_bytes = mtl_buffer_length(*out_buffer) - start_bytes;
  if (offset_bytes > room_bytes || size_bytes > room_bytes - offset_bytes) {
    mtl_buffer_release(*out_buffer);  // -1
    *out_buffer = NULL;
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%zu bytes at offset %zu of %p: there are %zu", size_bytes,
                    offset_bytes, target, room_bytes);
  }
  *out_offset_bytes = start_bytes + offset_bytes;
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_memcpy(void *buffer, size_t constant_offset,
                                     size_t bytes_read, size_t data_size,
                                     uint8_t *constants_start) {
  if (data_size == 0) {
    return MTL_OK;
  }
  AOTI_CHECK_NOT_NULL(buffer);
  AOTI_CHECK_NOT_NULL(constants_start);
  mtl_buffer *found = NULL;
  size_t offset_bytes = 0;
  AOTI_TRY(
      find_range(buffer, constant_offset, data_size, &found, &offset_bytes));
  memcpy((char *)mtl_buffer_contents(found) + offset_bytes,
         constants_start + bytes_read, data_size);
  fold_constants_loaded(found, offset_bytes, data_size);
  mtl_buffer_release(found);  // -1
  return MTL_OK;
}

// Copies from host memory, after all work that may read the target.
static mtl_status copy_from_host(const char *source, mtl_buffer *target,
                                 size_t target_offset, size_t size_bytes) {
  AOTI_TRY(aoti_wait());
  memcpy((char *)mtl_buffer_contents(target) + target_offset, source,
         size_bytes);
  return MTL_OK;
}

static mtl_status copy_from(void *source, size_t source_offset,
                            mtl_buffer *target, size_t target_offset,
                            size_t size_bytes) {
  mtl_buffer *from = NULL;
  size_t start_bytes = 0;
  if (mtl_memory_find(source, &from, &start_bytes) != MTL_OK) {
    return copy_from_host(source, target, target_offset, size_bytes);
  }
  mtl_stream *stream = NULL;
  mtl_status status = mtl_stream_current(&stream);
  if (status == MTL_OK) {
    status = mtl_stream_copy(
        stream, from, start_bytes == 0 ? source_offset : start_bytes, target,
        target_offset, size_bytes, MTL_SYNC_COMMIT_AND_WAIT);
  }
  mtl_buffer_release(from);  // -1
  return status;
}

AOTITorchError aoti_torch_mps_copy_buffer(void *source, void *target,
                                          size_t data_size,
                                          size_t source_offset,
                                          size_t target_offset) {
  if (data_size == 0) {
    return MTL_OK;
  }
  AOTI_CHECK_NOT_NULL(source);
  AOTI_CHECK_NOT_NULL(target);
  mtl_buffer *to = NULL;
  size_t offset_bytes = 0;
  mtl_status status =
      find_range(target, target_offset, data_size, &to, &offset_bytes);
  if (status == MTL_OK) {
    status = copy_from(source, source_offset, to, offset_bytes, data_size);
    fold_constants_loaded(to, offset_bytes, data_size);
  }
  mtl_buffer_release(to);  // -1
  mtl_stream *stream = NULL;
  if (status != MTL_OK && mtl_stream_current(&stream) == MTL_OK) {
    mtl_stream_fail(stream, status, NULL);  // the caller does not look
  }
  return status;
}
