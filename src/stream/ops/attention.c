// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attention.c: scaled dot product attention as two products with a softmax
// between them; in parts of bounded size if the caller does not want the
// weights.
#include <math.h>
#include <string.h>

#include "stream/ops/parts.h"

// `masked_softmax` of attention.metal.
typedef struct masked_softmax {
  ops_shape rows;
  int64_t weights_column, mask_column;
  uint32_t keys, queries, first_query;
  uint32_t has_mask, is_causal;
} masked_softmax;

static const char name[] = "attention";

// The sizes of one call; heads are key_heads * sharing.
typedef struct extents {
  int64_t batch, heads, key_heads, queries, keys, depth, value_depth;
} extents;

static mtl_status check_parts(const mtl_tensor *query, const mtl_tensor *key,
                              const mtl_tensor *value, const mtl_tensor *out) {
  STREAM_TRY(ops_check_floating(name, "query", query));
  STREAM_TRY(ops_check_floating(name, "key", key));
  STREAM_TRY(ops_check_floating(name, "value", value));
  STREAM_TRY(ops_check_floating(name, "out", out));
  if (query->rank != 4 || key->rank != 4 || value->rank != 4) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: ranks %u, %u and %u of query, key and value; all are "
                    "(batch, heads, length, depth)",
                    name, query->rank, key->rank, value->rank);
  }
  return MTL_OK;
}

static mtl_status check(const mtl_tensor *query, const mtl_tensor *key,
                        const mtl_tensor *value, const mtl_tensor *out,
                        const mtl_tensor *weights, extents *it) {
  STREAM_TRY(check_parts(query, key, value, out));
  *it = (extents){query->sizes[0], query->sizes[1], key->sizes[1],
                  query->sizes[2], key->sizes[2],   query->sizes[3],
                  value->sizes[3]};
  if (it->key_heads == 0 || it->heads % it->key_heads != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: %lld heads of query over %lld of key", name,
                    (long long)it->heads, (long long)it->key_heads);
  }
  STREAM_TRY(ops_check_sizes(
      name, "key", key, 4,
      (int64_t[]){it->batch, it->key_heads, it->keys, it->depth}));
  STREAM_TRY(ops_check_sizes(
      name, "value", value, 4,
      (int64_t[]){it->batch, it->key_heads, it->keys, it->value_depth}));
  STREAM_TRY(ops_check_sizes(
      name, "out", out, 4,
      (int64_t[]){it->batch, it->heads, it->queries, it->value_depth}));
  if (weights) {
    STREAM_TRY(ops_check_floating(name, "weights", weights));
    STREAM_TRY(ops_check_sizes(
        name, "weights", weights, 4,
        (int64_t[]){it->batch, it->heads, it->queries, it->keys}));
  }
  return MTL_OK;
}

// Splits heads into key heads and those that share one: [B, Hk, H / Hk, L, D].
static mtl_tensor split_heads(const mtl_tensor *tensor, int64_t key_heads) {
  mtl_tensor split = *tensor;
  const int64_t sharing = tensor->sizes[1] / key_heads;
  split.rank = 5;
  split.sizes[1] = key_heads;
  split.strides[1] = tensor->strides[1] * sharing;
  split.sizes[2] = sharing;
  split.strides[2] = tensor->strides[1];
  for (int d = 2; d < 4; ++d) {
    split.sizes[d + 1] = tensor->sizes[d];
    split.strides[d + 1] = tensor->strides[d];
  }
  return split;
}

static mtl_tensor transposed(const mtl_tensor *tensor) {
  mtl_tensor result = *tensor;
  const uint32_t last = tensor->rank - 1;
  result.sizes[last] = tensor->sizes[last - 1];
  result.strides[last] = tensor->strides[last - 1];
  result.sizes[last - 1] = tensor->sizes[last];
  result.strides[last - 1] = tensor->strides[last];
  return result;
}

// What is computed at once: some batches, heads and queries.
typedef struct part {
  mtl_tensor query, key, value, out;
  mtl_tensor mask;  // of all sizes; if there is one
  bool has_mask, is_causal;
  double scale;
  int64_t key_heads, first_query;
} part;

