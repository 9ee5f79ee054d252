// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// products.c: rarer matrix products: summed over a batch, with a vector, by
// groups of rows, with 8-bit weights, of three tensors.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/operators/host.h"
#include "mettle/ops.h"

// out = beta * bias + alpha * (a x b) on the device.
static mtl_status multiply(const aoti_tensor *a, const aoti_tensor *b,
                           const aoti_tensor *bias, double alpha, double beta,
                           const aoti_tensor *out) {
  mtl_stream *stream = NULL;
  mtl_tensor left, right, added, target;
  AOTI_TRY(mtl_stream_current(&stream));
  AOTI_TRY(aoti_tensor_describe(out, &target));
  AOTI_TRY(aoti_tensor_describe_read(a, &left));
  AOTI_TRY(aoti_tensor_describe_read(b, &right));
  if (bias) {
    AOTI_TRY(aoti_tensor_describe_read(bias, &added));
  }
  return mtl_ops_matmul(stream, &left, &right, bias ? &added : NULL, alpha,
                        beta, &target);
}

static mtl_status copy(const aoti_tensor *from, const aoti_tensor *to) {
  mtl_stream *stream = NULL;
  mtl_tensor in, out;
  AOTI_TRY(mtl_stream_current(&stream));
  AOTI_TRY(aoti_tensor_describe(to, &out));
  AOTI_TRY(aoti_tensor_describe_read(from, &in));
  return mtl_ops_copy(stream, &in, &out);
}

// --- addmv, addbmm -----------------------------------------------------------

AOTITorchError aoti_torch_mps_addmv(AtenTensorHandle self, AtenTensorHandle mat,
                                    AtenTensorHandle vec, double beta,
                                    double alpha, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(host_check_tensor(mat, __func__));
  AOTI_TRY(host_check_tensor(vec, __func__));
  if (mat->rank != 2 || vec->rank != 1 || self->rank > 1) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "addmv: no matrix and vector");
  }
  const int64_t rows = mat->sizes[0];
  AtenTensorHandle column = NULL, bias = NULL, target = NULL;
  AOTI_TRY(aoti_tensor_like(mat, mat->dtype, 1, &rows, out_new));
  mtl_status status =
      aoti_tensor_view(vec, vec->dtype, 2, (int64_t[]){vec->sizes[0], 1},
                       (int64_t[]){vec->strides[0], 1}, vec->offset, &column);
  if (status == MTL_OK) {
    const int64_t step = self->rank ? self->strides[0] : 0;
    const int64_t count = self->rank ? self->sizes[0] : 1;
    status = aoti_tensor_view(self, self->dtype, 2, (int64_t[]){count, 1},
                              (int64_t[]){step, 1}, self->offset, &bias);
  }
  if (status == MTL_OK) {
    status = aoti_tensor_view(*out_new, mat->dtype, 2, (int64_t[]){rows, 1},
                              (int64_t[]){1, 1}, 0, &target);
  }
  if (status == MTL_OK) {
    status = multiply(mat, column, bias, alpha, beta, target);
  }
  aoti_torch_delete_tensor_object(column);
  aoti_torch_delete_tensor_object(bias);
  aoti_torch_delete_tensor_object(target);
  return host_finish(status, out_new);
}

// Makes a matrix of a batch whose dimension `merged` and the batch's become
// one: a sum over both is one product.
static mtl_status merge_batch(const aoti_tensor *batch, int64_t merged,
                              AtenTensorHandle *out_matrix) {
  const int64_t *n = batch->sizes, *s = batch->strides;
  const bool is_left = merged == 2;
  const int64_t sizes[] = {is_left ? n[1] : n[0], is_left ? n[0] : n[1], n[2]};
  const int64_t strides[] = {is_left ? s[1] : s[0], is_left ? s[0] : s[1],
                             s[2]};
  AtenTensorHandle turned = NULL, dense = NULL;
  mtl_status status = aoti_tensor_view(batch, batch->dtype, 3, sizes, strides,
                                       batch->offset, &turned);
  if (status == MTL_OK) {
    status = aoti_tensor_like(batch, batch->dtype, 3, sizes, &dense);
  }
  if (status == MTL_OK) {
    status = copy(turned, dense);
  }
  if (status == MTL_OK) {
    const int64_t rows = is_left ? sizes[0] : sizes[0] * sizes[1];
    const int64_t columns = is_left ? sizes[1] * sizes[2] : sizes[2];
    status =
        aoti_tensor_view(dense, batch->dtype, 2, (int64_t[]){rows, columns},
                         (int64_t[]){columns, 1}, 0, out_matrix);
  }
  aoti_torch_delete_tensor_object(turned);
  aoti_torch_delete_tensor_object(dense);
  return status;
}

