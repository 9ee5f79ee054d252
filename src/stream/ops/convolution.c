// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// convolution.c: convolutions of one to three dimensions.
#include "stream/ops/host.h"

static const char name[] = "convolution";

// Bits of the kernels' option, as in convolution.metal.
enum { TRANSPOSED = 1, OUT_CHANNELS = 2, IN_LINES = 4, OUT_LINES = 8 };
enum { POSITIONS = 8 };  // of a thread, as there

static int64_t or_one(int64_t value) {
  return value ? value : 1;
}

static mtl_status check_desc(const mtl_tensor *in, const mtl_tensor *weight,
                             const mtl_convolution_desc *desc) {
  const uint32_t rank = desc->rank;
  if (rank < 1 || rank > MTL_CONVOLUTION_MAX_RANK) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: %u dimensions; 1 to %d are there",
                    name, rank, MTL_CONVOLUTION_MAX_RANK);
  }
  if (in->rank != rank + 2 || weight->rank != rank + 2) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: in has rank %u and weight %u, not %u", name, in->rank,
                    weight->rank, rank + 2);
  }
  for (uint32_t d = 0; d < rank; ++d) {
    if (desc->stride[d] < 0 || desc->padding[d] < 0 || desc->dilation[d] < 0 ||
        desc->output_padding[d] < 0) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "%s: a stride, padding or dilation is negative", name);
    }
  }
  const int64_t groups = or_one(desc->groups);
  const int64_t channels = in->sizes[1];
  const int64_t wanted =
      desc->transposed ? weight->sizes[0] : weight->sizes[1] * groups;
  if (groups < 1 || channels != wanted || weight->sizes[0] % groups != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: %lld channels in %lld groups do not fit a weight of "
                    "(%lld, %lld, ...)",
                    name, (long long)channels, (long long)groups,
                    (long long)weight->sizes[0], (long long)weight->sizes[1]);
  }
  return MTL_OK;
}

// Dumoulin and Visin, "A guide to convolution arithmetic", 2016.
static int64_t out_size(const mtl_convolution_desc *desc, uint32_t d,
                        int64_t in, int64_t window) {
  const int64_t reach = or_one(desc->dilation[d]) * (window - 1) + 1;
  if (desc->transposed) {
    return (in - 1) * or_one(desc->stride[d]) - 2 * desc->padding[d] + reach +
           desc->output_padding[d];
  }
  const int64_t room = in + 2 * desc->padding[d] - reach;
  return room < 0 ? -1 : room / or_one(desc->stride[d]) + 1;
}

mtl_status mtl_ops_convolution_sizes(
    const mtl_tensor *in, const mtl_tensor *weight,
    const mtl_convolution_desc *desc,
    int64_t out_sizes[MTL_CONVOLUTION_MAX_RANK + 2]) {
  STREAM_TRY(check_desc(in, weight, desc));
  out_sizes[0] = in->sizes[0];
  out_sizes[1] = desc->transposed ? weight->sizes[1] * or_one(desc->groups)
                                  : weight->sizes[0];
  for (uint32_t d = 0; d < desc->rank; ++d) {
    out_sizes[d + 2] =
        out_size(desc, d, in->sizes[d + 2], weight->sizes[d + 2]);
    if (out_sizes[d + 2] < 0) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "%s: a window of %lld over %lld elements leaves nothing "
                      "in dimension %u",
                      name, (long long)weight->sizes[d + 2],
                      (long long)in->sizes[d + 2], d);
    }
  }
  return MTL_OK;
}

void ops_fill_strides(const mtl_tensor *tensor, int64_t strides[5]) {
  const uint32_t missing = 5 - tensor->rank;
  strides[0] = tensor->strides[0];
  strides[1] = tensor->strides[1];
  for (uint32_t d = 0; d < 3; ++d) {
    strides[d + 2] = d < missing ? 0 : tensor->strides[d - missing + 2];
  }
}

