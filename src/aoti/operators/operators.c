// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operators.c: operators that Inductor leaves to the device's library. Each
// makes its result tensor and calls ops.h.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "aoti/operators/host.h"
#include "mettle/ops.h"

enum { OPERANDS_MAX = 8 };

// What one call works on: its tensors, described, and where they go.
typedef struct operation {
  mtl_stream *stream;
  mtl_tensor tensors[OPERANDS_MAX];
  int count;
} operation;

// Describes the tensors of a list that ends with NULL. Bit i of `written` says
// that the work will write tensor i.
static mtl_status begin(operation *call, unsigned written,
                        const aoti_tensor *const *list) {
  AOTI_TRY(mtl_stream_current(&call->stream));
  for (call->count = 0; list[call->count]; ++call->count) {
    if (written >> call->count & 1 && list[call->count]->storage) {
      AOTI_TRY(aoti_tensor_before_write(list[call->count]));
    }
  }
  for (int i = 0; i < call->count; ++i) {
    AOTI_TRY(aoti_tensor_describe_read(list[i], &call->tensors[i]));
  }
  return MTL_OK;
}

enum {
  FIRST = 1,
  SECOND = 2,
  THIRD = 4,
  FOURTH = 8,
  FIFTH = 16,
  SIXTH = 32,
  SEVENTH = 64
};

#define BEGIN(operation, written, ...)  \
  AOTI_TRY(begin(&(operation), written, \
                 (const aoti_tensor *[]){__VA_ARGS__, NULL}))

static mtl_status check_rank(const aoti_tensor *tensor, int64_t rank,
                             const char *call, const char *name) {
  if (!tensor || !tensor->storage || tensor->rank != rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "%s: %s %s%" PRId64 " dimensions",
                    call, name, tensor ? "has not " : "is NULL, not of ", rank);
  }
  return MTL_OK;
}

// --- Products ----------------------------------------------------------------

static mtl_status product(const aoti_tensor *out, const aoti_tensor *a,
                          const aoti_tensor *b, const aoti_tensor *bias,
                          double beta, double alpha) {
  AOTI_CHECK_NOT_NULL(out);
  AOTI_CHECK_NOT_NULL(a);
  AOTI_CHECK_NOT_NULL(b);
  operation all;
  BEGIN(all, FIRST, out, a, b, bias);
  return mtl_ops_matmul(all.stream, &all.tensors[1], &all.tensors[2],
                        bias ? &all.tensors[3] : NULL, alpha, beta,
                        &all.tensors[0]);
}

AOTITorchError aoti_torch_mps_mm_out(AtenTensorHandle out,
                                     AtenTensorHandle self,
                                     AtenTensorHandle mat2) {
  return product(out, self, mat2, NULL, 0, 1);
}

AOTITorchError aoti_torch_mps_bmm_out(AtenTensorHandle out,
                                      AtenTensorHandle self,
                                      AtenTensorHandle mat2) {
  return product(out, self, mat2, NULL, 0, 1);
}

AOTITorchError aoti_torch_mps_addmm_out(AtenTensorHandle out,
                                        AtenTensorHandle self,
                                        AtenTensorHandle mat1,
                                        AtenTensorHandle mat2, double beta,
                                        double alpha) {
  AOTI_CHECK_NOT_NULL(self);
  return product(out, mat1, mat2, self, beta, alpha);
}

AOTITorchError aoti_torch_mps_baddbmm_out(AtenTensorHandle out,
                                          AtenTensorHandle self,
                                          AtenTensorHandle batch1,
                                          AtenTensorHandle batch2, double beta,
                                          double alpha) {
  AOTI_CHECK_NOT_NULL(self);
  return product(out, batch1, batch2, self, beta, alpha);
}

