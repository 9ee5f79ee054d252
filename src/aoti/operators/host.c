// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.c: elementwise operators on the host: powers, and those of complex
// numbers. Computes in double, or in 64-bit integers if all operands are
// integers.
#include "aoti/operators/host.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

mtl_status host_begin(int32_t dtype, int64_t rank, const int64_t *sizes,
                      AtenTensorHandle *out_new) {
  AOTI_TRY(aoti_wait());
  AOTI_TRY(aoti_tensor_empty(AOTI_MPS, dtype, rank, sizes, NULL, out_new));
  return aoti_tensor_before_write(*out_new);
}

mtl_status host_finish(mtl_status status, AtenTensorHandle *out_new) {
  if (status != MTL_OK) {
    aoti_torch_delete_tensor_object(*out_new);
    *out_new = NULL;
  }
  return status;
}

// --- Layouts -----------------------------------------------------------------

// Returns an operand's stride along d of `rank` dimensions; 0 where it is
// repeated.
static int64_t stride_at(const aoti_tensor *tensor, int64_t rank, int64_t d) {
  const int64_t own = d - (rank - tensor->rank);
  return own >= 0 && tensor->sizes[own] != 1 ? tensor->strides[own] : 0;
}

// Compares the order of dimensions a and b in memory; the first operand that
// has both decides. Positive if b is outside, 0 if none decides.
static int is_outer(const aoti_tensor *const operands[2], int64_t rank,
                    const int64_t *sizes, int64_t a, int64_t b) {
  for (int i = 0; i < 2 && operands[i]; ++i) {
    const int64_t of_a = stride_at(operands[i], rank, a);
    const int64_t of_b = stride_at(operands[i], rank, b);
    if (of_a != 0 && of_b != 0 && (of_a != of_b || sizes[a] > sizes[b])) {
      return of_a >= of_b ? 1 : -1;
    }
  }
  return 0;
}

static void element_strides(const aoti_tensor *const operands[2], int64_t rank,
                            const int64_t *sizes, int64_t *strides) {
  int64_t order[MTL_TENSOR_MAX_RANK];  // innermost first
  for (int64_t i = 0; i < rank; ++i) {
    order[i] = rank - 1 - i;
  }
  for (int64_t i = 1; i < rank; ++i) {
    int64_t moved = i;
    for (int64_t j = i; j-- > 0;) {
      const int outer = is_outer(operands, rank, sizes, order[j], order[moved]);
      if (outer < 0) {
        break;
      }
      if (outer > 0) {
        const int64_t kept = order[j];
        order[j] = order[moved];
        order[moved] = kept;
        moved = j;
      }
    }
  }
  int64_t stride = 1;
  for (int64_t i = 0; i < rank; ++i) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]] > 1 ? sizes[order[i]] : 1;
  }
}

mtl_status host_make_elements(const aoti_tensor *a, const aoti_tensor *b,
                              int32_t dtype, int64_t rank, const int64_t *sizes,
                              AtenTensorHandle *out_new) {
  if (rank > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_UNSUPPORTED, "%" PRId64 " dimensions", rank);
  }
  int64_t strides[MTL_TENSOR_MAX_RANK];
  element_strides((const aoti_tensor *[]){a, b}, rank, sizes, strides);
  return aoti_tensor_empty(AOTI_MPS, dtype, rank, sizes, strides, out_new);
}

// The same for elements that the host writes after all earlier work.
static mtl_status begin_elements(const aoti_tensor *a, const aoti_tensor *b,
                                 int32_t dtype, int64_t rank,
                                 const int64_t *sizes,
                                 AtenTensorHandle *out_new) {
  AOTI_TRY(aoti_wait());
  AOTI_TRY(host_make_elements(a, b, dtype, rank, sizes, out_new));
  return aoti_tensor_before_write(*out_new);
}

// --- Elements ----------------------------------------------------------------

char *host_at(const aoti_tensor *tensor, int64_t rank, const int64_t *sizes,
              int64_t i) {
  int64_t offset = 0;
  for (int64_t d = rank; d-- > 0; i /= sizes[d]) {
    const int64_t own = d - (rank - tensor->rank);
    if (own >= 0 && tensor->sizes[own] != 1) {
      offset += i % sizes[d] * tensor->strides[own];
    }
  }
  return aoti_tensor_data(tensor) +
         offset * (int64_t)aoti_element_size(tensor->dtype);
}

