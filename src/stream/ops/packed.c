// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed.c: convolutions and matrix products by our own kernels with constant
// weights, which are packed into the kernels' order once. Lanes hold output
// channels, and nothing is gathered.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/ops/host.h"

enum {
  // As in packed.metal.
  IN_CHANNELS = 1,
  OUT_CHANNELS = 2,
  POINTWISE = 4,
  BIAS_CHANNELS = 8,
  BIAS_ROWS = 16,
  LINES = 32,
  FLAT = 64,
  NARROW = 128,
  ROWS_SHIFT = 8,
  WIDE_CHANNELS = 32,  // of a block
  NARROW_CHANNELS = 16,
  FEW_POSITIONS = 3,
  // Fewer leave most lanes without work.
  LEAST_CHANNELS = 8,
  LEAST_CHANNELS_IN_GROUPS = 16,
  LEAST_CHANNELS_TRANSPOSED = 32,  // repays the transposition
  LEAST_DEPTH = 8,
  // Of threads in a threadgroup, where there are enough threadgroups.
  GROUP_ROWS = 4,
  GROUPS_PER_UNIT = 8,
};

// `packed` of packed.metal.
typedef struct packed {
  ops_convolution shape;
  int64_t bias_row;
  int64_t zeros_bytes;
  uint32_t positions;
  float alpha, beta;
} packed;

// What a row of threads computes: so many channels for so many positions.
typedef struct tile {
  uint32_t channels, rows;
} tile;

static uint32_t padded(const ops_convolution *s, uint32_t channels) {
  return (uint32_t)divide_up(s->out_channels, channels) * channels;
}

// The tile whose sums and operands fill the vector registers. AVX-512 has 32 of
// 16 lanes; a block of 16 channels loads 9 values for 8 products there, one of
// 32 loads 10 for 16, which takes 8/9 of the time a product. AVX2 has 16 of 8
// lanes, NEON 32 of 4. Few positions need more channels for as many sums.
static tile choose_tile(mtl_stream *stream, const ops_convolution *s,
                        uint32_t positions) {
  if (positions <= FEW_POSITIONS) {
    return (tile){.channels = WIDE_CHANNELS, .rows = positions};
  }
  const mtl_device_info *info = mtl_device_get_info(mtl_stream_device(stream));
  if (strcmp(info->architecture, "x86-64-v4") != 0) {
    return (tile){.channels = NARROW_CHANNELS, .rows = 6};
  }
  const bool is_narrow =
      padded(s, NARROW_CHANNELS) * 9 < padded(s, WIDE_CHANNELS) * 8;
  return (tile){.channels = is_narrow ? NARROW_CHANNELS : WIDE_CHANNELS,
                .rows = 8};
}

// --- Packing -----------------------------------------------------------------

static int64_t taps_of(const ops_convolution *s) {
  return (int64_t)s->window[0] * s->window[1] * s->window[2];
}

static size_t weight_bytes(const ops_convolution *s, uint32_t block,
                           size_t element) {
  return (size_t)(s->groups * padded(s, block) * taps_of(s) * s->in_channels) *
         element;
}

// One output channel's weights into its lane.
static void pack_channel(const ops_convolution *s, uint32_t block,
                         size_t element, const char *from, char *to) {
  const int64_t *strides = s->weight_strides;
  for (int z = 0; z < s->window[0]; ++z) {
    for (int y = 0; y < s->window[1]; ++y) {
      for (int x = 0; x < s->window[2]; ++x) {
        const char *at =
            from + (z * strides[2] + y * strides[3] + x * strides[4]) *
                       (int64_t)element;
        for (uint32_t c = 0; c < s->in_channels; ++c, to += block * element) {
          memcpy(to, at, element);
          at += strides[1] * (int64_t)element;
        }
      }
    }
  }
}

static void pack_blocks(const ops_convolution *s, uint32_t block,
                        const mtl_tensor *weight, char *to) {
  const size_t element = mtl_data_type_size(weight->type);
  const char *from =
      (const char *)mtl_buffer_contents(weight->buffer) + weight->offset_bytes;
  const int64_t blocks = divide_up(s->out_channels, block);
  const size_t block_bytes =
      (size_t)(taps_of(s) * s->in_channels) * block * element;
  for (uint32_t group = 0; group < s->groups; ++group) {
    for (uint32_t o = 0; o < s->out_channels; ++o) {
      pack_channel(s, block, element,
                   from + (int64_t)(group * s->out_channels + o) *
                              s->weight_strides[0] * (int64_t)element,
                   to + (size_t)(group * blocks + o / block) * block_bytes +
                       o % block * element);
    }
  }
}

