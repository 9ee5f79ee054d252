// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ops_attention.c: scaled dot product attention as two products and a softmax
// between them, and the gated delta rule.
#include <math.h>
#include <string.h>

#include "stream/ops_parts.h"

// `masked_softmax` of attention.metal.
typedef struct masked_softmax {
  ops_shape rows;
  int64_t weights_column, mask_column;
  uint32_t keys, queries;
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

static mtl_status softmax(mtl_stream *stream, const mtl_tensor *scores,
                          const mtl_attention_desc *desc,
                          const mtl_tensor *weights) {
  mtl_tensor mask = *weights;
  if (desc->mask) {
    if (desc->mask->type != MTL_TYPE_BOOL) {
      STREAM_TRY(ops_check_floating(name, "mask", desc->mask));
    }
    STREAM_TRY(ops_broadcast(name, "mask", desc->mask, 4, weights->sizes,
                             &mask));
  }
  masked_softmax it = {
      .weights_column = weights->strides[3],
      .mask_column = mask.strides[3],
      .keys = (uint32_t)weights->sizes[3],
      .queries = (uint32_t)weights->sizes[2],
      .has_mask = desc->mask != NULL,
      .is_causal = desc->is_causal,
  };
  const uint64_t rows = ops_shape_of(
      &it.rows, 3, (const mtl_tensor *[]){weights, &mask}, 2);
  return ops_record(stream,
                    &(ops_dispatch){.source = ops_attention_metal,
                                    .kernel = "masked_softmax_rows",
                                    .constants = {mask.type, weights->type},
                                    .tensors = {scores, &mask, weights},
                                    .tensor_count = 3,
                                    .arguments = &it,
                                    .arguments_bytes = sizeof it,
                                    .grid_threads = {32, rows},
                                    .group_threads = {32, 8}});
}

// With weights, and scores in scratch memory.
static mtl_status attend(mtl_stream *stream, const mtl_tensor *query,
                         const mtl_tensor *key, const mtl_tensor *value,
                         const mtl_attention_desc *desc, const extents *it,
                         const mtl_tensor *out, const mtl_tensor *scores,
                         const mtl_tensor *weights) {
  const double scale = desc->scale != 0 ? desc->scale
                                        : 1 / sqrt((double)it->depth);
  const mtl_tensor q = split_heads(query, it->key_heads);
  mtl_tensor k = split_heads(key, it->key_heads);
  const mtl_tensor v = split_heads(value, it->key_heads);
  k = transposed(&k);
  const mtl_tensor s = split_heads(scores, it->key_heads);
  STREAM_TRY(mtl_ops_matmul(stream, &q, &k, NULL, scale, 0, &s));
  STREAM_TRY(softmax(stream, scores, desc, weights));
  const mtl_tensor w = split_heads(weights, it->key_heads);
  const mtl_tensor o = split_heads(out, it->key_heads);
  return mtl_ops_matmul(stream, &w, &v, NULL, 1, 0, &o);
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
  const int64_t sizes[] = {it.batch, it.heads, it.queries, it.keys};
  ops_scratch scores = {0}, own = {0};
  mtl_status status =
      ops_scratch_create(stream, MTL_TYPE_FLOAT, 4, sizes, &scores);
  if (status == MTL_OK && !weights) {
    status = ops_scratch_create(stream, MTL_TYPE_FLOAT, 4, sizes, &own);
    weights = &own.tensor;
  }
  if (status == MTL_OK) {
    status = attend(stream, query, key, value, desc, &it, out, &scores.tensor,
                    weights);
  }
  ops_scratch_release(&own);
  ops_scratch_release(&scores);
  return status;
}

mtl_status mtl_ops_attention(mtl_stream *stream, const mtl_tensor *query,
                             const mtl_tensor *key, const mtl_tensor *value,
                             const mtl_attention_desc *desc,
                             const mtl_tensor *out, const mtl_tensor *weights) {
  const mtl_attention_desc defaults = {0};
  return ops_finish(stream, attention(stream, query, key, value,
                                      desc ? desc : &defaults, out, weights));
}
