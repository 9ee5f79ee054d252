// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common.c: shapes, dispatches and scratch memory of graph operations.
#include <stdio.h>
#include <string.h>

#include "stream/ops/parts.h"

static bool can_merge(const ops_shape *shape, uint32_t outer, uint32_t d,
                      const mtl_tensor *const *tensors, size_t count) {
  const int64_t size = tensors[0]->sizes[d];
  if ((int64_t)shape->sizes[outer] * size > INT32_MAX) {
    return false;
  }
  for (size_t t = 0; t < count; ++t) {
    if (shape->strides[t][outer] != tensors[t]->strides[d] * size) {
      return false;
    }
  }
  return true;
}

uint64_t ops_shape_of(ops_shape *shape, uint32_t rank,
                      const mtl_tensor *const *tensors, size_t count) {
  *shape = (ops_shape){0};
  uint64_t product = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    const int64_t size = tensors[0]->sizes[d];
    product *= (uint64_t)size;
    if (size == 1) {
      continue;
    }
    uint32_t to = (uint32_t)shape->rank;
    if (to > 0 && can_merge(shape, to - 1, d, tensors, count)) {
      shape->sizes[--to] *= (int32_t)size;
    } else {
      shape->sizes[to] = (int32_t)size;
      ++shape->rank;
    }
    for (size_t t = 0; t < count; ++t) {
      shape->strides[t][to] = tensors[t]->strides[d];
    }
  }
  return product;
}

// Writes sizes as (2, 3) for an error's text.
static const char *sizes_text(const mtl_tensor *tensor, char text[256]) {
  size_t length = (size_t)snprintf(text, 256, "(");
  for (uint32_t i = 0; i < tensor->rank && length < 230; ++i) {
    length += (size_t)snprintf(text + length, 256 - length, "%s%lld",
                               i ? ", " : "", (long long)tensor->sizes[i]);
  }
  snprintf(text + length, 256 - length, ")");
  return text;
}

static mtl_status fail_sizes(const char *operation, const char *part,
                             const mtl_tensor *tensor, uint32_t rank,
                             const int64_t *sizes) {
  mtl_tensor wanted = {.rank = rank};
  memcpy(wanted.sizes, sizes, rank * sizeof *sizes);
  char is[256], want[256];
  return mtl_fail(MTL_INVALID_ARGUMENT, "%s: %s has sizes %s, not %s",
                  operation, part, sizes_text(tensor, is),
                  sizes_text(&wanted, want));
}

mtl_status ops_broadcast(const char *operation, const char *part,
                         const mtl_tensor *in, uint32_t rank,
                         const int64_t *sizes, mtl_tensor *out) {
  *out = *in;
  out->rank = rank;
  if (in->rank > rank) {
    return fail_sizes(operation, part, in, rank, sizes);
  }
  for (uint32_t d = 0; d < rank; ++d) {
    const bool is_there = d >= rank - in->rank;
    const uint32_t from = d - (rank - in->rank);
    const int64_t size = is_there ? in->sizes[from] : 1;
    if (size != sizes[d] && size != 1) {
      return fail_sizes(operation, part, in, rank, sizes);
    }
    out->sizes[d] = sizes[d];
    out->strides[d] = size == sizes[d] && is_there ? in->strides[from] : 0;
  }
  return MTL_OK;
}

mtl_status ops_check_sizes(const char *operation, const char *part,
                           const mtl_tensor *tensor, uint32_t rank,
                           const int64_t *sizes) {
  if (tensor->rank != rank ||
      memcmp(tensor->sizes, sizes, rank * sizeof *sizes) != 0) {
    return fail_sizes(operation, part, tensor, rank, sizes);
  }
  return MTL_OK;
}

mtl_status ops_dimension(const char *operation, const mtl_tensor *tensor,
                         int64_t dimension, uint32_t *out_dimension) {
  const int64_t rank = tensor->rank ? tensor->rank : 1;
  if (dimension < -rank || dimension >= rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: dimension %lld of a tensor of rank %u", operation,
                    (long long)dimension, tensor->rank);
  }
  *out_dimension = (uint32_t)(dimension < 0 ? dimension + rank : dimension);
  return MTL_OK;
}

