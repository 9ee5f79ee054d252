// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copy.c: copies between any two layouts and types.
#include "stream/ops/parts.h"

// `copying` of copy.metal.
typedef struct copying {
  ops_shape rows;
  int64_t in_stride, out_stride;
} copying;

static mtl_status copy(mtl_stream *stream, const mtl_tensor *in,
                       const mtl_tensor *out) {
  mtl_tensor wide;
  STREAM_TRY(ops_broadcast("copy", "in", in, out->rank, out->sizes, &wide));
  copying arguments = {0};
  ops_shape *rows = &arguments.rows;
  const uint64_t count =
      ops_shape_of(rows, out->rank, (const mtl_tensor *[]){&wide, out}, 2);
  if (count == 0) {
    return MTL_OK;
  }
  uint64_t columns = 1;
  if (rows->rank > 0) {
    const int last = --rows->rank;
    columns = (uint64_t)rows->sizes[last];
    arguments.in_stride = rows->strides[0][last];
    arguments.out_stride = rows->strides[1][last];
  }
  return ops_record(
      stream, &(ops_dispatch){.source = ops_copy_metal,
                              .kernel = "copy",
                              .constants = {in->type, out->type},
                              .tensors = {&wide, out},
                              .tensor_count = 2,
                              .arguments = &arguments,
                              .arguments_bytes = sizeof arguments,
                              .grid_threads = {columns, count / columns},
                              .group_threads = {columns < 256 ? 32 : 256,
                                                columns < 256 ? 8 : 1}});
}

mtl_status mtl_ops_copy(mtl_stream *stream, const mtl_tensor *in,
                        const mtl_tensor *out) {
  return ops_finish(stream, copy(stream, in, out));
}
