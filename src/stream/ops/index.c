// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// index.c: scatter, index_put, and cumulative products and extremes.
#include <string.h>

#include "stream/ops/parts.h"

extern const char ops_indexing_metal[];

// The structs of indexing.metal.
typedef struct scatter {
  ops_shape rows;
  int64_t index_step, source_step, out_step;
  uint32_t count, size;
  uint32_t includes_self, has_source;
  int64_t whole;
  float value;
} scatter;

typedef struct index_put {
  ops_shape rest;
  int64_t strides[MTL_OPS_MAX_INDICES];
  int32_t sizes[MTL_OPS_MAX_INDICES];
  uint32_t indices, count, rest_count;
} index_put;

typedef struct scan {
  ops_shape rows;
  int64_t in_step, out_step, indices_step;
  uint32_t count;
} scan;

// --- Scatter -----------------------------------------------------------------

// Cuts tensor down to index's sizes, but along the last dimension if whole.
static mtl_status cut(const char *part, const mtl_tensor *index, bool is_whole,
                      mtl_tensor *tensor) {
  if (tensor->rank != index->rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "scatter: %s has rank %u, the index %u", part, tensor->rank,
                    index->rank);
  }
  const uint32_t last = index->rank - 1;
  for (uint32_t d = 0; d < index->rank; ++d) {
    if (d == last && is_whole) {
      continue;
    }
    if (index->sizes[d] > tensor->sizes[d]) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "scatter: %lld indices over %lld elements of %s",
                      (long long)index->sizes[d], (long long)tensor->sizes[d],
                      part);
    }
    tensor->sizes[d] = index->sizes[d];
  }
  return MTL_OK;
}

static mtl_status record_scatter(mtl_stream *stream, const mtl_scatter_desc *it,
                                 const mtl_tensor tensors[3], int64_t size) {
  const mtl_tensor *index = &tensors[0], *source = &tensors[1],
                   *out = &tensors[2];
  const uint32_t last = index->rank - 1;
  scatter arguments = {.index_step = index->strides[last],
                       .source_step = source->strides[last],
                       .out_step = out->strides[last],
                       .count = (uint32_t)index->sizes[last],
                       .size = (uint32_t)size,
                       .includes_self = it->includes_self,
                       .has_source = it->source != NULL,
                       .whole = (int64_t)it->value,
                       .value = (float)it->value};
  const uint64_t rows = ops_shape_of(
      &arguments.rows, last, (const mtl_tensor *[]){index, source, out}, 3);
  if (rows * arguments.count == 0) {
    return MTL_OK;
  }
  ops_scratch counts = {0};
  if (it->combination == MTL_COMBINE_MEAN) {
    const int64_t sizes[] = {(int64_t)rows, size};
    STREAM_TRY(ops_scratch_create(stream, MTL_TYPE_INT, 2, sizes, &counts));
  }
  const mtl_status status = ops_record(
      stream,
      &(ops_dispatch){.source = ops_indexing_metal,
                      .kernel = "scatter_rows",
                      .constants = {index->type, source->type, out->type, 0,
                                    it->combination},
                      .tensors = {index, it->source ? source : index, out,
                                  counts.address ? &counts.tensor : NULL},
                      .tensor_count = 4,
                      .arguments = &arguments,
                      .arguments_bytes = sizeof arguments,
                      .grid_threads = {rows},
                      .group_threads = {32}});
  if (counts.address) {
    ops_scratch_release(&counts);
  }
  return status;
}

static mtl_status check_index(const char *name, const mtl_tensor *index) {
  if (index->type != MTL_TYPE_LONG && index->type != MTL_TYPE_INT) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "%s: indices must be of int or long (type %d)", name,
                    (int)index->type);
  }
  return MTL_OK;
}

static mtl_status scatter_along(mtl_stream *stream, const mtl_scatter_desc *it,
                                const mtl_tensor *out) {
  uint32_t at;
  STREAM_TRY(ops_dimension("scatter", out, it->dimension, &at));
  STREAM_TRY(check_index("scatter", it->index));
  mtl_tensor tensors[3] = {
      ops_moved_last(it->index, at),
      ops_moved_last(it->source ? it->source : it->index, at),
      ops_moved_last(out, at)};
  const int64_t size = tensors[2].sizes[tensors[2].rank - 1];
  if (size > INT32_MAX || mtl_tensor_count(it->index) > INT32_MAX) {
    return mtl_fail(MTL_UNSUPPORTED, "scatter: %lld elements in a row",
                    (long long)size);
  }
  STREAM_TRY(cut("source", &tensors[0], false, &tensors[1]));
  STREAM_TRY(cut("out", &tensors[0], true, &tensors[2]));
  return record_scatter(stream, it, tensors, size);
}

mtl_status mtl_ops_scatter(mtl_stream *stream, const mtl_scatter_desc *desc,
                           const mtl_tensor *out) {
  return ops_finish(stream, scatter_along(stream, desc, out));
}