static mtl_status softmax(mtl_stream *stream, const part *it,
                          const mtl_tensor *scores, const mtl_tensor *weights) {
  const mtl_tensor *mask = it->has_mask ? &it->mask : weights;
  masked_softmax arguments = {
      .weights_column = weights->strides[3],
      .mask_column = mask->strides[3],
      .keys = (uint32_t)weights->sizes[3],
      .queries = (uint32_t)weights->sizes[2],
      .first_query = (uint32_t)it->first_query,
      .has_mask = it->has_mask,
      .is_causal = it->is_causal,
  };
  const uint64_t rows = ops_shape_of(
      &arguments.rows, 3, (const mtl_tensor *[]){weights, mask}, 2);
  return ops_record(stream,
                    &(ops_dispatch){.source = ops_attention_metal,
                                    .kernel = "masked_softmax_rows",
                                    .constants = {mask->type, weights->type},
                                    .tensors = {scores, mask, weights},
                                    .tensor_count = 3,
                                    .arguments = &arguments,
                                    .arguments_bytes = sizeof arguments,
                                    .grid_threads = {32, rows},
                                    .group_threads = {32, 8}});
}

static mtl_status attend(mtl_stream *stream, const part *it,
                         const mtl_tensor *scores, const mtl_tensor *weights) {
  const mtl_tensor q = split_heads(&it->query, it->key_heads);
  mtl_tensor k = split_heads(&it->key, it->key_heads);
  const mtl_tensor v = split_heads(&it->value, it->key_heads);
  k = transposed(&k);
  const mtl_tensor s = split_heads(scores, it->key_heads);
  STREAM_TRY(mtl_ops_matmul(stream, &q, &k, NULL, it->scale, 0, &s));
  STREAM_TRY(softmax(stream, it, scores, weights));
  const mtl_tensor w = split_heads(weights, it->key_heads);
  const mtl_tensor o = split_heads(&it->out, it->key_heads);
  return mtl_ops_matmul(stream, &w, &v, NULL, 1, 0, &o);
}

// Attends at once, with the weights that the caller wants.
static mtl_status attend_whole(mtl_stream *stream, const part *it,
                               const mtl_tensor *weights) {
  ops_scratch scores = {0};
  STREAM_TRY(ops_scratch_create(stream, MTL_TYPE_FLOAT, 4, weights->sizes,
                                &scores));
  const mtl_status status = attend(stream, it, &scores.tensor, weights);
  ops_scratch_release(&scores);
  return status;
}

// --- In parts ------------------------------------------------------------------

// Scores of one part at the most, if it has more than one query.
enum { PART_BYTES = 64 << 20 };

// Returns how many of count items, of bytes each, fit at once.
static int64_t fitting(int64_t count, int64_t bytes) {
  const int64_t most = PART_BYTES / (bytes ? bytes : 1);
  return most < 1 ? 1 : most < count ? most : count;
}

static mtl_tensor slice(const mtl_tensor *tensor, int dimension, int64_t first,
                        int64_t count) {
  mtl_tensor cut = *tensor;
  if (count != tensor->sizes[dimension]) {
    cut.sizes[dimension] = count;
    cut.offset_bytes += (size_t)(first * tensor->strides[dimension]) *
                        mtl_data_type_size(tensor->type);
    cut.constant = 0;  // names the whole
  }
  return cut;
}

// Slices count from first on along a dimension, of each tensor that has it.
// sharing: query heads for each key head.
static part part_of(const part *whole, int dimension, int64_t first,
                    int64_t count, int64_t sharing) {
  part cut = *whole;
  const int64_t heads = dimension == 1 ? sharing : 1;
  cut.query = slice(&cut.query, dimension, first * heads, count * heads);
  cut.out = slice(&cut.out, dimension, first * heads, count * heads);
  if (cut.has_mask) {
    cut.mask = slice(&cut.mask, dimension, first * heads, count * heads);
  }
  if (dimension == 2) {
    cut.first_query = first;
  } else {
    cut.key = slice(&cut.key, dimension, first, count);
    cut.value = slice(&cut.value, dimension, first, count);
  }
  if (dimension == 1) {
    cut.key_heads = count;
  }
  return cut;
}

