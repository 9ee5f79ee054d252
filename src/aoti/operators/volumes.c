// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// volumes.c: on the host: three-dimensional pooling windows, and interpolated
// samples of a volume.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/operators/host.h"

// --- Windows -----------------------------------------------------------------

typedef struct window {
  int64_t size[3], stride[3], padding[3], dilation[3];
  int64_t in[3], out[3];
  bool rounds_up, counts_padding;
  int64_t divisor;  // 0: the count of elements
} window;

// Reads a list for all dimensions: one number is for all, an empty list means
// `otherwise`.
static mtl_status set_three(int64_t target[3], const int64_t *list,
                            int64_t length, const int64_t otherwise[3]) {
  if (length != 0 && length != 1 && length != 3) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "pooling: %" PRId64 " numbers",
                    length);
  }
  for (int64_t d = 0; d < 3; ++d) {
    target[d] = length == 0 ? otherwise[d] : list[length == 3 ? d : 0];
  }
  return MTL_OK;
}

// Source  aten/src/ATen/native/Pool.h, pooling_output_shape
static mtl_status measure(const aoti_tensor *self, window *it) {
  if (self->rank != 4 && self->rank != 5) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "pooling: %" PRId64 " dimensions",
                    self->rank);
  }
  for (int64_t d = 0; d < 3; ++d) {
    it->in[d] = self->sizes[self->rank - 3 + d];
    if (it->size[d] < 1 || it->stride[d] < 1 || it->dilation[d] < 1 ||
        it->padding[d] < 0 || it->padding[d] > it->size[d] / 2) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "pooling: a window of %" PRId64 ", padding %" PRId64,
                      it->size[d], it->padding[d]);
    }
    const int64_t room = it->in[d] + 2 * it->padding[d] -
                         it->dilation[d] * (it->size[d] - 1) - 1 +
                         (it->rounds_up ? it->stride[d] - 1 : 0);
    it->out[d] = room < 0 ? 0 : room / it->stride[d] + 1;
    // The last window starts inside.
    if (it->rounds_up &&
        (it->out[d] - 1) * it->stride[d] >= it->in[d] + it->padding[d]) {
      it->out[d] -= 1;
    }
    if (it->out[d] < 1) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "pooling: a window of %" PRId64 " in %" PRId64,
                      it->size[d], it->in[d]);
    }
  }
  return MTL_OK;
}

// True if the order in memory is batch, depth, height, width, channel, which
// results keep.
static bool is_channels_last(const aoti_tensor *tensor) {
  static const int order[] = {1, 4, 3, 2, 0};
  int64_t expected = 1;
  for (int i = 0; i < 5; ++i) {
    const int d = order[i];
    if (tensor->rank != 5 ||
        (tensor->sizes[d] != 1 && tensor->strides[d] != expected)) {
      return false;
    }
    expected *= tensor->sizes[d];
  }
  return tensor->sizes[1] > 1;
}

static mtl_status make_pooled(const aoti_tensor *self, const window *it,
                              int32_t dtype, AtenTensorHandle *out_new) {
  int64_t sizes[5];
  const int64_t rank = self->rank;
  memcpy(sizes, self->sizes, (size_t)rank * sizeof *sizes);
  memcpy(sizes + rank - 3, it->out, sizeof it->out);
  const int64_t c = sizes[1];
  const int64_t w = rank == 5 ? sizes[4] : 1, h = rank == 5 ? sizes[3] : 1;
  const int64_t strides[] = {sizes[2] * h * w * c, 1, h * w * c, w * c, c};
  AOTI_TRY(aoti_tensor_empty(AOTI_MPS, dtype, rank, sizes,
                             is_channels_last(self) ? strides : NULL, out_new));
  return aoti_tensor_before_write(*out_new);
}

// Finds the part of a window's place that lies inside, along dimension d.
static void bounds(const window *it, int d, int64_t place, int64_t *first,
                   int64_t *end) {
  *first = place * it->stride[d] - it->padding[d];
  *end = *first + (it->size[d] - 1) * it->dilation[d] + 1;
  while (*first < 0) {
    *first += it->dilation[d];
  }
  *end = *end < it->in[d] ? *end : it->in[d];
}

typedef struct pooled {
  double value;
  int64_t place;  // place of the largest element, in its plane
  int64_t count;
} pooled;

