// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_convolution.c: convolutions by the device's library, for tensors whose
// layout it accepts; our kernels compute the others.
#include <limits.h>
#include <stdlib.h>

#include "stream/libraries/device_convolution.h"
#include "stream/ops/host.h"

enum {
  LEAST_FLOPS = 1 << 16,  // less is done as quickly by a kernel
  WORK_BYTES = 32 << 20,  // for the library: its quicker ways need some
  BUFFERS = 5,
};

static bool is_contiguous(const mtl_tensor *tensor) {
  int64_t step = 1;
  for (int d = (int)tensor->rank - 1; d >= 0; --d) {
    if (tensor->sizes[d] != 1 && tensor->strides[d] != step) {
      return false;
    }
    step *= tensor->sizes[d];
  }
  return step <= INT_MAX;
}

static bool is_taken(const mtl_tensor *in, const mtl_tensor *weight,
                     const mtl_tensor *bias, const mtl_tensor *out) {
  return in->type == weight->type && in->type == out->type &&
         (!bias || (bias->type == in->type && bias->strides[0] == 1)) &&
         (in->type == MTL_TYPE_FLOAT || in->type == MTL_TYPE_HALF ||
          in->type == MTL_TYPE_BFLOAT) &&
         is_contiguous(in) && is_contiguous(weight) && is_contiguous(out) &&
         out->buffer != in->buffer && out->buffer != weight->buffer;
}

// Convolutions of one dimension are of two, the first of size 1.
static device_convolution describe(const mtl_tensor *in,
                                   const mtl_tensor *weight, bool has_bias,
                                   const ops_convolution *it,
                                   const mtl_tensor *out) {
  const int rank = (int)in->rank - 2;
  const int dimensions = rank == 3 ? 3 : 2;
  const int first = 3 - dimensions;  // of the three in *it
  device_convolution c = {.type = (int)in->type,
                          .dimensions = dimensions,
                          .groups = (int)it->groups,
                          .has_bias = has_bias};
  for (int d = 0; d < 2; ++d) {
    c.in[d] = (int)in->sizes[d];
    c.weight[d] = (int)weight->sizes[d];
    c.out[d] = (int)out->sizes[d];
  }
  for (int d = 0; d < dimensions; ++d) {
    c.in[2 + d] = it->in_size[first + d];
    c.weight[2 + d] = it->window[first + d];
    c.out[2 + d] = it->out_size[first + d];
    c.stride[d] = it->stride[first + d];
    c.padding[d] = it->padding[first + d];
    c.dilation[d] = it->dilation[first + d];
  }
  return c;
}

// Addresses: in, weight, out, work, bias if there is one.
static mtl_status run(const void *arguments, const uint64_t *addresses,
                      void *native_queue) {
  const device_convolution *c = arguments;
  return device_convolve(
      c,
      &(device_convolution_memory){.in = addresses[0],
                                   .weight = addresses[1],
                                   .out = addresses[2],
                                   .work = addresses[3],
                                   .work_bytes = WORK_BYTES,
                                   .bias = c->has_bias ? addresses[4] : 0},
      native_queue);
}

static mtl_status record(mtl_stream *stream, const device_convolution *c,
                         const mtl_tensor *const tensors[BUFFERS]) {
  mtl_buffer *buffers[BUFFERS];
  size_t offsets_bytes[BUFFERS];
  uint64_t bytes = 0;
  const uint32_t count = c->has_bias ? BUFFERS : BUFFERS - 1;
  for (uint32_t i = 0; i < count; ++i) {
    const mtl_tensor *tensor = tensors[i];
    STREAM_TRY(stream_check_range(tensor->buffer, tensor->offset_bytes,
                                  mtl_tensor_extent_bytes(tensor),
                                  "convolution", "a buffer"));
    buffers[i] = tensor->buffer;
    offsets_bytes[i] = tensor->offset_bytes;
    bytes += i == 3 ? 0 : mtl_tensor_extent_bytes(tensor);
  }
  mtl_stream_lock(stream);
  stream->pending_bytes += bytes;
  stream->statistics.bytes += bytes;
  const mtl_status status = mtl_stream_native_work(
      stream, &(mtl_native_work){.name = "convolution",
                                 .function = run,
                                 .arguments = c,
                                 .arguments_bytes = sizeof *c,
                                 .buffers = buffers,
                                 .offsets_bytes = offsets_bytes,
                                 .buffer_count = count});
  mtl_stream_unlock(stream);
  return status;
}

mtl_status ops_device_convolution(mtl_stream *stream, const mtl_tensor *in,
                                  const mtl_tensor *weight,
                                  const mtl_tensor *bias,
                                  const ops_convolution *it,
                                  const mtl_tensor *out, bool *out_done) {
  *out_done = false;
  const int64_t window = mtl_tensor_count(weight) / weight->sizes[0];
  if (2 * window * mtl_tensor_count(out) < LEAST_FLOPS ||
      !mtl_device_get_info(mtl_stream_device(stream))->runs_native_work ||
      !is_taken(in, weight, bias, out) || !device_convolution_is_there()) {
    return MTL_OK;
  }
  const device_convolution c = describe(in, weight, bias != NULL, it, out);
  ops_scratch work;
  STREAM_TRY(ops_scratch_create(stream, MTL_TYPE_FLOAT, 1,
                                (const int64_t[]){WORK_BYTES / 4}, &work));
  *out_done = true;
  const mtl_status status = record(
      stream, &c, (const mtl_tensor *[]){in, weight, out, &work.tensor, bias});
  ops_scratch_release(&work);
  return status;
}
