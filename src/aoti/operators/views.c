// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// views.c: operators that make a view of the same memory, and those that
// concatenate tensors.
#include <inttypes.h>
#include <string.h>

#include "aoti/tensor.h"

enum { RANK_MAX = 64 };

#define CHECK_TENSOR(tensor)              \
  AOTI_CHECK_NOT_NULL(tensor);            \
  AOTI_CHECK_NOT_NULL((tensor)->storage); \
  AOTI_CHECK_NOT_NULL(out_new)

static mtl_status check_dimension(const aoti_tensor *self, int64_t *dim) {
  if (*dim < -self->rank || *dim >= self->rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "dimension %" PRId64 " of %" PRId64,
                    *dim, self->rank);
  }
  *dim += *dim < 0 ? self->rank : 0;
  return MTL_OK;
}

static int32_t complex_of(int32_t dtype) {
  return dtype == AOTI_FLOAT32   ? AOTI_COMPLEX64
         : dtype == AOTI_FLOAT16 ? AOTI_COMPLEX32
         : dtype == AOTI_FLOAT64 ? AOTI_COMPLEX128
                                 : -1;
}

static int32_t real_of(int32_t dtype) {
  return dtype == AOTI_COMPLEX64    ? AOTI_FLOAT32
         : dtype == AOTI_COMPLEX32  ? AOTI_FLOAT16
         : dtype == AOTI_COMPLEX128 ? AOTI_FLOAT64
                                    : -1;
}

AOTITorchError aoti_torch_mps_view_as_complex(AtenTensorHandle self,
                                              AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  const int64_t last = self->rank - 1;
  bool fits = last >= 0 && last < RANK_MAX && self->sizes[last] == 2 &&
              self->strides[last] == 1 && self->offset % 2 == 0 &&
              complex_of(self->dtype) >= 0;
  int64_t strides[RANK_MAX];
  for (int64_t i = 0; fits && i < last; ++i) {
    fits = self->strides[i] % 2 == 0;
    strides[i] = self->strides[i] / 2;
  }
  if (!fits) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "view_as_complex: the last dimension is not a pair");
  }
  return aoti_tensor_view(self, complex_of(self->dtype), last, self->sizes,
                          strides, self->offset / 2, out_new);
}

AOTITorchError aoti_torch_mps_view_as_real(AtenTensorHandle self,
                                           AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  if (real_of(self->dtype) < 0 || self->rank >= RANK_MAX) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "view_as_real: element type %d is not complex",
                    self->dtype);
  }
  int64_t sizes[RANK_MAX];
  int64_t strides[RANK_MAX];
  for (int64_t i = 0; i < self->rank; ++i) {
    sizes[i] = self->sizes[i];
    strides[i] = 2 * self->strides[i];
  }
  sizes[self->rank] = 2;
  strides[self->rank] = 1;
  return aoti_tensor_view(self, real_of(self->dtype), self->rank + 1, sizes,
                          strides, 2 * self->offset, out_new);
}

// Source: torch.Tensor.view(dtype): the last dimension grows or shrinks.
AOTITorchError aoti_torch_mps_view_dtype(AtenTensorHandle self, int32_t dtype,
                                         AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  const int64_t from = (int64_t)aoti_element_size(self->dtype);
  const int64_t to = (int64_t)aoti_element_size(dtype);
  if (to == 0 || self->rank > RANK_MAX) {
    return mtl_fail(MTL_UNSUPPORTED, "view_dtype: element type %d", dtype);
  }
  int64_t sizes[RANK_MAX];
  int64_t strides[RANK_MAX];
  const int64_t last = self->rank - 1;
  bool fits = from == to || (last >= 0 && self->strides[last] == 1);
  fits = fits && self->offset * from % to == 0;
  for (int64_t i = 0; fits && i <= last; ++i) {
    const bool is_run = i == last && from != to;
    const int64_t size = self->sizes[i] * (is_run ? from : 1);
    const int64_t stride = self->strides[i] * from;
    fits = (!is_run || size % to == 0) && (is_run || stride % to == 0);
    sizes[i] = is_run ? size / to : size;
    strides[i] = is_run ? 1 : stride / to;
  }
  if (!fits) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "view_dtype: elements of %" PRId64
                    " bytes do not line up with those of %" PRId64,
                    to, from);
  }
  return aoti_tensor_view(self, dtype, self->rank, sizes, strides,
                          self->offset * from / to, out_new);
}