static ops_convolution arguments_of(const mtl_tensor *in,
                                    const mtl_tensor *weight,
                                    const mtl_tensor *bias,
                                    const mtl_convolution_desc *desc,
                                    const mtl_tensor *out) {
  const int64_t groups = or_one(desc->groups);
  ops_convolution it = {
      .in_channels = (uint32_t)(in->sizes[1] / groups),
      .out_channels = (uint32_t)(out->sizes[1] / groups),
      .groups = (uint32_t)groups,
      .has_bias = bias != NULL,
      .bias_stride = bias ? bias->strides[0] : 0,
  };
  for (uint32_t d = 0; d < 3; ++d) {
    it.in_size[d] = it.out_size[d] = it.window[d] = 1;
    it.stride[d] = it.dilation[d] = 1;
  }
  for (uint32_t d = 0; d < desc->rank; ++d) {
    const uint32_t to = 3 - desc->rank + d;
    it.in_size[to] = (int32_t)in->sizes[d + 2];
    it.out_size[to] = (int32_t)out->sizes[d + 2];
    it.window[to] = (int32_t)weight->sizes[d + 2];
    it.stride[to] = (int32_t)or_one(desc->stride[d]);
    it.dilation[to] = (int32_t)or_one(desc->dilation[d]);
    it.padding[to] = (int32_t)desc->padding[d];
  }
  ops_fill_strides(in, it.in_strides);
  ops_fill_strides(weight, it.weight_strides);
  ops_fill_strides(out, it.out_strides);
  return it;
}

static mtl_status check(const mtl_tensor *in, const mtl_tensor *weight,
                        const mtl_tensor *bias,
                        const mtl_convolution_desc *desc,
                        const mtl_tensor *out) {
  int64_t sizes[MTL_CONVOLUTION_MAX_RANK + 2];
  STREAM_TRY(mtl_ops_convolution_sizes(in, weight, desc, sizes));
  STREAM_TRY(ops_check_sizes(name, "out", out, desc->rank + 2, sizes));
  STREAM_TRY(ops_check_floating(name, "in", in));
  STREAM_TRY(ops_check_floating(name, "weight", weight));
  STREAM_TRY(ops_check_floating(name, "out", out));
  if (bias) {
    STREAM_TRY(ops_check_floating(name, "bias", bias));
    STREAM_TRY(ops_check_sizes(name, "bias", bias, 1, &sizes[1]));
  }
  return MTL_OK;
}

// Of threadgroups of 32 threads: the width that wastes few lanes of a row.
static uint64_t group_width(uint64_t row) {
  uint64_t width = 32;
  while (width > 1 && width / 2 >= row) {
    width /= 2;
  }
  return width;
}

// Channels lie along the lanes.
static mtl_status record_channels(mtl_stream *stream, ops_dispatch dispatch,
                                  const ops_convolution *it, uint64_t batches,
                                  const mtl_tensor *taps) {
  const uint64_t parts =
      ((uint64_t)it->out_size[2] + POSITIONS - 1) / POSITIONS;
  dispatch.kernel = "convolve_depthwise_channels";
  dispatch.constants[1] = MTL_TYPE_FLOAT;
  dispatch.constants[4] = it->out_strides[1] == 1   ? OUT_CHANNELS
                          : it->out_strides[4] == 1 ? OUT_LINES
                                                    : 0;
  dispatch.tensors[1] = taps;
  dispatch.grid_threads[0] = it->groups;
  dispatch.grid_threads[1] =
      (uint64_t)it->out_size[0] * (uint64_t)it->out_size[1] * parts;
  dispatch.grid_threads[2] = batches;
  dispatch.group_threads[0] = 32;
  dispatch.group_threads[1] = 1;
  return ops_record(stream, &dispatch);
}

// The weights are transposed first: as given, the lanes' weights lie a window
// apart.
static mtl_status convolve_channels(mtl_stream *stream, ops_dispatch dispatch,
                                    const ops_convolution *it,
                                    uint64_t batches) {
  const mtl_tensor *weight = dispatch.tensors[1];
  mtl_buffer *kept = weight->type == MTL_TYPE_FLOAT
                         ? ops_packed_taps(stream, it, weight)
                         : NULL;
  if (kept) {
    const mtl_tensor taps = {.buffer = kept,
                             .type = MTL_TYPE_FLOAT,
                             .rank = 1,
                             .sizes = {1},
                             .strides = {1}};
    const mtl_status status =
        record_channels(stream, dispatch, it, batches, &taps);
    mtl_buffer_release(kept);
    return status;
  }
  mtl_tensor turned = {
      .buffer = weight->buffer,
      .offset_bytes = weight->offset_bytes,
      .type = weight->type,
      .rank = 4,
      .sizes = {it->window[0], it->window[1], it->window[2], it->groups},
      .strides = {it->weight_strides[2], it->weight_strides[3],
                  it->weight_strides[4], it->weight_strides[0]}};
  ops_scratch scratch;
  STREAM_TRY(
      ops_scratch_create(stream, MTL_TYPE_FLOAT, 4, turned.sizes, &scratch));
  mtl_status status = mtl_ops_copy(stream, &turned, &scratch.tensor);
  if (status == MTL_OK) {
    status = record_channels(stream, dispatch, it, batches, &scratch.tensor);
  }
  ops_scratch_release(&scratch);
  return status;
}

