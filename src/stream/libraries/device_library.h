// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_library.h: matrix products by a vendor library on the device's own
// queues: cuBLAS on the device cuda, if installed.
#ifndef METTLE_STREAM_DEVICE_LIBRARY_H
#define METTLE_STREAM_DEVICE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "mettle/tensor.h"

// A batched product c = alpha * a x b + beta * c, summed in float; c is
// row-major. A transposed operand is column-major. row_a, row_b and
// row_c are leading dimensions, step_a, step_b and step_c batch strides, in
// elements.
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

// True if the library is available. The first call loads it, unless
// METTLE_DEVICE_LIBRARY names another. Any thread.
bool device_library_is_there(void);

// Submits a product to a CUstream; a, b and c are GPU addresses. Any thread
// that has the stream's context.
mtl_status device_library_multiply(const device_product *product, uint64_t a,
                                   uint64_t b, uint64_t c, void *stream);

#endif
