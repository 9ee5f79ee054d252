// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// statistics.c: on the host: distances, histograms, medians, a norm,
// a window.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/operators/host.h"

// --- Distances ---------------------------------------------------------------

static double distance(const double *a, const double *b, int64_t count,
                       double p) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double apart = fabs(a[i] - b[i]);
    if (isinf(p)) {
      sum = isnan(apart) || apart > sum ? apart : sum;
    } else {
      sum += p == 0   ? apart != 0
             : p == 1 ? apart
             : p == 2 ? apart * apart
                      : pow(apart, p);
    }
  }
  return isinf(p) || p == 0 || p == 1 ? sum
         : p == 2                     ? sqrt(sum)
                                      : pow(sum, 1 / p);
}

typedef struct pairs {
  const aoti_tensor *a, *b, *out;  // [..., P, M], [..., R, M], [..., P, R]
  double p;
} pairs;

static mtl_status measure_pairs(const pairs *it) {
  const int64_t rank = it->out->rank;
  const int64_t rows = it->out->sizes[rank - 2];
  const int64_t columns = it->out->sizes[rank - 1];
  const int64_t depth = it->a->sizes[it->a->rank - 1];
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  memcpy(sizes, it->out->sizes, (size_t)rank * sizeof *sizes);
  sizes[rank - 1] = depth;
  double *a = host_reals(it->a, rank, sizes);
  sizes[rank - 2] = columns;
  double *b = host_reals(it->b, rank, sizes);
  const int64_t count = aoti_tensor_count(it->out);
  for (int64_t i = 0; a && b && i < count; ++i) {
    const int64_t batch = i / (rows * columns);
    const double *of_b = b + (batch * columns + i % columns) * depth;
    host_put_real(it->out, i,
                  distance(a + i / columns * depth, of_b, depth, it->p));
  }
  const bool has_memory = a && b;
  free(a);
  free(b);
  return has_memory ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "cdist");
}

AOTITorchError aoti_torch_mps__cdist_forward(AtenTensorHandle x1,
                                             AtenTensorHandle x2, double p,
                                             int64_t *compute_mode,
                                             AtenTensorHandle *out_new) {
  (void)compute_mode;  // it changes how, not what, is computed
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(x1, __func__));
  AOTI_TRY(host_check_tensor(x2, __func__));
  const int64_t rank = x1->rank > x2->rank ? x1->rank : x2->rank;
  bool fits = x1->rank >= 2 && x2->rank >= 2 && !(p < 0) &&
              x1->sizes[x1->rank - 1] == x2->sizes[x2->rank - 1];
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  for (int64_t d = 0; fits && d < rank - 2; ++d) {
    const int64_t in_a = d - (rank - x1->rank), in_b = d - (rank - x2->rank);
    const int64_t of_a = in_a < 0 ? 1 : x1->sizes[in_a];
    const int64_t of_b = in_b < 0 ? 1 : x2->sizes[in_b];
    fits = of_a == of_b || of_a == 1 || of_b == 1;
    sizes[d] = of_a == 1 ? of_b : of_a;
  }
  if (!fits) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "cdist: rows that do not fit, p %g",
                    p);
  }
  sizes[rank - 2] = x1->sizes[x1->rank - 2];
  sizes[rank - 1] = x2->sizes[x2->rank - 2];
  AOTI_TRY(host_begin(x1->dtype, rank, sizes, out_new));
  return measure_pairs(&(pairs){x1, x2, *out_new, p});
}

// --- Histograms --------------------------------------------------------------

// Both bounds 0, or equal: the data's.
static void find_bounds(const double *values, int64_t count, double *low,
                        double *high) {
  if (*low == *high && count > 0) {
    *low = *high = values[0];
    for (int64_t i = 1; i < count; ++i) {
      *low = fmin(*low, values[i]);
      *high = fmax(*high, values[i]);
    }
  }
  if (*low == *high) {
    *low -= 1;
    *high += 1;
  }
}

AOTITorchError aoti_torch_mps_histc(AtenTensorHandle self, int64_t bins,
                                    double min, double max,
                                    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, __func__));
  if (bins < 1 || !(min <= max) || isinf(min) || isinf(max)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "histc: %" PRId64 " bins from %g to %g", bins, min, max);
  }
  AOTI_TRY(host_begin(self->dtype, 1, &bins, out_new));
  const int64_t count = aoti_tensor_count(self);
  double *values = host_reals(self, self->rank, self->sizes);
  int64_t *counts = calloc((size_t)bins, sizeof *counts);
  if (values && counts) {
    find_bounds(values, count, &min, &max);
  }
  for (int64_t i = 0; values && counts && i < count; ++i) {
    if (values[i] >= min && values[i] <= max) {
      const double place = (values[i] - min) / (max - min) * (double)bins;
      counts[place < (double)bins ? (int64_t)place : bins - 1] += 1;
    }
  }
  for (int64_t i = 0; counts && i < bins; ++i) {
    host_put_real(*out_new, i, (double)counts[i]);
  }
  const bool has_memory = values && counts;
  free(values);
  free(counts);
  return has_memory ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "histc");
}

