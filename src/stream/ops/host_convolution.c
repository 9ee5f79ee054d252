// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_convolution.c: convolutions as matrix products by the host's library:
// the window's inputs, position by position, times the weights. A piece is a
// block of output positions and channels of one group of one image.
#include <limits.h>
#include <string.h>

#include "stream/libraries/host_elements.h"
#include "stream/libraries/host_library.h"
#include "stream/ops/host.h"

enum {
  // As for products; groups with few channels are the kernels'.
  LEAST_FLOPS = 1 << 16,
  LEAST_CHANNELS = 4,
  // Columns of a block: as many as the inner caches hold.
  BLOCK_BYTES = 1 << 20,
  BLOCK_UNIT = 32,
};

typedef struct work {
  ops_convolution shape;
  mtl_data_type in_type, weight_type, bias_type, out_type;
  int64_t depth;      // rows of the columns: channels times window
  int64_t positions;  // of the output
  int64_t block, blocks;
  int64_t channels, channel_blocks;  // output channels of a piece
  // The order of depth: the window of each channel, or, for inputs and weights
  // whose channels lie side by side, the channels of each tap. Columns are
  // rows then: position after position.
  bool is_channels_last;
  bool is_weight_direct;    // float, in that order
  bool is_pointwise;        // the columns are the input, in place
  int64_t position_stride;  // of the input then
  bool is_out_direct;
} work;

// Adds one tap of one channel over a run of output positions in a row: x0 to x1
// of the output, with zeros where the window leaves the input.
static float *add_run(const work *w, const void *in, int64_t line, int tap,
                      int x0, int x1, float *to) {
  const ops_convolution *s = &w->shape;
  const int stride = s->stride[2], size = s->in_size[2];
  const int shift = tap * s->dilation[2] - s->padding[2];
  // Positions whose input lies within the line.
  int first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  int end = size - 1 - shift < 0 ? 0 : (size - 1 - shift) / stride + 1;
  first = (int)at_most(at_least(first, x0), x1);
  end = (int)at_most(at_least(end, first), x1);
  for (int x = x0; x < first; ++x) {
    *to++ = 0;
  }
  const int64_t step = s->in_strides[4];
  host_load_row(w->in_type, in, line + ((int64_t)first * stride + shift) * step,
                stride * step, end - first, to);
  to += end - first;
  for (int x = end; x < x1; ++x) {
    *to++ = 0;
  }
  return to;
}

// Adds the inputs under one tap of one channel at output positions from
// `position` on.
static void add_row(const work *w, const void *in, int64_t from,
                    const int tap[3], int64_t position, int64_t count,
                    float *to) {
  const ops_convolution *s = &w->shape;
  const int width = s->out_size[2];
  for (int64_t done = 0; done < count;) {
    const int64_t line = (position + done) / width;
    const int x0 = (int)((position + done) % width);
    const int x1 = (int)at_most(width, x0 + count - done);
    const int64_t y = line % s->out_size[1], z = line / s->out_size[1];
    const int64_t iy =
        y * s->stride[1] - s->padding[1] + (int64_t)tap[1] * s->dilation[1];
    const int64_t iz =
        z * s->stride[0] - s->padding[0] + (int64_t)tap[0] * s->dilation[0];
    if (iy < 0 || iy >= s->in_size[1] || iz < 0 || iz >= s->in_size[0]) {
      memset(to, 0, (size_t)(x1 - x0) * sizeof *to);
      to += x1 - x0;
    } else {
      to = add_run(w, in, from + iz * s->in_strides[2] + iy * s->in_strides[3],
                   tap[2], x0, x1, to);
    }
    done += x1 - x0;
  }
}

// Columns [depth x count] for `count` output positions from `position` on.
static void gather(const work *w, const void *in, int64_t from,
                   int64_t position, int64_t count, float *columns) {
  const ops_convolution *s = &w->shape;
  for (uint32_t c = 0; c < s->in_channels; ++c, from += s->in_strides[1]) {
    int tap[3];
    for (tap[0] = 0; tap[0] < s->window[0]; ++tap[0]) {
      for (tap[1] = 0; tap[1] < s->window[1]; ++tap[1]) {
        for (tap[2] = 0; tap[2] < s->window[2]; ++tap[2]) {
          add_row(w, in, from, tap, position, count, columns);
          columns += count;
        }
      }
    }
  }
}

