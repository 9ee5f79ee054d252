// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// search.c: on the host: searchsorted, ordered selection, embedding bags, and
// operators whose result depends on which elements are true.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/operators/host.h"

static bool is_there(const aoti_tensor *tensor) {
  return tensor && tensor->storage;
}

#define CHECK_THERE(tensor)                                                  \
  do {                                                                       \
    if (!is_there(tensor)) {                                                 \
      return mtl_fail(MTL_INVALID_ARGUMENT, "%s: %s is no tensor", __func__, \
                      #tensor);                                              \
    }                                                                        \
  } while (0)

// Wide enough for every 64-bit integer and every double, where long double is.
static long double wide(const aoti_tensor *tensor, const char *at) {
  const element value = aoti_element_read(tensor->dtype, at);
  return value.kind == REAL       ? (long double)value.real[0]
         : value.kind == UNSIGNED ? (long double)value.natural
                                  : (long double)value.number;
}

static void put_integer(int32_t dtype, char *at, int64_t number) {
  aoti_element_write(dtype, at, (element){.kind = SIGNED, .number = number});
}

static int64_t integer_at(const aoti_tensor *tensor, int64_t i) {
  return aoti_element_integer(aoti_element_read(
      tensor->dtype, host_at(tensor, tensor->rank, tensor->sizes, i)));
}

// --- Places in sorted rows ---------------------------------------------------

// The first of count places whose element is at least (right: more than)
// value. What is no number comes last.
static int64_t place_of(const aoti_tensor *sorted, host_row row,
                        const host_row *sorter, int64_t count,
                        long double value, bool right) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    int64_t at = middle;
    if (sorter) {
      memcpy(&at, sorter->start + middle * sorter->step_bytes, sizeof at);
    }
    const long double here = wide(sorted, row.start + at * row.step_bytes);
    if (right ? !(here > value) : !(here >= value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static mtl_status check_search(const aoti_tensor *sorted,
                               const aoti_tensor *values,
                               const aoti_tensor *sorter) {
  bool fits =
      sorted->rank >= 1 && (sorted->rank == 1 || sorted->rank == values->rank);
  for (int64_t d = 0; fits && sorted->rank > 1 && d + 1 < sorted->rank; ++d) {
    fits = sorted->sizes[d] == values->sizes[d];
  }
  if (!fits) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "searchsorted: a sequence of %" PRId64
                    " dimensions does not fit values of %" PRId64,
                    sorted->rank, values->rank);
  }
  if (sorter && (sorter->dtype != AOTI_INT64 || sorter->rank != sorted->rank)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "searchsorted: the sorter is not as its sequence");
  }
  return MTL_OK;
}

static mtl_status search(const aoti_tensor *sorted, const aoti_tensor *values,
                         const aoti_tensor *sorter, bool wants_int32,
                         bool right, AtenTensorHandle *out_new) {
  AOTI_TRY(check_search(sorted, values, sorter));
  const int32_t dtype = wants_int32 ? AOTI_INT32 : AOTI_INT64;
  AOTI_TRY(host_begin(dtype, values->rank, values->sizes, out_new));
  const int64_t last = sorted->rank - 1;
  const int64_t length = sorted->sizes[last];
  const int64_t count = aoti_tensor_count(values);
  const int64_t each = sorted->rank == 1 || values->rank == 0
                           ? count
                           : values->sizes[values->rank - 1];
  char *to = aoti_tensor_data(*out_new);
  for (int64_t i = 0; i < count; ++i, to += aoti_element_size(dtype)) {
    const host_row row = host_row_at(sorted, last, i / each);
    host_row order;
    if (sorter) {
      order = host_row_at(sorter, last, i / each);
    }
    const long double value =
        wide(values, host_at(values, values->rank, values->sizes, i));
    put_integer(
        dtype, to,
        place_of(sorted, row, sorter ? &order : NULL, length, value, right));
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_bucketize_Tensor(AtenTensorHandle self,
                                               AtenTensorHandle boundaries,
                                               int32_t out_int32, int32_t right,
                                               AtenTensorHandle *out_new) {
  CHECK_THERE(self);
  CHECK_THERE(boundaries);
  AOTI_CHECK_NOT_NULL(out_new);
  if (boundaries->rank != 1) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "bucketize: boundaries of %" PRId64 " dimensions",
                    boundaries->rank);
  }
  return search(boundaries, self, NULL, out_int32 != 0, right != 0, out_new);
}