// Depthwise weights: for each tap those of all channels, side by side.
static void pack_taps(const ops_convolution *s, const mtl_tensor *weight,
                      char *to) {
  const size_t element = mtl_data_type_size(weight->type);
  for (uint32_t group = 0; group < s->groups; ++group) {
    const char *at = (const char *)mtl_buffer_contents(weight->buffer) +
                     weight->offset_bytes +
                     (int64_t)group * s->weight_strides[0] * (int64_t)element;
    char *lane = to + group * element;
    for (int z = 0; z < s->window[0]; ++z) {
      for (int y = 0; y < s->window[1]; ++y) {
        for (int x = 0; x < s->window[2]; ++x) {
          const int64_t i = z * s->weight_strides[2] +
                            y * s->weight_strides[3] + x * s->weight_strides[4];
          memcpy(lane, at + i * (int64_t)element, element);
          lane += s->groups * element;
        }
      }
    }
  }
}

static void packed_delete(void *context, void *bytes, size_t length_bytes) {
  (void)context;
  (void)length_bytes;
  free(bytes);
}

// Returns the weights packed in blocks of channels, or of depthwise ones
// (block 0), +1; NULL if there is no room for them.
static mtl_buffer *make(mtl_stream *stream, const ops_convolution *s,
                        const mtl_tensor *weight, uint32_t block) {
  const size_t element = mtl_data_type_size(weight->type);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t zeros_bytes =
      (size_t)s->window[2] * s->in_channels * sizeof(float);
  const size_t used_bytes = block == 0
                                ? (size_t)taps_of(s) * s->groups * element
                                : weight_bytes(s, block, element) + zeros_bytes;
  const size_t bytes = (used_bytes + page - 1) / page * page;
  void *memory = NULL;
  if (!ops_kept_has_room(bytes) || posix_memalign(&memory, page, bytes) != 0) {
    return NULL;
  }
  memset(memory, 0, bytes);
  if (block == 0) {
    pack_taps(s, weight, memory);
  } else {
    pack_blocks(s, block, weight, memory);
  }
  const mtl_buffer_desc desc = {.length_bytes = bytes,
                                .no_copy_bytes = memory,
                                .deallocator = packed_delete};
  mtl_buffer *buffer = NULL;
  if (mtl_buffer_create(mtl_stream_device(stream), &desc, &buffer) != MTL_OK) {
    free(memory);
    return NULL;
  }
  return buffer;
}

static mtl_buffer *find_or_make(mtl_stream *stream, const ops_convolution *s,
                                const mtl_tensor *weight, uint32_t block) {
  struct {
    int32_t window[3];
    uint32_t block, in_channels, out_channels, groups;
    int64_t strides[5];
    uint64_t offset_bytes, type;
  } key;
  memset(&key, 0, sizeof key);  // its gaps are compared, too
  memcpy(key.window, s->window, sizeof key.window);
  key.block = block;
  key.in_channels = s->in_channels;
  key.out_channels = s->out_channels;
  key.groups = s->groups;
  memcpy(key.strides, s->weight_strides, sizeof key.strides);
  key.offset_bytes = weight->offset_bytes;
  key.type = weight->type;
  bool is_known = false;
  mtl_buffer *kept =
      ops_kept_find(weight->constant, &key, sizeof key, &is_known);
  if (!is_known) {
    kept = make(stream, s, weight, block);
    ops_kept_add(weight->constant, &key, sizeof key, kept);
  }
  return kept;
}

// --- Running -----------------------------------------------------------------

static bool is_dense_channels(const ops_convolution *s) {
  return s->in_channels == 1 || s->in_strides[1] == 1;
}

// True if the inputs of a line of the window lie as its weights are packed.
static bool has_lines(const ops_convolution *s) {
  return s->window[2] > 1 && s->dilation[2] == 1 && is_dense_channels(s) &&
         s->in_strides[4] == s->in_channels;
}

static bool is_pointwise(const ops_convolution *s) {
  for (int d = 0; d < 3; ++d) {
    if (s->window[d] != 1 || s->padding[d] != 0) {
      return false;
    }
  }
  return true;
}