static mtl_status convolve_depthwise(mtl_stream *stream, ops_dispatch dispatch,
                                     const ops_convolution *it,
                                     uint64_t batches) {
  if (it->in_strides[1] == 1 && it->groups > 1) {
    return convolve_channels(stream, dispatch, it, batches);
  }
  dispatch.kernel = "convolve_depthwise";
  dispatch.grid_threads[0] = (uint64_t)it->out_size[2];
  dispatch.grid_threads[1] =
      (uint64_t)it->out_size[1] * (uint64_t)it->out_size[0];
  dispatch.grid_threads[2] = batches * it->groups;
  return ops_record(stream, &dispatch);
}

static mtl_status convolve(mtl_stream *stream, const mtl_tensor *in,
                           const mtl_tensor *weight, const mtl_tensor *bias,
                           const mtl_convolution_desc *desc,
                           const mtl_tensor *out) {
  STREAM_TRY(check(in, weight, bias, desc, out));
  if (mtl_tensor_count(out) == 0) {
    return MTL_OK;
  }
  const ops_convolution it = arguments_of(in, weight, bias, desc, out);
  bool is_done = false;
  if (!desc->transposed) {
    STREAM_TRY(
        ops_device_convolution(stream, in, weight, bias, &it, out, &is_done));
  }
  if (!desc->transposed && !is_done) {
    STREAM_TRY(ops_host_packed_convolution(stream, in, weight, bias, &it, out,
                                           &is_done));
  }
  if (!desc->transposed && !is_done) {
    STREAM_TRY(
        ops_packed_convolution(stream, in, weight, bias, &it, out, &is_done));
  }
  if (!desc->transposed && !is_done) {
    STREAM_TRY(
        ops_host_convolution(stream, in, weight, bias, &it, out, &is_done));
  }
  if (!desc->transposed && !is_done) {
    STREAM_TRY(
        ops_columns_convolution(stream, in, weight, bias, &it, out, &is_done));
  }
  if (is_done) {
    return MTL_OK;
  }
  const uint64_t blocks = (it.out_channels + 7) / 8;
  const uint64_t width = group_width((uint64_t)it.out_size[2]);
  const ops_dispatch dispatch = {
      .source = ops_convolution_metal,
      .kernel = "convolve",
      .constants = {in->type, weight->type, bias ? bias->type : out->type,
                    out->type,
                    (desc->transposed ? TRANSPOSED : 0) |
                        (it.in_strides[4] == 1 ? IN_LINES : 0) |
                        (it.out_strides[4] == 1 ? OUT_LINES : 0)},
      .tensors = {in, weight, bias, out},
      .tensor_count = 4,
      .arguments = &it,
      .arguments_bytes = sizeof it,
      .grid_threads = {(uint64_t)it.out_size[2],
                       (uint64_t)it.out_size[1] * (uint64_t)it.out_size[0],
                       (uint64_t)out->sizes[0] * it.groups * blocks},
      .group_threads = {width, 32 / width, 1}};
  return !desc->transposed && it.in_channels == 1 && it.out_channels == 1
             ? convolve_depthwise(stream, dispatch, &it,
                                  (uint64_t)out->sizes[0])
             : ops_record(stream, &dispatch);
}

mtl_status mtl_ops_convolution(mtl_stream *stream, const mtl_tensor *in,
                               const mtl_tensor *weight, const mtl_tensor *bias,
                               const mtl_convolution_desc *desc,
                               const mtl_tensor *out) {
  return ops_finish(stream, convolve(stream, in, weight, bias, desc, out));
}