// --- Elements put where indices say ------------------------------------------

typedef struct put_parts {
  const mtl_tensor *indices[MTL_OPS_MAX_INDICES];
  uint32_t dimensions[MTL_OPS_MAX_INDICES];  // of out
  uint32_t count;
  // What all indices are broadcast to.
  uint32_t rank;
  int64_t sizes[MTL_TENSOR_MAX_RANK];
} put_parts;

static mtl_status add_index(put_parts *it, const mtl_tensor *index,
                            uint32_t dimension) {
  STREAM_TRY(check_index("index_put", index));
  if (it->count == MTL_OPS_MAX_INDICES) {
    return mtl_fail(MTL_UNSUPPORTED, "index_put: more than %d indices",
                    MTL_OPS_MAX_INDICES);
  }
  it->indices[it->count] = index;
  it->dimensions[it->count++] = dimension;
  // Sizes grow at the front and where they are 1.
  const uint32_t rank = index->rank > it->rank ? index->rank : it->rank;
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d) {
    const uint32_t back = rank - d;
    const int64_t a = back <= it->rank ? it->sizes[it->rank - back] : 1;
    const int64_t b =
        back <= index->rank ? index->sizes[index->rank - back] : 1;
    sizes[d] = a == 1 ? b : a;
  }
  it->rank = rank;
  memcpy(it->sizes, sizes, rank * sizeof *sizes);
  return MTL_OK;
}

static bool has_index(const put_parts *it, uint32_t dimension) {
  for (uint32_t i = 0; i < it->count; ++i) {
    if (it->dimensions[i] == dimension) {
      return true;
    }
  }
  return false;
}

// Where the indices' own dimensions stand in values: at the first indexed one
// if those are neighbours, otherwise in front.  // NumPy, advanced indexing
static uint32_t place_of_indices(const put_parts *it) {
  const uint32_t first = it->dimensions[0];
  return it->dimensions[it->count - 1] - first + 1 == it->count ? first : 0;
}

// Describes values broadcast to their full shape, the indices' dimensions
// first, and out without the indexed dimensions.
static mtl_status arrange(const put_parts *it, const mtl_tensor *values,
                          const mtl_tensor *out, mtl_tensor *wide,
                          mtl_tensor *rest) {
  *rest = *out;
  rest->rank = 0;
  for (uint32_t d = 0; d < out->rank; ++d) {
    if (!has_index(it, d)) {
      rest->sizes[rest->rank] = out->sizes[d];
      rest->strides[rest->rank++] = out->strides[d];
    }
  }
  const uint32_t place = place_of_indices(it);
  const uint32_t rank = rest->rank + it->rank;
  if (rank > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_UNSUPPORTED, "index_put: %u dimensions", rank);
  }
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  memcpy(sizes, rest->sizes, place * sizeof *sizes);
  memcpy(sizes + place, it->sizes, it->rank * sizeof *sizes);
  memcpy(sizes + place + it->rank, rest->sizes + place,
         (rest->rank - place) * sizeof *sizes);
  mtl_tensor full;
  STREAM_TRY(ops_broadcast("index_put", "values", values, rank, sizes, &full));
  *wide = full;
  for (uint32_t d = 0; d < rank; ++d) {
    const uint32_t from = d < it->rank           ? place + d
                          : d - it->rank < place ? d - it->rank
                                                 : d;
    wide->sizes[d] = full.sizes[from];
    wide->strides[d] = full.strides[from];
  }
  return MTL_OK;
}

static mtl_status copied(mtl_stream *stream, mtl_data_type type, uint32_t rank,
                         const int64_t *sizes, const mtl_tensor *from,
                         ops_scratch *scratch) {
  STREAM_TRY(ops_scratch_create(stream, type, rank, sizes, scratch));
  return mtl_ops_copy(stream, from, &scratch->tensor);
}

static mtl_status record_put(mtl_stream *stream, const put_parts *it,
                             const ops_scratch *copies, const mtl_tensor *rest,
                             const mtl_tensor *out, bool accumulate) {
  index_put arguments = {.indices = it->count, .count = 1};
  for (uint32_t i = 0; i < it->count; ++i) {
    arguments.strides[i] = out->strides[it->dimensions[i]];
    arguments.sizes[i] = (int32_t)out->sizes[it->dimensions[i]];
  }
  for (uint32_t d = 0; d < it->rank; ++d) {
    arguments.count *= (uint32_t)it->sizes[d];
  }
  const uint64_t threads = ops_shape_of(&arguments.rest, rest->rank,
                                        (const mtl_tensor *[]){rest}, 1);
  arguments.rest_count = (uint32_t)threads;
  if (threads * arguments.count == 0) {
    return MTL_OK;
  }
  return ops_record(
      stream,
      &(ops_dispatch){.source = ops_indexing_metal,
                      .kernel = "put_indexed",
                      .constants = {copies[MTL_OPS_MAX_INDICES].tensor.type,
                                    out->type, 0, 0, accumulate},
                      .tensors = {&copies[0].tensor, &copies[1].tensor,
                                  &copies[2].tensor, &copies[3].tensor,
                                  &copies[MTL_OPS_MAX_INDICES].tensor, out},
                      .tensor_count = MTL_OPS_MAX_INDICES + 2,
                      .arguments = &arguments,
                      .arguments_bytes = sizeof arguments,
                      .grid_threads = {threads},
                      .group_threads = {32}});
}

