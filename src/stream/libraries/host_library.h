// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_library.h: matrix products by a library of the host's, oneDNN or
// OpenBLAS, where there is one.
#ifndef METTLE_STREAM_HOST_LIBRARY_H
#define METTLE_STREAM_HOST_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

// c = alpha * a x b + beta * c in float, rows of c one after another. A
// transposed operand lies in columns instead of rows; row_a, row_b and row_c
// are the elements from one to the next.
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

// Whether there is a library. The first call loads it: METTLE_HOST_LIBRARY
// names the one to take, "onednn" or "openblas", or is 0 or "none"; unset, the
// first of them that is there is taken. Any thread.
bool host_library_is_there(void);

// oneDNN's handle for dlsym; NULL if it is not the library that is used.
void *host_library_onednn(void);
// Calls of oneDNN between these two stay on the calling thread. leave takes
// what enter gave.
int host_library_enter(void);
void host_library_leave(int threads);

// Computes on the calling thread alone. Any thread.
void host_library_multiply(const host_product *product);

// True if multiply gives products of whole numbers exactly, of every shape and
// order that tells one library's functions from another's (host_test.c).
bool host_library_test(void (*multiply)(const host_product *));

#endif