double *host_reals(const aoti_tensor *tensor, int64_t rank,
                   const int64_t *sizes) {
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    count *= sizes[d];
  }
  double *reals = malloc((size_t)(count ? count : 1) * sizeof *reals);
  for (int64_t i = 0; reals && i < count; ++i) {
    reals[i] = aoti_element_real(
        aoti_element_read(tensor->dtype, host_at(tensor, rank, sizes, i)));
  }
  return reals;
}

void host_put_real(const aoti_tensor *tensor, int64_t i, double value) {
  aoti_element_write(tensor->dtype,
                     host_at(tensor, tensor->rank, tensor->sizes, i),
                     (element){.kind = REAL, .real = {value, 0}});
}

bool host_is_true(const aoti_tensor *tensor, int64_t i) {
  const element value = aoti_element_read(
      tensor->dtype, host_at(tensor, tensor->rank, tensor->sizes, i));
  return value.kind == REAL ? value.real[0] != 0 || value.real[1] != 0
                            : value.natural != 0;
}

mtl_status host_check_tensor(const aoti_tensor *tensor, const char *call) {
  return tensor && tensor->storage && tensor->rank <= MTL_TENSOR_MAX_RANK
             ? MTL_OK
             : mtl_fail(MTL_INVALID_ARGUMENT, "%s: an operand is no tensor",
                        call);
}

host_row host_row_at(const aoti_tensor *tensor, int64_t dimension,
                     int64_t row) {
  int64_t offset = 0;
  for (int64_t d = tensor->rank; d-- > 0;) {
    if (d != dimension) {
      offset += row % tensor->sizes[d] * tensor->strides[d];
      row /= tensor->sizes[d];
    }
  }
  const int64_t size = (int64_t)aoti_element_size(tensor->dtype);
  return (host_row){
      .start = aoti_tensor_data(tensor) + offset * size,
      .step_bytes = tensor->rank ? tensor->strides[dimension] * size : 0};
}

bool aoti_is_complex(int32_t dtype) {
  return dtype >= AOTI_COMPLEX32 && dtype <= AOTI_COMPLEX128;
}

bool aoti_is_floating(int32_t dtype) {
  return (dtype >= AOTI_FLOAT16 && dtype <= AOTI_FLOAT64) ||
         dtype == AOTI_BFLOAT16;
}

mtl_status host_dimension(const aoti_tensor *self, int64_t *dim) {
  const int64_t rank = self->rank ? self->rank : 1;
  if (*dim < -rank || *dim >= rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "dimension %" PRId64 " of %" PRId64,
                    *dim, self->rank);
  }
  *dim += *dim < 0 ? rank : 0;
  return MTL_OK;
}

// --- Types -------------------------------------------------------------------

static int category(int32_t dtype) {
  return aoti_is_complex(dtype)    ? 3
         : aoti_is_floating(dtype) ? 2
         : dtype != AOTI_BOOL      ? 1
                                   : 0;
}

// Source: torch.result_type: the higher category, scalars count less.
static int32_t common_type(const aoti_tensor *a, const aoti_tensor *b) {
  const int of_a = category(a->dtype), of_b = category(b->dtype);
  if (of_a != of_b) {
    return of_a > of_b ? a->dtype : b->dtype;
  }
  if ((a->rank == 0) != (b->rank == 0)) {
    return a->rank == 0 ? b->dtype : a->dtype;
  }
  const size_t size_a = aoti_element_size(a->dtype);
  const size_t size_b = aoti_element_size(b->dtype);
  const bool is_mixed = a->dtype != b->dtype && size_a == size_b && of_a == 2;
  return is_mixed ? AOTI_FLOAT32 : size_a >= size_b ? a->dtype : b->dtype;
}

static mtl_status common_shape(const aoti_tensor *a, const aoti_tensor *b,
                               int64_t sizes[MTL_TENSOR_MAX_RANK],
                               int64_t *out_rank) {
  const int64_t rank = a->rank > b->rank ? a->rank : b->rank;
  if (rank > MTL_TENSOR_MAX_RANK) {
    return mtl_fail(MTL_UNSUPPORTED, "%" PRId64 " dimensions", rank);
  }
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t in_a = d - (rank - a->rank), in_b = d - (rank - b->rank);
    const int64_t of_a = in_a < 0 ? 1 : a->sizes[in_a];
    const int64_t of_b = in_b < 0 ? 1 : b->sizes[in_b];
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "sizes %" PRId64 " and %" PRId64 " of dimension %" PRId64
                      " do not fit",
                      of_a, of_b, d);
    }
    sizes[d] = of_a == 1 ? of_b : of_a;
  }
  *out_rank = rank;
  return MTL_OK;
}

