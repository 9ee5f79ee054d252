// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.h: a kernel of the benchmark in each of its forms. A new kernel is a
// new kernel_case in the table of kernels.c, with its text in kernel_texts.c
// and its plain C in kernels_c.c.
#ifndef METTLE_BENCH_KERNELS_H
#define METTLE_BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_BUFFERS 4

// The kernel over a whole grid, in plain C: what a good compiler and OpenMP
// make of a loop.
typedef void kernel_in_c(void *const *buffers);

typedef struct kernel_case {
  const char *msl;                      // kernel `k`, buffers 0 to 3
  const char *opencl;                   // kernel `k`, the same arguments
  kernel_in_c *plain_c;                 // NULL for none
  size_t buffer_bytes[KERNEL_BUFFERS];  // 0: no more buffers
  uint32_t grid[3];                     // threads
  uint32_t group[3];
} kernel_case;

// Sizes that the texts and the C share.
#define SAXPY_COUNT (1 << 24)
#define MANDELBROT_SIDE 1024
#define MANDELBROT_LIMIT 256
#define PRODUCT_SIDE 512
#define SUM_COUNT (1 << 24)
#define SOFTMAX_ROWS 4096
#define SOFTMAX_COLUMNS 1024
#define HISTOGRAM_COUNT (1 << 22)

extern const char saxpy_msl[], saxpy_opencl[];
extern const char mandelbrot_msl[], mandelbrot_opencl[];
extern const char product_msl[], product_opencl[];
extern const char tiled_product_msl[], tiled_product_opencl[];
extern const char tree_sum_msl[], tree_sum_opencl[];
extern const char softmax_msl[], softmax_opencl[];
extern const char histogram_msl[], histogram_opencl[];

kernel_in_c saxpy_c, mandelbrot_c, product_c, tree_sum_c, softmax_c,
    histogram_c;

#endif
