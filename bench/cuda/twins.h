// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// twins.h: kernels in CUDA C++ that do what kernels in MSL do, side by side.
#ifndef METTLE_BENCH_TWINS_H
#define METTLE_BENCH_TWINS_H

// A kernel that takes the buffers' addresses in their order.
struct twin {
  const char *name;  // of the benchmark's kernel_case, or of an own one
  const void *kernel;
};

extern const twin kernel_twins[], product_twins[];  // end with NULL

#endif
