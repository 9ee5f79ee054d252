// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select.c: on the host: selects elements of any type by indices or masks,
// which decide the size of the result.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/operators/host.h"
#include "mettle/ops.h"

// --- What is true ------------------------------------------------------------

static int64_t count_true(const aoti_tensor *mask) {
  const int64_t count = aoti_tensor_count(mask);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    found += host_is_true(mask, i);
  }
  return found;
}

AOTITorchError aoti_torch_mps_nonzero(AtenTensorHandle self,
                                      AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(aoti_wait());
  const int64_t found = count_true(self);
  // Models count on columns that lie one behind the other.
  // Source  torch/_subclasses/fake_impls.py, nonzero
  AOTI_TRY(aoti_tensor_empty(AOTI_MPS, AOTI_INT64, 2,
                             (int64_t[]){found, self->rank},
                             (int64_t[]){1, found}, out_new));
  AOTI_TRY(aoti_tensor_before_write(*out_new));
  int64_t *to = (int64_t *)aoti_tensor_data(*out_new);
  const int64_t count = aoti_tensor_count(self);
  for (int64_t i = 0; i < count; ++i) {
    if (!host_is_true(self, i)) {
      continue;
    }
    for (int64_t d = self->rank, rest = i; d-- > 0; rest /= self->sizes[d]) {
      to[d * found] = rest % self->sizes[d];
    }
    ++to;
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_nonzero(AtenTensorHandle self,
                                  AtenTensorHandle *out_new) {
  return aoti_torch_mps_nonzero(self, out_new);
}

AOTITorchError aoti_torch_mps_masked_select(AtenTensorHandle self,
                                            AtenTensorHandle mask,
                                            AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(host_check_tensor(mask, __func__));
  AOTI_TRY(aoti_wait());
  const int64_t rank = self->rank > mask->rank ? self->rank : mask->rank;
  int64_t sizes[MTL_TENSOR_MAX_RANK], count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t in_a = d - (rank - self->rank),
                  in_b = d - (rank - mask->rank);
    const int64_t of_a = in_a < 0 ? 1 : self->sizes[in_a];
    const int64_t of_b = in_b < 0 ? 1 : mask->sizes[in_b];
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "masked_select: sizes %" PRId64 " and %" PRId64, of_a,
                      of_b);
    }
    sizes[d] = of_a == 1 ? of_b : of_a;
    count *= sizes[d];
  }
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    found += *host_at(mask, rank, sizes, i) != 0;
  }
  AOTI_TRY(host_begin(self->dtype, 1, &found, out_new));
  const size_t bytes = aoti_element_size(self->dtype);
  char *to = aoti_tensor_data(*out_new);
  for (int64_t i = 0; i < count; ++i) {
    if (*host_at(mask, rank, sizes, i) != 0) {
      memcpy(to, host_at(self, rank, sizes, i), bytes);
      to += bytes;
    }
  }
  return MTL_OK;
}

// --- index -------------------------------------------------------------------

// self[i, :, j]: which dimensions have an index, and the indices.
typedef struct selection {
  const aoti_tensor *self;
  const aoti_tensor *indices[MTL_TENSOR_MAX_RANK];  // NULL: all of a dimension
  int64_t rank;                                     // of the indices together
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  int64_t first;  // dimension of the result where theirs begin
  AtenTensorHandle made[MTL_TENSOR_MAX_RANK];  // +1 each: places of masks
  int64_t made_count;
} selection;

// Converts a mask to the indices at which it is true, one for each dimension.
static mtl_status open_mask(selection *it, const aoti_tensor *mask,
                            int64_t *dimension) {
  AtenTensorHandle places = NULL;
  AOTI_TRY(aoti_torch_mps_nonzero((AtenTensorHandle)mask, &places));
  mtl_status status =
      *dimension + mask->rank <= it->self->rank
          ? MTL_OK
          : mtl_fail(MTL_INVALID_ARGUMENT,
                     "index: a mask of %" PRId64 " dimensions", mask->rank);
  for (int64_t d = 0; status == MTL_OK && d < mask->rank; ++d) {
    AtenTensorHandle column = NULL;
    status = aoti_tensor_view(places, AOTI_INT64, 1, &places->sizes[0],
                              (int64_t[]){1}, d * places->sizes[0], &column);
    if (status == MTL_OK) {
      it->made[it->made_count++] = column;
      it->indices[(*dimension)++] = column;
    }
  }
  aoti_torch_delete_tensor_object(places);
  return status;
}

static mtl_status open_indices(selection *it,
                               const AtenTensorHandle *const *indices,
                               int64_t count) {
  int64_t dimension = 0;
  for (int64_t i = 0; i < count; ++i) {
    const aoti_tensor *index = indices[i] ? *indices[i] : NULL;
    if (dimension >= it->self->rank) {
      return mtl_fail(MTL_INVALID_ARGUMENT, "index: too many indices");
    }
    if (!index || !index->storage) {
      ++dimension;
    } else if (index->dtype == AOTI_BOOL || index->dtype == AOTI_UINT8) {
      AOTI_TRY(open_mask(it, index, &dimension));
    } else {
      AOTI_TRY(host_check_tensor(index, "index"));
      it->indices[dimension++] = index;
    }
  }
  return MTL_OK;
}

