// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.c: whole kernels on whole grids: Mettle, the OpenCL twin on PoCL, and
// plain C with OpenMP. The time is that of one run, commit and wait included.
#include "kernels.h"

#include <math.h>

#include "bench.h"
#include "opencl.h"

enum {
  SAXPY,
  MANDELBROT,
  PRODUCT,
  TILED_PRODUCT,
  TREE_SUM,
  SOFTMAX,
  HISTOGRAM
};

static const kernel_case cases[] = {
    [SAXPY] = {saxpy_msl,
               saxpy_opencl,
               saxpy_c,
               {SAXPY_COUNT * 4, SAXPY_COUNT * 4},
               {SAXPY_COUNT, 1, 1},
               {256, 1, 1}},
    [MANDELBROT] = {mandelbrot_msl,
                    mandelbrot_opencl,
                    mandelbrot_c,
                    {MANDELBROT_SIDE * MANDELBROT_SIDE * 4},
                    {MANDELBROT_SIDE, MANDELBROT_SIDE, 1},
                    {32, 8, 1}},
    [PRODUCT] = {product_msl,
                 product_opencl,
                 product_c,
                 {PRODUCT_SIDE * PRODUCT_SIDE * 4,
                  PRODUCT_SIDE *PRODUCT_SIDE * 4,
                  PRODUCT_SIDE *PRODUCT_SIDE * 4},
                 {PRODUCT_SIDE, PRODUCT_SIDE, 1},
                 {32, 8, 1}},
    [TILED_PRODUCT] = {tiled_product_msl,
                       tiled_product_opencl,
                       product_c,
                       {PRODUCT_SIDE * PRODUCT_SIDE * 4,
                        PRODUCT_SIDE *PRODUCT_SIDE * 4,
                        PRODUCT_SIDE *PRODUCT_SIDE * 4},
                       {PRODUCT_SIDE, PRODUCT_SIDE, 1},
                       {16, 16, 1}},
    [TREE_SUM] = {tree_sum_msl,
                  tree_sum_opencl,
                  tree_sum_c,
                  {SUM_COUNT * 4, SUM_COUNT / 256 * 4},
                  {SUM_COUNT, 1, 1},
                  {256, 1, 1}},
    [SOFTMAX] = {softmax_msl,
                 softmax_opencl,
                 softmax_c,
                 {SOFTMAX_ROWS * SOFTMAX_COLUMNS * 4,
                  SOFTMAX_ROWS *SOFTMAX_COLUMNS * 4},
                 {SOFTMAX_ROWS * 256, 1, 1},
                 {256, 1, 1}},
    [HISTOGRAM] = {histogram_msl,
                   histogram_opencl,
                   histogram_c,
                   {HISTOGRAM_COUNT * 4, 256 * 4},
                   {HISTOGRAM_COUNT, 1, 1},
                   {256, 1, 1}},
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])

// What a case keeps between samples, found by its place in the table.
typedef struct kernel_state {
  mtl_pipeline *pipeline;
  mtl_buffer *buffers[KERNEL_BUFFERS];
  opencl_kernel *kernel;
  void *plain[KERNEL_BUFFERS];
} kernel_state;
static kernel_state states[CASE_COUNT];

// Small numbers that spread over the bins and keep sums finite, the same for
// all; all but the first buffer start as zeros.
static void fill(uint32_t *data, size_t length_bytes, int number) {
  for (size_t i = 0; i < length_bytes / 4; i++) {
    const uint32_t mixed = (uint32_t)(i * 2654435761u) >> 9;
    data[i] = number < 2 ? 0x3F800000 | mixed : 0;  // floats from 1 to 2
  }
}

static kernel_state *prepare_mettle(const kernel_case *it) {
  kernel_state *state = &states[it - cases];
  if (state->pipeline == NULL) {
    state->pipeline = bench_pipeline(it->msl, "k");
    for (int i = 0; i < KERNEL_BUFFERS && it->buffer_bytes[i]; i++) {
      state->buffers[i] = bench_buffer(it->buffer_bytes[i]);
      fill(mtl_buffer_contents(state->buffers[i]), it->buffer_bytes[i], i);
    }
  }
  return state;
}

static mtl_size size_of(const uint32_t side[3]) {
  return (mtl_size){side[0], side[1], side[2]};
}

static double measure_mettle(const void *context) {
  const kernel_case *it = context;
  kernel_state *state = prepare_mettle(it);
  const uint64_t start = now_ns();
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, state->pipeline);
  for (uint32_t i = 0; i < KERNEL_BUFFERS && state->buffers[i]; i++) {
    mtl_compute_encoder_set_buffer(encoder, state->buffers[i], 0, i);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(it->grid),
                                       size_of(it->group));
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  const double result = (double)(now_ns() - start) / 1e6;
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return result;
}

static double measure_pocl(const void *context) {
  const kernel_case *it = context;
  kernel_state *state = &states[it - cases];
  static opencl_queue *queue;
  if (!opencl_is_there()) {
    return NAN;
  }
  if (queue == NULL) {
    queue = opencl_new_queue();
  }
  if (state->kernel == NULL) {
    state->kernel = opencl_new_kernel(it->opencl, "k");
    for (uint32_t i = 0; i < KERNEL_BUFFERS && it->buffer_bytes[i]; i++) {
      uint32_t *data = bench_allocate(it->buffer_bytes[i]);
      fill(data, it->buffer_bytes[i], (int)i);
      opencl_set_memory(state->kernel, i,
                        opencl_new_memory_with(data, it->buffer_bytes[i]));
    }
  }
  size_t grid[3], group[3];
  for (int side = 0; side < 3; side++) {
    grid[side] = it->grid[side];
    group[side] = it->group[side];
  }
  const uint64_t start = now_ns();
  opencl_run(queue, state->kernel, grid, group);
  opencl_finish(queue);
  return (double)(now_ns() - start) / 1e6;
}

static double measure_plain_c(const void *context) {
  const kernel_case *it = context;
  kernel_state *state = &states[it - cases];
  if (it->plain_c == NULL) {
    return NAN;
  }
  for (int i = 0; i < KERNEL_BUFFERS && it->buffer_bytes[i]; i++) {
    if (state->plain[i] == NULL) {
      state->plain[i] = bench_allocate(it->buffer_bytes[i]);
      fill(state->plain[i], it->buffer_bytes[i], i);
    }
  }
  const uint64_t start = now_ns();
  it->plain_c(state->plain);
  return (double)(now_ns() - start) / 1e6;
}

#define ROW(number, title)                                  \
  {title,                                                   \
   "ms",                                                    \
   11,                                                      \
   measure_mettle,                                          \
   {{"pocl", measure_pocl}, {"c+openmp", measure_plain_c}}, \
   &cases[number]}
static const benchmark rows[CASE_COUNT] = {
    ROW(SAXPY, "saxpy of 16 M"),
    ROW(MANDELBROT, "Mandelbrot 1024 x 1024"),
    ROW(PRODUCT, "naive product of 512 x 512"),
    ROW(TILED_PRODUCT, "tiled product of 512 x 512"),
    ROW(TREE_SUM, "tree sums of 256 over 16 M"),
    ROW(SOFTMAX, "softmax of 4096 rows of 1024"),
    ROW(HISTOGRAM, "histogram of 4 M in 256 bins"),
};
const bench_topic kernel_topic = {"kernels", rows, CASE_COUNT};
