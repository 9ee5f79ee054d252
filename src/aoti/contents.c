// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// contents.c: copies tensors, and reads and writes single elements.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/element.h"
#include "aoti/tensor.h"
#include "mettle/ops.h"

// --- Elements ----------------------------------------------------------------

static float float_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

// Rounds to nearest, ties to even.
static uint16_t half_from_double(double value) {
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  const double size = fabs(value);
  if (isnan(value)) {
    return 0x7e00;
  }
  if (size >= 65520) {  // half way to 65536
    return sign | 0x7c00;
  }
  int exponent = 0;
  frexp(size, &exponent);
  // The last place of a half of this size; 2^-24 below the normal ones.
  const int place = exponent - 11 < -24 ? -24 : exponent - 11;
  const int steps = (int)nearbyint(ldexp(size, -place));
  return sign | (uint16_t)(place == -24 ? steps : ((place + 24) << 10) + steps);
}

static uint16_t bfloat_from_float(float value) {
  const uint32_t bits = bits_of_float(value);
  if (isnan(value)) {
    return 0x7fc0;
  }
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

element aoti_element_read(int32_t dtype, const char *at) {
  element value = {.kind = SIGNED, .real = {0, 0}};
#define READ(code, c_type, form, field) \
  case code: {                          \
    c_type read;                        \
    memcpy(&read, at, sizeof read);     \
    value.kind = form;                  \
    value.field = read;                 \
    break;                              \
  }
  switch (dtype) {
    READ(AOTI_UINT8, uint8_t, UNSIGNED, natural)
    READ(AOTI_BOOL, uint8_t, UNSIGNED, natural)
    READ(AOTI_UINT16, uint16_t, UNSIGNED, natural)
    READ(AOTI_UINT32, uint32_t, UNSIGNED, natural)
    READ(AOTI_UINT64, uint64_t, UNSIGNED, natural)
    READ(AOTI_INT8, int8_t, SIGNED, number)
    READ(AOTI_INT16, int16_t, SIGNED, number)
    READ(AOTI_INT32, int32_t, SIGNED, number)
    READ(AOTI_INT64, int64_t, SIGNED, number)
    READ(AOTI_FLOAT32, float, REAL, real[0])
    READ(AOTI_FLOAT64, double, REAL, real[0])
    default: {
      uint16_t bits[2] = {0};
      float pair[2] = {0};
      value.kind = REAL;
      if (dtype == AOTI_COMPLEX128) {
        memcpy(value.real, at, sizeof value.real);
      } else if (dtype == AOTI_COMPLEX64) {
        memcpy(pair, at, sizeof pair);
        value.real[0] = pair[0];
        value.real[1] = pair[1];
      } else {
        memcpy(bits, at, dtype == AOTI_COMPLEX32 ? 4 : 2);
        value.real[0] = dtype == AOTI_BFLOAT16
                            ? float_from_bits((uint32_t)bits[0] << 16)
                            : half_to_double(bits[0]);
        value.real[1] = half_to_double(bits[1]);
      }
    }
  }
#undef READ
  return value;
}

double aoti_element_real(element value) {
  return value.kind == REAL       ? value.real[0]
         : value.kind == UNSIGNED ? (double)value.natural
                                  : (double)value.number;
}

// Converts as x86-64 and PyTorch do: out of range gives the smallest number.
int64_t aoti_element_integer(element value) {
  if (value.kind != REAL) {
    return value.number;
  }
  const double real = value.real[0];
  return real >= -9223372036854775808.0 && real < 9223372036854775808.0
             ? (int64_t)real
             : INT64_MIN;
}

static bool truth_of(element value) {
  return value.kind == REAL ? value.real[0] != 0 || value.real[1] != 0
                            : value.natural != 0;
}

static uint64_t natural_of(element value) {
  const bool is_large =
      value.kind == REAL && value.real[0] >= 9223372036854775808.0;
  return is_large ? (uint64_t)value.real[0]
                  : (uint64_t)aoti_element_integer(value);
}

void aoti_element_write(int32_t dtype, char *at, element value) {
#define WRITE(code, c_type, number)               \
  case code: {                                    \
    const c_type written = (c_type)number(value); \
    memcpy(at, &written, sizeof written);         \
    break;                                        \
  }
  const double imaginary = value.kind == REAL ? value.real[1] : 0;
  switch (dtype) {
    WRITE(AOTI_BOOL, uint8_t, truth_of)
    WRITE(AOTI_UINT8, uint8_t, aoti_element_integer)
    WRITE(AOTI_UINT16, uint16_t, aoti_element_integer)
    WRITE(AOTI_UINT32, uint32_t, aoti_element_integer)
    WRITE(AOTI_UINT64, uint64_t, natural_of)
    WRITE(AOTI_INT8, int8_t, aoti_element_integer)
    WRITE(AOTI_INT16, int16_t, aoti_element_integer)
    WRITE(AOTI_INT32, int32_t, aoti_element_integer)
    WRITE(AOTI_INT64, int64_t, aoti_element_integer)
    WRITE(AOTI_FLOAT32, float, aoti_element_real)
    WRITE(AOTI_FLOAT64, double, aoti_element_real)
    default: {
      const double pair[2] = {aoti_element_real(value), imaginary};
      const float floats[2] = {(float)pair[0], (float)pair[1]};
      const uint16_t halves[2] = {dtype == AOTI_BFLOAT16
                                      ? bfloat_from_float(floats[0])
                                      : half_from_double(pair[0]),
                                  half_from_double(pair[1])};
      const void *from = dtype == AOTI_COMPLEX128  ? (const void *)pair
                         : dtype == AOTI_COMPLEX64 ? (const void *)floats
                                                   : (const void *)halves;
      memcpy(at, from, aoti_element_size(dtype));
    }
  }
#undef WRITE
}

// --- Copies on the host ------------------------------------------------------

// source's stride along target's dimension; sizes are broadcast.
static int64_t source_stride(const aoti_tensor *target,
                             const aoti_tensor *source, int64_t dimension) {
  const int64_t own = dimension - (target->rank - source->rank);
  return own < 0 || source->sizes[own] == 1 ? 0 : source->strides[own];
}

static mtl_status check_broadcast(const aoti_tensor *target,
                                  const aoti_tensor *source) {
  bool fits = source->rank <= target->rank;
  for (int64_t i = 0; fits && i < source->rank; ++i) {
    const int64_t wanted = target->sizes[i + target->rank - source->rank];
    fits = source->sizes[i] == wanted || source->sizes[i] == 1;
  }
  if (!fits) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "aoti_torch_copy_: %" PRId64 " elements in %" PRId64
                    " dimensions do not go into %" PRId64 " in %" PRId64,
                    aoti_tensor_count(source), source->rank,
                    aoti_tensor_count(target), target->rank);
  }
  return MTL_OK;
}