// --- Medians -----------------------------------------------------------------

static int compare_reals(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

// The lower one of two; of none, or with one that is no number, no number.
static mtl_status find_median(AtenTensorHandle self, bool skips_nan,
                              AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  AOTI_TRY(host_check_tensor(self, "median"));
  AOTI_TRY(host_begin(self->dtype, 0, NULL, out_new));
  double *values = host_reals(self, self->rank, self->sizes);
  AOTI_CHECK_NOT_NULL(values);
  const int64_t count = aoti_tensor_count(self);
  int64_t numbers = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!isnan(values[i])) {
      values[numbers++] = values[i];
    }
  }
  qsort(values, (size_t)numbers, sizeof *values, compare_reals);
  const bool is_number = numbers > 0 && (skips_nan || numbers == count);
  host_put_real(*out_new, 0, is_number ? values[(numbers - 1) / 2] : NAN);
  free(values);
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_median(AtenTensorHandle self,
                                     AtenTensorHandle *out_new) {
  return find_median(self, false, out_new);
}

AOTITorchError aoti_torch_mps_nanmedian(AtenTensorHandle self,
                                        AtenTensorHandle *out_new) {
  return find_median(self, true, out_new);
}

// --- A norm, a window --------------------------------------------------------

// x / sqrt(mean(x^2) + eps) * weight over the last dimensions, and the factor.
AOTITorchError aoti_torch_mps__fused_rms_norm(
    AtenTensorHandle input, const int64_t *normalized_shape,
    int64_t normalized_shape_length, AtenTensorHandle *weight, double *eps,
    AtenTensorHandle *out_new, AtenTensorHandle *out_new_factors) {
  AOTI_CHECK_NOT_NULL(out_new);
  AOTI_CHECK_NOT_NULL(out_new_factors);
  AOTI_TRY(host_check_tensor(input, __func__));
  const int64_t kept = input->rank - normalized_shape_length;
  int64_t length = 1;
  bool fits = kept >= 0 && normalized_shape_length >= 0;
  for (int64_t i = 0; fits && i < normalized_shape_length; ++i) {
    fits = normalized_shape[i] == input->sizes[kept + i];
    length *= normalized_shape[i];
  }
  if (!fits) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "rms_norm: the shape does not fit");
  }
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  for (int64_t d = 0; d < input->rank; ++d) {
    sizes[d] = d < kept ? input->sizes[d] : 1;
  }
  AOTI_TRY(host_begin(input->dtype, input->rank, input->sizes, out_new));
  AOTI_TRY(host_begin(AOTI_FLOAT32, input->rank, sizes, out_new_factors));
  double *x = host_reals(input, input->rank, input->sizes);
  double *w = weight && *weight ? host_reals(*weight, normalized_shape_length,
                                             normalized_shape)
                                : NULL;
  const int64_t rows = aoti_tensor_count(*out_new_factors);
  // Source  torch.nn.RMSNorm: eps is the type's epsilon where none is given
  const double epsilon = eps ? *eps : 0x1p-23;
  for (int64_t r = 0; x && r < rows; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) {
      sum += x[r * length + i] * x[r * length + i];
    }
    const double factor = 1 / sqrt(sum / (double)length + epsilon);
    host_put_real(*out_new_factors, r, factor);
    for (int64_t i = 0; i < length; ++i) {
      host_put_real(*out_new, r * length + i,
                    x[r * length + i] * factor * (w ? w[i] : 1));
    }
  }
  const bool has_memory = x && (w || !weight || !*weight);
  free(x);
  free(w);
  return has_memory ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "rms_norm");
}

// sin^2(pi i / n), of period n.
AOTITorchError aoti_torch_mps_hann_window(int64_t window_length, int32_t *dtype,
                                          int32_t *layout, int32_t *device,
                                          int32_t device_index,
                                          int32_t *pin_memory,
                                          AtenTensorHandle *out_new) {
  (void)layout;
  (void)device;
  (void)device_index;
  (void)pin_memory;
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  if (window_length < 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "hann_window of %" PRId64,
                    window_length);
  }
  AOTI_TRY(
      host_begin(dtype ? *dtype : AOTI_FLOAT32, 1, &window_length, out_new));
  for (int64_t i = 0; i < window_length; ++i) {
    const double sine =
        sin(3.141592653589793238462643383 * (double)i / (double)window_length);
    host_put_real(*out_new, i, window_length == 1 ? 1 : sine * sine);
  }
  return MTL_OK;
}