AOTITorchError aoti_torch_mps_addbmm(AtenTensorHandle self,
                                     AtenTensorHandle batch1,
                                     AtenTensorHandle batch2, double beta,
                                     double alpha, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(host_check_tensor(batch1, __func__));
  AOTI_TRY(host_check_tensor(batch2, __func__));
  if (batch1->rank != 3 || batch2->rank != 3 ||
      batch1->sizes[0] != batch2->sizes[0]) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "addbmm: no two batches");
  }
  const int64_t sizes[] = {batch1->sizes[1], batch2->sizes[2]};
  AtenTensorHandle left = NULL, right = NULL;
  AOTI_TRY(aoti_tensor_like(batch1, batch1->dtype, 2, sizes, out_new));
  mtl_status status = merge_batch(batch1, 2, &left);
  if (status == MTL_OK) {
    status = merge_batch(batch2, 1, &right);
  }
  if (status == MTL_OK) {
    status = multiply(left, right, self, alpha, beta, *out_new);
  }
  aoti_torch_delete_tensor_object(left);
  aoti_torch_delete_tensor_object(right);
  return host_finish(status, out_new);
}

// --- Groups ------------------------------------------------------------------

// A product by groups: of a and b one or both are 2-D, and share out their rows
// or columns; out has what they do not.
typedef struct grouped {
  const aoti_tensor *a, *b, *out;
} grouped;

// tensor's part in group g: of a batch, matrix g; otherwise elements first to
// end - 1 along `dimension`.
static mtl_status part(const aoti_tensor *tensor, int64_t g, int64_t dimension,
                       int64_t first, int64_t end, AtenTensorHandle *out_part) {
  if (tensor->rank == 3) {
    return aoti_tensor_view(tensor, tensor->dtype, 2, tensor->sizes + 1,
                            tensor->strides + 1,
                            tensor->offset + g * tensor->strides[0], out_part);
  }
  int64_t sizes[] = {tensor->sizes[0], tensor->sizes[1]};
  sizes[dimension] = end - first;
  return aoti_tensor_view(tensor, tensor->dtype, 2, sizes, tensor->strides,
                          tensor->offset + first * tensor->strides[dimension],
                          out_part);
}

static mtl_status multiply_group(const grouped *it, int64_t g, int64_t first,
                                 int64_t end) {
  // The dimension that the groups split: rows of a, columns of b, or the summed
  // dimension.
  const bool by_sum = it->a->rank == 2 && it->b->rank == 2;
  AtenTensorHandle a = NULL, b = NULL, out = NULL;
  mtl_status status = part(it->a, g, by_sum ? 1 : 0, first, end, &a);
  if (status == MTL_OK) {
    status = part(it->b, g, by_sum ? 0 : 1, first, end, &b);
  }
  if (status == MTL_OK) {
    status = part(it->out, g, it->a->rank == 2 ? 0 : 1, first, end, &out);
  }
  if (status == MTL_OK && aoti_tensor_count(out) > 0) {
    status = multiply(a, b, NULL, 1, 0, out);
  }
  aoti_torch_delete_tensor_object(a);
  aoti_torch_delete_tensor_object(b);
  aoti_torch_delete_tensor_object(out);
  return status;
}

static mtl_status multiply_groups(const grouped *it, const aoti_tensor *ends) {
  AOTI_TRY(aoti_wait());  // the host reads the ends
  const bool by_sum = it->a->rank == 2 && it->b->rank == 2;
  const int64_t limit = by_sum             ? it->a->sizes[1]
                        : it->a->rank == 2 ? it->a->sizes[0]
                                           : it->b->sizes[1];
  int64_t first = 0;
  for (int64_t g = 0; g < ends->sizes[0]; ++g) {
    const int64_t end = aoti_element_integer(
        aoti_element_read(ends->dtype, host_at(ends, 1, ends->sizes, g)));
    if (end < first || end > limit) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "grouped_mm: group %" PRId64 " is %" PRId64 " to %" PRId64
                      " of %" PRId64,
                      g, first, end, limit);
    }
    AOTI_TRY(multiply_group(it, g, first, end));
    first = end;
  }
  return MTL_OK;
}

