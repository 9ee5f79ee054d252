// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_packed.c: convolutions by oneDNN with constant weights, which are packed
// into its order once. A piece is a run of rows and of output channels of one
// image. Tensors that are not channels last are transposed on the way in and
// out.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/libraries/host_convolution.h"
#include "stream/libraries/host_elements.h"
#include "stream/libraries/host_library.h"
#include "stream/ops/host.h"

enum {
  PARTS_MAX = 64,
  // Two of oneDNN's vectors: with one, its kernels take twice as long for each
  // (measured for windows of 3 x 3, 2-core Xeon, 2026-11).
  CHANNELS_UNIT = 32,
  PARTS_PER_THREAD = 2,
  SCRATCH_MAX_BYTES = 64 << 20,
};

// A run of output rows. Parts of the same shape share oneDNN's prepared
// objects.
typedef struct part {
  host_convolution *plan;
  bool owns_plan;
  int64_t in_row, out_row, out_rows;
  int64_t in_rows, before, after;
} part;

// The header at the start of a constant's kept buffer; the weights follow.
typedef struct packed {
  int64_t row_parts, channel_parts;
  int64_t channels;     // of a channel part
  size_t weight_bytes;  // of a channel part, a multiple of 64
  size_t scratch_bytes;
  part parts[PARTS_MAX];
} packed;

enum { HEAD_BYTES = (sizeof(packed) + 63) / 64 * 64 };

typedef struct work {
  ops_convolution shape;  // with in_strides of the arranged input
  mtl_data_type bias_type, out_type;
  bool is_out_direct;  // as oneDNN leaves it
  bool is_out_turned;  // float, positions in one piece: one transposition
} work;

// --- Preparing ---------------------------------------------------------------

static bool is_depthwise(const ops_convolution *s) {
  return s->groups > 1 && s->in_channels == 1 && s->out_channels == 1;
}

static int64_t channels_in(const ops_convolution *s) {
  return is_depthwise(s) ? s->groups : s->in_channels;
}

static int64_t channels_out(const ops_convolution *s) {
  return is_depthwise(s) ? s->groups : s->out_channels;
}

// Cuts output channels where weights are more than the input and that can be,
// rows otherwise.
static void cut(packed *it, const ops_convolution *s, int64_t wanted) {
  const int64_t channels = channels_out(s);
  const int64_t taps = (int64_t)s->window[1] * s->window[2];
  const bool prefers_channels =
      !is_depthwise(s) &&
      taps * channels > (int64_t)s->in_size[1] * s->in_size[2];
  it->channel_parts = it->row_parts = 1;
  if (prefers_channels) {
    it->channel_parts = at_most(wanted, PARTS_MAX);
    while (channels % (it->channel_parts * CHANNELS_UNIT) != 0 &&
           it->channel_parts > 1) {
      it->channel_parts -= 1;
    }
  }
  if (it->channel_parts == 1) {
    it->row_parts = at_most(at_most(wanted, s->out_size[1]), PARTS_MAX);
  }
  it->channels = channels / it->channel_parts;
}

static void place_rows(part *at, const ops_convolution *s) {
  const int64_t reach = (int64_t)(s->window[1] - 1) * s->dilation[1] + 1;
  const int64_t start = at->out_row * s->stride[1] - s->padding[1];
  const int64_t end =
      (at->out_row + at->out_rows - 1) * s->stride[1] - s->padding[1] + reach;
  at->before = at_least(-start, 0);
  at->after = at_least(end - s->in_size[1], 0);
  at->in_row = at_least(start, 0);
  at->in_rows = end - at->after - at->in_row;
}

static host_convolution *prepare(const packed *it, const part *at,
                                 const ops_convolution *s,
                                 const host_convolution *like) {
  const int64_t width_reach = (int64_t)(s->window[2] - 1) * s->dilation[2] + 1;
  const int64_t width_end =
      (int64_t)(s->out_size[2] - 1) * s->stride[2] + width_reach;
  const host_convolution_shape shape = {
      .in_channels = channels_in(s),
      .out_channels = it->channels,
      .is_depthwise = is_depthwise(s),
      .in_size = {at->in_rows, s->in_size[2]},
      .out_size = {at->out_rows, s->out_size[2]},
      .window = {s->window[1], s->window[2]},
      .stride = {s->stride[1], s->stride[2]},
      .dilation = {s->dilation[1], s->dilation[2]},
      .before = {at->before, s->padding[2]},
      .after = {at->after,
                at_least(width_end - s->padding[2] - s->in_size[2], 0)},
  };
  return at->in_rows > 0 ? host_convolution_create(&shape, like) : NULL;
}