AOTITorchError aoti_torch_mps__linear_fp_act_4bit_weight(
    AtenTensorHandle a, AtenTensorHandle b, int64_t group_size,
    AtenTensorHandle scales, AtenTensorHandle zeros,
    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(check_rank(a, 2, __func__, "a"));
  AOTI_TRY(check_rank(b, 2, __func__, "b"));
  const int64_t sizes[] = {a->sizes[0], b->sizes[0]};
  AOTI_TRY(aoti_tensor_like(a, a->dtype, 2, sizes, out_new));
  operation all;
  mtl_status status =
      begin(&all, FIFTH,
            (const aoti_tensor *[]){a, b, scales, zeros, *out_new, NULL});
  if (status == MTL_OK) {
    const mtl_tensor *at = all.tensors;
    status = mtl_ops_int4_linear(all.stream, &at[0], &at[1], group_size, &at[2],
                                 &at[3], &at[4]);
  }
  return host_finish(status, out_new);
}

AOTITorchError aoti_torch_mps_gather_qmv(
    AtenTensorHandle x, AtenTensorHandle weights, AtenTensorHandle scales,
    AtenTensorHandle zeros, AtenTensorHandle expert_indices, int64_t group_size,
    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(check_rank(x, 2, __func__, "x"));
  AOTI_TRY(check_rank(weights, 3, __func__, "weights"));
  const int64_t sizes[] = {x->sizes[0], weights->sizes[1]};
  AOTI_TRY(aoti_tensor_like(x, x->dtype, 2, sizes, out_new));
  operation all;
  mtl_status status =
      begin(&all, SIXTH,
            (const aoti_tensor *[]){x, weights, scales, zeros, expert_indices,
                                    *out_new, NULL});
  if (status == MTL_OK) {
    const mtl_tensor *at = all.tensors;
    status = mtl_ops_gather_qmv(all.stream, &at[0], &at[1], &at[2], &at[3],
                                &at[4], group_size, &at[5]);
  }
  return host_finish(status, out_new);
}

AOTITorchError aoti_torch_mps_gated_delta_rule(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    AtenTensorHandle gate, AtenTensorHandle beta, AtenTensorHandle state,
    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(check_rank(value, 4, __func__, "value"));
  AOTI_TRY(aoti_tensor_like(value, value->dtype, 4, value->sizes, out_new));
  operation all;
  mtl_status status =
      begin(&all, SIXTH | SEVENTH,
            (const aoti_tensor *[]){query, key, value, gate, beta, state,
                                    *out_new, NULL});
  if (status == MTL_OK) {
    const mtl_tensor *at = all.tensors;
    status = mtl_ops_gated_delta_rule(all.stream, &at[0], &at[1], &at[2],
                                      &at[3], &at[4], &at[5], &at[6]);
  }
  return host_finish(status, out_new);
}

// --- Convolution -------------------------------------------------------------

static mtl_status set_list(int64_t target[MTL_CONVOLUTION_MAX_RANK],
                           uint32_t rank, const int64_t *list, int64_t length,
                           const char *name) {
  // A single number applies to every dimension.
  if (length != 1 && length != rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "convolution: %s has %" PRId64 " numbers, not %u", name,
                    length, rank);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    target[i] = list[length == 1 ? 0 : i];
  }
  return MTL_OK;
}

// Makes an image without a batch a batch of one.
static mtl_status add_batch(const aoti_tensor *input, int64_t rank,
                            AtenTensorHandle *out_new) {
  if (input->rank == rank) {
    return (mtl_status)aoti_torch_new_tensor_handle((AtenTensorHandle)input,
                                                    out_new);
  }
  AOTI_TRY(check_rank(input, rank - 1, "convolution", "input"));
  int64_t sizes[MTL_CONVOLUTION_MAX_RANK + 2] = {1};
  int64_t strides[MTL_CONVOLUTION_MAX_RANK + 2] = {0};
  memcpy(sizes + 1, input->sizes, (size_t)input->rank * sizeof *sizes);
  memcpy(strides + 1, input->strides, (size_t)input->rank * sizeof *strides);
  return aoti_tensor_view(input, input->dtype, rank, sizes, strides,
                          input->offset, out_new);
}