AOTITorchError aoti_torch_mps_searchsorted_Tensor(
    AtenTensorHandle sorted_sequence, AtenTensorHandle self, int32_t out_int32,
    int32_t right, const char **side, AtenTensorHandle *sorter,
    AtenTensorHandle *out_new) {
  CHECK_THERE(sorted_sequence);
  CHECK_THERE(self);
  AOTI_CHECK_NOT_NULL(out_new);
  const bool is_right =
      side && *side ? strcmp(*side, "right") == 0 : right != 0;
  return search(sorted_sequence, self, sorter ? *sorter : NULL, out_int32 != 0,
                is_right, out_new);
}

AOTITorchError aoti_torch_mps_searchsorted_Scalar(
    AtenTensorHandle sorted_sequence, double self, int32_t out_int32,
    int32_t right, const char **side, AtenTensorHandle *sorter,
    AtenTensorHandle *out_new) {
  AtenTensorHandle value = NULL;
  AOTI_TRY(aoti_torch_scalar_to_tensor_float64(self, &value));
  const mtl_status status = (mtl_status)aoti_torch_mps_searchsorted_Tensor(
      sorted_sequence, value, out_int32, right, side, sorter, out_new);
  aoti_torch_delete_tensor_object(value);
  return status;
}

// --- Along a dimension -------------------------------------------------------

AOTITorchError aoti_torch_mps_logcumsumexp(AtenTensorHandle self, int64_t dim,
                                           AtenTensorHandle *out_new) {
  CHECK_THERE(self);
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_TRY(host_dimension(self, &dim));
  AOTI_TRY(host_begin(self->dtype, self->rank, self->sizes, out_new));
  const int64_t length = self->rank ? self->sizes[dim] : 1;
  const int64_t rows = length ? aoti_tensor_count(self) / length : 0;
  for (int64_t r = 0; r < rows; ++r) {
    const host_row from = host_row_at(self, dim, r);
    const host_row to = host_row_at(*out_new, dim, r);
    double sum = -INFINITY;
    for (int64_t i = 0; i < length; ++i) {
      const double x = aoti_element_real(
          aoti_element_read(self->dtype, from.start + i * from.step_bytes));
      const double high = fmax(sum, x), low = fmin(sum, x);
      sum = isnan(sum) || isnan(x) ? NAN
            : isinf(high)          ? high
                                   : high + log1p(exp(low - high));
      aoti_element_write(self->dtype, to.start + i * to.step_bytes,
                         (element){.kind = REAL, .real = {sum, 0}});
    }
  }
  return MTL_OK;
}

typedef struct ranked {
  long double value;
  int64_t place;
} ranked;

// Orders NaN as the largest; keeps the order of equal ones.
static int compare_ranked(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  const bool a_is_none = isnan(a->value), b_is_none = isnan(b->value);
  if (a_is_none != b_is_none) {
    return a_is_none ? 1 : -1;
  }
  if (!a_is_none && a->value != b->value) {
    return a->value < b->value ? -1 : 1;
  }
  return a->place < b->place ? -1 : 1;
}

static mtl_status pick_rows(const aoti_tensor *self, int64_t dim, int64_t k,
                            aoti_tensor *values, aoti_tensor *indices) {
  const int64_t length = self->rank ? self->sizes[dim] : 1;
  const int64_t rows = aoti_tensor_count(values);
  ranked *order = malloc((size_t)length * sizeof *order);
  AOTI_CHECK_NOT_NULL(order);
  for (int64_t r = 0; r < rows; ++r) {
    const host_row from = host_row_at(self, dim, r);
    for (int64_t i = 0; i < length; ++i) {
      order[i] = (ranked){wide(self, from.start + i * from.step_bytes), i};
    }
    qsort(order, (size_t)length, sizeof *order, compare_ranked);
    const int64_t place = order[k - 1].place;
    memcpy(host_at(values, values->rank, values->sizes, r),
           from.start + place * from.step_bytes,
           aoti_element_size(self->dtype));
    put_integer(AOTI_INT64, host_at(indices, values->rank, values->sizes, r),
                place);
  }
  free(order);
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_kthvalue(AtenTensorHandle self, int64_t k,
                                       int64_t dim, int32_t keepdim,
                                       AtenTensorHandle *out_new_values,
                                       AtenTensorHandle *out_new_indices) {
  CHECK_THERE(self);
  AOTI_CHECK_NOT_NULL(out_new_values);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  AOTI_TRY(host_dimension(self, &dim));
  const int64_t length = self->rank ? self->sizes[dim] : 1;
  if (k < 1 || k > length || self->rank > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "kthvalue: number %" PRId64 " of %" PRId64, k, length);
  }
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  int64_t rank = 0;
  for (int64_t d = 0; d < self->rank; ++d) {
    if (d != dim || keepdim) {
      sizes[rank++] = d == dim ? 1 : self->sizes[d];
    }
  }
  AOTI_TRY(host_begin(self->dtype, rank, sizes, out_new_values));
  mtl_status status = host_begin(AOTI_INT64, rank, sizes, out_new_indices);
  if (status == MTL_OK) {
    status = pick_rows(self, dim, k, *out_new_values, *out_new_indices);
  }
  return status;
}

