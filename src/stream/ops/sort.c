// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort.c: sort, top-k and cumulative sums along a dimension.
#include "stream/ops/parts.h"

// `sorting` of sort.metal.
typedef struct sorting {
  ops_shape rows;
  int64_t in_stride, values_stride, indices_stride;
  uint32_t count, capacity, wanted;
  uint32_t descending, has_values, has_indices;
} sorting;

// `running_sum` of sort.metal.
typedef struct running_sum {
  ops_shape rows;
  int64_t in_stride, out_stride;
  uint32_t count;
} running_sum;

// The tensors with the sorted dimension last.
typedef struct tensors {
  mtl_tensor in, values, indices;
  bool has_values, has_indices;
} tensors;

static mtl_status prepare(const char *name, const mtl_tensor *in, int64_t k,
                          uint32_t dimension, const mtl_tensor *values,
                          const mtl_tensor *indices, tensors *it) {
  it->in = ops_moved_last(in, dimension);
  it->has_values = values != NULL;
  it->has_indices = indices != NULL;
  const uint32_t last = it->in.rank - 1;
  mtl_tensor wanted = it->in;
  wanted.sizes[last] = k;
  it->values = values ? ops_moved_last(values, dimension) : wanted;
  it->indices = indices ? ops_moved_last(indices, dimension) : wanted;
  STREAM_TRY(ops_check_sizes(name, "values", &it->values, wanted.rank,
                             wanted.sizes));
  STREAM_TRY(ops_check_sizes(name, "indices", &it->indices, wanted.rank,
                             wanted.sizes));
  if (values && values->type != in->type) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: values differ from in in type", name);
  }
  if (indices && indices->type != MTL_TYPE_LONG) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: indices must be of long (type %d)",
                    name, (int)indices->type);
  }
  return MTL_OK;
}

// Keys, the network, results: three dispatches over scratch memory.
static mtl_status record(mtl_stream *stream, const tensors *it,
                         const sorting *arguments, uint64_t rows,
                         const mtl_tensor *keys, const mtl_tensor *places) {
  ops_dispatch dispatch = {
      .source = ops_sort_metal,
      .kernel = "sort_keys",
      .constants = {it->in.type},
      .tensors = {&it->in, keys, places},
      .tensor_count = 3,
      .arguments = arguments,
      .arguments_bytes = sizeof *arguments,
      .grid_threads = {arguments->capacity, rows},
      .group_threads = {32, 8},
  };
  STREAM_TRY(ops_record(stream, &dispatch));
  if (arguments->capacity > 1) {
    const uint64_t pairs = arguments->capacity / 2;
    const uint64_t threads = pairs < 1024 ? pairs : 1024;
    dispatch.kernel = "sort_rows";
    dispatch.tensors[0] = keys;
    dispatch.tensors[1] = places;
    dispatch.tensor_count = 2;
    dispatch.grid_threads[0] = rows * threads;
    dispatch.grid_threads[1] = 1;
    dispatch.group_threads[0] = threads;
    dispatch.group_threads[1] = 1;
    STREAM_TRY(ops_record(stream, &dispatch));
  }
  return ops_record(
      stream,
      &(ops_dispatch){.source = ops_sort_metal,
                      .kernel = "sort_results",
                      .constants = {it->in.type},
                      .tensors = {&it->in, places,
                                  it->has_values ? &it->values : NULL,
                                  it->has_indices ? &it->indices : NULL},
                      .tensor_count = 4,
                      .arguments = arguments,
                      .arguments_bytes = sizeof *arguments,
                      .grid_threads = {arguments->wanted, rows},
                      .group_threads = {32, 8}});
}

static mtl_status sort_rows(mtl_stream *stream, const tensors *it,
                            sorting *arguments, uint64_t rows) {
  const int64_t sizes[] = {(int64_t)rows, arguments->capacity};
  ops_scratch keys = {0}, places = {0};
  mtl_status status =
      ops_scratch_create(stream, MTL_TYPE_ULONG, 2, sizes, &keys);
  if (status == MTL_OK) {
    status = ops_scratch_create(stream, MTL_TYPE_UINT, 2, sizes, &places);
  }
  if (status == MTL_OK) {
    status = record(stream, it, arguments, rows, &keys.tensor, &places.tensor);
  }
  ops_scratch_release(&places);
  ops_scratch_release(&keys);
  return status;
}