// Copies the inputs under `taps` neighbouring taps of a line's window, channels
// innermost.
static float *add_taps(const work *w, const void *in, int64_t from, int64_t x,
                       int taps, float *to) {
  const ops_convolution *s = &w->shape;
  const uint32_t channels = s->in_channels;
  const bool is_inside = x >= 0 && x + taps <= s->in_size[2];
  if (is_inside && s->in_strides[4] == channels && s->in_strides[1] == 1) {
    const int64_t count = (int64_t)taps * channels;
    host_load_row(w->in_type, in, from + x * channels, 1, count, to);
    return to + count;
  }
  for (int i = 0; i < taps; ++i, ++x, to += channels) {
    if (x < 0 || x >= s->in_size[2]) {
      memset(to, 0, channels * sizeof *to);
    } else {
      host_load_row(w->in_type, in, from + x * s->in_strides[4],
                    s->in_strides[1], channels, to);
    }
  }
  return to;
}

// Adds one line of the window at output position (z, y, x), where it is inside.
static float *add_line(const work *w, const void *in, int64_t from,
                       const int64_t at[3], int tap_z, int tap_y, float *to) {
  const ops_convolution *s = &w->shape;
  const int64_t z =
      at[0] * s->stride[0] - s->padding[0] + (int64_t)tap_z * s->dilation[0];
  const int64_t y =
      at[1] * s->stride[1] - s->padding[1] + (int64_t)tap_y * s->dilation[1];
  const int64_t x = at[2] * s->stride[2] - s->padding[2];
  const int64_t length = (int64_t)s->window[2] * s->in_channels;
  if (z < 0 || z >= s->in_size[0] || y < 0 || y >= s->in_size[1]) {
    memset(to, 0, (size_t)length * sizeof *to);
    return to + length;
  }
  from += z * s->in_strides[2] + y * s->in_strides[3];
  if (s->dilation[2] == 1) {
    return add_taps(w, in, from, x, s->window[2], to);
  }
  for (int i = 0; i < s->window[2]; ++i) {
    to = add_taps(w, in, from, x + (int64_t)i * s->dilation[2], 1, to);
  }
  return to;
}

// Rows [count x depth] for `count` output positions from `position` on.
static void gather_rows(const work *w, const void *in, int64_t from,
                        int64_t position, int64_t count, float *rows) {
  const ops_convolution *s = &w->shape;
  for (int64_t i = position; i < position + count; ++i) {
    const int64_t line = i / s->out_size[2];
    const int64_t at[3] = {line / s->out_size[1], line % s->out_size[1],
                           i % s->out_size[2]};
    for (int z = 0; z < s->window[0]; ++z) {
      for (int y = 0; y < s->window[1]; ++y) {
        rows = add_line(w, in, from, at, z, y, rows);
      }
    }
  }
}

// Weights [channels x depth] as rows, with taps in the order of channels last.
static void gather_weights_last(const work *w, const void *weight, int64_t from,
                                int64_t channels, float *rows) {
  const ops_convolution *s = &w->shape;
  const int64_t *strides = s->weight_strides;
  for (int64_t o = 0; o < channels; ++o) {
    for (int z = 0; z < s->window[0]; ++z) {
      for (int y = 0; y < s->window[1]; ++y) {
        for (int x = 0; x < s->window[2]; ++x, rows += s->in_channels) {
          host_load_row(w->weight_type, weight,
                        from + o * strides[0] + z * strides[2] +
                            y * strides[3] + x * strides[4],
                        strides[1], s->in_channels, rows);
        }
      }
    }
  }
}

// Weights [channels x depth] as rows.
static void gather_weights(const work *w, const void *weight, int64_t from,
                           int64_t channels, float *rows) {
  const ops_convolution *s = &w->shape;
  const int64_t *strides = s->weight_strides;
  for (int64_t o = 0; o < channels; ++o) {
    for (uint32_t c = 0; c < s->in_channels; ++c) {
      for (int z = 0; z < s->window[0]; ++z) {
        for (int y = 0; y < s->window[1]; ++y, rows += s->window[2]) {
          host_load_row(w->weight_type, weight,
                        from + o * strides[0] + c * strides[1] +
                            z * strides[2] + y * strides[3],
                        strides[4], s->window[2], rows);
        }
      }
    }
  }
}

typedef struct piece {
  int64_t batch, group;
  int64_t channel, channels;  // within the group
  int64_t position, count;
} piece;