AOTITorchError aoti_torch_mps_permute(AtenTensorHandle self,
                                      const int64_t *dims, int64_t dims_len,
                                      AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  if (dims_len != self->rank || self->rank > RANK_MAX) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "permute: %" PRId64 " dimensions of %" PRId64, dims_len,
                    self->rank);
  }
  int64_t sizes[RANK_MAX];
  int64_t strides[RANK_MAX];
  uint64_t seen = 0;
  for (int64_t i = 0; i < dims_len; ++i) {
    int64_t dim = dims[i];
    AOTI_TRY(check_dimension(self, &dim));
    if (seen >> dim & 1) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "permute: dimension %" PRId64 " twice", dim);
    }
    seen |= (uint64_t)1 << dim;
    sizes[i] = self->sizes[dim];
    strides[i] = self->strides[dim];
  }
  return aoti_tensor_view(self, self->dtype, self->rank, sizes, strides,
                          self->offset, out_new);
}

// Fills in a size of -1.
static mtl_status complete_shape(const aoti_tensor *self, const int64_t *shape,
                                 int64_t rank, int64_t *sizes) {
  int64_t known = 1;
  int64_t unknown = -1;
  for (int64_t i = 0; i < rank; ++i) {
    sizes[i] = shape[i];
    if (shape[i] == -1 && unknown < 0) {
      unknown = i;
    } else {
      known *= shape[i];
    }
  }
  const int64_t count = aoti_tensor_count(self);
  if (unknown >= 0 && known > 0) {
    sizes[unknown] = count / known;
    known *= sizes[unknown];
  }
  if (known != count) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "reshape: %" PRId64 " elements into %" PRId64, count,
                    known);
  }
  return MTL_OK;
}

// Returns a view if the elements are in order, a copy otherwise.
AOTITorchError aoti_torch_mps_reshape(AtenTensorHandle self,
                                      const int64_t *shape, int64_t shape_len,
                                      AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  int64_t sizes[RANK_MAX];
  if (shape_len < 0 || shape_len > RANK_MAX) {
    return mtl_fail(MTL_UNSUPPORTED, "%" PRId64 " dimensions", shape_len);
  }
  AOTI_TRY(complete_shape(self, shape, shape_len, sizes));
  if (aoti_tensor_is_contiguous(self)) {
    return aoti_tensor_view(self, self->dtype, shape_len, sizes, NULL,
                            self->offset, out_new);
  }
  AtenTensorHandle packed = NULL;
  AOTI_TRY(
      aoti_tensor_like(self, self->dtype, self->rank, self->sizes, &packed));
  mtl_status status = (mtl_status)aoti_torch_copy_(packed, self, 0);
  if (status == MTL_OK) {
    status = aoti_tensor_view(packed, self->dtype, shape_len, sizes, NULL, 0,
                              out_new);
  }
  aoti_torch_delete_tensor_object(packed);
  return status;
}

AOTITorchError aoti_torch_mps_squeeze_dim(AtenTensorHandle self, int64_t dim,
                                          AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  if (self->rank == 0) {
    return aoti_torch_new_tensor_handle(self, out_new);
  }
  AOTI_TRY(check_dimension(self, &dim));
  if (self->sizes[dim] != 1 || self->rank > RANK_MAX) {
    return aoti_torch_new_tensor_handle(self, out_new);
  }
  int64_t sizes[RANK_MAX];
  int64_t strides[RANK_MAX];
  int64_t rank = 0;
  for (int64_t i = 0; i < self->rank; ++i) {
    if (i != dim) {
      sizes[rank] = self->sizes[i];
      strides[rank++] = self->strides[i];
    }
  }
  return aoti_tensor_view(self, self->dtype, rank, sizes, strides, self->offset,
                          out_new);
}

static int64_t clamp(int64_t value, int64_t size) {
  value += value < 0 ? size : 0;
  return value < 0 ? 0 : value > size ? size : value;
}

