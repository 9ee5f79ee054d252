// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// index.c: scatter, index_put, scans and pooling, where Inductor calls the
// device's library instead of a kernel of its own.
#include <inttypes.h>
#include <string.h>

#include "aoti/operators/host.h"
#include "mettle/ops.h"

// Describes self, and copies it to out unless they are the same memory.
static mtl_status begin_in_place(AtenTensorHandle out, AtenTensorHandle self,
                                 mtl_stream **out_stream,
                                 mtl_tensor *out_tensor) {
  AOTI_CHECK_NOT_NULL(out);
  AOTI_CHECK_NOT_NULL(self);
  AOTI_TRY(mtl_stream_current(out_stream));
  AOTI_TRY(aoti_tensor_describe(out, out_tensor));
  mtl_tensor from;
  AOTI_TRY(aoti_tensor_describe(self, &from));
  const bool is_same = self->storage == out->storage &&
                       self->offset == out->offset && self->rank == out->rank &&
                       memcmp(self->strides, out->strides,
                              (size_t)out->rank * sizeof *out->strides) == 0;
  return is_same ? MTL_OK : mtl_ops_copy(*out_stream, &from, out_tensor);
}

// --- Scatter -----------------------------------------------------------------

static mtl_status scatter(AtenTensorHandle out, AtenTensorHandle self,
                          AtenTensorHandle index, AtenTensorHandle source,
                          mtl_scatter_desc desc) {
  AOTI_CHECK_NOT_NULL(index);
  mtl_stream *stream;
  mtl_tensor to, places, from;
  AOTI_TRY(begin_in_place(out, self, &stream, &to));
  AOTI_TRY(aoti_tensor_describe(index, &places));
  desc.index = &places;
  if (source) {
    AOTI_TRY(aoti_tensor_describe(source, &from));
    desc.source = &from;
  }
  return mtl_ops_scatter(stream, &desc, &to);
}

AOTITorchError aoti_torch_mps_scatter_src_out(AtenTensorHandle out,
                                              AtenTensorHandle self,
                                              int64_t dim,
                                              AtenTensorHandle index,
                                              AtenTensorHandle src) {
  AOTI_CHECK_NOT_NULL(src);
  return scatter(out, self, index, src, (mtl_scatter_desc){.dimension = dim});
}

AOTITorchError aoti_torch_scatter_out(AtenTensorHandle out,
                                      AtenTensorHandle self, int64_t dim,
                                      AtenTensorHandle index,
                                      AtenTensorHandle src) {
  return aoti_torch_mps_scatter_src_out(out, self, dim, index, src);
}

AOTITorchError aoti_torch_mps_scatter_value_out(AtenTensorHandle out,
                                                AtenTensorHandle self,
                                                int64_t dim,
                                                AtenTensorHandle index,
                                                double value) {
  return scatter(out, self, index, NULL,
                 (mtl_scatter_desc){.dimension = dim, .value = value});
}

AOTITorchError aoti_torch_mps_scatter_reduce_two_out(
    AtenTensorHandle out, AtenTensorHandle self, int64_t dim,
    AtenTensorHandle index, AtenTensorHandle src, const char *reduce,
    int32_t include_self) {
  static const struct {
    const char *name;
    mtl_combination combination;
  } names[] = {{"sum", MTL_COMBINE_SUM},      {"add", MTL_COMBINE_SUM},
               {"prod", MTL_COMBINE_PRODUCT}, {"multiply", MTL_COMBINE_PRODUCT},
               {"mean", MTL_COMBINE_MEAN},    {"amax", MTL_COMBINE_LARGEST},
               {"amin", MTL_COMBINE_LEAST}};
  AOTI_CHECK_NOT_NULL(src);
  AOTI_CHECK_NOT_NULL(reduce);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(names[i].name, reduce) == 0) {
      return scatter(out, self, index, src,
                     (mtl_scatter_desc){.dimension = dim,
                                        .combination = names[i].combination,
                                        .includes_self = include_self != 0});
    }
  }
  return mtl_fail(MTL_UNSUPPORTED, "scatter_reduce by '%s'", reduce);
}

AOTITorchError aoti_torch_scatter_reduce_out(AtenTensorHandle out,
                                             AtenTensorHandle self, int64_t dim,
                                             AtenTensorHandle index,
                                             AtenTensorHandle src,
                                             const char *reduce,
                                             int32_t include_self) {
  return aoti_torch_mps_scatter_reduce_two_out(out, self, dim, index, src,
                                               reduce, include_self);
}

// --- index_put ---------------------------------------------------------------