static void copy_row(const aoti_tensor *target, const aoti_tensor *source,
                     char *to, const char *from) {
  const int64_t last = target->rank - 1;
  const int64_t count = last < 0 ? 1 : target->sizes[last];
  const size_t to_size = aoti_element_size(target->dtype);
  const size_t from_size = aoti_element_size(source->dtype);
  const int64_t to_stride = last < 0 ? 1 : target->strides[last];
  const int64_t from_stride =
      last < 0 ? 1 : source_stride(target, source, last);
  const bool is_same = target->dtype == source->dtype;
  if (is_same && (count == 1 || (to_stride == 1 && from_stride == 1))) {
    memcpy(to, from, (size_t)count * to_size);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    char *at = to + i * to_stride * (int64_t)to_size;
    const char *read = from + i * from_stride * (int64_t)from_size;
    if (is_same) {
      memcpy(at, read, to_size);
    } else {
      aoti_element_write(target->dtype, at,
                         aoti_element_read(source->dtype, read));
    }
  }
}

// Walks the rows of dimension and below.
static void copy_rows(const aoti_tensor *target, const aoti_tensor *source,
                      int64_t dimension, char *to, const char *from) {
  if (dimension >= target->rank - 1) {
    copy_row(target, source, to, from);
    return;
  }
  const int64_t to_step =
      target->strides[dimension] * (int64_t)aoti_element_size(target->dtype);
  const int64_t from_step = source_stride(target, source, dimension) *
                            (int64_t)aoti_element_size(source->dtype);
  for (int64_t i = 0; i < target->sizes[dimension]; ++i) {
    copy_rows(target, source, dimension + 1, to + i * to_step,
              from + i * from_step);
  }
}

static mtl_status copy_on_host(aoti_tensor *target, const aoti_tensor *source) {
  AOTI_TRY(check_broadcast(target, source));
  AOTI_TRY(aoti_tensor_before_write(target));
  const bool uses_device = target->storage->device_type == AOTI_MPS ||
                           source->storage->device_type == AOTI_MPS;
  if (uses_device) {
    AOTI_TRY(aoti_wait());
  }
  if (aoti_tensor_count(target) > 0) {
    copy_rows(target, source, 0, aoti_tensor_data(target),
              aoti_tensor_data(source));
  }
  return MTL_OK;
}

