// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fourier.c: discrete Fourier transforms on the host, in double: by
// halves where the length is a power of two, by Bluestein's convolution where
// it is not.
#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/operators/host.h"

static const double tau = 6.283185307179586476925286766559;

// e^(2 pi i k / n), exact where a component is 0 or 1.
static double complex root_of_unity(int64_t k, int64_t n) {
  k %= n;
  k += k < 0 ? n : 0;
  if (4 * k % n == 0) {
    static const double complex quarters[] = {1, I, -1, -I};
    return quarters[4 * k / n];
  }
  const double angle = tau * (double)k / (double)n;
  return CMPLX(cos(angle), sin(angle));
}

// --- One row -----------------------------------------------------------------

// A transform of `length` elements, prepared.
typedef struct fourier {
  int64_t length;
  int64_t padded;         // a power of two: length, or room for Bluestein
  double complex *roots;  // [padded / 2] e^(-2 pi i k / padded)
  double complex *chirp;  // [length] e^(-i pi k^2 / length); NULL if not needed
  double complex *filter;  // [padded] transform of the chirp's conjugate
  double complex *work;    // [padded]
} fourier;

// In place; the length is a power of two.  // Cooley and Tukey, 1965
static void transform_by_halves(const fourier *it, double complex *row) {
  const int64_t n = it->padded;
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n / 2;
    for (; j & bit; bit /= 2) {
      j ^= bit;
    }
    j ^= bit;
    if (i < j) {
      const double complex kept = row[i];
      row[i] = row[j];
      row[j] = kept;
    }
  }
  for (int64_t half = 1; half < n; half *= 2) {
    for (int64_t start = 0; start < n; start += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        const double complex root = it->roots[k * (n / (2 * half))];
        const double complex a = row[start + k];
        const double complex b = row[start + k + half];
        // Written out: C's complex product tests for infinities.
        const double complex turned =
            CMPLX(creal(b) * creal(root) - cimag(b) * cimag(root),
                  creal(b) * cimag(root) + cimag(b) * creal(root));
        row[start + k] = a + turned;
        row[start + k + half] = a - turned;
      }
    }
  }
}

static void fourier_free(fourier *it) {
  free(it->roots);
  free(it->chirp);
  free(it->filter);
  free(it->work);
}

static mtl_status fourier_prepare(int64_t length, fourier *it) {
  const bool is_whole = (length & (length - 1)) == 0;
  *it = (fourier){.length = length, .padded = 1};
  while (it->padded < (is_whole ? length : 2 * length)) {
    it->padded *= 2;
  }
  const size_t size = sizeof(double complex);
  it->roots = malloc(((size_t)it->padded / 2 + 1) * size);
  it->work = malloc((size_t)it->padded * size);
  it->chirp = is_whole ? NULL : malloc((size_t)length * size);
  it->filter = is_whole ? NULL : calloc((size_t)it->padded, size);
  if (!it->roots || !it->work || (!is_whole && !(it->chirp && it->filter))) {
    fourier_free(it);
    return mtl_fail(MTL_OUT_OF_MEMORY, "a Fourier transform of %" PRId64,
                    length);
  }
  for (int64_t k = 0; k < it->padded / 2; ++k) {
    it->roots[k] = conj(root_of_unity(k, it->padded));
  }
  // k^2 modulo 2n keeps the angle small, and exact.
  for (int64_t k = 0; !is_whole && k < length; ++k) {
    it->chirp[k] = conj(root_of_unity(k * k % (2 * length), 2 * length));
    it->filter[k] = conj(it->chirp[k]);
    it->filter[(it->padded - k) % it->padded] = it->filter[k];
  }
  if (!is_whole) {
    transform_by_halves(it, it->filter);
  }
  return MTL_OK;
}

// Transforms it->length elements in place, forward.
static void fourier_run(const fourier *it, double complex *row) {
  if (!it->chirp) {
    transform_by_halves(it, row);
    return;
  }
  // Bluestein, 1970: jk = (j^2 + k^2 - (k - j)^2) / 2 makes a convolution of
  // it.
  for (int64_t k = 0; k < it->padded; ++k) {
    it->work[k] = k < it->length ? row[k] * it->chirp[k] : 0;
  }
  transform_by_halves(it, it->work);
  for (int64_t k = 0; k < it->padded; ++k) {
    it->work[k] = conj(it->work[k] * it->filter[k]);
  }
  transform_by_halves(it, it->work);  // of conjugates: the inverse
  for (int64_t k = 0; k < it->length; ++k) {
    row[k] = conj(it->work[k]) / (double)it->padded * it->chirp[k];
  }
}