static pooled pool_window(const window *it, const double *plane,
                          const int64_t at[3], bool is_largest) {
  int64_t first[3], end[3];
  for (int d = 0; d < 3; ++d) {
    bounds(it, d, at[d], &first[d], &end[d]);
  }
  pooled result = {.value = is_largest ? -INFINITY : 0, .place = -1};
  for (int64_t z = first[0]; z < end[0]; z += it->dilation[0]) {
    for (int64_t y = first[1]; y < end[1]; y += it->dilation[1]) {
      for (int64_t x = first[2]; x < end[2]; x += it->dilation[2]) {
        const int64_t place = (z * it->in[1] + y) * it->in[2] + x;
        const double value = plane[place];
        ++result.count;
        if (!is_largest) {
          result.value += value;
        } else if (result.place < 0 || value > result.value || isnan(value)) {
          result.value = value;
          result.place = place;
        }
      }
    }
  }
  return result;
}

static int64_t mean_divisor(const window *it, const int64_t at[3],
                            int64_t count) {
  if (it->divisor != 0 || !it->counts_padding) {
    return it->divisor != 0 ? it->divisor : count;
  }
  int64_t divisor = 1;
  for (int d = 0; d < 3; ++d) {
    const int64_t first = at[d] * it->stride[d] - it->padding[d];
    const int64_t end = first + it->size[d];
    const int64_t limit = it->in[d] + it->padding[d];
    divisor *= (end < limit ? end : limit) - first;
  }
  return divisor;
}

static mtl_status pool(const aoti_tensor *self, const window *it,
                       const aoti_tensor *out, const aoti_tensor *places) {
  double *values = host_reals(self, self->rank, self->sizes);
  AOTI_CHECK_NOT_NULL(values);
  const int64_t volume = it->in[0] * it->in[1] * it->in[2];
  const int64_t count = aoti_tensor_count(out);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t rest = i / it->out[2];
    const int64_t at[] = {rest / it->out[1] % it->out[0], rest % it->out[1],
                          i % it->out[2]};
    const int64_t plane = rest / it->out[1] / it->out[0];
    const pooled result =
        pool_window(it, values + plane * volume, at, places != NULL);
    if (places) {
      host_put_real(out, i, result.value);
      *(int64_t *)host_at(places, places->rank, places->sizes, i) =
          result.place;
    } else {
      host_put_real(out, i,
                    result.value / (double)mean_divisor(it, at, result.count));
    }
  }
  free(values);
  return MTL_OK;
}

static const int64_t ones[] = {1, 1, 1};
static const int64_t zeros[] = {0, 0, 0};

AOTITorchError aoti_torch_mps_max_pool3d_with_indices(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, const int64_t *dilation,
    int64_t dilation_length, int32_t ceil_mode, AtenTensorHandle *out_new,
    AtenTensorHandle *out_new_indices) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(out_new_indices);
  AOTI_TRY(host_check_tensor(self, __func__));
  window it = {.rounds_up = ceil_mode != 0};
  AOTI_TRY(set_three(it.size, kernel_size, kernel_size_length, ones));
  AOTI_TRY(set_three(it.stride, stride, stride_length, it.size));
  AOTI_TRY(set_three(it.padding, padding, padding_length, zeros));
  AOTI_TRY(set_three(it.dilation, dilation, dilation_length, ones));
  AOTI_TRY(measure(self, &it));
  AOTI_TRY(aoti_wait());
  AOTI_TRY(make_pooled(self, &it, self->dtype, out_new));
  AOTI_TRY(make_pooled(self, &it, AOTI_INT64, out_new_indices));
  return pool(self, &it, *out_new, *out_new_indices);
}

AOTITorchError aoti_torch_mps_avg_pool3d(
    AtenTensorHandle self, const int64_t *kernel_size,
    int64_t kernel_size_length, const int64_t *stride, int64_t stride_length,
    const int64_t *padding, int64_t padding_length, int32_t ceil_mode,
    int32_t count_include_pad, int64_t *divisor_override,
    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_TRY(host_check_tensor(self, __func__));
  window it = {.rounds_up = ceil_mode != 0,
               .counts_padding = count_include_pad != 0,
               .divisor = divisor_override ? *divisor_override : 0,
               .dilation = {1, 1, 1}};
  AOTI_TRY(set_three(it.size, kernel_size, kernel_size_length, ones));
  AOTI_TRY(set_three(it.stride, stride, stride_length, it.size));
  AOTI_TRY(set_three(it.padding, padding, padding_length, zeros));
  AOTI_TRY(measure(self, &it));
  AOTI_TRY(aoti_wait());
  AOTI_TRY(make_pooled(self, &it, self->dtype, out_new));
  return pool(self, &it, *out_new, NULL);
}