// --- Copies on the device ----------------------------------------------------

static bool is_same_layout(const aoti_tensor *a, const aoti_tensor *b) {
  const size_t bytes = (size_t)a->rank * sizeof *a->sizes;
  return a->rank == b->rank && memcmp(a->sizes, b->sizes, bytes) == 0 &&
         memcmp(a->strides, b->strides, bytes) == 0;
}

// True if the elements fill their extent.
static bool is_dense(const aoti_tensor *tensor) {
  return aoti_extent(tensor->rank, tensor->sizes, tensor->strides) ==
         aoti_tensor_count(tensor);
}

static size_t start_of(const aoti_tensor *tensor) {
  return tensor->storage->offset_bytes +
         (size_t)tensor->offset * aoti_element_size(tensor->dtype);
}

// True if the bytes of both do not overlap: a blit refuses overlaps.
static bool is_apart(const aoti_tensor *a, const aoti_tensor *b, size_t bytes) {
  const size_t first = start_of(a) < start_of(b) ? start_of(a) : start_of(b);
  const size_t second = start_of(a) < start_of(b) ? start_of(b) : start_of(a);
  return a->storage->buffer != b->storage->buffer || second - first >= bytes;
}

static mtl_status copy_on_device(aoti_tensor *target,
                                 const aoti_tensor *source) {
  mtl_stream *stream = NULL;
  AOTI_TRY(mtl_stream_current(&stream));
  AOTI_TRY(aoti_tensor_before_write(target));
  const size_t bytes =
      (size_t)aoti_tensor_count(target) * aoti_element_size(target->dtype);
  if (target->dtype == source->dtype && is_same_layout(target, source) &&
      is_dense(target) && is_apart(target, source, bytes)) {
    return mtl_stream_copy(stream, source->storage->buffer, start_of(source),
                           target->storage->buffer, start_of(target), bytes,
                           MTL_SYNC_NONE);
  }
  mtl_tensor to;
  mtl_tensor from;
  if (aoti_tensor_describe(target, &to) != MTL_OK ||
      aoti_tensor_describe_read(source, &from) != MTL_OK) {
    return copy_on_host(target, source);  // complex numbers
  }
  return mtl_ops_copy(stream, &from, &to);
}

AOTITorchError aoti_torch_copy_(AtenTensorHandle target,
                                AtenTensorHandle source, int32_t non_blocking) {
  (void)non_blocking;
  AOTI_CHECK_NOT_NULL(target);
  AOTI_CHECK_NOT_NULL(source);
  AOTI_CHECK_NOT_NULL(target->storage);
  AOTI_CHECK_NOT_NULL(source->storage);
  if (target->storage->device_type == AOTI_MPS &&
      source->storage->device_type == AOTI_MPS) {
    AOTI_TRY(check_broadcast(target, source));
    return copy_on_device(target, source);
  }
  return copy_on_host(target, source);
}

AOTITorchError aoti_torch_tensor_copy_(AtenTensorHandle source,
                                       AtenTensorHandle target) {
  return aoti_torch_copy_(target, source, 0);
}

static mtl_status copy_into_new(const aoti_tensor *tensor,
                                const int64_t *strides,
                                AtenTensorHandle *out_new) {
  AOTI_TRY(aoti_tensor_empty(tensor->storage->device_type, tensor->dtype,
                             tensor->rank, tensor->sizes, strides, out_new));
  const mtl_status status =
      (mtl_status)aoti_torch_copy_(*out_new, (AtenTensorHandle)tensor, 0);
  if (status != MTL_OK) {
    aoti_torch_delete_tensor_object(*out_new);
    *out_new = NULL;
  }
  return status;
}