// --- An array ----------------------------------------------------------------

// Transforms along one dimension of a dense array with that many elements
// before and behind it. The inverse is the transform of the conjugate,
// conjugated.
static mtl_status transform_dimension(double complex *data, int64_t before,
                                      int64_t length, int64_t behind,
                                      bool is_forward) {
  fourier it;
  AOTI_TRY(fourier_prepare(length, &it));
  double complex *row = malloc((size_t)length * sizeof *row);
  for (int64_t i = 0; row && i < before * behind; ++i) {
    double complex *first = data + i / behind * behind * length + i % behind;
    for (int64_t k = 0; k < length; ++k) {
      row[k] = is_forward ? first[k * behind] : conj(first[k * behind]);
    }
    fourier_run(&it, row);
    for (int64_t k = 0; k < length; ++k) {
      first[k * behind] = is_forward ? row[k] : conj(row[k]);
    }
  }
  fourier_free(&it);
  const bool has_memory = row != NULL;
  free(row);
  return has_memory ? MTL_OK
                    : mtl_fail(MTL_OUT_OF_MEMORY, "a row of %" PRId64, length);
}

enum { UNSCALED = 0, BY_ROOT = 1, BY_COUNT = 2 };  // at::native::fft_norm_mode

typedef struct request {
  const aoti_tensor *self;
  int64_t dims[MTL_TENSOR_MAX_RANK];
  int64_t dim_count;
  int64_t normalization;
  bool is_forward;
  bool is_onesided;
} request;

static mtl_status check_request(request *it, const int64_t *dims,
                                int64_t count) {
  if (!it->self || !it->self->storage || (count && !dims)) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "a Fourier transform of nothing");
  }
  if (it->self->rank > MTL_TENSOR_MAX_RANK || count > it->self->rank ||
      it->normalization < UNSCALED || it->normalization > BY_COUNT) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "a Fourier transform along %" PRId64 " of %" PRId64
                    " dimensions",
                    count, it->self->rank);
  }
  it->dim_count = count;
  for (int64_t i = 0; i < count; ++i) {
    it->dims[i] = dims[i];
    AOTI_TRY(host_dimension(it->self, &it->dims[i]));
    if (it->self->sizes[it->dims[i]] < 1) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "a Fourier transform along an empty dimension");
    }
  }
  return MTL_OK;
}

// Transforms a dense array, in the order of self's dimensions.
static mtl_status transform(const request *it, double complex *data) {
  const aoti_tensor *self = it->self;
  double scale = 1;
  for (int64_t i = it->dim_count; i-- > 0;) {
    int64_t before = 1, behind = 1;
    for (int64_t d = 0; d < self->rank; ++d) {
      before *= d < it->dims[i] ? self->sizes[d] : 1;
      behind *= d > it->dims[i] ? self->sizes[d] : 1;
    }
    const int64_t length = self->sizes[it->dims[i]];
    AOTI_TRY(transform_dimension(data, before, length, behind, it->is_forward));
    scale *= (double)length;
  }
  scale = it->normalization == UNSCALED  ? 1
          : it->normalization == BY_ROOT ? 1 / sqrt(scale)
                                         : 1 / scale;
  const int64_t count = aoti_tensor_count(self);
  for (int64_t i = 0; i < count; ++i) {
    data[i] *= scale;
  }
  return MTL_OK;
}

// --- Results -----------------------------------------------------------------

// Models count on the layout of the torch that compiled them: on x86-64, with
// MKL, what is not transformed comes first in memory, by falling stride of
// self, then what is, likewise, but a real transform's last dimension, which
// stays the last. Elsewhere it is contiguous. Source
// torch/_meta_registrations.py, meta_fft_c2c, meta_fft_r2c, _exec_fft
static void choose_strides(const request *it, const int64_t *sizes,
                           bool keeps_last, int64_t *strides) {
  const aoti_tensor *self = it->self;
  int64_t order[MTL_TENSOR_MAX_RANK];
  int64_t count = 0;
  bool is_transformed[MTL_TENSOR_MAX_RANK] = {false};
  for (int64_t i = 0; i < it->dim_count; ++i) {
    is_transformed[it->dims[i]] = true;
  }
  for (int64_t d = 0; d < self->rank; ++d) {
    if (!is_transformed[d]) {
      order[count++] = d;
    }
  }
  const int64_t batch = count;
  for (int64_t i = 0; i < it->dim_count; ++i) {
    order[count++] = it->dims[i];
  }
#ifdef __x86_64__
  // Insertion sort, which is stable, within each part.
  const int64_t end = count - keeps_last;
  for (int64_t i = 1; i < end; ++i) {
    const int64_t moved = order[i];
    const int64_t first = i < batch ? 0 : batch;
    int64_t at = i;
    for (; at > first && self->strides[order[at - 1]] < self->strides[moved];
         --at) {
      order[at] = order[at - 1];
    }
    order[at] = moved;
  }
#else
  (void)batch;
  (void)keeps_last;
  for (int64_t d = 0; d < count; ++d) {
    order[d] = d;
  }
#endif
  int64_t stride = 1;
  for (int64_t i = count; i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
  }
}