static mtl_status drop_batch(const aoti_tensor *input,
                             AtenTensorHandle *result) {
  AtenTensorHandle batched = *result;
  if (input->rank == batched->rank) {
    return MTL_OK;
  }
  const mtl_status status = aoti_tensor_view(
      batched, batched->dtype, batched->rank - 1, batched->sizes + 1,
      batched->strides + 1, batched->offset, result);
  aoti_torch_delete_tensor_object(batched);
  return status;
}

static mtl_status convolve(const aoti_tensor *batched,
                           const aoti_tensor *weight, const aoti_tensor *bias,
                           const mtl_convolution_desc *desc,
                           bool is_channels_last, AtenTensorHandle *out_new) {
  operation all;
  BEGIN(all, 0, batched, weight, bias);
  int64_t sizes[MTL_CONVOLUTION_MAX_RANK + 2];
  AOTI_TRY(
      mtl_ops_convolution_sizes(&all.tensors[0], &all.tensors[1], desc, sizes));
  int64_t strides[] = {0, 1, 0, 0};
  if (is_channels_last) {
    strides[3] = sizes[1];
    strides[2] = sizes[3] * sizes[1];
    strides[0] = sizes[2] * strides[2];
  }
  // Whatever the operands' strides: a model counts on the layout that its torch
  // computed for fake mps tensors, and away from Apple's devices that is
  // contiguous.  // torch._C._conv_determine_backend_memory_format, 2.13
  AOTI_TRY(aoti_tensor_empty(batched->storage->device_type, batched->dtype,
                             batched->rank, sizes,
                             is_channels_last ? strides : NULL, out_new));
  mtl_tensor out;
  mtl_status status = aoti_tensor_describe(*out_new, &out);
  if (status == MTL_OK) {
    status = mtl_ops_convolution(all.stream, &all.tensors[0], &all.tensors[1],
                                 bias ? &all.tensors[2] : NULL, desc, &out);
  }
  return host_finish(status, out_new);
}

static mtl_status convolution(AtenTensorHandle input, AtenTensorHandle weight,
                              AtenTensorHandle *bias, const int64_t *stride,
                              int64_t stride_len, const int64_t *padding,
                              int64_t padding_len, const int64_t *dilation,
                              int64_t dilation_len, int32_t transposed,
                              const int64_t *output_padding,
                              int64_t output_padding_len, int64_t groups,
                              bool is_channels_last,
                              AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(input);
  AOTI_CHECK_NOT_NULL(weight);
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  const int64_t rank = weight->rank - 2;
  if (rank < 1 || rank > MTL_CONVOLUTION_MAX_RANK ||
      (is_channels_last && rank != 2)) {
    return mtl_fail(MTL_UNSUPPORTED, "convolution over %" PRId64 " dimensions",
                    rank);
  }
  mtl_convolution_desc desc = {
      .rank = (uint32_t)rank, .groups = groups, .transposed = transposed != 0};
  AOTI_TRY(set_list(desc.stride, desc.rank, stride, stride_len, "stride"));
  AOTI_TRY(set_list(desc.padding, desc.rank, padding, padding_len, "padding"));
  AOTI_TRY(
      set_list(desc.dilation, desc.rank, dilation, dilation_len, "dilation"));
  if (transposed) {
    AOTI_TRY(set_list(desc.output_padding, desc.rank, output_padding,
                      output_padding_len, "output_padding"));
  }
  AtenTensorHandle batched = NULL;
  AOTI_TRY(add_batch(input, weight->rank, &batched));
  mtl_status status = convolve(batched, weight, bias ? *bias : NULL, &desc,
                               is_channels_last, out_new);
  aoti_torch_delete_tensor_object(batched);
  if (status == MTL_OK) {
    status = drop_batch(input, out_new);
  }
  return status;
}

AOTITorchError aoti_torch_mps_convolution(
    AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle *bias,
    const int64_t *stride, int64_t stride_len, const int64_t *padding,
    int64_t padding_len, const int64_t *dilation, int64_t dilation_len,
    int32_t transposed, const int64_t *output_padding,
    int64_t output_padding_len, int64_t groups, AtenTensorHandle *out_new) {
  return convolution(input, weight, bias, stride, stride_len, padding,
                     padding_len, dilation, dilation_len, transposed,
                     output_padding, output_padding_len, groups, false,
                     out_new);
}