mtl_tensor ops_moved_last(const mtl_tensor *tensor, uint32_t dimension) {
  mtl_tensor moved = *tensor;
  if (tensor->rank == 0) {
    moved.rank = 1;
    moved.sizes[0] = 1;
    moved.strides[0] = 0;
    return moved;
  }
  const uint32_t last = tensor->rank - 1;
  for (uint32_t d = dimension; d < last; ++d) {
    moved.sizes[d] = tensor->sizes[d + 1];
    moved.strides[d] = tensor->strides[d + 1];
  }
  moved.sizes[last] = tensor->sizes[dimension];
  moved.strides[last] = tensor->strides[dimension];
  return moved;
}

bool ops_is_floating(mtl_data_type type) {
  return type == MTL_TYPE_HALF || type == MTL_TYPE_BFLOAT ||
         type == MTL_TYPE_FLOAT;
}

mtl_status ops_check_floating(const char *operation, const char *part,
                              const mtl_tensor *tensor) {
  if (!ops_is_floating(tensor->type)) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "%s: %s must be of half, bfloat or float (type %d)",
                    operation, part, (int)tensor->type);
  }
  return MTL_OK;
}

// Binds tensors; for missing ones, the first existing tensor.
static mtl_status bind(mtl_stream *stream, const ops_dispatch *dispatch) {
  const mtl_tensor *stand_in = NULL;
  for (uint32_t i = 0; i < dispatch->tensor_count; ++i) {
    const mtl_tensor *tensor = dispatch->tensors[i];
    if (!stand_in && tensor && tensor->buffer) {
      stand_in = tensor;
    }
  }
  for (uint32_t i = 0; i < dispatch->tensor_count; ++i) {
    const mtl_tensor *tensor = dispatch->tensors[i];
    STREAM_TRY(mtl_stream_set_tensor(
        stream, i, tensor && tensor->buffer ? tensor : stand_in));
  }
  return mtl_stream_set_bytes(stream, dispatch->tensor_count,
                              dispatch->arguments, dispatch->arguments_bytes);
}

mtl_status ops_record(mtl_stream *stream, const ops_dispatch *dispatch) {
  uint64_t grid[3], group[3];
  for (int i = 0; i < 3; ++i) {
    grid[i] = dispatch->grid_threads[i] ? dispatch->grid_threads[i] : 1;
    group[i] = dispatch->group_threads[i] ? dispatch->group_threads[i] : 1;
  }
  mtl_kernel *kernel = NULL;
  STREAM_TRY(stream_builtin_kernel(stream, dispatch->source, dispatch->kernel,
                                   dispatch->constants, &kernel));
  mtl_stream_lock(stream);
  mtl_status status = mtl_stream_start_encoding(stream, kernel);
  if (status == MTL_OK) {
    status = bind(stream, dispatch);
  }
  if (status == MTL_OK) {
    status = mtl_stream_dispatch(stream, grid, 3, group);
  }
  mtl_stream_unlock(stream);
  return status;
}

mtl_status ops_scratch_create(mtl_stream *stream, mtl_data_type type,
                              uint32_t rank, const int64_t *sizes,
                              ops_scratch *out_scratch) {
  mtl_tensor *tensor = &out_scratch->tensor;
  *out_scratch = (ops_scratch){.tensor = {.type = type, .rank = rank}};
  int64_t count = 1;
  for (uint32_t d = rank; d-- > 0; count *= sizes[d]) {
    tensor->sizes[d] = sizes[d];
    tensor->strides[d] = count;
  }
  if (count == 0) {
    return MTL_OK;
  }
  STREAM_TRY(mtl_memory_allocate(stream,
                                 (size_t)count * mtl_data_type_size(type),
                                 MTL_MEMORY_FOR_STREAM, &out_scratch->address));
  return mtl_memory_find(out_scratch->address, &tensor->buffer,
                         &tensor->offset_bytes);  // +1
}

void ops_scratch_release(ops_scratch *scratch) {
  mtl_buffer_release(scratch->tensor.buffer);  // -1
  if (mtl_memory_free(scratch->address) != MTL_OK) {
    // Only an address that was never allocated fails, and this one was.
  }
  *scratch = (ops_scratch){0};
}

mtl_status ops_finish(mtl_stream *stream, mtl_status status) {
  if (status != MTL_OK) {
    mtl_stream_fail(stream, status, NULL);
  }
  return status;
}