AOTITorchError aoti_torch_index_put_out(AtenTensorHandle out,
                                        AtenTensorHandle self,
                                        const AtenTensorHandle *indices,
                                        uint32_t num_indices,
                                        AtenTensorHandle values,
                                        bool accumulate) {
  AOTI_CHECK_NOT_NULL(indices);
  AOTI_CHECK_NOT_NULL(values);
  if (num_indices > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "index_put: %" PRIu32 " indices",
                    num_indices);
  }
  mtl_stream *stream;
  mtl_tensor to, from, places[MTL_TENSOR_MAX_RANK];
  const mtl_tensor *list[MTL_TENSOR_MAX_RANK];
  AOTI_TRY(begin_in_place(out, self, &stream, &to));
  AOTI_TRY(aoti_tensor_describe(values, &from));
  for (uint32_t i = 0; i < num_indices; ++i) {
    // An undefined index selects its whole dimension.
    list[i] = indices[i] && indices[i]->storage ? &places[i] : NULL;
    if (list[i]) {
      AOTI_TRY(aoti_tensor_describe(indices[i], &places[i]));
    }
  }
  return mtl_ops_index_put(stream, list, num_indices, &from, accumulate, &to);
}

AOTITorchError aoti_torch_mps_index_put(AtenTensorHandle self,
                                        const AtenTensorHandle **indices,
                                        int64_t indices_length,
                                        AtenTensorHandle values,
                                        int32_t accumulate,
                                        AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(indices);
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AtenTensorHandle list[MTL_TENSOR_MAX_RANK];
  if (indices_length < 0 || indices_length > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "index_put: %" PRId64 " indices",
                    indices_length);
  }
  for (int64_t i = 0; i < indices_length; ++i) {
    list[i] = indices[i] ? *indices[i] : NULL;
  }
  AOTI_TRY(host_make_elements(self, NULL, self->dtype, self->rank, self->sizes,
                              out_new));
  return host_finish((mtl_status)aoti_torch_index_put_out(
                         *out_new, self, list, (uint32_t)indices_length, values,
                         accumulate != 0),
                     out_new);
}

// --- Running products and extremes -------------------------------------------

static mtl_status scan(AtenTensorHandle self, int64_t dim, int32_t dtype,
                       mtl_combination combination, AtenTensorHandle *out_new,
                       AtenTensorHandle *out_new_indices) {
  mtl_stream *stream;
  mtl_tensor in, out, indices;
  AOTI_TRY(mtl_stream_current(&stream));
  AOTI_TRY(aoti_tensor_like(self, dtype, self->rank, self->sizes, out_new));
  mtl_status status = aoti_tensor_describe(self, &in);
  if (status == MTL_OK) {
    status = aoti_tensor_describe(*out_new, &out);
  }
  if (status == MTL_OK && out_new_indices) {
    status = aoti_tensor_like(self, AOTI_INT64, self->rank, self->sizes,
                              out_new_indices);
    if (status == MTL_OK) {
      status = aoti_tensor_describe(*out_new_indices, &indices);
    }
  }
  if (status == MTL_OK) {
    status = mtl_ops_scan(stream, &in, dim, combination, &out,
                          out_new_indices ? &indices : NULL);
  }
  if (out_new_indices) {
    status = host_finish(status, out_new_indices);
  }
  return host_finish(status, out_new);
}

AOTITorchError aoti_torch_mps_cumprod(AtenTensorHandle self, int64_t dim,
                                      int32_t *dtype,
                                      AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  const bool is_whole = self->dtype == AOTI_BOOL || self->dtype <= AOTI_INT64 ||
                        self->dtype >= AOTI_UINT16;
  const int32_t type = dtype ? *dtype : is_whole ? AOTI_INT64 : self->dtype;
  return scan(self, dim, type, MTL_COMBINE_PRODUCT, out_new, NULL);
}

static mtl_status extreme(AtenTensorHandle self, int64_t dim,
                          mtl_combination combination,
                          AtenTensorHandle *out_new,
                          AtenTensorHandle *out_new_indices) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  *out_new = NULL;
  *out_new_indices = NULL;
  return scan(self, dim, self->dtype, combination, out_new, out_new_indices);
}

AOTITorchError aoti_torch_mps_cummax(AtenTensorHandle self, int64_t dim,
                                     AtenTensorHandle *out_new,
                                     AtenTensorHandle *out_new_indices) {
  return extreme(self, dim, MTL_COMBINE_LARGEST, out_new, out_new_indices);
}

AOTITorchError aoti_torch_mps_cummin(AtenTensorHandle self, int64_t dim,
                                     AtenTensorHandle *out_new,
                                     AtenTensorHandle *out_new_indices) {
  return extreme(self, dim, MTL_COMBINE_LEAST, out_new, out_new_indices);
}

// --- Pools -------------------------------------------------------------------

// Reads a list for both dimensions: one number is for both, an empty list means
// `otherwise`.
static mtl_status set_pair(int64_t target[2], const int64_t *list,
                           int64_t length, int64_t otherwise) {
  if (length < 0 || length > 2) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "pooling: %" PRId64 " numbers",
                    length);
  }
  for (int64_t d = 0; d < 2; ++d) {
    target[d] = length == 0 ? otherwise : list[length == 2 ? d : 0];
  }
  return MTL_OK;
}