AOTITorchError aoti_torch_mps_convolution_channels_last(
    AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle *bias,
    const int64_t *stride, int64_t stride_len, const int64_t *padding,
    int64_t padding_len, const int64_t *dilation, int64_t dilation_len,
    int32_t transposed, const int64_t *output_padding,
    int64_t output_padding_len, int64_t groups, AtenTensorHandle *out_new) {
  return convolution(input, weight, bias, stride, stride_len, padding,
                     padding_len, dilation, dilation_len, transposed,
                     output_padding, output_padding_len, groups, true, out_new);
}

// --- Attention ---------------------------------------------------------------

// Makes a view of four dimensions: of three or fewer, ones are put in front; of
// more, the leading ones are at one place, counted over sizes [rank - 4].
static mtl_tensor four_dimensions(const mtl_tensor *tensor,
                                  const int64_t *sizes, uint32_t rank,
                                  uint64_t place) {
  mtl_tensor four = *tensor;
  four.rank = 4;
  for (uint32_t d = 0; d < 4; ++d) {
    const bool is_there = d + tensor->rank >= 4;
    const uint32_t from = is_there ? d + tensor->rank - 4 : 0;
    four.sizes[d] = is_there ? tensor->sizes[from] : 1;
    four.strides[d] = is_there ? tensor->strides[from] : 0;
  }
  // A mask may have fewer dimensions than the rest.
  const int64_t missing = (int64_t)rank - tensor->rank;
  for (int64_t d = (int64_t)rank - 5; d >= 0; --d) {
    const uint64_t at = place % (uint64_t)sizes[d];
    place /= (uint64_t)sizes[d];
    if (d >= missing && tensor->sizes[d - missing] != 1 && at != 0) {
      four.offset_bytes += (uint64_t)tensor->strides[d - missing] * at *
                           mtl_data_type_size(tensor->type);
      four.constant = 0;  // names the whole
    }
  }
  return four;
}

// Attends with query, key, value, out, and weights and mask where they are
// given. All but mask have query's rank and leading sizes.
static mtl_status attend_each(mtl_stream *stream, const mtl_tensor *all,
                              bool has_weights, const mtl_tensor *mask,
                              bool is_causal, double scale) {
  const uint32_t rank = all[0].rank;
  uint64_t places = 1;
  for (uint32_t d = 0; d + 4 < rank; ++d) {
    places *= (uint64_t)all[0].sizes[d];
  }
  for (uint64_t place = 0; place < places; ++place) {
    mtl_tensor four[6];
    for (uint32_t i = 0; i < (has_weights ? 5 : 4); ++i) {
      four[i] = four_dimensions(&all[i], all[0].sizes, rank, place);
    }
    if (mask) {
      four[5] = four_dimensions(mask, all[0].sizes, rank, place);
    }
    const mtl_attention_desc desc = {
        .mask = mask ? &four[5] : NULL, .is_causal = is_causal, .scale = scale};
    AOTI_TRY(mtl_ops_attention(stream, &four[0], &four[1], &four[2], &desc,
                               &four[3], has_weights ? &four[4] : NULL));
  }
  return MTL_OK;
}

static mtl_status attend(const aoti_tensor *query, const aoti_tensor *key,
                         const aoti_tensor *value, const aoti_tensor *mask,
                         bool is_causal, const double *scale,
                         const aoti_tensor *out, const aoti_tensor *weights) {
  // Weights and mask, where they are given.
  const aoti_tensor *const first = weights ? weights : mask;
  operation all;
  BEGIN(all, weights ? FOURTH | FIFTH : FOURTH, query, key, value, out, first,
        weights ? mask : NULL);
  const mtl_tensor *at = all.tensors;
  return attend_each(all.stream, at, weights != NULL,
                     mask ? &at[weights ? 5 : 4] : NULL, is_causal,
                     scale ? *scale : 0);
}

