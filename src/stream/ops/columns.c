// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// columns.c: convolutions by our own kernels as matrix products (im2col): of
// the weights and of columns that a kernel gathers from the input first. A
// window of one element needs no gather.
#include <limits.h>

#include "stream/ops/host.h"

enum {
  // Fewer output channels do not repay the gathering.
  LEAST_CHANNELS = 4,
  LEAST_DEPTH = 8,
  COLUMNS_MAX_BYTES = 32 << 20,  // at a time
  IN_LINES = 4,                  // as in convolution.metal
};

// `columns` of convolution.metal.
typedef struct columns {
  ops_convolution shape;
  uint32_t first, count;
  uint32_t by_taps;
} columns;

typedef struct convolution {
  mtl_stream *stream;
  const ops_convolution *shape;
  const mtl_tensor *in, *weight, *bias, *out;
  int64_t batches, depth, positions;
  int64_t in_step, out_step;  // over positions; in_step 0: to be gathered
  bool by_taps;               // how the weights lie
} convolution;

// Returns the stride over all positions, 0 if there is none.
static int64_t step_of(const int32_t size[3], const int64_t strides[5]) {
  const int64_t step = size[2] > 1   ? strides[4]
                       : size[1] > 1 ? strides[3]
                       : size[0] > 1 ? strides[2]
                                     : 1;
  return ops_is_dense(size, strides, step) ? step : 0;
}

static bool is_pointwise(const ops_convolution *s) {
  for (int d = 0; d < 3; ++d) {
    if (s->window[d] != 1 || s->stride[d] != 1 || s->padding[d] != 0) {
      return false;
    }
  }
  return true;
}

// True if an output channel's weights are contiguous; *out_by_taps is their
// order.
static bool find_order(const ops_convolution *s, bool *out_by_taps) {
  const int64_t taps = (int64_t)s->window[0] * s->window[1] * s->window[2];
  const int64_t channel = s->weight_strides[1];
  const bool is_alone = s->in_channels == 1;
  *out_by_taps = false;
  if (ops_is_dense(s->window, s->weight_strides, 1) &&
      (is_alone || channel == taps)) {
    return true;
  }
  *out_by_taps = true;
  return (is_alone || channel == 1) &&
         ops_is_dense(s->window, s->weight_strides, s->in_channels);
}

static mtl_status gather(const convolution *it, int64_t group, int64_t first,
                         const mtl_tensor *target) {
  const ops_convolution *s = it->shape;
  const columns arguments = {.shape = *s,
                             .first = (uint32_t)first,
                             .count = (uint32_t)target->sizes[2],
                             .by_taps = it->by_taps};
  mtl_tensor in = *it->in;
  in.offset_bytes += (size_t)(group * s->in_channels * s->in_strides[1]) *
                     mtl_data_type_size(in.type);
  in.sizes[1] = s->in_channels;
  return ops_record(
      it->stream,
      &(ops_dispatch){
          .source = ops_convolution_metal,
          .kernel = "gather_columns",
          .constants = {in.type, 0, 0, 0, s->in_strides[4] == 1 ? IN_LINES : 0},
          .tensors = {&in, target},
          .tensor_count = 2,
          .arguments = &arguments,
          .arguments_bytes = sizeof arguments,
          .grid_threads = {(uint64_t)target->sizes[2], s->in_channels,
                           (uint64_t)it->batches},
          .group_threads = {64, 1, 1},
      });
}

static mtl_tensor part_of(const mtl_tensor *tensor, int64_t offset) {
  mtl_tensor part = {
      .buffer = tensor->buffer,
      .offset_bytes = tensor->offset_bytes +
                      (size_t)offset * mtl_data_type_size(tensor->type),
      .type = tensor->type};
  return part;
}

static void set_shape(mtl_tensor *tensor, uint32_t rank, const int64_t *sizes,
                      const int64_t *strides) {
  tensor->rank = rank;
  for (uint32_t d = 0; d < rank; ++d) {
    tensor->sizes[d] = sizes[d];
    tensor->strides[d] = strides[d];
  }
}