static piece piece_of(const work *w, uint64_t index) {
  piece it;
  it.position = (int64_t)(index % (uint64_t)w->blocks) * w->block;
  index /= (uint64_t)w->blocks;
  it.channel = (int64_t)(index % (uint64_t)w->channel_blocks) * w->channels;
  index /= (uint64_t)w->channel_blocks;
  it.group = (int64_t)(index % w->shape.groups);
  it.batch = (int64_t)(index / w->shape.groups);
  it.count = at_most(w->block, w->positions - it.position);
  it.channels =
      at_most(w->channels, (int64_t)w->shape.out_channels - it.channel);
  return it;
}

static void store(const work *w, void *out, const piece *at, int64_t base,
                  const float *rows) {
  const ops_convolution *s = &w->shape;
  const int width = s->out_size[2];
  for (int64_t o = 0; o < at->channels; ++o, base += s->out_strides[1]) {
    for (int64_t done = 0; done < at->count;) {
      const int64_t line = (at->position + done) / width;
      const int64_t x = (at->position + done) % width;
      const int64_t run = at_most(width - x, at->count - done);
      host_store_row(w->out_type, out,
                     base + line / s->out_size[1] * s->out_strides[2] +
                         line % s->out_size[1] * s->out_strides[3] +
                         x * s->out_strides[4],
                     s->out_strides[4], run, rows);
      rows += run;
      done += run;
    }
  }
}

// Gives the columns to the library: the input in place, or from scratch.
static float *take_columns(const work *w, const void *in, int64_t from,
                           const piece *at, float *scratch,
                           host_product *call) {
  const ops_convolution *s = &w->shape;
  call->is_b_transposed = w->is_channels_last;
  if (w->is_pointwise) {
    const int64_t step = w->is_channels_last ? w->position_stride : 1;
    call->b = (const float *)in + from + at->position * step;
    call->row_b = w->is_channels_last ? step : s->in_strides[1];
    return scratch;
  }
  if (w->is_channels_last) {
    gather_rows(w, in, from, at->position, at->count, scratch);
  } else {
    gather(w, in, from, at->position, at->count, scratch);
  }
  call->b = scratch;
  call->row_b = w->is_channels_last ? w->depth : at->count;
  return scratch + w->depth * at->count;
}

static void run_piece(const work *w, void *const *data, const piece *at,
                      float *scratch) {
  const ops_convolution *s = &w->shape;
  const int64_t channel = at->group * s->out_channels + at->channel;
  const int64_t in = at->batch * s->in_strides[0] +
                     at->group * s->in_channels * s->in_strides[1];
  const int64_t weight = channel * s->weight_strides[0];
  const int64_t out =
      at->batch * s->out_strides[0] + channel * s->out_strides[1];
  host_product call = {.m = at->channels,
                       .n = at->count,
                       .k = w->depth,
                       .alpha = 1,
                       .beta = s->has_bias ? 1 : 0,
                       .row_a = w->depth,
                       .row_b = at->count};
  scratch = take_columns(w, data[0], in, at, scratch, &call);
  if (w->is_weight_direct) {
    call.a = (const float *)data[1] + weight;
  } else {
    (w->is_channels_last ? gather_weights_last : gather_weights)(
        w, data[1], weight, at->channels, scratch);
    call.a = scratch;
    scratch += w->depth * at->channels;
  }
  call.c = w->is_out_direct ? (float *)data[3] + out + at->position : scratch;
  call.row_c = w->is_out_direct ? s->out_strides[1] : at->count;
  for (int64_t o = 0; s->has_bias && o < at->channels; ++o) {
    const float start =
        host_load(w->bias_type, data[2], (channel + o) * s->bias_stride);
    for (int64_t i = 0; i < at->count; ++i) {
      call.c[o * call.row_c + i] = start;
    }
  }
  host_library_multiply(&call);
  if (!w->is_out_direct) {
    store(w, data[3], at, out, call.c);
  }
}

static void run_pieces(const void *arguments, void *const *data, void *scratch,
                       uint64_t first, uint64_t end) {
  const work *w = arguments;
  for (uint64_t i = first; i < end; ++i) {
    const piece at = piece_of(w, i);
    run_piece(w, data, &at, scratch);
  }
}

static bool is_weight_direct(const work *w) {
  const ops_convolution *s = &w->shape;
  const int64_t taps = (int64_t)s->window[0] * s->window[1] * s->window[2];
  const int64_t channel = w->is_channels_last ? 1 : taps;
  const int64_t tap = w->is_channels_last ? s->in_channels : 1;
  return w->weight_type == MTL_TYPE_FLOAT &&
         ops_is_dense(s->window, s->weight_strides, tap) &&
         (s->in_channels == 1 || s->weight_strides[1] == channel) &&
         (s->out_channels * s->groups == 1 || s->weight_strides[0] == w->depth);
}

