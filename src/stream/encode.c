// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encode.c: records dispatches, copies and fills on a stream. Invalid calls are
// refused here, before they can fail the whole batch.
#include <inttypes.h>

#include "stream/stream_parts.h"

// Locks the stream for one call, and keeps the call's failure.
static mtl_status leave(mtl_stream *stream, mtl_status status) {
  stream_keep(stream, status);
  mtl_stream_unlock(stream);
  return status;
}

static mtl_status start(mtl_stream *stream, mtl_kernel *kernel) {
  if (!kernel) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_stream_start_encoding: kernel is NULL");
  }
  STREAM_TRY(stream_open_encoder(stream));
  mtl_compute_encoder_set_pipeline(stream->encoder,
                                   mtl_kernel_pipeline(kernel));
  stream->kernel = kernel;
  stream->set_mask = 0;
  return MTL_OK;
}

mtl_status mtl_stream_start_encoding(mtl_stream *stream, mtl_kernel *kernel) {
  mtl_stream_lock(stream);
  return leave(stream, start(stream, kernel));
}

static mtl_status check_encoding(const mtl_stream *stream, const char *call) {
  if (!stream->kernel) {
    return mtl_fail(MTL_INVALID_STATE,
                    "%s: nothing is being encoded; start with "
                    "mtl_stream_start_encoding",
                    call);
  }
  return MTL_OK;
}

static mtl_status check_index(const mtl_stream *stream, uint32_t index,
                              const char *call) {
  STREAM_TRY(check_encoding(stream, call));
  if (index >= STREAM_BUFFER_COUNT) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: kernel '%s': index %u is over the limit of %d", call,
                    mtl_kernel_name(stream->kernel), index,
                    STREAM_BUFFER_COUNT - 1);
  }
  return MTL_OK;
}

mtl_status stream_check_range(const mtl_buffer *buffer, size_t offset_bytes,
                              size_t length_bytes, const char *call,
                              const char *part) {
  if (!buffer) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call, part);
  }
  const size_t size = mtl_buffer_length(buffer);
  if (offset_bytes > size || length_bytes > size - offset_bytes) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: %zu bytes at offset %zu end past %s of %zu bytes",
                    call, length_bytes, offset_bytes, part, size);
  }
  return MTL_OK;
}

static void count_argument(mtl_stream *stream, uint32_t index, uint64_t bytes) {
  stream->set_mask |= 1u << index;
  stream->bound_mask |= 1u << index;
  stream->pending_bytes += bytes;
  stream->statistics.bytes += bytes;
}

static mtl_status set_buffer(mtl_stream *stream, uint32_t index,
                             mtl_buffer *buffer, size_t offset_bytes,
                             size_t length_bytes) {
  static const char call[] = "mtl_stream_set_buffer";
  STREAM_TRY(check_index(stream, index, call));
  STREAM_TRY(
      stream_check_range(buffer, offset_bytes, length_bytes, call, "buffer"));
  mtl_compute_encoder_set_buffer(stream->encoder, buffer, offset_bytes, index);
  count_argument(
      stream, index,
      length_bytes ? length_bytes : mtl_buffer_length(buffer) - offset_bytes);
  return MTL_OK;
}

mtl_status mtl_stream_set_buffer(mtl_stream *stream, uint32_t index,
                                 mtl_buffer *buffer, size_t offset_bytes,
                                 size_t length_bytes) {
  mtl_stream_lock(stream);
  return leave(stream,
               set_buffer(stream, index, buffer, offset_bytes, length_bytes));
}

mtl_status mtl_stream_set_address(mtl_stream *stream, uint32_t index,
                                  const void *address, size_t length_bytes) {
  mtl_buffer *buffer = NULL;
  size_t offset_bytes = 0;
  mtl_stream_lock(stream);
  mtl_status status = mtl_memory_find(address, &buffer, &offset_bytes);
  if (status == MTL_OK) {
    status = set_buffer(stream, index, buffer, offset_bytes, length_bytes);
    mtl_buffer_release(buffer);  // -1; recorded work has its own
  }
  return leave(stream, status);
}

static mtl_status set_bytes(mtl_stream *stream, uint32_t index,
                            const void *bytes, size_t length_bytes) {
  static const char call[] = "mtl_stream_set_bytes";
  STREAM_TRY(check_index(stream, index, call));
  if (!bytes || length_bytes == 0 || length_bytes > 4096) {  // as Metal
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: kernel '%s': index %u: %zu bytes at %p, not 1 to 4096",
                    call, mtl_kernel_name(stream->kernel), index, length_bytes,
                    bytes);
  }
  mtl_compute_encoder_set_bytes(stream->encoder, bytes, length_bytes, index);
  count_argument(stream, index, 0);
  return MTL_OK;
}

mtl_status mtl_stream_set_bytes(mtl_stream *stream, uint32_t index,
                                const void *bytes, size_t length_bytes) {
  mtl_stream_lock(stream);
  return leave(stream, set_bytes(stream, index, bytes, length_bytes));
}

mtl_status mtl_stream_set_int64(mtl_stream *stream, uint32_t index,
                                int64_t value) {
  return mtl_stream_set_bytes(stream, index, &value, sizeof value);
}