// Output channels of a group, at positions [count] from `first` on, from
// columns [batches, depth, count].
static mtl_status multiply(const convolution *it, int64_t group, int64_t first,
                           const mtl_tensor *b) {
  const ops_convolution *s = it->shape;
  const int64_t channel = group * s->out_channels;
  const int64_t channels = s->out_channels;
  mtl_tensor a = part_of(it->weight, channel * s->weight_strides[0]);
  set_shape(&a, 2, (int64_t[]){channels, it->depth},
            (int64_t[]){s->weight_strides[0], 1});
  mtl_tensor out =
      part_of(it->out, channel * s->out_strides[1] + first * it->out_step);
  set_shape(&out, 3, (int64_t[]){it->batches, channels, b->sizes[2]},
            (int64_t[]){s->out_strides[0], s->out_strides[1], it->out_step});
  mtl_tensor bias = {0};
  if (it->bias) {
    bias = part_of(it->bias, channel * s->bias_stride);
    set_shape(&bias, 2, (int64_t[]){channels, 1},
              (int64_t[]){s->bias_stride, 0});
  }
  return mtl_ops_matmul(it->stream, &a, b, it->bias ? &bias : NULL, 1, 1, &out);
}

static mtl_status convolve_gathered(const convolution *it) {
  const int64_t row_bytes = it->batches * it->depth * (int64_t)sizeof(float);
  const int64_t most = at_least(COLUMNS_MAX_BYTES / row_bytes, 32);
  for (int64_t group = 0; group < it->shape->groups; ++group) {
    for (int64_t first = 0; first < it->positions; first += most) {
      const int64_t sizes[] = {it->batches, it->depth,
                               at_most(most, it->positions - first)};
      ops_scratch scratch;
      mtl_status status =
          ops_scratch_create(it->stream, MTL_TYPE_FLOAT, 3, sizes, &scratch);
      if (status == MTL_OK) {
        status = gather(it, group, first, &scratch.tensor);
      }
      if (status == MTL_OK) {
        status = multiply(it, group, first, &scratch.tensor);
      }
      ops_scratch_release(&scratch);
      STREAM_TRY(status);
    }
  }
  return MTL_OK;
}

static mtl_status convolve_in_place(const convolution *it) {
  const ops_convolution *s = it->shape;
  for (int64_t group = 0; group < s->groups; ++group) {
    mtl_tensor b = part_of(it->in, group * s->in_channels * s->in_strides[1]);
    set_shape(&b, 3, (int64_t[]){it->batches, it->depth, it->positions},
              (int64_t[]){s->in_strides[0], s->in_strides[1], it->in_step});
    STREAM_TRY(multiply(it, group, 0, &b));
  }
  return MTL_OK;
}

mtl_status ops_columns_convolution(mtl_stream *stream, const mtl_tensor *in,
                                   const mtl_tensor *weight,
                                   const mtl_tensor *bias,
                                   const ops_convolution *s,
                                   const mtl_tensor *out, bool *out_done) {
  convolution it = {
      .stream = stream,
      .shape = s,
      .in = in,
      .weight = weight,
      .bias = bias,
      .out = out,
      .batches = out->sizes[0],
      .depth =
          (int64_t)s->in_channels * s->window[0] * s->window[1] * s->window[2],
      .positions = (int64_t)s->out_size[0] * s->out_size[1] * s->out_size[2],
  };
  it.out_step = step_of(s->out_size, s->out_strides);
  it.in_step = is_pointwise(s) ? step_of(s->in_size, s->in_strides) : 0;
  *out_done = it.depth >= LEAST_DEPTH && s->out_channels >= LEAST_CHANNELS &&
              it.out_step != 0 && it.positions <= INT_MAX &&
              it.batches * it.depth <= INT_MAX / 4 &&
              find_order(s, &it.by_taps);
  if (!*out_done) {
    return MTL_OK;
  }
  return it.in_step ? convolve_in_place(&it) : convolve_gathered(&it);
}
