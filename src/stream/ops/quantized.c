// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// quantized.c: products with 4-bit weights, of one matrix or of one selected
// for each row.
#include <string.h>

#include "stream/ops/parts.h"

// `int4_product` of quantized.metal.
typedef struct int4_product {
  uint32_t k, group_size, experts, columns;
  int64_t a_row, a_column;
  int64_t weights[3], scales[3], zeros[3];
  int64_t expert_stride;
  int64_t out_row, out_column;
} int4_product;

// As in quantized.metal.
enum { HALVES_IN_GROUPS = 1, IS_DENSE = 2, COLUMNS = 4 };

// The tensors of either operation; weights, scales and zeros of rank 3.
typedef struct tensors {
  const mtl_tensor *a;
  mtl_tensor weights, scales, zeros;
  const mtl_tensor *experts, *out;
} tensors;

static mtl_status check_types(const char *name, const tensors *it) {
  STREAM_TRY(ops_check_floating(name, "a", it->a));
  STREAM_TRY(ops_check_floating(name, "scales", &it->scales));
  STREAM_TRY(ops_check_floating(name, "out", it->out));
  if (it->zeros.type != it->scales.type) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: scales and zeros differ in type",
                    name);
  }
  if (it->weights.type != MTL_TYPE_UCHAR) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: weights must be of uchar (type %d)",
                    name, (int)it->weights.type);
  }
  if (it->experts && it->experts->type != MTL_TYPE_INT &&
      it->experts->type != MTL_TYPE_UINT &&
      it->experts->type != MTL_TYPE_LONG) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "%s: experts must be of int, uint or long (type %d)", name,
                    (int)it->experts->type);
  }
  return MTL_OK;
}

static mtl_status check(const char *name, const tensors *it,
                        int64_t group_size) {
  STREAM_TRY(check_types(name, it));
  if (it->a->rank != 2) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "%s: a has rank %u, not 2", name,
                    it->a->rank);
  }
  const int64_t rows = it->a->sizes[0], k = it->a->sizes[1];
  const int64_t experts = it->weights.sizes[0], n = it->weights.sizes[1];
  if (group_size < 2 || group_size % 2 != 0 || k % group_size != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: groups of %lld do not divide rows of %lld", name,
                    (long long)group_size, (long long)k);
  }
  const int64_t groups[] = {experts, n, k / group_size};
  STREAM_TRY(ops_check_sizes(name, "weights", &it->weights, 3,
                             (int64_t[]){experts, n, k / 2}));
  STREAM_TRY(ops_check_sizes(name, "scales", &it->scales, 3, groups));
  STREAM_TRY(ops_check_sizes(name, "zeros", &it->zeros, 3, groups));
  if (it->experts) {
    STREAM_TRY(ops_check_sizes(name, "experts", it->experts, 1, &rows));
  }
  return ops_check_sizes(name, "out", it->out, 2, (int64_t[]){rows, n});
}

static mtl_status run(mtl_stream *stream, const char *name, const tensors *it,
                      int64_t group_size) {
  STREAM_TRY(check(name, it, group_size));
  if (mtl_tensor_count(it->out) == 0) {
    return MTL_OK;
  }
  int4_product arguments = {
      .k = (uint32_t)it->a->sizes[1],
      .group_size = (uint32_t)group_size,
      .experts = (uint32_t)it->weights.sizes[0],
      .columns = (uint32_t)it->out->sizes[1],
      .a_row = it->a->strides[0],
      .a_column = it->a->strides[1],
      .expert_stride = it->experts ? it->experts->strides[0] : 0,
      .out_row = it->out->strides[0],
      .out_column = it->out->strides[1],
  };
  const bool is_dense =
      it->a->strides[1] == 1 && it->weights.strides[2] == 1;
  memcpy(arguments.weights, it->weights.strides, sizeof arguments.weights);
  memcpy(arguments.scales, it->scales.strides, sizeof arguments.scales);
  memcpy(arguments.zeros, it->zeros.strides, sizeof arguments.zeros);
  return ops_record(
      stream,
      &(ops_dispatch){
          .source = ops_quantized_metal,
          .kernel = "int4_product_rows",
          .constants = {it->a->type, it->scales.type, it->out->type,
                        it->experts ? it->experts->type : MTL_TYPE_NONE,
                        (group_size % 32 == 0 ? HALVES_IN_GROUPS : 0) |
                            (is_dense ? IS_DENSE : 0)},
          .tensors = {it->a, &it->weights, &it->scales, &it->zeros,
                      it->experts, it->out},
          .tensor_count = 6,
          .arguments = &arguments,
          .arguments_bytes = sizeof arguments,
          .grid_threads = {32,
                           ((uint64_t)it->out->sizes[1] + COLUMNS - 1) / COLUMNS,
                           (uint64_t)it->out->sizes[0]},
          .group_threads = {32, 8}});
}

// Puts a dimension of 1 in front.
static mtl_tensor as_one_expert(const mtl_tensor *tensor) {
  mtl_tensor one = *tensor;
  for (uint32_t d = tensor->rank; d > 0; --d) {
    one.sizes[d] = tensor->sizes[d - 1];
    one.strides[d] = tensor->strides[d - 1];
  }
  one.rank = tensor->rank + 1;
  one.sizes[0] = 1;
  one.strides[0] = 0;
  return one;
}

static mtl_status check_rank(const char *name, const mtl_tensor *weights,
                             const mtl_tensor *scales, const mtl_tensor *zeros,
                             uint32_t rank) {
  if (weights->rank != rank || scales->rank != rank || zeros->rank != rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: ranks %u, %u and %u of weights, scales and zeros, "
                    "not %u",
                    name, weights->rank, scales->rank, zeros->rank, rank);
  }
  return MTL_OK;
}

mtl_status mtl_ops_int4_linear(mtl_stream *stream, const mtl_tensor *a,
                               const mtl_tensor *weights, int64_t group_size,
                               const mtl_tensor *scales,
                               const mtl_tensor *zeros, const mtl_tensor *out) {
  static const char name[] = "int4 linear";
  mtl_status status = check_rank(name, weights, scales, zeros, 2);
  if (status == MTL_OK) {
    const tensors it = {.a = a,
                        .weights = as_one_expert(weights),
                        .scales = as_one_expert(scales),
                        .zeros = as_one_expert(zeros),
                        .out = out};
    status = run(stream, name, &it, group_size);
  }
  return ops_finish(stream, status);
}

mtl_status mtl_ops_gather_qmv(mtl_stream *stream, const mtl_tensor *a,
                              const mtl_tensor *weights,
                              const mtl_tensor *scales, const mtl_tensor *zeros,
                              const mtl_tensor *experts, int64_t group_size,
                              const mtl_tensor *out) {
  static const char name[] = "gathered int4 product";
  mtl_status status = check_rank(name, weights, scales, zeros, 3);
  if (status == MTL_OK) {
    const tensors it = {.a = a,
                        .weights = *weights,
                        .scales = *scales,
                        .zeros = *zeros,
                        .experts = experts,
                        .out = out};
    status = run(stream, name, &it, group_size);
  }
  return ops_finish(stream, status);
}
