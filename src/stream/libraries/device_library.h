// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_library.h: matrix products by a library for the device's own queues:
// cuBLAS on the device cuda, where there is one.
#ifndef METTLE_STREAM_DEVICE_LIBRARY_H
#define METTLE_STREAM_DEVICE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "mettle/tensor.h"

// c = alpha * a x b + beta * c for each of a batch; rows of c one after another.
// A transposed operand lies in columns instead of rows; row_a, row_b and row_c
// are the elements from one to the next, step_a, step_b and step_c those from
// one of the batch to the next. Sums are in float.
typedef struct device_product {
  mtl_data_type type;      // of a and b: half, bfloat or float
  mtl_data_type out_type;  // the same, or float
  bool is_a_transposed, is_b_transposed;
  int m, n, k, batches;
  int row_a, row_b, row_c;
  int64_t step_a, step_b, step_c;
  float alpha, beta;
} device_product;

// True if METTLE_DEVICE_LIBRARY is not set, or is this name.
bool device_library_is_wanted(const char *name);

// Whether there is a library. The first call loads it, unless
// METTLE_DEVICE_LIBRARY is another. Any thread.
bool device_library_is_there(void);

// Puts a product on a CUstream; a, b and c are addresses of the GPU's. Any
// thread that has the stream's context.
mtl_status device_library_multiply(const device_product *product, uint64_t a,
                                   uint64_t b, uint64_t c, void *stream);

#endif