// True if all positions, in counting order, are strides[4] apart.
static bool is_one_line(const int32_t *size, const int64_t *strides) {
  return (size[1] == 1 || strides[3] == size[2] * strides[4]) &&
         (size[0] == 1 || strides[2] == (int64_t)size[1] * strides[3]);
}

// True if a position's only input and its output are found by its number.
static bool is_flat(const ops_convolution *s) {
  return is_pointwise(s) && s->stride[0] == 1 && s->stride[1] == 1 &&
         s->stride[2] == 1 && is_one_line(s->out_size, s->in_strides) &&
         is_one_line(s->out_size, s->out_strides);
}

// True if the host can pack weights in memory that kernels read: on "cpu", not
// on "cpu-discrete".
static bool is_device_fit(mtl_stream *stream) {
  const mtl_device_info *info = mtl_device_get_info(mtl_stream_device(stream));
  return info->runs_host_work && info->has_unified_memory;
}

mtl_buffer *ops_packed_taps(mtl_stream *stream, const ops_convolution *shape,
                            const mtl_tensor *weight) {
  return weight->constant != 0 && is_device_fit(stream)
             ? find_or_make(stream, shape, weight, 0)
             : NULL;
}

static bool is_fit(const ops_convolution *s, const mtl_tensor *weight) {
  const bool is_in_place = is_dense_channels(s) || is_pointwise(s);
  const uint32_t least = !is_in_place     ? LEAST_CHANNELS_TRANSPOSED
                         : s->groups == 1 ? LEAST_CHANNELS
                                          : LEAST_CHANNELS_IN_GROUPS;
  return weight->constant != 0 && s->out_channels >= least &&
         taps_of(s) * s->in_channels >= LEAST_DEPTH;
}

static mtl_status record(mtl_stream *stream, const mtl_tensor *in,
                         const mtl_tensor *weight, const mtl_tensor *bias,
                         packed *it, uint64_t batches, const mtl_tensor *out,
                         bool *out_done) {
  const ops_convolution *s = &it->shape;
  const tile its = choose_tile(stream, s, it->positions);
  mtl_buffer *kept = find_or_make(stream, s, weight, its.channels);
  if (!kept) {
    return MTL_OK;
  }
  it->zeros_bytes =
      (int64_t)weight_bytes(s, its.channels, mtl_data_type_size(weight->type));
  const mtl_tensor weights = {.buffer = kept,
                              .type = weight->type,
                              .rank = 1,
                              .sizes = {1},
                              .strides = {1}};
  // As few parts as the tile allows, of about one size. A simdgroup of 32
  // threads has two of a narrow tile.
  const uint32_t parts_of_simdgroup = WIDE_CHANNELS / its.channels;
  const uint32_t parts =
      (uint32_t)divide_up(it->positions, its.rows * parts_of_simdgroup) *
      parts_of_simdgroup;
  const uint32_t rows = (uint32_t)divide_up(it->positions, parts);
  const uint64_t blocks = (uint64_t)divide_up(s->out_channels, its.channels);
  const uint64_t units =
      mtl_device_get_info(mtl_stream_device(stream))->compute_units;
  const bool are_enough = parts * blocks * batches * s->groups >=
                          GROUP_ROWS * GROUPS_PER_UNIT * units;
  *out_done = true;
  const mtl_status status = ops_record(
      stream,
      &(ops_dispatch){
          .source = ops_packed_metal,
          .kernel = "convolve_packed",
          .constants = {in->type, weight->type, bias ? bias->type : out->type,
                        out->type,
                        (is_dense_channels(s) ? IN_CHANNELS : 0) |
                            (s->out_strides[1] == 1 ? OUT_CHANNELS : 0) |
                            (is_pointwise(s) ? POINTWISE : 0) |
                            (has_lines(s) ? LINES : 0) |
                            (is_flat(s) ? FLAT : 0) |
                            (its.channels == NARROW_CHANNELS ? NARROW : 0) |
                            (s->bias_stride == 1 ? BIAS_CHANNELS : 0) |
                            (bias && it->bias_row != 0 ? BIAS_ROWS : 0) |
                            rows << ROWS_SHIFT},
          .tensors = {in, &weights, bias, out},
          .tensor_count = 4,
          .arguments = it,
          .arguments_bytes = sizeof *it,
          .grid_threads = {its.channels, parts, batches * s->groups * blocks},
          .group_threads = {its.channels,
                            (are_enough ? GROUP_ROWS : 1) * parts_of_simdgroup,
                            1},
      });
  mtl_buffer_release(kept);
  return status;
}

