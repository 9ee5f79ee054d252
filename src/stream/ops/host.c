// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.c: records host work in stream order, and reads rows of elements as
// float.
#include "stream/ops/host.h"

#include <string.h>

#include "stream/libraries/host_elements.h"
#include "stream/libraries/host_library.h"

enum {
  // Of one thread with 256-bit vectors, a low estimate: it decides on sharing.
  FLOPS_PER_NS = 40,
  // Some 10 us: long against the cost of packing an operand once more for each
  // piece, and of sharing it.
  PIECE_FLOPS = 1 << 20,
  PIECES_PER_THREAD = 4,
};

bool ops_host_is_there(mtl_stream *stream) {
  const mtl_device_info *info = mtl_device_get_info(mtl_stream_device(stream));
  return info->runs_host_work && info->has_unified_memory &&
         host_library_is_there();
}

uint64_t ops_host_pieces(mtl_stream *stream, uint64_t flops) {
  const uint64_t threads =
      mtl_device_get_info(mtl_stream_device(stream))->compute_units;
  const uint64_t worth = flops / PIECE_FLOPS + 1;
  // Each thread has as many as the others: one of a short work, several of a
  // long one, for others may keep a thread from its share.
  const uint64_t most = threads * PIECES_PER_THREAD;
  return threads == 1      ? 1
         : worth < threads ? worth
         : worth < most    ? threads
                           : most;
}

mtl_status ops_host_record(mtl_stream *stream, const ops_host_work *it) {
  mtl_buffer *buffers[OPS_HOST_TENSORS];
  size_t offsets_bytes[OPS_HOST_TENSORS];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < it->tensor_count; ++i) {
    const mtl_tensor *tensor = it->tensors[i];
    STREAM_TRY(stream_check_range(tensor->buffer, tensor->offset_bytes,
                                  mtl_tensor_extent_bytes(tensor), it->name,
                                  "a buffer"));
    buffers[i] = tensor->buffer;
    offsets_bytes[i] = tensor->offset_bytes;
    bytes +=
        (uint64_t)mtl_tensor_count(tensor) * mtl_data_type_size(tensor->type);
  }
  const mtl_host_work work = {
      .name = it->name,
      .function = it->function,
      .arguments = it->arguments,
      .arguments_bytes = it->arguments_bytes,
      .buffers = buffers,
      .offsets_bytes = offsets_bytes,
      .buffer_count = it->tensor_count,
      .scratch_bytes = it->scratch_bytes,
      .piece_count = it->piece_count,
      .piece_ns = it->flops / FLOPS_PER_NS / it->piece_count + 1,
  };
  mtl_stream_lock(stream);
  stream->pending_bytes += bytes;
  stream->statistics.bytes += bytes;
  const mtl_status status = mtl_stream_host_work(stream, &work);
  mtl_stream_unlock(stream);
  return status;
}

void host_load_row(mtl_data_type type, const void *data, int64_t from,
                   int64_t stride, int64_t count, float *target) {
  if (stride != 1) {
    for (int64_t i = 0; i < count; ++i) {
      target[i] = host_load(type, data, from + i * stride);
    }
  } else if (type == MTL_TYPE_FLOAT) {
    memcpy(target, (const float *)data + from, (size_t)count * sizeof *target);
  } else if (type == MTL_TYPE_BFLOAT) {
    const uint16_t *row = (const uint16_t *)data + from;
    for (int64_t i = 0; i < count; ++i) {
      target[i] = host_float_of_bfloat(row[i]);
    }
  } else {
    const uint16_t *row = (const uint16_t *)data + from;
    for (int64_t i = 0; i < count; ++i) {
      target[i] = host_float_of_half(row[i]);
    }
  }
}

void host_store_row(mtl_data_type type, void *data, int64_t to, int64_t stride,
                    int64_t count, const float *source) {
  if (type == MTL_TYPE_FLOAT && stride == 1) {
    memcpy((float *)data + to, source, (size_t)count * sizeof *source);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    host_store(type, data, to + i * stride, source[i]);
  }
}

bool ops_is_dense(const int32_t sizes[3], const int64_t strides[5],
                  int64_t expected) {
  for (int d = 2; d >= 0; --d) {
    if (sizes[d] != 1 && strides[d + 2] != expected) {
      return false;
    }
    expected *= sizes[d];
  }
  return true;
}