// Returns the stride over output positions if the columns are the input itself,
// or 0.
static int64_t pointwise_stride(const work *w) {
  const ops_convolution *s = &w->shape;
  if (w->in_type != MTL_TYPE_FLOAT) {
    return 0;
  }
  for (int d = 0; d < 3; ++d) {
    if (s->window[d] != 1 || s->stride[d] != 1 || s->padding[d] != 0) {
      return 0;
    }
  }
  if (!w->is_channels_last) {
    return ops_is_dense(s->in_size, s->in_strides, 1) &&
           s->in_strides[1] >= w->positions;
  }
  const int64_t step = s->in_size[2] > 1   ? s->in_strides[4]
                       : s->in_size[1] > 1 ? s->in_strides[3]
                                           : s->in_channels;
  const bool fits = s->in_strides[1] == 1 && step >= s->in_channels &&
                    ops_is_dense(s->in_size, s->in_strides, step);
  return fits ? step : 0;
}

static void cut(work *w, mtl_stream *stream, uint64_t flops, uint64_t images) {
  const uint64_t wanted = ops_host_pieces(stream, flops);
  const int64_t fits = BLOCK_BYTES / (int64_t)sizeof(float) / w->depth;
  const int64_t each = divide_up((int64_t)wanted, (int64_t)images);
  const int64_t unit = BLOCK_UNIT;
  w->block = divide_up(divide_up(w->positions, each), unit) * unit;
  if (!w->is_pointwise) {
    w->block = at_most(w->block, at_least(fits / unit * unit, unit));
  }
  w->block = at_most(w->block, w->positions);
  w->blocks = divide_up(w->positions, w->block);
  const int64_t channels = w->shape.out_channels;
  w->channels =
      divide_up(divide_up(channels, divide_up(each, w->blocks)), unit) * unit;
  w->channels = at_most(w->channels, channels);
  w->channel_blocks = divide_up(channels, w->channels);
}

static size_t scratch_bytes(const work *w) {
  const int64_t elements = (w->is_pointwise ? 0 : w->depth * w->block) +
                           (w->is_weight_direct ? 0 : w->depth * w->channels) +
                           (w->is_out_direct ? 0 : w->channels * w->block);
  return (size_t)(elements + 1) * sizeof(float);
}

mtl_status ops_host_convolution(mtl_stream *stream, const mtl_tensor *in,
                                const mtl_tensor *weight,
                                const mtl_tensor *bias,
                                const ops_convolution *s, const mtl_tensor *out,
                                bool *out_done) {
  *out_done = false;
  work w = {.shape = *s,
            .in_type = in->type,
            .weight_type = weight->type,
            .bias_type = bias ? bias->type : MTL_TYPE_FLOAT,
            .out_type = out->type};
  w.depth =
      (int64_t)s->in_channels * s->window[0] * s->window[1] * s->window[2];
  w.positions = (int64_t)s->out_size[0] * s->out_size[1] * s->out_size[2];
  const uint64_t images = (uint64_t)out->sizes[0] * s->groups;
  const uint64_t flops =
      2 * images * s->out_channels * (uint64_t)(w.depth * w.positions);
  if (flops < LEAST_FLOPS || s->out_channels < LEAST_CHANNELS ||
      w.depth < LEAST_CHANNELS || w.depth > INT_MAX / 64 ||
      w.positions > INT_MAX / 2 || !ops_host_is_there(stream)) {
    return MTL_OK;
  }
  w.is_channels_last = s->in_channels > 1 && s->in_strides[1] == 1;
  w.is_weight_direct = is_weight_direct(&w);
  w.position_stride = pointwise_stride(&w);
  w.is_pointwise = w.position_stride != 0;
  w.is_out_direct = out->type == MTL_TYPE_FLOAT &&
                    ops_is_dense(s->out_size, s->out_strides, 1) &&
                    s->out_strides[1] >= w.positions;
  cut(&w, stream, flops, images);
  *out_done = true;
  return ops_host_record(
      stream,
      &(ops_host_work){
          .name = "convolution",
          .function = run_pieces,
          .arguments = &w,
          .arguments_bytes = sizeof w,
          .tensors = {in, weight, bias ? bias : out, out},
          .tensor_count = 4,
          .scratch_bytes = scratch_bytes(&w),
          .piece_count = images * (uint64_t)(w.blocks * w.channel_blocks),
          .flops = flops,
      });
}
