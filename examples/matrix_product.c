// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrix_product.c: a tiled matrix product in threadgroup memory, checked
// against the same product on the host.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

// No multiple of the tile anywhere: the edges are part of the example.
#define ROWS 500
#define INNER 300
#define COLUMNS 700
#define TILE 16

// As in matrix_product.metal.
typedef struct sizes {
  uint32_t rows, inner, columns;
} sizes;

static const mtl_size group = {TILE, TILE, 1};

static void fill(mtl_buffer *buffer, uint32_t seed) {
  float *values = mtl_buffer_contents(buffer);
  const size_t count = mtl_buffer_length(buffer) / sizeof *values;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 8) * 0x1p-23f - 1;  // in [-1, 1)
  }
}

static uint32_t tile_count(uint32_t number) {
  return (number + TILE - 1) / TILE;
}

static double multiply(mtl_device *device, mtl_pipeline *pipeline,
                       mtl_buffer *const matrices[3]) {
  const sizes size = {ROWS, INNER, COLUMNS};
  mtl_queue *queue;
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
  check(mtl_queue_create(device, NULL, &queue));
  check(mtl_command_buffer_create(queue, NULL, &commands));
  check(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < 3; ++i) {
    mtl_compute_encoder_set_buffer(encoder, matrices[i], 0, i);
  }
  mtl_compute_encoder_set_bytes(encoder, &size, sizeof size, 3);
  // Whole threadgroups: the threads past the edges help to load the tiles.
  mtl_compute_encoder_dispatch_threadgroups(
      encoder, (mtl_size){tile_count(COLUMNS), tile_count(ROWS), 1},
      group);
  check(mtl_compute_encoder_end(encoder));
  mtl_compute_encoder_release(encoder);
  mtl_queue_release(queue);
  return run_and_time(commands);
}

// The largest difference between C and a product in double precision.
static double largest_error(mtl_buffer *const matrices[3]) {
  const float *a = mtl_buffer_contents(matrices[0]);
  const float *b = mtl_buffer_contents(matrices[1]);
  const float *c = mtl_buffer_contents(matrices[2]);
  double largest = 0;
  for (size_t row = 0; row < ROWS; ++row) {
    for (size_t column = 0; column < COLUMNS; ++column) {
      double sum = 0;
      for (size_t i = 0; i < INNER; ++i) {
        sum += (double)a[row * INNER + i] * b[i * COLUMNS + column];
      }
      const double error = fabs(sum - c[row * COLUMNS + column]);
      largest = error > largest || isnan(error) ? error : largest;
    }
  }
  return largest;
}

int main(void) {
  mtl_device *device;
  check(mtl_device_default(&device));
  mtl_pipeline *pipeline =
      load_kernel(device, "matrix_product.metal", "matrix_product", group);
  mtl_buffer *matrices[3] = {
      make_buffer(device, sizeof(float) * ROWS * INNER),
      make_buffer(device, sizeof(float) * INNER * COLUMNS),
      make_buffer(device, sizeof(float) * ROWS * COLUMNS),
  };
  fill(matrices[0], 1);
  fill(matrices[1], 2);

  const double seconds = multiply(device, pipeline, matrices);
  // A sum of n products below 1, rounded n times to 24 bits, is off by less
  // than n * n * 2^-24.
  const double bound = (double)INNER * INNER * 0x1p-24;
  const double error = largest_error(matrices);
  printf(
      "matrix product: %d x %d x %d in %.1f ms, %.1f GFLOP/s, largest error "
      "%.1e\n",
      ROWS, INNER, COLUMNS, seconds * 1e3,
      2.0 * ROWS * INNER * COLUMNS / seconds * 1e-9, error);

  for (int i = 0; i < 3; ++i) {
    mtl_buffer_release(matrices[i]);
  }
  mtl_pipeline_release(pipeline);
  mtl_device_release(device);
  return error <= bound ? 0 : 1;  // NaN is an error too
}