// --- Bags of embeddings ------------------------------------------------------

enum { BAG_SUM = 0, BAG_MEAN = 1, BAG_LARGEST = 2 };

typedef struct bag {
  const aoti_tensor *weight, *indices, *factors;
  int64_t first, end, padding, mode;
} bag;

// Returns one element of a bag's row; *out_count is the number of entries that
// are not padding.
static double element_of_bag(const bag *it, int64_t column,
                             int64_t *out_count) {
  double result = 0;
  *out_count = 0;
  for (int64_t i = it->first; i < it->end; ++i) {
    const int64_t row = integer_at(it->indices, i);
    if (row == it->padding) {
      continue;
    }
    const int64_t at = row * it->weight->sizes[1] + column;
    double value = aoti_element_real(aoti_element_read(
        it->weight->dtype, host_at(it->weight, 2, it->weight->sizes, at)));
    if (it->factors) {
      value *= aoti_element_real(aoti_element_read(
          it->factors->dtype, host_at(it->factors, 1, it->factors->sizes, i)));
    }
    const bool is_first = (*out_count)++ == 0;
    result = it->mode != BAG_LARGEST ? result + value
             : is_first              ? value
                                     : fmax(result, value);
  }
  const bool is_mean = it->mode == BAG_MEAN && *out_count > 0;
  return is_mean ? result / (double)*out_count : result;
}

static mtl_status check_rows(const aoti_tensor *weight,
                             const aoti_tensor *indices) {
  const int64_t count = aoti_tensor_count(indices);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = integer_at(indices, i);
    if (row < 0 || row >= weight->sizes[0]) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "embedding_bag: row %" PRId64 " of %" PRId64, row,
                      weight->sizes[0]);
    }
  }
  return MTL_OK;
}

static mtl_status fill_bags(bag it, const aoti_tensor *offsets,
                            aoti_tensor *out, aoti_tensor *sizes,
                            aoti_tensor *owners) {
  AOTI_TRY(check_rows(it.weight, it.indices));
  const int64_t total = aoti_tensor_count(it.indices);
  const int64_t starts = offsets->sizes[0];
  char *to = aoti_tensor_data(out);
  for (int64_t b = 0; b < out->sizes[0]; ++b) {
    it.first = integer_at(offsets, b);
    it.end = b + 1 < starts ? integer_at(offsets, b + 1) : total;
    if (it.first < 0 || it.end > total || it.first > it.end) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "embedding_bag: bag %" PRId64 " is %" PRId64
                      " to %" PRId64 " of %" PRId64,
                      b, it.first, it.end, total);
    }
    int64_t count = 0;
    for (int64_t c = 0; c < out->sizes[1]; ++c) {
      const double value = element_of_bag(&it, c, &count);
      aoti_element_write(out->dtype, to,
                         (element){.kind = REAL, .real = {value, 0}});
      to += aoti_element_size(out->dtype);
    }
    ((int64_t *)aoti_tensor_data(sizes))[b] = count;
    for (int64_t i = it.first; i < it.end; ++i) {
      ((int64_t *)aoti_tensor_data(owners))[i] = b;
    }
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps__embedding_bag_forward_only(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    int32_t scale_grad_by_freq, int64_t mode, int32_t sparse,
    AtenTensorHandle *per_sample_weights, int32_t include_last_offset,
    int64_t padding_idx, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_owners, AtenTensorHandle *out_new_sizes,
    AtenTensorHandle *out_new_largest) {
  (void)scale_grad_by_freq;
  (void)sparse;  // both are about gradients
  CHECK_THERE(weight);
  CHECK_THERE(indices);
  CHECK_THERE(offsets);
  if (weight->rank != 2 || indices->rank != 1 || offsets->rank != 1 ||
      mode < BAG_SUM || mode > BAG_LARGEST ||
      (include_last_offset && offsets->sizes[0] == 0)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "embedding_bag: mode %" PRId64 " of ranks %" PRId64
                    ", %" PRId64 " and %" PRId64,
                    mode, weight->rank, indices->rank, offsets->rank);
  }
  const int64_t bags = offsets->sizes[0] - (include_last_offset ? 1 : 0);
  const int64_t sizes[] = {bags, weight->sizes[1]};
  AOTI_TRY(host_begin(weight->dtype, 2, sizes, out_new));
  AOTI_TRY(host_begin(AOTI_INT64, 1, indices->sizes, out_new_owners));
  AOTI_TRY(host_begin(AOTI_INT64, 1, sizes, out_new_sizes));
  AOTI_TRY(host_begin(AOTI_INT64, 1, sizes, out_new_largest));
  memset(aoti_tensor_data(*out_new_largest), 0, (size_t)bags * sizeof(int64_t));
  const bag it = {.weight = weight,
                  .indices = indices,
                  .factors = per_sample_weights ? *per_sample_weights : NULL,
                  .padding = padding_idx,
                  .mode = mode};
  return fill_bags(it, offsets, *out_new, *out_new_sizes, *out_new_owners);
}