AOTITorchError aoti_torch_mps_slice_Tensor(AtenTensorHandle self, int64_t dim,
                                           int64_t *start, int64_t *end,
                                           int64_t step,
                                           AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  AOTI_TRY(check_dimension(self, &dim));
  if (step <= 0 || self->rank > RANK_MAX) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "slice: a step of %" PRId64, step);
  }
  const int64_t size = self->sizes[dim];
  const int64_t first = start ? clamp(*start, size) : 0;
  int64_t last = end ? clamp(*end, size) : size;
  last = last < first ? first : last;
  int64_t sizes[RANK_MAX];
  int64_t strides[RANK_MAX];
  memcpy(sizes, self->sizes, (size_t)self->rank * sizeof *sizes);
  memcpy(strides, self->strides, (size_t)self->rank * sizeof *strides);
  sizes[dim] = (last - first + step - 1) / step;
  strides[dim] *= step;
  return aoti_tensor_view(self, self->dtype, self->rank, sizes, strides,
                          self->offset + first * self->strides[dim], out_new);
}

AOTITorchError aoti_torch_mps_narrow(AtenTensorHandle self, int64_t dim,
                                     int64_t start, int64_t length,
                                     AtenTensorHandle *out_new) {
  CHECK_TENSOR(self);
  AOTI_TRY(check_dimension(self, &dim));
  const int64_t size = self->sizes[dim];
  start += start < 0 ? size : 0;
  if (start < 0 || length < 0 || start > size || length > size - start) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "narrow: %" PRId64 " elements from %" PRId64 " of %" PRId64,
                    length, start, size);
  }
  int64_t end = start + length;
  return aoti_torch_mps_slice_Tensor(self, dim, &start, &end, 1, out_new);
}

static mtl_status copy_part(const aoti_tensor *part, AtenTensorHandle whole,
                            int64_t dim, int64_t start) {
  AtenTensorHandle place = NULL;
  AOTI_TRY(aoti_torch_mps_narrow(whole, dim, start, part->sizes[dim], &place));
  const mtl_status status =
      (mtl_status)aoti_torch_copy_(place, (AtenTensorHandle)part, 0);
  aoti_torch_delete_tensor_object(place);
  return status;
}

// An empty vector may stand among tensors of any shape.  // torch.cat
static bool is_skipped(const aoti_tensor *tensor) {
  return tensor->rank == 1 && tensor->sizes[0] == 0;
}

AOTITorchError aoti_torch_mps_cat(const AtenTensorHandle *tensors,
                                  int64_t tensors_len, int64_t dim,
                                  AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(tensors);
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  const aoti_tensor *like = NULL;
  int64_t size = 0;
  for (int64_t i = 0; i < tensors_len; ++i) {
    CHECK_TENSOR(tensors[i]);
    if (is_skipped(tensors[i])) {
      continue;
    }
    if (!like) {
      like = tensors[i];
      AOTI_TRY(check_dimension(like, &dim));
    }
    if (tensors[i]->rank != like->rank) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "cat: %" PRId64 " and %" PRId64 " dimensions", like->rank,
                      tensors[i]->rank);
    }
    size += tensors[i]->sizes[dim];
  }
  if (!like) {
    AOTI_CHECK_NOT_NULL(tensors_len > 0 ? tensors[0] : NULL);
    return aoti_torch_clone(tensors[0], out_new);
  }
  if (like->rank > RANK_MAX) {
    return mtl_fail(MTL_UNSUPPORTED, "%" PRId64 " dimensions", like->rank);
  }
  int64_t sizes[RANK_MAX];
  memcpy(sizes, like->sizes, (size_t)like->rank * sizeof *sizes);
  sizes[dim] = size;
  AOTI_TRY(aoti_tensor_like(like, like->dtype, like->rank, sizes, out_new));
  int64_t start = 0;
  for (int64_t i = 0; i < tensors_len; ++i) {
    if (is_skipped(tensors[i])) {
      continue;
    }
    const mtl_status status = copy_part(tensors[i], *out_new, dim, start);
    if (status != MTL_OK) {
      aoti_torch_delete_tensor_object(*out_new);
      *out_new = NULL;
      return status;
    }
    start += tensors[i]->sizes[dim];
  }
  return MTL_OK;
}