// --- Two operands ------------------------------------------------------------

static double complex complex_of(element value) {
  return CMPLX(aoti_element_real(value),
               value.kind == REAL ? value.real[1] : 0);
}

static element element_of(double complex value) {
  return (element){.kind = REAL, .real = {creal(value), cimag(value)}};
}

static element whole(int64_t value) {
  return (element){.kind = SIGNED, .number = value};
}

static bool is_real(element value) {
  return value.kind == REAL;
}

// `extra` is the call's own number.
typedef element binary_function(element a, element b, double extra);

static element add(element a, element b, double alpha) {
  if (!is_real(a) && !is_real(b)) {
    return whole((int64_t)((uint64_t)a.number +
                           (uint64_t)(int64_t)alpha * (uint64_t)b.number));
  }
  return element_of(complex_of(a) + alpha * complex_of(b));
}

static element multiply(element a, element b, double unused) {
  (void)unused;
  if (!is_real(a) && !is_real(b)) {
    return whole((int64_t)((uint64_t)a.number * (uint64_t)b.number));
  }
  return element_of(complex_of(a) * complex_of(b));
}

static element raise(element a, element b, double is_in_complex) {
  if (!is_real(a) && !is_real(b)) {
    uint64_t base = (uint64_t)a.number, product = 1;
    for (uint64_t left = (uint64_t)b.number; b.number > 0 && left; left /= 2) {
      product *= left & 1 ? base : 1;
      base *= base;
    }
    const bool is_odd = (b.number & 1) != 0;
    return b.number >= 0    ? whole((int64_t)product)
           : a.number == 1  ? whole(1)
           : a.number == -1 ? whole(is_odd ? -1 : 1)
                            : whole(0);
  }
  const double complex x = complex_of(a), y = complex_of(b);
  return element_of(is_in_complex != 0 ? cpow(x, y)
                                       : CMPLX(pow(creal(x), creal(y)), 0));
}