AOTITorchError aoti_torch_mps__embedding_bag(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    int32_t scale_grad_by_freq, int64_t mode, int32_t sparse,
    AtenTensorHandle *per_sample_weights, int32_t include_last_offset,
    int64_t padding_idx, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_owners, AtenTensorHandle *out_new_sizes,
    AtenTensorHandle *out_new_largest) {
  return aoti_torch_mps__embedding_bag_forward_only(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse,
      per_sample_weights, include_last_offset, padding_idx, out_new,
      out_new_owners, out_new_sizes, out_new_largest);
}

// --- Which elements are true -------------------------------------------------

AOTITorchError aoti_torch_mps_nonzero_static(AtenTensorHandle self,
                                             int64_t size, int64_t fill_value,
                                             AtenTensorHandle *out_new) {
  CHECK_THERE(self);
  AOTI_CHECK_NOT_NULL(out_new);
  if (size < 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "nonzero_static: size %" PRId64,
                    size);
  }
  const int64_t sizes[] = {size, self->rank};
  AOTI_TRY(host_begin(AOTI_INT64, 2, sizes, out_new));
  int64_t *to = (int64_t *)aoti_tensor_data(*out_new);
  const int64_t count = aoti_tensor_count(self);
  int64_t found = 0;
  for (int64_t i = 0; i < count && found < size; ++i) {
    if (!host_is_true(self, i)) {
      continue;
    }
    for (int64_t d = self->rank, rest = i; d-- > 0; rest /= self->sizes[d]) {
      to[found * self->rank + d] = rest % self->sizes[d];
    }
    ++found;
  }
  for (int64_t i = found * self->rank; i < size * self->rank; ++i) {
    to[i] = fill_value;
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_masked_scatter(AtenTensorHandle self,
                                             AtenTensorHandle mask,
                                             AtenTensorHandle source,
                                             AtenTensorHandle *out_new) {
  CHECK_THERE(self);
  CHECK_THERE(mask);
  CHECK_THERE(source);
  AOTI_CHECK_NOT_NULL(out_new);
  if (self->dtype != source->dtype || self->rank != mask->rank ||
      memcmp(self->sizes, mask->sizes,
             (size_t)self->rank * sizeof *self->sizes) != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "masked_scatter: mask or source do not fit");
  }
  AOTI_TRY(host_begin(self->dtype, self->rank, self->sizes, out_new));
  const size_t bytes = aoti_element_size(self->dtype);
  const int64_t count = aoti_tensor_count(self);
  const int64_t there = aoti_tensor_count(source);
  char *to = aoti_tensor_data(*out_new);
  for (int64_t i = 0, used = 0; i < count; ++i, to += bytes) {
    const bool is_taken = host_is_true(mask, i);
    if (is_taken && used == there) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "masked_scatter: the source has %" PRId64 " elements",
                      there);
    }
    memcpy(to,
           is_taken ? host_at(source, source->rank, source->sizes, used++)
                    : host_at(self, self->rank, self->sizes, i),
           bytes);
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_repeat_interleave_Tensor(
    AtenTensorHandle repeats, int64_t *output_size, AtenTensorHandle *out_new) {
  CHECK_THERE(repeats);
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_TRY(aoti_wait());
  const int64_t count = aoti_tensor_count(repeats);
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    total += integer_at(repeats, i);
  }
  if (repeats->rank != 1 || (output_size && *output_size != total)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "repeat_interleave: %" PRId64 " elements in all", total);
  }
  AOTI_TRY(host_begin(repeats->dtype, 1, &total, out_new));
  char *to = aoti_tensor_data(*out_new);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t left = integer_at(repeats, i); left > 0; --left) {
      put_integer(repeats->dtype, to, i);
      to += aoti_element_size(repeats->dtype);
    }
  }
  return MTL_OK;
}