// Checks key, value and mask against query: the leading dimensions are query's.
static mtl_status check_attention(const aoti_tensor *query,
                                  const aoti_tensor *key,
                                  const aoti_tensor *value,
                                  const aoti_tensor *mask) {
  AOTI_CHECK_NOT_NULL(query);
  if (query->rank < 2 || query->rank > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "attention: query has %" PRId64 " dimensions, not 2 to %d",
                    query->rank, MTL_TENSOR_MAX_RANK);
  }
  AOTI_TRY(check_rank(key, query->rank, "attention", "key"));
  AOTI_TRY(check_rank(value, query->rank, "attention", "value"));
  const int64_t leading = query->rank - 4;
  const int64_t missing = mask ? query->rank - mask->rank : query->rank;
  if (missing < 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "attention: mask has %" PRId64
                    " dimensions, query %" PRId64,
                    mask->rank, query->rank);
  }
  for (int64_t d = 0; d < leading; ++d) {
    const int64_t size = query->sizes[d];
    const int64_t masks = d < missing ? 1 : mask->sizes[d - missing];
    if (key->sizes[d] != size || value->sizes[d] != size ||
        (masks != 1 && masks != size)) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "attention: sizes %" PRId64 ", %" PRId64 ", %" PRId64
                      " and %" PRId64
                      " of query, key, value and mask in dimension %" PRId64,
                      size, key->sizes[d], value->sizes[d], masks, d);
    }
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    AtenTensorHandle *attn_mask, double dropout_p, int32_t is_causal,
    AtenTensorHandle *dropout_mask, double *scale, int32_t enable_gqa,
    AtenTensorHandle *out_new, AtenTensorHandle *out_new_weights) {
  (void)enable_gqa;  // the sizes tell
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  if (out_new_weights) {
    *out_new_weights = NULL;
  }
  if (dropout_p != 0 || (dropout_mask && *dropout_mask)) {
    return mtl_fail(MTL_UNSUPPORTED, "attention with a dropout of %g",
                    dropout_p);
  }
  const aoti_tensor *mask = attn_mask ? *attn_mask : NULL;
  AOTI_TRY(check_attention(query, key, value, mask));
  const int64_t rank = query->rank;
  int64_t sizes[MTL_TENSOR_MAX_RANK], weight_sizes[MTL_TENSOR_MAX_RANK];
  memcpy(sizes, query->sizes, (size_t)rank * sizeof *sizes);
  memcpy(weight_sizes, query->sizes, (size_t)rank * sizeof *sizes);
  sizes[rank - 1] = value->sizes[rank - 1];
  weight_sizes[rank - 1] = key->sizes[rank - 2];
  AOTI_TRY(aoti_tensor_like(query, query->dtype, rank, sizes, out_new));
  mtl_status status = out_new_weights
                          ? aoti_tensor_like(query, query->dtype, rank,
                                             weight_sizes, out_new_weights)
                          : MTL_OK;
  if (status == MTL_OK) {
    status = attend(query, key, value, mask, is_causal != 0, scale, *out_new,
                    out_new_weights ? *out_new_weights : NULL);
  }
  if (out_new_weights) {
    status = host_finish(status, out_new_weights);
  }
  return host_finish(status, out_new);
}

AOTITorchError aoti_torch_mps__scaled_dot_product_attention_math_for_mps(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    AtenTensorHandle *attn_mask, double dropout_p, int32_t is_causal,
    AtenTensorHandle *dropout_mask, double *scale, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_weights) {
  return aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
      query, key, value, attn_mask, dropout_p, is_causal, dropout_mask, scale,
      0, out_new, out_new_weights);
}

// --- Order and sums ----------------------------------------------------------