static mtl_status sort(const char *name, mtl_stream *stream,
                       const mtl_tensor *in, int64_t k, uint32_t dimension,
                       bool descending, const mtl_tensor *values,
                       const mtl_tensor *indices) {
  tensors it;
  STREAM_TRY(prepare(name, in, k, dimension, values, indices, &it));
  const uint32_t last = it.in.rank - 1;
  const int64_t count = it.in.sizes[last];
  if (count > INT32_MAX / 2) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: rows of %lld", name,
                    (long long)count);
  }
  sorting arguments = {
      .in_stride = it.in.strides[last],
      .values_stride = it.values.strides[last],
      .indices_stride = it.indices.strides[last],
      .count = (uint32_t)count,
      .capacity = 1,
      .wanted = (uint32_t)k,
      .descending = descending,
      .has_values = it.has_values,
      .has_indices = it.has_indices,
  };
  while (arguments.capacity < arguments.count) {
    arguments.capacity *= 2;
  }
  const uint64_t rows = ops_shape_of(
      &arguments.rows, last,
      (const mtl_tensor *[]){&it.in, &it.values, &it.indices}, 3);
  if (rows == 0 || k == 0 || (!it.has_values && !it.has_indices)) {
    return MTL_OK;
  }
  return sort_rows(stream, &it, &arguments, rows);
}

static int64_t size_along(const mtl_tensor *tensor, uint32_t dimension) {
  return tensor->rank ? tensor->sizes[dimension] : 1;
}

mtl_status mtl_ops_sort(mtl_stream *stream, const mtl_tensor *in,
                        int64_t dimension, bool descending,
                        const mtl_tensor *values, const mtl_tensor *indices) {
  uint32_t at;
  mtl_status status = ops_dimension("sort", in, dimension, &at);
  if (status == MTL_OK) {
    status = sort("sort", stream, in, size_along(in, at), at, descending,
                  values, indices);
  }
  return ops_finish(stream, status);
}

mtl_status mtl_ops_topk(mtl_stream *stream, const mtl_tensor *in, int64_t k,
                        int64_t dimension, bool largest,
                        const mtl_tensor *values, const mtl_tensor *indices) {
  uint32_t at;
  mtl_status status = ops_dimension("topk", in, dimension, &at);
  if (status == MTL_OK && (k < 0 || k > size_along(in, at))) {
    status = mtl_fail(MTL_INVALID_ARGUMENT, "topk: %lld of %lld elements",
                      (long long)k, (long long)size_along(in, at));
  }
  if (status == MTL_OK) {
    status = sort("topk", stream, in, k, at, largest, values, indices);
  }
  return ops_finish(stream, status);
}

static mtl_status add_up(mtl_stream *stream, const mtl_tensor *in,
                         int64_t dimension, const mtl_tensor *out) {
  static const char name[] = "cumulative sum";
  uint32_t at;
  STREAM_TRY(ops_dimension(name, in, dimension, &at));
  STREAM_TRY(ops_check_sizes(name, "out", out, in->rank, in->sizes));
  const mtl_tensor from = ops_moved_last(in, at), to = ops_moved_last(out, at);
  const uint32_t last = from.rank - 1;
  running_sum arguments = {
      .in_stride = from.strides[last],
      .out_stride = to.strides[last],
      .count = (uint32_t)from.sizes[last],
  };
  const uint64_t rows = ops_shape_of(&arguments.rows, last,
                                     (const mtl_tensor *[]){&from, &to}, 2);
  if (rows * arguments.count == 0) {
    return MTL_OK;
  }
  return ops_record(stream, &(ops_dispatch){.source = ops_sort_metal,
                                            .kernel = "running_sums",
                                            .constants = {in->type, out->type},
                                            .tensors = {&from, &to},
                                            .tensor_count = 2,
                                            .arguments = &arguments,
                                            .arguments_bytes = sizeof arguments,
                                            .grid_threads = {rows},
                                            .group_threads = {64}});
}

mtl_status mtl_ops_cumulative_sum(mtl_stream *stream, const mtl_tensor *in,
                                  int64_t dimension, const mtl_tensor *out) {
  return ops_finish(stream, add_up(stream, in, dimension, out));
}
