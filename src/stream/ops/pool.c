// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.c: pooling over the last two dimensions.
#include "stream/ops/parts.h"

extern const char ops_pooling_metal[];

// `pooling` of pooling.metal.
typedef struct pooling {
  ops_shape planes;
  int64_t in_strides[2], out_strides[2], indices_strides[2];
  int32_t in_size[2], out_size[2];
  int32_t window[2], stride[2], padding[2], dilation[2];
  uint32_t is_adaptive, counts_padding, has_indices;
  int32_t divisor;
} pooling;

static const char name[] = "pooling";

static int64_t or_else(int64_t value, int64_t otherwise) {
  return value ? value : otherwise;
}

// The last window starts within the input or its leading padding.
// Source  aten/src/ATen/native/Pool.h, pooling_output_shape_pad_lr
static int64_t out_size(const mtl_pool_desc *desc, uint32_t d, int64_t in) {
  if (desc->is_adaptive) {
    return desc->window[d];
  }
  const int64_t stride = or_else(desc->stride[d], desc->window[d]);
  const int64_t reach =
      or_else(desc->dilation[d], 1) * (desc->window[d] - 1) + 1;
  const int64_t room = in + 2 * desc->padding[d] - reach;
  if (room < 0 && (!desc->rounds_up || room + stride - 1 < 0)) {
    return room < -stride ? -1 : 0;
  }
  int64_t size = (room + (desc->rounds_up ? stride - 1 : 0)) / stride + 1;
  if (desc->rounds_up && (size - 1) * stride >= in + desc->padding[d]) {
    size -= 1;
  }
  return size;
}

mtl_status mtl_ops_pool_sizes(const mtl_tensor *in, const mtl_pool_desc *desc,
                              int64_t out_sizes[2]) {
  if (in->rank < 2) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "%s: rank %u, not 2 or more", name,
                    in->rank);
  }
  for (uint32_t d = 0; d < 2; ++d) {
    if (desc->window[d] < 1 || desc->stride[d] < 0 || desc->padding[d] < 0 ||
        desc->dilation[d] < 0 || 2 * desc->padding[d] > desc->window[d]) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "%s: a window of %lld with padding %lld", name,
                      (long long)desc->window[d], (long long)desc->padding[d]);
    }
    out_sizes[d] = out_size(desc, d, in->sizes[in->rank - 2 + d]);
    if (out_sizes[d] < 1) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "%s: a window of %lld over %lld elements leaves nothing",
                      name, (long long)desc->window[d],
                      (long long)in->sizes[in->rank - 2 + d]);
    }
  }
  return MTL_OK;
}

static mtl_status check(const mtl_tensor *in, const mtl_pool_desc *desc,
                        const mtl_tensor *out, const mtl_tensor *indices) {
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  STREAM_TRY(ops_check_floating(name, "in", in));
  STREAM_TRY(ops_check_floating(name, "out", out));
  for (uint32_t d = 0; d + 2 < in->rank; ++d) {
    sizes[d] = in->sizes[d];
  }
  STREAM_TRY(
      mtl_ops_pool_sizes(in, desc, &sizes[in->rank < 2 ? 0 : in->rank - 2]));
  STREAM_TRY(ops_check_sizes(name, "out", out, in->rank, sizes));
  if (indices && indices->type != MTL_TYPE_LONG) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: indices must be of long (type %d)",
                    name, (int)indices->type);
  }
  return indices ? ops_check_sizes(name, "indices", indices, in->rank, sizes)
                 : MTL_OK;
}

static pooling arguments_of(const mtl_tensor *in, const mtl_pool_desc *desc,
                            const mtl_tensor *out, const mtl_tensor *indices) {
  pooling it = {.is_adaptive = desc->is_adaptive,
                .counts_padding = desc->counts_padding,
                .has_indices = indices != NULL,
                .divisor = (int32_t)desc->divisor};
  for (uint32_t d = 0; d < 2; ++d) {
    const uint32_t from = in->rank - 2 + d;
    it.in_strides[d] = in->strides[from];
    it.out_strides[d] = out->strides[from];
    it.indices_strides[d] = indices ? indices->strides[from] : 0;
    it.in_size[d] = (int32_t)in->sizes[from];
    it.out_size[d] = (int32_t)out->sizes[from];
    it.window[d] = (int32_t)desc->window[d];
    it.stride[d] = (int32_t)or_else(desc->stride[d], desc->window[d]);
    it.padding[d] = (int32_t)desc->padding[d];
    it.dilation[d] = (int32_t)or_else(desc->dilation[d], 1);
  }
  return it;
}

static mtl_status pool(mtl_stream *stream, const mtl_tensor *in,
                       const mtl_pool_desc *desc, const mtl_tensor *out,
                       const mtl_tensor *indices) {
  STREAM_TRY(check(in, desc, out, indices));
  pooling it = arguments_of(in, desc, out, indices);
  const uint64_t planes =
      ops_shape_of(&it.planes, in->rank - 2,
                   (const mtl_tensor *[]){in, out, indices ? indices : out}, 3);
  if (planes == 0) {
    return MTL_OK;
  }
  return ops_record(
      stream, &(ops_dispatch){
                  .source = ops_pooling_metal,
                  .kernel = "pool_planes",
                  .constants = {in->type, out->type, 0, 0, desc->is_largest},
                  .tensors = {in, out, indices},
                  .tensor_count = 3,
                  .arguments = &it,
                  .arguments_bytes = sizeof it,
                  .grid_threads = {(uint64_t)it.out_size[1],
                                   (uint64_t)it.out_size[0], planes},
                  .group_threads = {8, 4, 1}});
}

mtl_status mtl_ops_pool(mtl_stream *stream, const mtl_tensor *in,
                        const mtl_pool_desc *desc, const mtl_tensor *out,
                        const mtl_tensor *indices) {
  return ops_finish(stream, pool(stream, in, desc, out, indices));
}