// Makes values and indices with size `size` along dim, 0 to rank - 1.
static mtl_status make_pair(const aoti_tensor *self, int64_t dim, int64_t size,
                            AtenTensorHandle *out_values,
                            AtenTensorHandle *out_indices) {
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  if (self->rank > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_UNSUPPORTED, "%" PRId64 " dimensions", self->rank);
  }
  memcpy(sizes, self->sizes, (size_t)self->rank * sizeof *sizes);
  if (self->rank > 0) {
    sizes[dim] = size;
  }
  AOTI_TRY(aoti_tensor_like(self, self->dtype, self->rank, sizes, out_values));
  return host_finish(
      aoti_tensor_like(self, AOTI_INT64, self->rank, sizes, out_indices),
      out_values);
}

AOTITorchError aoti_torch_mps_topk(AtenTensorHandle self, int64_t k,
                                   int64_t dim, int32_t largest, int32_t sorted,
                                   AtenTensorHandle *out_new_values,
                                   AtenTensorHandle *out_new_indices) {
  (void)sorted;  // always
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(out_new_values);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  AOTI_TRY(host_dimension(self, &dim));
  if (k < 0 || k > (self->rank ? self->sizes[dim] : 1)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "topk: %" PRId64 " of %" PRId64 " elements", k,
                    self->rank ? self->sizes[dim] : 1);
  }
  AOTI_TRY(make_pair(self, dim, k, out_new_values, out_new_indices));
  operation all;
  mtl_status status = begin(
      &all, SECOND | THIRD,
      (const aoti_tensor *[]){self, *out_new_values, *out_new_indices, NULL});
  if (status == MTL_OK) {
    status = mtl_ops_topk(all.stream, &all.tensors[0], k, dim, largest != 0,
                          &all.tensors[1], &all.tensors[2]);
  }
  return host_finish(host_finish(status, out_new_values), out_new_indices);
}

AOTITorchError aoti_torch_mps_sort(AtenTensorHandle self, int64_t dim,
                                   int32_t descending,
                                   AtenTensorHandle *out_new_values,
                                   AtenTensorHandle *out_new_indices) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(out_new_values);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  AOTI_TRY(host_dimension(self, &dim));
  AOTI_TRY(host_make_elements(self, NULL, self->dtype, self->rank, self->sizes,
                              out_new_values));
  AOTI_TRY(host_finish(host_make_elements(self, NULL, AOTI_INT64, self->rank,
                                          self->sizes, out_new_indices),
                       out_new_values));
  operation all;
  mtl_status status = begin(
      &all, SECOND | THIRD,
      (const aoti_tensor *[]){self, *out_new_values, *out_new_indices, NULL});
  if (status == MTL_OK) {
    status = mtl_ops_sort(all.stream, &all.tensors[0], dim, descending != 0,
                          &all.tensors[1], &all.tensors[2]);
  }
  return host_finish(host_finish(status, out_new_values), out_new_indices);
}

AOTITorchError aoti_torch_mps_sort_stable(AtenTensorHandle self,
                                          int32_t *stable, int64_t dim,
                                          int32_t descending,
                                          AtenTensorHandle *out_new_values,
                                          AtenTensorHandle *out_new_indices) {
  (void)stable;  // always
  return aoti_torch_mps_sort(self, dim, descending, out_new_values,
                             out_new_indices);
}

static bool is_integer(int32_t dtype) {
  return dtype == AOTI_BOOL || dtype <= AOTI_INT64 || dtype >= AOTI_UINT16;
}

AOTITorchError aoti_torch_mps_cumsum(AtenTensorHandle self, int64_t dim,
                                     int32_t *dtype,
                                     AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_TRY(host_dimension(self, &dim));
  const int32_t type = dtype                     ? *dtype
                       : is_integer(self->dtype) ? AOTI_INT64
                                                 : self->dtype;
  AOTI_TRY(aoti_tensor_like(self, type, self->rank, self->sizes, out_new));
  operation all;
  mtl_status status =
      begin(&all, SECOND, (const aoti_tensor *[]){self, *out_new, NULL});
  if (status == MTL_OK) {
    status = mtl_ops_cumulative_sum(all.stream, &all.tensors[0], dim,
                                    &all.tensors[1]);
  }
  return host_finish(status, out_new);
}