// Unbinds arguments of an earlier dispatch that this one has not bound.
static void forget_arguments(mtl_stream *stream) {
  const uint32_t stale = stream->bound_mask & ~stream->set_mask;
  for (uint32_t i = 0; stale >> i != 0 && i < STREAM_BUFFER_COUNT; ++i) {
    if (stale >> i & 1) {
      mtl_compute_encoder_set_buffer(stream->encoder, NULL, 0, i);
    }
  }
  stream->bound_mask = stream->set_mask;
}

static void count_dispatch(mtl_stream *stream) {
  stream->kernel = NULL;
  stream->statistics.dispatches += 1;
  stream->statistics.pending_dispatches += 1;
  stream_flush(stream);
}

static mtl_status check_sizes(const mtl_stream *stream, const uint64_t *sizes,
                              size_t rank, const char *what) {
  if (!sizes || rank < 1 || rank > 3) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_stream_dispatch: kernel '%s': a %s of %zu dimensions, "
                    "not 1 to 3",
                    mtl_kernel_name(stream->kernel), what, sizes ? rank : 0);
  }
  for (size_t i = 0; i < rank; ++i) {
    if (sizes[i] > UINT32_MAX) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "mtl_stream_dispatch: kernel '%s': a %s of %" PRIu64
                      " threads along dimension %zu is over %u",
                      mtl_kernel_name(stream->kernel), what, sizes[i], i,
                      UINT32_MAX);
    }
  }
  return MTL_OK;
}

static mtl_size size_of(const uint64_t *sizes, size_t rank) {
  return (mtl_size){(uint32_t)sizes[0], rank > 1 ? (uint32_t)sizes[1] : 1,
                    rank > 2 ? (uint32_t)sizes[2] : 1};
}

// As many threads as the pipeline allows along x, then y, then z, and no more
// than the grid has. Of an x that leaves most of a simdgroup to y, one: lanes
// then are a constant stride apart.
static mtl_size choose_group(mtl_size grid, uint32_t limit) {
  mtl_size group = {grid.x < limit ? grid.x : limit, 1, 1};
  if (grid.x < MTL_SIMD_WIDTH / 4 && grid.y >= MTL_SIMD_WIDTH) {
    group.x = 1;
  }
  limit /= group.x;
  group.y = grid.y < limit ? grid.y : limit;
  limit /= group.y;
  group.z = grid.z < limit ? grid.z : limit;
  return group;
}

static mtl_status check_group(const mtl_stream *stream, mtl_size group,
                              uint32_t limit) {
  const uint64_t area = (uint64_t)group.x * group.y;
  if (area == 0 || group.z == 0 || area > limit || area * group.z > limit) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_stream_dispatch: kernel '%s': a threadgroup of "
                    "%ux%ux%u threads; the pipeline allows 1 to %u",
                    mtl_kernel_name(stream->kernel), group.x, group.y, group.z,
                    limit);
  }
  return MTL_OK;
}

static mtl_status dispatch(mtl_stream *stream, const uint64_t *grid_threads,
                           size_t rank, const uint64_t *group_threads) {
  STREAM_TRY(check_encoding(stream, "mtl_stream_dispatch"));
  STREAM_TRY(check_sizes(stream, grid_threads, rank, "grid"));
  const mtl_size grid = size_of(grid_threads, rank);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    stream->kernel = NULL;
    return MTL_OK;
  }
  const uint32_t limit = mtl_pipeline_max_total_threads_per_threadgroup(
      mtl_kernel_pipeline(stream->kernel));
  mtl_size group;
  if (group_threads) {
    STREAM_TRY(check_sizes(stream, group_threads, rank, "threadgroup"));
    group = size_of(group_threads, rank);
  } else {
    group = choose_group(grid, limit);
  }
  STREAM_TRY(check_group(stream, group, limit));
  forget_arguments(stream);
  mtl_compute_encoder_dispatch_threads(stream->encoder, grid, group);
  count_dispatch(stream);
  return MTL_OK;
}

mtl_status mtl_stream_dispatch(mtl_stream *stream, const uint64_t *grid_threads,
                               size_t rank, const uint64_t *group_threads) {
  mtl_stream_lock(stream);
  return leave(stream, dispatch(stream, grid_threads, rank, group_threads));
}

static mtl_status dispatch_groups(mtl_stream *stream, mtl_size groups,
                                  mtl_size group) {
  STREAM_TRY(check_encoding(stream, "mtl_stream_dispatch_threadgroups"));
  STREAM_TRY(check_group(stream, group,
                         mtl_pipeline_max_total_threads_per_threadgroup(
                             mtl_kernel_pipeline(stream->kernel))));
  forget_arguments(stream);
  mtl_compute_encoder_dispatch_threadgroups(stream->encoder, groups, group);
  count_dispatch(stream);
  return MTL_OK;
}

mtl_status mtl_stream_dispatch_threadgroups(mtl_stream *stream, mtl_size groups,
                                            mtl_size group_threads) {
  mtl_stream_lock(stream);
  return leave(stream, dispatch_groups(stream, groups, group_threads));
}