// --- Samples -----------------------------------------------------------------

enum { LINEAR = 0, NEAREST = 1 };            // GridSamplerInterpolation
enum { ZEROS = 0, BORDER = 1, MIRROR = 2 };  // GridSamplerPadding

typedef struct sampler {
  int64_t mode, padding;
  bool aligns_corners;
  int64_t in[3];
} sampler;

// Folds x back and forth between low and high.
static double mirror(double x, double low, double high) {
  const double span = high - low;
  if (span <= 0) {
    return 0;
  }
  const double away = fabs(x - low);
  const double rest = fmod(away, span);
  return fmod(floor(away / span), 2) == 0 ? low + rest : high - rest;
}

// Converts -1 to 1 to a position among size elements.
// Source  aten/src/ATen/native/GridSampler.h
static double place_of(const sampler *it, double x, int64_t size) {
  const double count = (double)size;
  x = it->aligns_corners ? (x + 1) / 2 * (count - 1)
                         : ((x + 1) * count - 1) / 2;
  if (it->padding == MIRROR) {
    x = it->aligns_corners ? mirror(x, 0, count - 1)
                           : mirror(x, -0.5, count - 0.5);
  }
  if (it->padding != ZEROS) {
    x = fmin(fmax(x, 0), count - 1);
  }
  // Coordinates far outside or NaN: no texel is there.
  return x > -1e9 && x < 1e9 ? x : -100;
}

static double sample(const sampler *it, const double *plane,
                     const double at[3]) {
  double sum = 0;
  const int corners = it->mode == LINEAR ? 8 : 1;
  for (int corner = 0; corner < corners; ++corner) {
    double weight = 1;
    int64_t place = 0;
    bool is_inside = true;
    for (int d = 0; d < 3; ++d) {
      const double first = it->mode == LINEAR ? floor(at[d]) : nearbyint(at[d]);
      const int is_second = corner >> d & 1;
      const int64_t x = (int64_t)first + is_second;
      if (it->mode == LINEAR) {
        weight *= is_second ? at[d] - first : first + 1 - at[d];
      }
      is_inside &= x >= 0 && x < it->in[d];
      place = place * it->in[d] + x;
    }
    sum += is_inside ? weight * plane[place] : 0;
  }
  return sum;
}

static mtl_status sample_volume(const sampler *it, const aoti_tensor *input,
                                const aoti_tensor *grid,
                                const aoti_tensor *out) {
  double *values = host_reals(input, 5, input->sizes);
  double *places = host_reals(grid, 5, grid->sizes);
  const int64_t volume = it->in[0] * it->in[1] * it->in[2];
  const int64_t *n = out->sizes;
  const int64_t points = n[2] * n[3] * n[4];
  for (int64_t i = 0; values && places && i < aoti_tensor_count(out); ++i) {
    const int64_t plane = i / points;
    const double *xyz = places + (plane / n[1] * points + i % points) * 3;
    double at[3];
    for (int d = 0; d < 3; ++d) {
      at[d] = place_of(it, xyz[2 - d], it->in[d]);
    }
    host_put_real(out, i, sample(it, values + plane * volume, at));
  }
  const bool has_memory = values && places;
  free(values);
  free(places);
  return has_memory ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "grid_sampler");
}

AOTITorchError aoti_torch_mps_grid_sampler_3d(
    AtenTensorHandle input, AtenTensorHandle grid, int64_t interpolation_mode,
    int64_t padding_mode, int32_t align_corners, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(input, __func__));
  AOTI_TRY(host_check_tensor(grid, __func__));
  if (input->rank != 5 || grid->rank != 5 || grid->sizes[4] != 3 ||
      grid->sizes[0] != input->sizes[0] || interpolation_mode < LINEAR ||
      interpolation_mode > NEAREST || padding_mode < ZEROS ||
      padding_mode > MIRROR) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "grid_sampler_3d: no volume and grid, mode %" PRId64,
                    interpolation_mode);
  }
  sampler it = {.mode = interpolation_mode,
                .padding = padding_mode,
                .aligns_corners = align_corners != 0};
  memcpy(it.in, input->sizes + 2, sizeof it.in);
  const int64_t sizes[] = {input->sizes[0], input->sizes[1], grid->sizes[1],
                           grid->sizes[2], grid->sizes[3]};
  AOTI_TRY(host_begin(input->dtype, 5, sizes, out_new));
  return sample_volume(&it, input, grid, *out_new);
}