static void find_plan(packed *it, int64_t index, const ops_convolution *s) {
  part *at = &it->parts[index];
  for (int64_t i = 0; i < index; ++i) {
    const part *other = &it->parts[i];
    if (other->in_rows == at->in_rows && other->before == at->before &&
        other->after == at->after && other->out_rows == at->out_rows) {
      at->plan = other->plan;
      return;
    }
  }
  at->plan = prepare(it, at, s, index ? it->parts[0].plan : NULL);
  at->owns_plan = true;
}

static void delete_plans(packed *it) {
  for (int64_t i = 0; i < it->row_parts; ++i) {
    if (it->parts[i].owns_plan) {
      host_convolution_delete(it->parts[i].plan);
    }
  }
}

static bool make_plans(packed *it, const ops_convolution *s) {
  const int64_t rows = s->out_size[1];
  for (int64_t i = 0; i < it->row_parts; ++i) {
    part *at = &it->parts[i];
    at->out_row = rows * i / it->row_parts;
    at->out_rows = rows * (i + 1) / it->row_parts - at->out_row;
    place_rows(at, s);
    find_plan(it, i, s);
    if (!at->plan) {
      delete_plans(it);
      return false;
    }
    const size_t scratch_bytes = host_convolution_scratch_bytes(at->plan);
    it->scratch_bytes =
        scratch_bytes > it->scratch_bytes ? scratch_bytes : it->scratch_bytes;
  }
  it->weight_bytes =
      (host_convolution_weight_bytes(it->parts[0].plan) + 63) / 64 * 64;
  return true;
}

// Weights as [out channels, in channels, window] in float.
static void load_weights(const ops_convolution *s, const mtl_tensor *weight,
                         int64_t first, int64_t count, float *to) {
  const void *data =
      (const char *)mtl_buffer_contents(weight->buffer) + weight->offset_bytes;
  const int64_t *strides = s->weight_strides;
  for (int64_t o = first; o < first + count; ++o) {
    for (int64_t c = 0; c < s->in_channels; ++c) {
      for (int64_t y = 0; y < s->window[1]; ++y, to += s->window[2]) {
        host_load_row(weight->type, data,
                      o * strides[0] + c * strides[1] + y * strides[3],
                      strides[4], s->window[2], to);
      }
    }
  }
}

static bool pack(const packed *it, const ops_convolution *s,
                 const mtl_tensor *weight, char *to) {
  const size_t each = (size_t)(it->channels * s->in_channels * s->window[1]) *
                      (size_t)s->window[2];
  float *plain = malloc(each * sizeof *plain);
  bool ok = plain != NULL;
  for (int64_t i = 0; i < it->channel_parts && ok; ++i) {
    load_weights(s, weight, i * it->channels, it->channels, plain);
    ok = host_convolution_pack(it->parts[0].plan, plain,
                               to + (size_t)i * it->weight_bytes);
  }
  free(plain);
  return ok;
}

static void packed_delete(void *context, void *bytes, size_t length_bytes) {
  (void)context;
  (void)length_bytes;
  delete_plans(bytes);
  free(bytes);
}