static void write_result(const request *it, const double complex *data,
                         const aoti_tensor *out) {
  const int64_t count = aoti_tensor_count(out);
  const aoti_tensor *self = it->self;
  for (int64_t i = 0; i < count; ++i) {
    // i runs over out's sizes, which may be half of self's.
    int64_t at = 0, behind = 1;
    for (int64_t d = out->rank, rest = i; d-- > 0; rest /= out->sizes[d]) {
      at += rest % out->sizes[d] * behind;
      behind *= self->sizes[d];
    }
    const element value = {.kind = REAL,
                           .real = {creal(data[at]), cimag(data[at])}};
    aoti_element_write(out->dtype, host_at(out, out->rank, out->sizes, i),
                       value);
  }
}

static mtl_status run(const request *it, int32_t dtype,
                      AtenTensorHandle *out_new) {
  const aoti_tensor *self = it->self;
  int64_t sizes[MTL_TENSOR_MAX_RANK], strides[MTL_TENSOR_MAX_RANK];
  memcpy(sizes, self->sizes, (size_t)self->rank * sizeof *sizes);
  const bool is_real = !aoti_is_complex(self->dtype);
  if (it->is_onesided) {
    int64_t *last = &sizes[it->dims[it->dim_count - 1]];
    *last = *last / 2 + 1;
  }
  choose_strides(it, sizes, is_real, strides);
  AOTI_TRY(aoti_wait());
  const int64_t count = aoti_tensor_count(self);
  double complex *data = malloc((size_t)(count ? count : 1) * sizeof *data);
  AOTI_CHECK_NOT_NULL(data);
  for (int64_t i = 0; i < count; ++i) {
    const element value = aoti_element_read(
        self->dtype, host_at(self, self->rank, self->sizes, i));
    data[i] = CMPLX(aoti_element_real(value), is_real ? 0 : value.real[1]);
  }
  mtl_status status = count ? transform(it, data) : MTL_OK;
  if (status == MTL_OK) {
    status =
        aoti_tensor_empty(AOTI_MPS, dtype, self->rank, sizes, strides, out_new);
  }
  if (status == MTL_OK) {
    status = aoti_tensor_before_write(*out_new);
  }
  if (status == MTL_OK) {
    write_result(it, data, *out_new);
  }
  free(data);
  return status;
}

AOTITorchError aoti_torch_mps__fft_r2c(AtenTensorHandle self,
                                       const int64_t *dim, int64_t dim_length,
                                       int64_t normalization, int32_t onesided,
                                       AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  request it = {.self = self,
                .normalization = normalization,
                .is_forward = true,
                .is_onesided = onesided != 0 && dim_length > 0};
  AOTI_TRY(check_request(&it, dim, dim_length));
  const int32_t dtype = self->dtype == AOTI_FLOAT64   ? AOTI_COMPLEX128
                        : self->dtype == AOTI_FLOAT32 ? AOTI_COMPLEX64
                                                      : AOTI_COMPLEX32;
  if (!aoti_is_floating(self->dtype) || self->dtype == AOTI_BFLOAT16) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "fft_r2c of element type %d",
                    self->dtype);
  }
  return run(&it, dtype, out_new);
}

AOTITorchError aoti_torch_mps__fft_c2c(AtenTensorHandle self,
                                       const int64_t *dim, int64_t dim_length,
                                       int64_t normalization, int32_t forward,
                                       AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  request it = {
      .self = self, .normalization = normalization, .is_forward = forward != 0};
  AOTI_TRY(check_request(&it, dim, dim_length));
  if (!aoti_is_complex(self->dtype)) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "fft_c2c of element type %d",
                    self->dtype);
  }
  return run(&it, self->dtype, out_new);
}
