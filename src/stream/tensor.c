// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.c: measures of strided arrays.
#include "stream/stream_parts.h"

int64_t mtl_tensor_count(const mtl_tensor *tensor) {
  int64_t count = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    count *= tensor->sizes[i];
  }
  return count;
}

size_t mtl_tensor_extent_bytes(const mtl_tensor *tensor) {
  int64_t last = 0;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    if (tensor->sizes[i] == 0) {
      return 0;
    }
    last += (tensor->sizes[i] - 1) * tensor->strides[i];
  }
  return (size_t)(last + 1) * mtl_data_type_size(tensor->type);
}

bool mtl_tensor_is_contiguous(const mtl_tensor *tensor) {
  int64_t expected = 1;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    if (tensor->sizes[i] != 1 && tensor->strides[i] != expected) {
      return mtl_tensor_count(tensor) == 0;
    }
    expected *= tensor->sizes[i];
  }
  return true;
}

mtl_status mtl_stream_set_tensor(mtl_stream *stream, uint32_t index,
                                 const mtl_tensor *tensor) {
  if (!tensor) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_stream_set_tensor: tensor is NULL");
  }
  return mtl_stream_set_buffer(stream, index, tensor->buffer,
                               tensor->offset_bytes,
                               mtl_tensor_extent_bytes(tensor));
}