static mtl_status check_groups(const aoti_tensor *a, const aoti_tensor *b,
                               const aoti_tensor *ends) {
  AOTI_TRY(host_check_tensor(a, "grouped_mm"));
  AOTI_TRY(host_check_tensor(b, "grouped_mm"));
  AOTI_TRY(host_check_tensor(ends, "grouped_mm"));
  const int64_t groups = ends->rank == 1 ? ends->sizes[0] : -1;
  if ((a->rank != 2 && a->rank != 3) || (b->rank != 2 && b->rank != 3) ||
      (a->rank == 3 && b->rank == 3) || groups < 0 ||
      (a->rank == 3 && a->sizes[0] != groups) ||
      (b->rank == 3 && b->sizes[0] != groups)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "grouped_mm: %" PRId64 " and %" PRId64
                    " dimensions, %" PRId64 " groups",
                    a->rank, b->rank, groups);
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps__grouped_mm(
    AtenTensorHandle self, AtenTensorHandle mat2, AtenTensorHandle *offs,
    AtenTensorHandle *bias, int32_t *out_dtype, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  if (!offs || (bias && *bias)) {
    return mtl_fail(MTL_UNSUPPORTED, "grouped_mm %s",
                    offs ? "with a bias" : "without offsets");
  }
  AOTI_TRY(check_groups(self, mat2, *offs));
  const int32_t dtype = out_dtype ? *out_dtype : self->dtype;
  const int64_t rows = self->sizes[self->rank - 2];
  const int64_t columns = mat2->sizes[mat2->rank - 1];
  const bool by_sum = self->rank == 2 && mat2->rank == 2;
  const int64_t sizes[] = {(*offs)->sizes[0], rows, columns};
  // Rows are padded to 16 bytes.  // torch/_meta_registrations.py,
  // _create_grouped_mm_output_tensor
  const int64_t aligned = 16 / (int64_t)aoti_element_size(dtype);
  const int64_t stride = (columns + aligned - 1) / aligned * aligned;
  const int64_t strides[] = {rows * stride, stride, 1};
  AOTI_TRY(aoti_tensor_empty(AOTI_MPS, dtype, by_sum ? 3 : 2,
                             by_sum ? sizes : sizes + 1,
                             by_sum ? strides : strides + 1, out_new));
  return host_finish(multiply_groups(&(grouped){self, mat2, *out_new}, *offs),
                     out_new);
}

// --- On the host -------------------------------------------------------------

// y[m][n] = sum over k of x[m][k] * w[n][k], times scale[n].
AOTITorchError aoti_torch_mps__weight_int8pack_mm(AtenTensorHandle self,
                                                  AtenTensorHandle mat2,
                                                  AtenTensorHandle scales,
                                                  AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(host_check_tensor(mat2, __func__));
  AOTI_TRY(host_check_tensor(scales, __func__));
  if (self->rank != 2 || mat2->rank != 2 || scales->rank != 1 ||
      mat2->dtype != AOTI_INT8 || mat2->sizes[1] != self->sizes[1] ||
      mat2->sizes[0] != scales->sizes[0] || !aoti_tensor_is_contiguous(mat2)) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "int8pack_mm: no rows of int8");
  }
  const int64_t rows = self->sizes[0], columns = mat2->sizes[0];
  const int64_t depth = self->sizes[1];
  AOTI_TRY(host_begin(self->dtype, 2, (int64_t[]){rows, columns}, out_new));
  double *x = host_reals(self, 2, self->sizes);
  double *scale = host_reals(scales, 1, scales->sizes);
  const int8_t *weights = (const int8_t *)aoti_tensor_data(mat2);
  for (int64_t i = 0; x && scale && i < rows * columns; ++i) {
    const double *row = x + i / columns * depth;
    const int8_t *weight = weights + i % columns * depth;
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += row[k] * weight[k];
    }
    host_put_real(*out_new, i, sum * scale[i % columns]);
  }
  const bool has_memory = x && scale;
  free(x);
  free(scale);
  return has_memory
             ? MTL_OK
             : host_finish(mtl_fail(MTL_OUT_OF_MEMORY, "int8pack_mm"), out_new);
}

// --- Three tensors -----------------------------------------------------------

typedef struct operand {
  const aoti_tensor *tensor;
  double *reals;
  int64_t strides[MTL_TENSOR_MAX_RANK];  // 0 where it is expanded
} operand;

typedef struct trilinear {
  operand operands[3];
  int64_t rank;
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  bool is_summed[MTL_TENSOR_MAX_RANK];
} trilinear;