// --- Host work ---------------------------------------------------------------

static mtl_status host_work(mtl_stream *stream, const mtl_host_work *work) {
  if (!mtl_device_get_info(stream->device)->runs_host_work) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "mtl_stream_host_work: the device runs none");
  }
  STREAM_TRY(mtl_stream_synchronize(stream, MTL_SYNC_NONE));
  STREAM_TRY(stream_open(stream));
  mtl_command_buffer_host_work(stream->commands, work);
  count_dispatch(stream);
  return MTL_OK;
}

mtl_status mtl_stream_host_work(mtl_stream *stream, const mtl_host_work *work) {
  mtl_stream_lock(stream);
  return leave(stream, host_work(stream, work));
}

static mtl_status native_work(mtl_stream *stream, const mtl_native_work *work) {
  if (!mtl_device_get_info(stream->device)->runs_native_work) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "mtl_stream_native_work: the device runs none");
  }
  STREAM_TRY(mtl_stream_synchronize(stream, MTL_SYNC_NONE));
  STREAM_TRY(stream_open(stream));
  mtl_command_buffer_native_work(stream->commands, work);
  count_dispatch(stream);
  return MTL_OK;
}

mtl_status mtl_stream_native_work(mtl_stream *stream,
                                  const mtl_native_work *work) {
  mtl_stream_lock(stream);
  return leave(stream, native_work(stream, work));
}

// --- Copies ------------------------------------------------------------------

// Opens an encoder for copies; the compute encoder ends.
static mtl_status open_blit(mtl_stream *stream, mtl_blit_encoder **out_blit) {
  STREAM_TRY(mtl_stream_synchronize(stream, MTL_SYNC_NONE));
  STREAM_TRY(stream_open(stream));
  return mtl_blit_encoder_create(stream->commands, out_blit);
}

static mtl_status close_blit(mtl_stream *stream, mtl_blit_encoder *blit,
                             size_t length_bytes) {
  const mtl_status status = mtl_blit_encoder_end(blit);
  mtl_blit_encoder_release(blit);  // -1
  stream->statistics.copies += 1;
  stream->statistics.bytes += length_bytes;
  stream->pending_bytes += length_bytes;
  return status;
}

static mtl_status copy(mtl_stream *stream, mtl_buffer *source,
                       size_t source_offset_bytes, mtl_buffer *target,
                       size_t target_offset_bytes, size_t length_bytes) {
  static const char call[] = "mtl_stream_copy";
  STREAM_TRY(stream_check_range(source, source_offset_bytes, length_bytes, call,
                                "source"));
  STREAM_TRY(stream_check_range(target, target_offset_bytes, length_bytes, call,
                                "target"));
  const size_t apart = source_offset_bytes < target_offset_bytes
                           ? target_offset_bytes - source_offset_bytes
                           : source_offset_bytes - target_offset_bytes;
  if (source == target && apart < length_bytes) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: %zu bytes at offsets %zu and %zu of one buffer "
                    "overlap",
                    call, length_bytes, source_offset_bytes,
                    target_offset_bytes);
  }
  if (length_bytes == 0) {
    return MTL_OK;
  }
  mtl_blit_encoder *blit = NULL;
  STREAM_TRY(open_blit(stream, &blit));
  mtl_blit_encoder_copy(blit, source, source_offset_bytes, target,
                        target_offset_bytes, length_bytes);
  return close_blit(stream, blit, length_bytes);
}

static mtl_status fill(mtl_stream *stream, mtl_buffer *buffer,
                       size_t offset_bytes, size_t length_bytes,
                       uint8_t value) {
  STREAM_TRY(stream_check_range(buffer, offset_bytes, length_bytes,
                                "mtl_stream_fill", "buffer"));
  if (length_bytes == 0) {
    return MTL_OK;
  }
  mtl_blit_encoder *blit = NULL;
  STREAM_TRY(open_blit(stream, &blit));
  mtl_blit_encoder_fill(blit, buffer, offset_bytes, length_bytes, value);
  return close_blit(stream, blit, length_bytes);
}

// Keeps the call's failure, and synchronises if there is none.
static mtl_status finish(mtl_stream *stream, mtl_status status,
                         mtl_sync_mode mode) {
  stream_keep(stream, status);
  mtl_stream_unlock(stream);
  return status == MTL_OK ? mtl_stream_synchronize(stream, mode) : status;
}

mtl_status mtl_stream_copy(mtl_stream *stream, mtl_buffer *source,
                           size_t source_offset_bytes, mtl_buffer *target,
                           size_t target_offset_bytes, size_t length_bytes,
                           mtl_sync_mode mode) {
  mtl_stream_lock(stream);
  return finish(stream,
                copy(stream, source, source_offset_bytes, target,
                     target_offset_bytes, length_bytes),
                mode);
}

mtl_status mtl_stream_fill(mtl_stream *stream, mtl_buffer *buffer,
                           size_t offset_bytes, size_t length_bytes,
                           uint8_t value, mtl_sync_mode mode) {
  mtl_stream_lock(stream);
  return finish(stream, fill(stream, buffer, offset_bytes, length_bytes, value),
                mode);
}