static mtl_status put(mtl_stream *stream, const mtl_tensor *const *indices,
                      uint32_t count, const mtl_tensor *values, bool accumulate,
                      const mtl_tensor *out) {
  put_parts it = {0};
  if (count > out->rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "index_put: %u indices into %u dimensions", count,
                    out->rank);
  }
  for (uint32_t d = 0; d < count; ++d) {
    if (indices[d]) {
      STREAM_TRY(add_index(&it, indices[d], d));
    }
  }
  if (it.count == 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "index_put: no index");
  }
  mtl_tensor wide, rest;
  STREAM_TRY(arrange(&it, values, out, &wide, &rest));
  ops_scratch copies[MTL_OPS_MAX_INDICES + 1] = {0};
  mtl_status status = MTL_OK;
  for (uint32_t i = 0; i < it.count && status == MTL_OK; ++i) {
    status = copied(stream, MTL_TYPE_LONG, it.rank, it.sizes, it.indices[i],
                    &copies[i]);
  }
  if (status == MTL_OK) {
    status = copied(stream, out->type, wide.rank, wide.sizes, &wide,
                    &copies[MTL_OPS_MAX_INDICES]);
  }
  if (status == MTL_OK) {
    status = record_put(stream, &it, copies, &rest, out, accumulate);
  }
  for (uint32_t i = 0; i <= MTL_OPS_MAX_INDICES; ++i) {
    if (copies[i].address) {
      ops_scratch_release(&copies[i]);
    }
  }
  return status;
}

mtl_status mtl_ops_index_put(mtl_stream *stream,
                             const mtl_tensor *const *indices, uint32_t count,
                             const mtl_tensor *values, bool accumulate,
                             const mtl_tensor *out) {
  return ops_finish(stream,
                    put(stream, indices, count, values, accumulate, out));
}

// --- Running products and extremes -------------------------------------------

static mtl_status scan_along(mtl_stream *stream, const mtl_tensor *in,
                             int64_t dimension, mtl_combination combination,
                             const mtl_tensor *out, const mtl_tensor *indices) {
  static const char name[] = "running product or extreme";
  uint32_t at;
  STREAM_TRY(ops_dimension(name, in, dimension, &at));
  STREAM_TRY(ops_check_sizes(name, "out", out, in->rank, in->sizes));
  const bool is_product = combination == MTL_COMBINE_PRODUCT;
  if (!is_product) {
    STREAM_TRY(ops_check_sizes(name, "indices", indices, in->rank, in->sizes));
  }
  const mtl_tensor from = ops_moved_last(in, at), to = ops_moved_last(out, at),
                   places = ops_moved_last(is_product ? out : indices, at);
  const uint32_t last = from.rank - 1;
  scan arguments = {.in_step = from.strides[last],
                    .out_step = to.strides[last],
                    .indices_step = places.strides[last],
                    .count = (uint32_t)from.sizes[last]};
  const uint64_t rows = ops_shape_of(
      &arguments.rows, last, (const mtl_tensor *[]){&from, &to, &places}, 3);
  if (rows * arguments.count == 0) {
    return MTL_OK;
  }
  return ops_record(stream, &(ops_dispatch){.source = ops_indexing_metal,
                                            .kernel = "scan_rows",
                                            .constants = {in->type, out->type,
                                                          0, 0, combination},
                                            .tensors = {&from, &to, &places},
                                            .tensor_count = 3,
                                            .arguments = &arguments,
                                            .arguments_bytes = sizeof arguments,
                                            .grid_threads = {rows},
                                            .group_threads = {32}});
}

mtl_status mtl_ops_scan(mtl_stream *stream, const mtl_tensor *in,
                        int64_t dimension, mtl_combination combination,
                        const mtl_tensor *out, const mtl_tensor *indices) {
  if (combination != MTL_COMBINE_PRODUCT &&
      combination != MTL_COMBINE_LARGEST && combination != MTL_COMBINE_LEAST) {
    return ops_finish(stream,
                      mtl_fail(MTL_UNSUPPORTED, "mtl_ops_scan: combination %d",
                               (int)combination));
  }
  return ops_finish(
      stream, scan_along(stream, in, dimension, combination, out, indices));
}