// Puts dimensions of size 1 at the places of `expand`.
static mtl_status expand(trilinear *it, int which, const aoti_tensor *tensor,
                         const int64_t *places, int64_t count) {
  AOTI_TRY(host_check_tensor(tensor, "trilinear"));
  operand *own = &it->operands[which];
  own->tensor = tensor;
  const int64_t rank = tensor->rank + count;
  if (rank > MTL_TENSOR_MAX_RANK || (which > 0 && rank != it->rank)) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "trilinear: operands do not fit");
  }
  it->rank = rank;
  bool is_expanded[MTL_TENSOR_MAX_RANK] = {false};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = places[i] + (places[i] < 0 ? rank : 0);
    if (place < 0 || place >= rank) {
      return mtl_fail(MTL_INVALID_ARGUMENT, "trilinear: dimension %" PRId64,
                      places[i]);
    }
    is_expanded[place] = true;
  }
  int64_t stride = 1;
  for (int64_t d = rank, own_d = tensor->rank; d-- > 0;) {
    if (is_expanded[d]) {
      continue;
    }
    if (own_d-- == 0) {
      return mtl_fail(MTL_INVALID_ARGUMENT, "trilinear: a place comes twice");
    }
    const int64_t size = tensor->sizes[own_d];
    own->strides[d] = size == 1 ? 0 : stride;
    if (size != 1) {
      if (it->sizes[d] != 1 && it->sizes[d] != size) {
        return mtl_fail(MTL_INVALID_ARGUMENT,
                        "trilinear: sizes %" PRId64 " and %" PRId64,
                        it->sizes[d], size);
      }
      it->sizes[d] = size;
    }
    stride *= size;
  }
  return MTL_OK;
}

// Returns the sum over the summed dimensions from d on; at: each operand's
// element.
static double sum_from(const trilinear *it, int64_t d, const int64_t at[3]) {
  while (d < it->rank && !it->is_summed[d]) {
    ++d;
  }
  const operand *o = it->operands;
  if (d == it->rank) {
    return o[0].reals[at[0]] * o[1].reals[at[1]] * o[2].reals[at[2]];
  }
  double sum = 0;
  for (int64_t i = 0; i < it->sizes[d]; ++i) {
    const int64_t next[] = {at[0] + i * o[0].strides[d],
                            at[1] + i * o[1].strides[d],
                            at[2] + i * o[2].strides[d]};
    sum += sum_from(it, d + 1, next);
  }
  return sum;
}

static mtl_status sum_products(trilinear *it, const aoti_tensor *out) {
  bool has_memory = true;
  for (int i = 0; i < 3; ++i) {
    const aoti_tensor *tensor = it->operands[i].tensor;
    it->operands[i].reals = host_reals(tensor, tensor->rank, tensor->sizes);
    has_memory &= it->operands[i].reals != NULL;
  }
  const int64_t count = aoti_tensor_count(out);
  for (int64_t i = 0; has_memory && i < count; ++i) {
    int64_t at[3] = {0};
    for (int64_t d = it->rank, rest = i; d-- > 0;) {
      if (!it->is_summed[d]) {
        for (int k = 0; k < 3; ++k) {
          at[k] += rest % it->sizes[d] * it->operands[k].strides[d];
        }
        rest /= it->sizes[d];
      }
    }
    host_put_real(out, i, sum_from(it, 0, at));
  }
  for (int i = 0; i < 3; ++i) {
    free(it->operands[i].reals);
  }
  return has_memory ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "trilinear");
}

AOTITorchError aoti_torch_mps__trilinear(
    AtenTensorHandle i1, AtenTensorHandle i2, AtenTensorHandle i3,
    const int64_t *expand1, int64_t expand1_length, const int64_t *expand2,
    int64_t expand2_length, const int64_t *expand3, int64_t expand3_length,
    const int64_t *sumdim, int64_t sumdim_length, int64_t unroll_dim,
    AtenTensorHandle *out_new) {
  (void)unroll_dim;  // of speed alone
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  trilinear it = {0};
  for (int64_t d = 0; d < MTL_TENSOR_MAX_RANK; ++d) {
    it.sizes[d] = 1;
  }
  AOTI_TRY(expand(&it, 0, i1, expand1, expand1_length));
  AOTI_TRY(expand(&it, 1, i2, expand2, expand2_length));
  AOTI_TRY(expand(&it, 2, i3, expand3, expand3_length));
  for (int64_t i = 0; i < sumdim_length; ++i) {
    const int64_t d = sumdim[i] + (sumdim[i] < 0 ? it.rank : 0);
    if (d < 0 || d >= it.rank) {
      return mtl_fail(MTL_INVALID_ARGUMENT, "trilinear: dimension %" PRId64,
                      sumdim[i]);
    }
    it.is_summed[d] = true;
  }
  int64_t sizes[MTL_TENSOR_MAX_RANK], rank = 0;
  for (int64_t d = 0; d < it.rank; ++d) {
    if (!it.is_summed[d]) {
      sizes[rank++] = it.sizes[d];
    }
  }
  AOTI_TRY(host_begin(i1->dtype, rank, sizes, out_new));
  return host_finish(sum_products(&it, *out_new), out_new);
}
