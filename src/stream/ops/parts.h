// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parts.h: shared by graph operations: shapes for their kernels, recorded
// dispatches, and scratch tensors.
#ifndef METTLE_STREAM_OPS_PARTS_H
#define METTLE_STREAM_OPS_PARTS_H

#include "mettle/ops.h"
#include "stream/stream_parts.h"

// The kernels' texts (embed_kernels.cmake).
extern const char ops_attention_metal[];
extern const char ops_convolution_metal[];
extern const char ops_copy_metal[];
extern const char ops_matmul_metal[];
extern const char ops_packed_metal[];
extern const char ops_quantized_metal[];
extern const char ops_sort_metal[];

enum { OPS_SHAPE_TENSORS = 4, OPS_MAX_TENSORS = 8 };

// `shape` of common.metal: dimensions that several tensors share.
typedef struct ops_shape {
  int32_t rank;
  int32_t sizes[MTL_TENSOR_MAX_RANK];
  int64_t strides[OPS_SHAPE_TENSORS][MTL_TENSOR_MAX_RANK];
} ops_shape;

// Describes the first `rank` dimensions of tensors [count] of equal sizes, and
// merges neighbouring dimensions where every tensor allows it. Returns the
// product of the sizes.
uint64_t ops_shape_of(ops_shape *shape, uint32_t rank,
                      const mtl_tensor *const *tensors, size_t count);

// Broadcasts in to sizes [rank], aligned at the last dimension.
mtl_status ops_broadcast(const char *operation, const char *part,
                         const mtl_tensor *in, uint32_t rank,
                         const int64_t *sizes, mtl_tensor *out);

// Converts a dimension from -rank to rank - 1 to an index; a scalar has one.
mtl_status ops_dimension(const char *operation, const mtl_tensor *tensor,
                         int64_t dimension, uint32_t *out_dimension);

// Moves a dimension to the end.
mtl_tensor ops_moved_last(const mtl_tensor *tensor, uint32_t dimension);

bool ops_is_floating(mtl_data_type type);
// MTL_UNSUPPORTED unless the tensor is of half, bfloat or float.
mtl_status ops_check_floating(const char *operation, const char *part,
                              const mtl_tensor *tensor);
// MTL_INVALID_ARGUMENT unless tensor has these sizes.
mtl_status ops_check_sizes(const char *operation, const char *part,
                           const mtl_tensor *tensor, uint32_t rank,
                           const int64_t *sizes);

// A dispatch with tensors [tensor_count] at buffers 0.., arguments behind them.
// A tensor that is NULL or has no buffer is one that the kernel does not
// access.
typedef struct ops_dispatch {
  const char *source;  // one of the texts above
  const char *kernel;
  uint32_t constants[STREAM_BUILTIN_CONSTANTS];
  const mtl_tensor *tensors[OPS_MAX_TENSORS];
  uint32_t tensor_count;
  const void *arguments;
  size_t arguments_bytes;
  uint64_t grid_threads[3];   // each up to UINT32_MAX; 0 counts as 1
  uint64_t group_threads[3];  // 0 counts as 1
} ops_dispatch;
mtl_status ops_record(mtl_stream *stream, const ops_dispatch *dispatch);

// A contiguous tensor for work on stream alone.
typedef struct ops_scratch {
  mtl_tensor tensor;  // with a reference to its buffer
  void *address;
} ops_scratch;
mtl_status ops_scratch_create(mtl_stream *stream, mtl_data_type type,
                              uint32_t rank, const int64_t *sizes,
                              ops_scratch *out_scratch);
void ops_scratch_release(ops_scratch *scratch);

// Keeps a failure of an operation on its stream, and returns it.
mtl_status ops_finish(mtl_stream *stream, mtl_status status);

#endif