AOTITorchError aoti_torch_clone(AtenTensorHandle tensor,
                                AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(tensor->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  return copy_into_new(tensor, is_dense(tensor) ? tensor->strides : NULL,
                       out_new);
}

// Copies the whole extent, gaps and all: strides of 0 stay what they are.
AOTITorchError aoti_torch_clone_preserve_strides(AtenTensorHandle tensor,
                                                 AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(tensor->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  const int64_t extent =
      aoti_extent(tensor->rank, tensor->sizes, tensor->strides);
  const int64_t one = 1;
  AtenTensorHandle flat = NULL;
  AtenTensorHandle copy = NULL;
  AOTI_TRY(aoti_tensor_view(tensor, tensor->dtype, 1, &extent, &one,
                            tensor->offset, &flat));
  mtl_status status = copy_into_new(flat, NULL, &copy);
  aoti_torch_delete_tensor_object(flat);
  if (status == MTL_OK) {
    status = aoti_tensor_view(copy, tensor->dtype, tensor->rank, tensor->sizes,
                              tensor->strides, 0, out_new);
  }
  aoti_torch_delete_tensor_object(copy);
  return status;
}

AOTITorchError aoti_torch_zero_(AtenTensorHandle tensor) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(tensor->storage);
  const size_t bytes =
      (size_t)aoti_tensor_count(tensor) * aoti_element_size(tensor->dtype);
  if (is_dense(tensor) && tensor->storage->device_type == AOTI_MPS) {
    mtl_stream *stream = NULL;
    AOTI_TRY(mtl_stream_current(&stream));
    AOTI_TRY(aoti_tensor_before_write(tensor));
    return mtl_stream_fill(stream, tensor->storage->buffer, start_of(tensor),
                           bytes, 0, MTL_SYNC_NONE);
  }
  AtenTensorHandle zero = NULL;
  AOTI_TRY(aoti_tensor_empty(AOTI_CPU, tensor->dtype, 0, NULL, NULL, &zero));
  memset(aoti_tensor_data(zero), 0, aoti_element_size(tensor->dtype));
  const mtl_status status = copy_on_host(tensor, zero);
  aoti_torch_delete_tensor_object(zero);
  return status;
}

// --- Single elements ---------------------------------------------------------

static mtl_status read_item(const aoti_tensor *tensor, int32_t dtype,
                            void *out_value) {
  if (!tensor || !tensor->storage || aoti_tensor_count(tensor) != 1) {
    return mtl_fail(
        MTL_INVALID_ARGUMENT, "item: the tensor has %lld elements, not one",
        tensor && tensor->storage ? (long long)aoti_tensor_count(tensor) : 0);
  }
  if (tensor->storage->device_type == AOTI_MPS) {
    AOTI_TRY(aoti_wait());
  }
  aoti_element_write(
      dtype, out_value,
      aoti_element_read(tensor->dtype, aoti_tensor_data(tensor)));
  return MTL_OK;
}

#define ITEM(name, c_type, code)                                 \
  AOTITorchError aoti_torch_item_##name(AtenTensorHandle tensor, \
                                        c_type *out_value) {     \
    AOTI_CHECK_NOT_NULL(out_value);                              \
    return read_item(tensor, code, out_value);                   \
  }

ITEM(float16, uint16_t, AOTI_FLOAT16)
ITEM(bfloat16, uint16_t, AOTI_BFLOAT16)
ITEM(float32, float, AOTI_FLOAT32)
ITEM(float64, double, AOTI_FLOAT64)
ITEM(uint8, uint8_t, AOTI_UINT8)
ITEM(uint16, uint16_t, AOTI_UINT16)
ITEM(uint32, uint32_t, AOTI_UINT32)
ITEM(uint64, uint64_t, AOTI_UINT64)
ITEM(int8, int8_t, AOTI_INT8)
ITEM(int16, int16_t, AOTI_INT16)
ITEM(int32, int32_t, AOTI_INT32)
ITEM(int64, int64_t, AOTI_INT64)
ITEM(bool, bool, AOTI_BOOL)

#define SCALAR(name, c_type, code)                                       \
  AOTITorchError aoti_torch_scalar_to_tensor_##name(                     \
      c_type value, AtenTensorHandle *out_new) {                         \
    AOTI_CHECK_NOT_NULL(out_new);                                        \
    AOTI_TRY(aoti_tensor_empty(AOTI_CPU, code, 0, NULL, NULL, out_new)); \
    memcpy(aoti_tensor_data(*out_new), &value, sizeof value);            \
    return MTL_OK;                                                       \
  }

SCALAR(float32, float, AOTI_FLOAT32)
SCALAR(float64, double, AOTI_FLOAT64)
SCALAR(uint8, uint8_t, AOTI_UINT8)
SCALAR(uint16, uint16_t, AOTI_UINT16)
SCALAR(uint32, uint32_t, AOTI_UINT32)
SCALAR(uint64, uint64_t, AOTI_UINT64)
SCALAR(int8, int8_t, AOTI_INT8)
SCALAR(int16, int16_t, AOTI_INT16)
SCALAR(int32, int32_t, AOTI_INT32)
SCALAR(int64, int64_t, AOTI_INT64)
SCALAR(bool, bool, AOTI_BOOL)
