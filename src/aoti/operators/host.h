// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.h: operators that models seldom need, computed on the host after all
// earlier work of the stream.
#ifndef METTLE_AOTI_OPERATORS_HOST_H
#define METTLE_AOTI_OPERATORS_HOST_H

#include <complex.h>

#include "aoti/element.h"
#include "aoti/tensor.h"

// The C library's header has it for GCC alone.
#ifndef CMPLX
#define CMPLX(real, imaginary) \
  __builtin_complex((double)(real), (double)(imaginary))
#endif

// Makes a result tensor on the device and gives the host access to it and to
// all earlier results: waits for the stream.
mtl_status host_begin(int32_t dtype, int64_t rank, const int64_t *sizes,
                      AtenTensorHandle *out_new);
// Returns status; on failure *out_new is released, and NULL.
mtl_status host_finish(mtl_status status, AtenTensorHandle *out_new);

// Makes the result tensor of an elementwise operation on one or two operands (b
// may be NULL). It is dense, in the operands' order in memory: models rely on
// that.
// Source  torch/_prims_common, compute_elementwise_output_strides; empty_like
mtl_status host_make_elements(const aoti_tensor *a, const aoti_tensor *b,
                              int32_t dtype, int64_t rank, const int64_t *sizes,
                              AtenTensorHandle *out_new);

// Returns the element at linear index i of tensor, broadcast to rank and sizes.
char *host_at(const aoti_tensor *tensor, int64_t rank, const int64_t *sizes,
              int64_t i);

// A row of a tensor along one dimension: all others at linear index `row`.
typedef struct host_row {
  char *start;
  int64_t step_bytes;
} host_row;
host_row host_row_at(const aoti_tensor *tensor, int64_t dimension, int64_t row);

// Returns tensor's elements as doubles, broadcast to rank and sizes. Yours:
// free it; NULL out of memory.
double *host_reals(const aoti_tensor *tensor, int64_t rank,
                   const int64_t *sizes);
void host_put_real(const aoti_tensor *tensor, int64_t i, double value);

bool aoti_is_complex(int32_t dtype);
bool aoti_is_floating(int32_t dtype);
bool host_is_true(const aoti_tensor *tensor, int64_t i);
// Fails if tensor is not a tensor.
mtl_status host_check_tensor(const aoti_tensor *tensor, const char *call);
// Normalises dim to 0 to rank - 1; a scalar has one dimension.
mtl_status host_dimension(const aoti_tensor *self, int64_t *dim);

#endif