static element divide_commonly(element a, element b, double unused) {
  (void)unused;
  int64_t x = a.number < 0 ? -a.number : a.number;
  int64_t y = b.number < 0 ? -b.number : b.number;
  while (y != 0) {
    const int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return whole(x);
}

static element turn(element size, element angle, double unused) {
  (void)unused;
  const double r = aoti_element_real(size), phi = aoti_element_real(angle);
  return element_of(CMPLX(r * cos(phi), r * sin(phi)));
}

// Uses the operands' common type if dtype is below 0.
static mtl_status combine(const aoti_tensor *a, const aoti_tensor *b,
                          int32_t dtype, binary_function *function,
                          double extra, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(a);
  AOTI_CHECK_NOT_NULL(a->storage);
  AOTI_CHECK_NOT_NULL(b);
  AOTI_CHECK_NOT_NULL(b->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  int64_t rank = 0;
  AOTI_TRY(common_shape(a, b, sizes, &rank));
  AOTI_TRY(begin_elements(a, b, dtype < 0 ? common_type(a, b) : dtype, rank,
                          sizes, out_new));
  const aoti_tensor *out = *out_new;
  const int64_t count = aoti_tensor_count(out);
  for (int64_t i = 0; i < count; ++i) {
    const element x = aoti_element_read(a->dtype, host_at(a, rank, sizes, i));
    const element y = aoti_element_read(b->dtype, host_at(b, rank, sizes, i));
    aoti_element_write(out->dtype, host_at(out, rank, sizes, i),
                       function(x, y, extra));
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_add_Tensor(AtenTensorHandle self,
                                         AtenTensorHandle other, double alpha,
                                         AtenTensorHandle *out_new) {
  return combine(self, other, -1, add, alpha, out_new);
}

AOTITorchError aoti_torch_mps_mul_Tensor(AtenTensorHandle self,
                                         AtenTensorHandle other,
                                         AtenTensorHandle *out_new) {
  return combine(self, other, -1, multiply, 0, out_new);
}

AOTITorchError aoti_torch_mps_pow_Tensor_Tensor(AtenTensorHandle self,
                                                AtenTensorHandle exponent,
                                                AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(exponent);
  return combine(
      self, exponent, -1, raise,
      aoti_is_complex(self->dtype) || aoti_is_complex(exponent->dtype),
      out_new);
}

AOTITorchError aoti_torch_mps_gcd(AtenTensorHandle self, AtenTensorHandle other,
                                  AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(other);
  if (category(self->dtype) > 1 || category(other->dtype) > 1) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "gcd of element types %d and %d",
                    self->dtype, other->dtype);
  }
  return combine(self, other, -1, divide_commonly, 0, out_new);
}

AOTITorchError aoti_torch_mps_polar(AtenTensorHandle size,
                                    AtenTensorHandle angle,
                                    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(size);
  const int32_t dtype =
      size->dtype == AOTI_FLOAT64 ? AOTI_COMPLEX128 : AOTI_COMPLEX64;
  return combine(size, angle, dtype, turn, 0, out_new);
}

// --- One operand -------------------------------------------------------------

static mtl_status with_scalar(const aoti_tensor *self, double scalar,
                              bool scalar_is_first, binary_function *function,
                              double extra, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  // Integers stay integers if the other operand is an integer.
  const bool is_whole = category(self->dtype) < 2 && scalar == rint(scalar);
  AtenTensorHandle number = NULL;
  AOTI_TRY(is_whole
               ? aoti_torch_scalar_to_tensor_int64((int64_t)scalar, &number)
               : aoti_torch_scalar_to_tensor_float32((float)scalar, &number));
  const mtl_status status =
      scalar_is_first ? combine(number, self, -1, function, extra, out_new)
                      : combine(self, number, -1, function, extra, out_new);
  aoti_torch_delete_tensor_object(number);
  return status;
}

AOTITorchError aoti_torch_mps_add_Scalar(AtenTensorHandle self, double other,
                                         double alpha,
                                         AtenTensorHandle *out_new) {
  return with_scalar(self, other * alpha, false, add, 1, out_new);
}

AOTITorchError aoti_torch_mps_mul_Scalar(AtenTensorHandle self, double other,
                                         AtenTensorHandle *out_new) {
  return with_scalar(self, other, false, multiply, 0, out_new);
}

AOTITorchError aoti_torch_mps_pow_Tensor_Scalar(AtenTensorHandle self,
                                                double exponent,
                                                AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  return with_scalar(self, exponent, false, raise, aoti_is_complex(self->dtype),
                     out_new);
}

AOTITorchError aoti_torch_mps_pow_Scalar(double self, AtenTensorHandle exponent,
                                         AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(exponent);
  return with_scalar(exponent, self, true, raise,
                     aoti_is_complex(exponent->dtype), out_new);
}

// Returns the type of a complex number's parts.
static int32_t part_type(int32_t dtype) {
  return dtype == AOTI_COMPLEX32    ? AOTI_FLOAT16
         : dtype == AOTI_COMPLEX64  ? AOTI_FLOAT32
         : dtype == AOTI_COMPLEX128 ? AOTI_FLOAT64
                                    : dtype;
}

static mtl_status measure(const aoti_tensor *self, int32_t dtype,
                          bool wants_angle, AtenTensorHandle *out_new) {
  AOTI_TRY(begin_elements(self, NULL, dtype, self->rank, self->sizes, out_new));
  const int64_t count = aoti_tensor_count(self);
  for (int64_t i = 0; i < count; ++i) {
    const element x = aoti_element_read(
        self->dtype, host_at(self, self->rank, self->sizes, i));
    char *to = host_at(*out_new, self->rank, self->sizes, i);
    const double complex z = complex_of(x);
    const bool is_whole = !is_real(x) && !wants_angle;
    aoti_element_write(
        dtype, to,
        is_whole
            ? whole(x.number < 0 && x.kind == SIGNED ? -x.number : x.number)
            : element_of(wants_angle ? carg(z) : cabs(z)));
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_abs(AtenTensorHandle self,
                                  AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(self->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  return measure(self, part_type(self->dtype), false, out_new);
}

AOTITorchError aoti_torch_mps_angle(AtenTensorHandle self,
                                    AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(self->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  const int32_t dtype =
      category(self->dtype) < 2 ? AOTI_FLOAT32 : part_type(self->dtype);
  return measure(self, dtype, true, out_new);
}

AOTITorchError aoti_torch_mps_fill__Scalar(AtenTensorHandle self,
                                           double value) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(self->storage);
  AtenTensorHandle number = NULL;
  AOTI_TRY(aoti_torch_scalar_to_tensor_float64(value, &number));
  const mtl_status status = (mtl_status)aoti_torch_copy_(self, number, 0);
  aoti_torch_delete_tensor_object(number);
  return status;
}

AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self,
                                            double value) {
  return aoti_torch_mps_fill__Scalar(self, value);
}
