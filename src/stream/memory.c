// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: allocates, tracks and finds memory by its address: the pool's
// buffers and the client's.
#include "stream/stream_parts.h"

mtl_status mtl_memory_allocate(mtl_stream *stream, size_t length_bytes,
                               mtl_memory_use use, void **out_address) {
  if (!out_address) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_memory_allocate: out_address is NULL");
  }
  *out_address = NULL;
  if (length_bytes == 0) {
    return MTL_OK;
  }
  if (!stream) {
    STREAM_TRY(mtl_stream_current(&stream));
  }
  mtl_buffer *buffer = NULL;
  STREAM_TRY(buffer_pool_take(stream, length_bytes, use, &buffer));
  void *address = mtl_buffer_contents(buffer);
  const bool is_inserted = pointer_map_insert(buffer, true);
  mtl_buffer_release(buffer);  // -1; the map has its own
  if (!is_inserted) {
    return mtl_fail(MTL_OUT_OF_MEMORY,
                    "mtl_memory_allocate(%zu bytes): the pointer map cannot "
                    "take %p",
                    length_bytes, address);
  }
  *out_address = address;
  return MTL_OK;
}

mtl_status mtl_memory_free(void *address) {
  if (!address) {
    return MTL_OK;
  }
  mtl_buffer *buffer = pointer_map_remove(address, true);
  if (!buffer) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_memory_free: %p is not the start of memory from "
                    "mtl_memory_allocate",
                    address);
  }
  buffer_pool_give(buffer);
  return MTL_OK;
}

mtl_status mtl_memory_track(mtl_buffer *buffer) {
  if (!buffer || !mtl_buffer_contents(buffer)) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "mtl_memory_track: %s",
                    buffer ? "a private buffer has no address for the host"
                           : "buffer is NULL");
  }
  if (!pointer_map_insert(buffer, false)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_memory_track: addresses of buffer '%s' are tracked "
                    "already",
                    mtl_buffer_label(buffer));
  }
  return MTL_OK;
}

mtl_status mtl_memory_forget(mtl_buffer *buffer) {
  mtl_buffer *found =
      buffer ? pointer_map_remove(mtl_buffer_contents(buffer), false) : NULL;
  if (!found) {
    return mtl_fail(MTL_NOT_FOUND,
                    "mtl_memory_forget: buffer '%s' is not "
                    "tracked",
                    buffer ? mtl_buffer_label(buffer) : "NULL");
  }
  mtl_buffer_release(found);  // -1
  return MTL_OK;
}

mtl_status mtl_memory_find(const void *address, mtl_buffer **out_buffer,
                           size_t *out_offset_bytes) {
  if (!out_buffer || !out_offset_bytes) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "mtl_memory_find: %s is NULL",
                    out_buffer ? "out_offset_bytes" : "out_buffer");
  }
  *out_buffer = pointer_map_find(address, out_offset_bytes);
  if (!*out_buffer) {
    return mtl_fail(MTL_NOT_FOUND, "no tracked buffer holds address %p",
                    address);
  }
  return MTL_OK;
}