// Makes the buffer; NULL if oneDNN has nothing good, or there is no room.
static mtl_buffer *make(mtl_stream *stream, const ops_convolution *s,
                        const mtl_tensor *weight, int64_t wanted) {
  packed head = {0};
  cut(&head, s, wanted);
  if (!make_plans(&head, s)) {
    return NULL;
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes =
      (HEAD_BYTES + (size_t)head.channel_parts * head.weight_bytes + page - 1) /
      page * page;
  void *memory = NULL;
  if (!ops_kept_has_room(bytes) || posix_memalign(&memory, page, bytes) != 0) {
    delete_plans(&head);
    return NULL;
  }
  memcpy(memory, &head, sizeof head);
  const mtl_buffer_desc desc = {.length_bytes = bytes,
                                .no_copy_bytes = memory,
                                .deallocator = packed_delete};
  mtl_buffer *buffer = NULL;
  if (!pack(memory, s, weight, (char *)memory + HEAD_BYTES) ||
      mtl_buffer_create(mtl_stream_device(stream), &desc, &buffer) != MTL_OK) {
    packed_delete(NULL, memory, bytes);
    return NULL;
  }
  return buffer;
}

// --- Turning -----------------------------------------------------------------

// Four floats anywhere.
typedef float four __attribute__((vector_size(16), aligned(4)));

static void turn_four(const float *in, int64_t in_row, float *out,
                      int64_t out_row) {
  const four a = *(const four *)in, b = *(const four *)(in + in_row),
             c = *(const four *)(in + 2 * in_row),
             d = *(const four *)(in + 3 * in_row);
  const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(four *)out = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  *(four *)(out + out_row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  *(four *)(out + 2 * out_row) =
      __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *(four *)(out + 3 * out_row) =
      __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// out [columns x rows] = in [rows x columns], whose rows lie in_row apart.
static void turn(const float *in, int64_t in_row, int64_t rows, int64_t columns,
                 float *out, int64_t out_row) {
  for (int64_t c = 0; c < columns; c += 4) {
    const bool is_whole = c + 4 <= columns;
    int64_t r = 0;
    for (; is_whole && r + 4 <= rows; r += 4) {
      turn_four(in + r * in_row + c, in_row, out + c * out_row + r, out_row);
    }
    for (; r < rows; ++r) {
      for (int64_t i = c; i < columns && i < c + 4; ++i) {
        out[i * out_row + r] = in[r * in_row + i];
      }
    }
  }
}

typedef struct arrangement {
  ops_convolution shape;
  mtl_data_type type;
  int64_t channels;
} arrangement;

// A piece is a row of the input, channels last in float.
static void arrange_pieces(const void *arguments, void *const *data,
                           void *scratch, uint64_t first, uint64_t end) {
  (void)scratch;
  const arrangement *a = arguments;
  const int64_t *strides = a->shape.in_strides;
  const int64_t width = a->shape.in_size[2];
  for (uint64_t i = first; i < end; ++i) {
    const int64_t image = (int64_t)i / a->shape.in_size[1];
    const int64_t row = (int64_t)i % a->shape.in_size[1];
    const int64_t from = image * strides[0] + row * strides[3];
    float *to = (float *)data[1] + (int64_t)i * width * a->channels;
    if (a->type == MTL_TYPE_FLOAT && strides[4] == 1) {
      turn((const float *)data[0] + from, strides[1], a->channels, width, to,
           a->channels);
      continue;
    }
    for (int64_t x = 0; x < width; ++x, to += a->channels) {
      host_load_row(a->type, data[0], from + x * strides[4], strides[1],
                    a->channels, to);
    }
  }
}

static bool is_arranged(const ops_convolution *s, const mtl_tensor *in) {
  const int64_t channels = channels_in(s);
  return in->type == MTL_TYPE_FLOAT &&
         (channels == 1 || s->in_strides[1] == 1) &&
         ops_is_dense(s->in_size, s->in_strides, channels);
}

static mtl_status arrange(mtl_stream *stream, const mtl_tensor *in,
                          const ops_convolution *s, ops_scratch *out_scratch) {
  const arrangement a = {
      .shape = *s, .type = in->type, .channels = channels_in(s)};
  const int64_t sizes[] = {in->sizes[0], s->in_size[1], s->in_size[2],
                           a.channels};
  STREAM_TRY(ops_scratch_create(stream, MTL_TYPE_FLOAT, 4, sizes, out_scratch));
  return ops_host_record(
      stream, &(ops_host_work){
                  .name = "convolution: channels last",
                  .function = arrange_pieces,
                  .arguments = &a,
                  .arguments_bytes = sizeof a,
                  .tensors = {in, &out_scratch->tensor},
                  .tensor_count = 2,
                  .piece_count = (uint64_t)(in->sizes[0] * s->in_size[1]),
                  // An element moved takes as long as some dozen operations.
                  .flops = 40 * (uint64_t)mtl_tensor_count(in),
              });
}

// --- Running -----------------------------------------------------------------

static void add_bias(const work *w, const void *bias, int64_t first,
                     int64_t positions, int64_t channels, float *rows,
                     float *values) {
  host_load_row(w->bias_type, bias, first * w->shape.bias_stride,
                w->shape.bias_stride, channels, values);
  for (int64_t i = 0; i < positions; ++i, rows += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      rows[c] += values[c];
    }
  }
}

// Brings rows [lines x width, channels] to where out wants them.
static void store(const work *w, void *out, int64_t base, int64_t lines,
                  int64_t channels, const float *rows, float *turned) {
  const int64_t width = w->shape.out_size[2];
  const int64_t positions = lines * width;
  const int64_t *strides = w->shape.out_strides;
  if (w->is_out_turned) {
    turn(rows, channels, positions, channels, (float *)out + base, strides[1]);
    return;
  }
  turn(rows, channels, positions, channels, turned, positions);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < lines; ++y, turned += width) {
      host_store_row(w->out_type, out, base + c * strides[1] + y * strides[3],
                     strides[4], width, turned);
    }
  }
}

