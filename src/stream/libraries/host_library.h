// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_library.h: matrix products by a library on the host: oneDNN or OpenBLAS,
// if installed.
#ifndef METTLE_STREAM_HOST_LIBRARY_H
#define METTLE_STREAM_HOST_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

// A product c = alpha * a x b + beta * c in float; c is row-major. A
// transposed operand is column-major. row_a, row_b and row_c are leading
// dimensions in elements.
typedef struct host_product {
  bool is_a_transposed, is_b_transposed;
  int64_t m, n, k;
  float alpha;
  const float *a;
  int64_t row_a;
  const float *b;
  int64_t row_b;
  float beta;
  float *c;
  int64_t row_c;
} host_product;

// True if a library is available. The first call loads it: METTLE_HOST_LIBRARY
// names it, "onednn" or "openblas", or is 0 or "none"; unset, the first one
// found is used. Any thread.
bool host_library_is_there(void);

// oneDNN's handle for dlsym; NULL if it is not the library that is used.
void *host_library_onednn(void);
// Keep oneDNN's calls on the calling thread between enter and leave. leave
// takes enter's result.
int host_library_enter(void);
void host_library_leave(int threads);

// Computes on the calling thread alone. Any thread.
void host_library_multiply(const host_product *product);

// True if multiply computes integer products exactly, for every shape and order
// that selects another function of a library (host_test.c).
bool host_library_test(void (*multiply)(const host_product *));

#endif