// True if the order in memory is batch, height, width, channel.
// Source  c10/core/MemoryFormat.h, is_channels_last_strides_2d_s4
static bool is_channels_last(const aoti_tensor *tensor) {
  static const int order[] = {1, 3, 2, 0};
  if (tensor->rank != 4 || tensor->strides[1] == 0) {
    return false;
  }
  int64_t least = 0;
  for (int i = 0; i < 4; ++i) {
    const int d = order[i];
    if (tensor->sizes[d] == 0 || tensor->strides[d] < least ||
        (d == 0 && least == tensor->strides[1])) {
      return false;
    }
    least = tensor->strides[d] * (tensor->sizes[d] > 1 ? tensor->sizes[d] : 1);
  }
  return true;
}

// Makes a result in self's layout, on which models rely.
static mtl_status make_pooled(const aoti_tensor *self, int32_t dtype,
                              const int64_t plane[2],
                              AtenTensorHandle *out_new) {
  int64_t sizes[4];
  const int64_t rank = self->rank;
  memcpy(sizes, self->sizes, (size_t)rank * sizeof *sizes);
  memcpy(sizes + rank - 2, plane, 2 * sizeof *sizes);
  if (!is_channels_last(self)) {
    return aoti_tensor_like(self, dtype, rank, sizes, out_new);
  }
  const int64_t strides[] = {sizes[1] * sizes[2] * sizes[3], 1,
                             sizes[1] * sizes[3], sizes[1]};
  return aoti_tensor_empty(AOTI_MPS, dtype, rank, sizes, strides, out_new);
}

static mtl_status pool(AtenTensorHandle self, const mtl_pool_desc *desc,
                       AtenTensorHandle *out_new,
                       AtenTensorHandle *out_new_indices) {
  AOTI_CHECK_NOT_NULL(self);
  if (self->rank != 3 && self->rank != 4) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "pooling: %" PRId64 " dimensions",
                    self->rank);
  }
  mtl_stream *stream;
  mtl_tensor in, out, indices;
  int64_t plane[2];
  AOTI_TRY(mtl_stream_current(&stream));
  AOTI_TRY(aoti_tensor_describe(self, &in));
  AOTI_TRY(mtl_ops_pool_sizes(&in, desc, plane));
  AOTI_TRY(make_pooled(self, self->dtype, plane, out_new));
  mtl_status status = aoti_tensor_describe(*out_new, &out);
  if (status == MTL_OK && out_new_indices) {
    status = make_pooled(self, AOTI_INT64, plane, out_new_indices);
    if (status == MTL_OK) {
      status = aoti_tensor_describe(*out_new_indices, &indices);
    }
  }
  if (status == MTL_OK) {
    status = mtl_ops_pool(stream, &in, desc, &out,
                          out_new_indices ? &indices : NULL);
  }
  if (out_new_indices) {
    status = host_finish(status, out_new_indices);
  }
  return host_finish(status, out_new);
}

AOTITorchError aoti_torch_mps_avg_pool2d(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, int32_t ceil_mode,
    int32_t count_include_pad, int64_t *divisor_override,
    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  mtl_pool_desc desc = {.rounds_up = ceil_mode != 0,
                        .counts_padding = count_include_pad != 0,
                        .divisor = divisor_override ? *divisor_override : 0};
  AOTI_TRY(set_pair(desc.window, kernel_size, kernel_size_length, 1));
  AOTI_TRY(set_pair(desc.stride, stride, stride_length, 0));
  AOTI_TRY(set_pair(desc.padding, padding, padding_length, 0));
  return pool(self, &desc, out_new, NULL);
}

AOTITorchError aoti_torch_mps_max_pool2d_with_indices(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, const int64_t *dilation,
    int64_t dilation_length, int32_t ceil_mode, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_indices) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  *out_new = NULL;
  *out_new_indices = NULL;
  mtl_pool_desc desc = {.is_largest = true, .rounds_up = ceil_mode != 0};
  AOTI_TRY(set_pair(desc.window, kernel_size, kernel_size_length, 1));
  AOTI_TRY(set_pair(desc.stride, stride, stride_length, 0));
  AOTI_TRY(set_pair(desc.padding, padding, padding_length, 0));
  AOTI_TRY(set_pair(desc.dilation, dilation, dilation_length, 1));
  return pool(self, &desc, out_new, out_new_indices);
}

AOTITorchError aoti_torch_mps__adaptive_avg_pool2d(AtenTensorHandle self,
                                                   const int64_t *output_size,
                                                   int64_t output_size_length,
                                                   AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  mtl_pool_desc desc = {.is_adaptive = true};
  AOTI_TRY(set_pair(desc.window, output_size, output_size_length, 1));
  return pool(self, &desc, out_new, NULL);
}

AOTITorchError aoti_torch_mps_adaptive_max_pool2d(
    AtenTensorHandle self, const int64_t *output_size,
    int64_t output_size_length, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_indices) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  *out_new = NULL;
  *out_new_indices = NULL;
  mtl_pool_desc desc = {.is_largest = true, .is_adaptive = true};
  AOTI_TRY(set_pair(desc.window, output_size, output_size_length, 1));
  return pool(self, &desc, out_new, out_new_indices);
}