// The sizes that all indices are broadcast to, and where those stand: in place
// of the indexed dimensions if these are neighbours, in front otherwise.
static mtl_status shape_indices(selection *it) {
  int64_t first = -1, last = -1, indexed = 0;
  for (int64_t d = 0; d < it->self->rank; ++d) {
    const aoti_tensor *index = it->indices[d];
    if (!index) {
      continue;
    }
    first = first < 0 ? d : first;
    last = d;
    ++indexed;
    it->rank = index->rank > it->rank ? index->rank : it->rank;
  }
  it->first = indexed > 0 && last - first + 1 == indexed ? first : 0;
  for (int64_t k = 0; k < it->rank; ++k) {
    it->sizes[k] = 1;
    for (int64_t d = 0; d < it->self->rank; ++d) {
      const aoti_tensor *index = it->indices[d];
      const int64_t own = index ? k - (it->rank - index->rank) : -1;
      const int64_t size = own < 0 ? 1 : index->sizes[own];
      if (size != 1 && it->sizes[k] != 1 && size != it->sizes[k]) {
        return mtl_fail(MTL_INVALID_ARGUMENT,
                        "index: sizes %" PRId64 " and %" PRId64, size,
                        it->sizes[k]);
      }
      it->sizes[k] = size == 1 ? it->sizes[k] : size;
    }
  }
  return MTL_OK;
}

// Computes the offset of the element of self at `place`, counted over the
// indices' sizes.
static mtl_status offset_of(const selection *it, int64_t place,
                            int64_t *offset) {
  for (int64_t d = 0; d < it->self->rank; ++d) {
    const aoti_tensor *index = it->indices[d];
    if (!index) {
      continue;
    }
    const int64_t size = it->self->sizes[d];
    const int64_t at = aoti_element_integer(aoti_element_read(
        index->dtype, host_at(index, it->rank, it->sizes, place)));
    if (at < -size || at >= size) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "index %" PRId64 " of %" PRId64 " in dimension %" PRId64,
                      at, size, d);
    }
    *offset += (at < 0 ? at + size : at) * it->self->strides[d];
  }
  return MTL_OK;
}

static mtl_status select_elements(const selection *it,
                                  AtenTensorHandle *out_new) {
  const aoti_tensor *self = it->self;
  int64_t sizes[2 * MTL_TENSOR_MAX_RANK], strides[2 * MTL_TENSOR_MAX_RANK];
  int64_t rank = 0;
  for (int64_t d = 0; d <= self->rank; ++d) {
    if (rank == it->first) {
      for (int64_t k = 0; k < it->rank; ++k) {
        strides[rank] = 0;  // of no dimension of self
        sizes[rank++] = it->sizes[k];
      }
    }
    if (d < self->rank && !it->indices[d]) {
      strides[rank] = self->strides[d];
      sizes[rank++] = self->sizes[d];
    }
    if (rank > MTL_TENSOR_MAX_RANK) {
      return mtl_fail(MTL_UNSUPPORTED, "index: %" PRId64 " dimensions", rank);
    }
  }
  // The remaining dimensions of self keep their order in memory.
  const aoti_tensor rest_of_self = {
      .rank = rank, .sizes = sizes, .strides = strides};
  AOTI_TRY(host_make_elements(&rest_of_self, NULL, self->dtype, rank, sizes,
                              out_new));
  AOTI_TRY(aoti_tensor_before_write(*out_new));
  const size_t bytes = aoti_element_size(self->dtype);
  const int64_t count = aoti_tensor_count(*out_new);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, place = 0, behind = 1;
    for (int64_t d = rank, rest = i; d-- > 0; rest /= sizes[d]) {
      if (d >= it->first && d < it->first + it->rank) {
        place += rest % sizes[d] * behind;
        behind *= sizes[d];
      } else {
        offset += rest % sizes[d] * strides[d];
      }
    }
    AOTI_TRY(offset_of(it, place, &offset));
    memcpy(host_at(*out_new, rank, sizes, i),
           aoti_tensor_data(self) + offset * (int64_t)bytes, bytes);
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_index_Tensor(AtenTensorHandle self,
                                           const AtenTensorHandle **indices,
                                           int64_t indices_length,
                                           AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(indices);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(aoti_wait());
  selection it = {.self = self};
  mtl_status status = open_indices(&it, indices, indices_length);
  if (status == MTL_OK) {
    status = shape_indices(&it);
  }
  if (status == MTL_OK) {
    status = select_elements(&it, out_new);
  }
  for (int64_t i = 0; i < it.made_count; ++i) {
    aoti_torch_delete_tensor_object(it.made[i]);
  }
  if (status != MTL_OK) {
    aoti_torch_delete_tensor_object(*out_new);
    *out_new = NULL;
  }
  return status;
}

// --- index_reduce ------------------------------------------------------------

// A scatter whose index is the same along all other dimensions.
AOTITorchError aoti_torch_mps_index_reduce(AtenTensorHandle self, int64_t dim,
                                           AtenTensorHandle index,
                                           AtenTensorHandle source,
                                           const char *reduce,
                                           int32_t include_self,
                                           AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(reduce);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  AOTI_TRY(host_check_tensor(index, __func__));
  AOTI_TRY(host_check_tensor(source, __func__));
  AOTI_TRY(host_dimension(self, &dim));
  if (self->rank < 1 || source->rank != self->rank || index->rank != 1 ||
      index->sizes[0] != source->sizes[dim]) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "index_reduce: index or source do not fit");
  }
  int64_t strides[MTL_TENSOR_MAX_RANK] = {0};
  strides[dim] = index->strides[0];
  AtenTensorHandle places = NULL;
  AOTI_TRY(aoti_tensor_view(index, index->dtype, source->rank, source->sizes,
                            strides, index->offset, &places));
  mtl_status status =
      aoti_tensor_like(self, self->dtype, self->rank, self->sizes, out_new);
  if (status == MTL_OK) {
    status = (mtl_status)aoti_torch_mps_scatter_reduce_two_out(
        *out_new, self, dim, places, source, reduce, include_self);
  }
  aoti_torch_delete_tensor_object(places);
  if (status != MTL_OK) {
    aoti_torch_delete_tensor_object(*out_new);
    *out_new = NULL;
  }
  return status;
}
