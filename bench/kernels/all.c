// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// all.c: the kernels of the benchmark in the order of the table.
#include "kernel.h"

const kernel_case *const kernel_cases[] = {
    &saxpy,        &transcendental,   &naive_product,   &tiled_product,
    &tile_product, &tree_sums,        &simd_sums,       &prefix_scan,
    &softmax,      &layer_norm,       &attention,       &mandelbrot,
    &bitonic_sort, &device_histogram, &group_histogram, &stencil,
    &bodies,       &int8_product,     &int4_product,    NULL,
};

const kernel_case *const *mettle_bench_kernel_cases(void) {
  return kernel_cases;
}