// Transposes in to channels last: the kernel reads a tap's channels
// contiguously.
static mtl_status turn(mtl_stream *stream, const mtl_tensor *in,
                       ops_scratch *out_scratch, mtl_tensor *out_turned) {
  const uint32_t last = in->rank - 1;
  const mtl_tensor moved = ops_moved_last(in, 1);
  STREAM_TRY(
      ops_scratch_create(stream, in->type, in->rank, moved.sizes, out_scratch));
  *out_turned = out_scratch->tensor;
  for (uint32_t d = 1; d <= last; ++d) {
    out_turned->sizes[d] = in->sizes[d];
    out_turned->strides[d] = out_scratch->tensor.strides[d == 1 ? last : d - 1];
  }
  // In this order the lanes run along the lines.
  return mtl_ops_copy(stream, in, out_turned);
}

mtl_status ops_packed_convolution(mtl_stream *stream, const mtl_tensor *in,
                                  const mtl_tensor *weight,
                                  const mtl_tensor *bias,
                                  const ops_convolution *shape,
                                  const mtl_tensor *out, bool *out_done) {
  *out_done = false;
  const int64_t positions =
      (int64_t)shape->out_size[0] * shape->out_size[1] * shape->out_size[2];
  if (!is_fit(shape, weight) || positions > INT_MAX || !is_device_fit(stream)) {
    return MTL_OK;
  }
  packed it = {
      .shape = *shape, .positions = (uint32_t)positions, .alpha = 1, .beta = 1};
  ops_scratch scratch = {0};
  mtl_tensor turned = *in;
  mtl_status status = MTL_OK;
  if (!is_dense_channels(shape) && !is_pointwise(shape)) {
    status = turn(stream, in, &scratch, &turned);
    ops_fill_strides(&turned, it.shape.in_strides);
  }
  if (status == MTL_OK) {
    status = record(stream, &turned, weight, bias, &it, (uint64_t)out->sizes[0],
                    out, out_done);
  }
  ops_scratch_release(&scratch);
  return status;
}

// The leading dimensions as one; false if b or the bias changes along them.
static bool find_batches(const mtl_tensor *a, const mtl_tensor *b,
                         const mtl_tensor *bias, const mtl_tensor *out,
                         ops_shape *shape, uint64_t *out_batches) {
  *out_batches = ops_shape_of(shape, out->rank - 2,
                              (const mtl_tensor *[]){a, b, bias, out}, 4);
  return shape->rank == 0 || (shape->rank == 1 && shape->strides[1][0] == 0 &&
                              (bias == out || shape->strides[2][0] == 0));
}

mtl_status ops_packed_matmul(mtl_stream *stream, const mtl_tensor *a,
                             const mtl_tensor *b, const mtl_tensor *bias,
                             float alpha, float beta, const mtl_tensor *out,
                             bool *out_done) {
  *out_done = false;
  const uint32_t row = out->rank - 2, column = out->rank - 1;
  const int64_t m = out->sizes[row], n = out->sizes[column];
  const int64_t k = a->sizes[column];
  ops_shape shape;
  uint64_t batches;
  if (b->constant == 0 || n > INT_MAX || k > INT_MAX || m > INT_MAX ||
      !find_batches(a, b, bias ? bias : out, out, &shape, &batches)) {
    return MTL_OK;
  }
  packed it = {
      .shape = {.in_size = {1, 1, (int32_t)m},
                .out_size = {1, 1, (int32_t)m},
                .window = {1, 1, 1},
                .stride = {1, 1, 1},
                .dilation = {1, 1, 1},
                .in_channels = (uint32_t)k,
                .out_channels = (uint32_t)n,
                .groups = 1,
                .has_bias = bias != NULL,
                .in_strides = {shape.strides[0][0], a->strides[column], 0, 0,
                               a->strides[row]},
                .weight_strides = {b->strides[column], b->strides[row], 0, 0,
                                   0},
                .out_strides = {shape.strides[3][0], out->strides[column], 0, 0,
                                out->strides[row]},
                .bias_stride = bias ? bias->strides[column] : 0},
      .bias_row = bias ? bias->strides[row] : 0,
      .positions = (uint32_t)m,
      .alpha = alpha,
      .beta = beta,
  };
  if (!is_fit(&it.shape, b) || !is_device_fit(stream)) {
    return MTL_OK;
  }
  return record(stream, a, b, bias, &it, batches, out, out_done);
}