// Splits the part along a dimension, batches first, and each half along the
// next, until its scores fit.
static mtl_status attend_parts(mtl_stream *stream, const part *it,
                               int dimension, const mtl_tensor *scores) {
  const int64_t keys = it->key.sizes[2], heads = it->query.sizes[1];
  const int64_t sharing = heads / it->key_heads;
  if (dimension == 3) {
    mtl_tensor room = *scores;
    memcpy(room.sizes, it->query.sizes, 3 * sizeof *room.sizes);
    room.strides[2] = keys;
    room.strides[1] = room.sizes[2] * keys;
    room.strides[0] = room.sizes[1] * room.strides[1];
    return attend(stream, it, &room, &room);
  }
  int64_t bytes = (int64_t)sizeof(float) * keys;
  bytes *= dimension == 2 ? heads : sharing * it->query.sizes[2];
  bytes *= dimension == 0 ? it->key_heads : 1;
  const int64_t count =
      dimension == 1 ? it->key_heads : it->query.sizes[dimension];
  const int64_t step = fitting(count, bytes);
  for (int64_t first = 0; first < count; first += step) {
    const int64_t left = count - first;
    const part cut =
        part_of(it, dimension, first, left < step ? left : step, sharing);
    STREAM_TRY(attend_parts(stream, &cut, dimension + 1, scores));
  }
  return MTL_OK;
}

static mtl_status attend_without_weights(mtl_stream *stream, const part *it) {
  const mtl_tensor *q = &it->query;
  const int64_t keys = it->key.sizes[2];
  const int64_t row_bytes = (int64_t)sizeof(float) * keys;
  const int64_t rows = q->sizes[0] * q->sizes[1] * q->sizes[2];
  // A part of one query has all heads that share a key.
  const int64_t sharing = q->sizes[1] / it->key_heads;
  int64_t room = fitting(rows, row_bytes);
  room = room < sharing ? sharing : room;
  ops_scratch scores = {0};
  STREAM_TRY(ops_scratch_create(stream, MTL_TYPE_FLOAT, 4,
                                (int64_t[]){1, 1, room, keys}, &scores));
  const mtl_status status = attend_parts(stream, it, 0, &scores.tensor);
  ops_scratch_release(&scores);
  return status;
}

static mtl_status attention(mtl_stream *stream, const mtl_tensor *query,
                            const mtl_tensor *key, const mtl_tensor *value,
                            const mtl_attention_desc *desc,
                            const mtl_tensor *out, const mtl_tensor *weights) {
  extents it;
  STREAM_TRY(check(query, key, value, out, weights, &it));
  if (desc->mask && desc->is_causal) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: causal and a mask exclude each other", name);
  }
  if (it.batch * it.heads * it.queries == 0) {
    return MTL_OK;
  }
  part whole = {
      .query = *query,
      .key = *key,
      .value = *value,
      .out = *out,
      .has_mask = desc->mask != NULL,
      .is_causal = desc->is_causal,
      .scale = desc->scale != 0 ? desc->scale : 1 / sqrt((double)it.depth),
      .key_heads = it.key_heads,
  };
  if (desc->mask) {
    if (desc->mask->type != MTL_TYPE_BOOL) {
      STREAM_TRY(ops_check_floating(name, "mask", desc->mask));
    }
    STREAM_TRY(ops_broadcast(
        name, "mask", desc->mask, 4,
        (int64_t[]){it.batch, it.heads, it.queries, it.keys}, &whole.mask));
  }
  return weights ? attend_whole(stream, &whole, weights)
                 : attend_without_weights(stream, &whole);
}

mtl_status mtl_ops_attention(mtl_stream *stream, const mtl_tensor *query,
                             const mtl_tensor *key, const mtl_tensor *value,
                             const mtl_attention_desc *desc,
                             const mtl_tensor *out, const mtl_tensor *weights) {
  const mtl_attention_desc defaults = {0};
  return ops_finish(stream, attention(stream, query, key, value,
                                      desc ? desc : &defaults, out, weights));
}
