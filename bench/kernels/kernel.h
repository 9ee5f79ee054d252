// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernel.h: a kernel of the benchmark in each of its forms: MSL, its OpenCL
// twin, plain C with OpenMP, 32 lanes written by hand, and what one element of
// its result should be. A new kernel is a file beside this one with a
// kernel_case, named in the table of all.c.
//
// These files become a library of their own (build_rivals.sh): the C in them is
// the rival, and gets the compiler and the options that a user would give it.
#ifndef METTLE_BENCH_KERNEL_H
#define METTLE_BENCH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KERNEL_BUFFERS 5

// The text of a kernel. Macros in it are expanded, so that it can share sizes
// with the C beside it, and a body with its twin.
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define TEXT_OF(...) #__VA_ARGS__

#define MSL_BARRIER threadgroup_barrier(mem_flags::mem_threadgroup)
#define OPENCL_BARRIER barrier(CLK_LOCAL_MEM_FENCE)

// The kernel over the whole grid.
typedef void kernel_in_c(void *const *buffers);
// What element i of the output should be, in double precision, from the buffers
// as they were before the run.
typedef double kernel_reference(void *const *buffers, size_t i);

// What a buffer holds at first.
typedef enum kernel_fill {
  FILL_ZERO,
  FILL_SIGNED,  // floats from -1 to 1
  FILL_UNIT,    // floats from 0.5 to 1.5
  FILL_BITS,    // any
} kernel_fill;

typedef struct kernel_buffer {
  size_t length_bytes;  // 0: no more buffers
  kernel_fill fill;
} kernel_buffer;

typedef struct kernel_case {
  const char *name;
  // 0: the figure is the time in ms. Otherwise a thousand millionth of this
  // work, in `unit`, for each second.
  double work;
  const char *unit;  // "GB/s", "GFLOP/s"
  const char *msl;   // kernel `k` without the head, buffers 0 to 4
  const char *opencl;
  kernel_in_c *plain_c;
  kernel_in_c *lanes_c;  // or NULL
  kernel_reference *reference;
  kernel_buffer buffers[KERNEL_BUFFERS];
  uint32_t grid[3];  // threads
  uint32_t group[3];
  uint32_t output;         // the buffer to check
  bool is_integer;         // the output is of uint32_t instead of float
  bool is_bound_by_cores;  // memory could feed more of them
  // How far two results may be apart, of 1 + the larger: the sums of this
  // kernel in another order.
  double tolerance;
  // The share of elements that may differ all the same, where a rounding
  // decides a branch.
  double may_differ;
} kernel_case;

extern const kernel_case *const kernel_cases[];  // ends with NULL
typedef const kernel_case *const *kernel_case_list(void);
// Returns kernel_cases: what the program looks for in the library.
kernel_case_list mettle_bench_kernel_cases;

extern const kernel_case saxpy, transcendental, mandelbrot, naive_product,
    tiled_product, tile_product, tree_sums, simd_sums, prefix_scan, softmax,
    layer_norm, attention, bitonic_sort, device_histogram, group_histogram,
    stencil, bodies, int8_product, int4_product;

#endif