static void run_piece(const work *w, const packed *it, void *const *data,
                      uint64_t index, char *scratch) {
  const int64_t row_part = (int64_t)index % it->row_parts;
  index /= (uint64_t)it->row_parts;
  const int64_t channel_part = (int64_t)index % it->channel_parts;
  const int64_t image = (int64_t)index / it->channel_parts;
  const part *at = &it->parts[row_part];
  const ops_convolution *s = &w->shape;
  const int64_t positions = at->out_rows * s->out_size[2];
  const int64_t first = channel_part * it->channels;
  const float *in = (const float *)data[0] + image * s->in_strides[0] +
                    at->in_row * s->in_size[2] * channels_in(s);
  const int64_t out = image * s->out_strides[0] + first * s->out_strides[1] +
                      at->out_row * s->out_strides[3];
  float *values = (float *)(scratch + (it->scratch_bytes + 63) / 64 * 64);
  float *rows = values + (it->channels + 15) / 16 * 16;
  float *turned = rows + positions * it->channels;
  rows = w->is_out_direct ? (float *)data[2] + out : rows;
  const char *weights =
      (const char *)it + HEAD_BYTES + (size_t)channel_part * it->weight_bytes;
  if (!host_convolution_run(at->plan, in, weights, rows, scratch)) {
    memset(rows, 0xff, (size_t)(positions * it->channels) * sizeof *rows);
  }
  if (s->has_bias) {
    add_bias(w, data[1], first, positions, it->channels, rows, values);
  }
  if (!w->is_out_direct) {
    store(w, data[2], out, at->out_rows, it->channels, rows, turned);
  }
}

static void run_pieces(const void *arguments, void *const *data, void *scratch,
                       uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; ++i) {
    run_piece(arguments, data[3], data, i, scratch);
  }
}

static size_t scratch_bytes(const work *w, const packed *it) {
  int64_t rows = 0;
  for (int64_t i = 0; i < it->row_parts; ++i) {
    rows = at_least(rows, it->parts[i].out_rows);
  }
  const int64_t elements = rows * w->shape.out_size[2] * it->channels;
  const int64_t copies = w->is_out_direct ? 0 : w->is_out_turned ? 1 : 2;
  return (it->scratch_bytes + 63) / 64 * 64 +
         (size_t)(copies * elements + it->channels + 32) * sizeof(float);
}

static mtl_status record(mtl_stream *stream, const mtl_tensor *in,
                         const mtl_tensor *bias, const ops_convolution *s,
                         const mtl_tensor *out, mtl_buffer *kept,
                         bool *out_done) {
  const packed *it = mtl_buffer_contents(kept);
  const int64_t *strides = s->out_strides;
  const bool is_float = out->type == MTL_TYPE_FLOAT;
  work w = {
      .shape = *s,
      .bias_type = bias ? bias->type : MTL_TYPE_FLOAT,
      .out_type = out->type,
      .is_out_direct = is_float && it->channel_parts == 1 &&
                       (it->channels == 1 || strides[1] == 1) &&
                       ops_is_dense(s->out_size, strides, it->channels),
      .is_out_turned = is_float && ops_is_dense(s->out_size, strides, 1),
  };
  if (scratch_bytes(&w, it) > SCRATCH_MAX_BYTES) {
    return MTL_OK;
  }
  ops_scratch arranged = {0};
  if (!is_arranged(s, in)) {
    STREAM_TRY(arrange(stream, in, s, &arranged));
    in = &arranged.tensor;
    w.shape.in_strides[0] = in->strides[0];
  }
  const mtl_tensor weights = {.buffer = kept,
                              .type = MTL_TYPE_UCHAR,
                              .rank = 1,
                              .sizes = {1},
                              .strides = {1}};
  const uint64_t taps = (uint64_t)s->window[1] * (uint64_t)s->window[2];
  *out_done = true;
  const mtl_status status = ops_host_record(
      stream,
      &(ops_host_work){
          .name = "convolution",
          .function = run_pieces,
          .arguments = &w,
          .arguments_bytes = sizeof w,
          .tensors = {in, bias ? bias : out, out, &weights},
          .tensor_count = 4,
          .scratch_bytes = scratch_bytes(&w, it),
          .piece_count =
              (uint64_t)(out->sizes[0] * it->row_parts * it->channel_parts),
          .flops = 2 * taps * s->in_channels * (uint64_t)mtl_tensor_count(out),
      });
  ops_scratch_release(&arranged);
  return status;
}

// The first call takes half a millisecond at least: shapes that come once do
// not repay it.
static bool is_fit(const ops_convolution *s, const mtl_tensor *weight) {
  const bool is_plain = s->groups == 1 || is_depthwise(s);
  const bool is_flat = s->in_size[0] == 1 && s->window[0] == 1 &&
                       s->out_size[0] == 1 && s->padding[0] == 0;
  return weight->constant != 0 && is_plain && is_flat &&
         host_library_onednn() != NULL;
}

mtl_status ops_host_packed_convolution(mtl_stream *stream, const mtl_tensor *in,
                                       const mtl_tensor *weight,
                                       const mtl_tensor *bias,
                                       const ops_convolution *shape,
                                       const mtl_tensor *out, bool *out_done) {
  *out_done = false;
  if (!is_fit(shape, weight) || !ops_host_is_there(stream)) {
    return MTL_OK;
  }
  const uint64_t threads =
      mtl_device_get_info(mtl_stream_device(stream))->compute_units;
  const uint64_t flops = 2 * (uint64_t)shape->in_channels *
                         (uint64_t)(shape->window[1] * shape->window[2]) *
                         (uint64_t)mtl_tensor_count(out);
  struct {
    ops_convolution shape;
    uint64_t offset_bytes, type, wanted;
  } key;
  memset(&key, 0, sizeof key);  // its gaps are compared, too
  key.shape = *shape;
  memset(key.shape.in_strides, 0, sizeof key.shape.in_strides);
  memset(key.shape.out_strides, 0, sizeof key.shape.out_strides);
  key.shape.has_bias = 0;
  key.shape.bias_stride = 0;
  key.offset_bytes = weight->offset_bytes;
  key.type = weight->type;
  key.wanted = threads == 1
                   ? 1
                   : (uint64_t)at_most((int64_t)ops_host_pieces(stream, flops),
                                       (int64_t)threads * PARTS_PER_THREAD);
  bool is_known = false;
  mtl_buffer *kept =
      ops_kept_find(weight->constant, &key, sizeof key, &is_known);
  if (!is_known) {
    kept = make(stream, shape, weight, (int64_t)key.wanted);
    ops_kept_add(weight->constant, &key, sizeof key, kept);
  }
  if (!kept) {
    return MTL_OK;
  }
  const mtl_status status =
      record(stream, in, bias, shape, out, kept, out_done);
  mtl_buffer_release(kept);
  return status;
}
