// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.c: products of simdgroup_matrix in fast math, whatever unit of the
// device does them, against sums in double; elements are where Apple has them.
#include "conformance.h"

#include <math.h>
#include <string.h>

enum { SIZE = 64 };

// Each simdgroup of a threadgroup of four has 32 x 32 of c; the right side goes
// through threadgroup memory if it is staged.
static const char products[] =
    "#include <metal_stdlib>\n"
    "#include <metal_simdgroup_matrix>\n"
    "using namespace metal;\n"
    "template <typename T, bool is_staged> void multiply(\n"
    "    device const T *a, device const T *b, device float *c,\n"
    "    threadgroup T *own, uint s, uint at) {\n"
    "  simdgroup_matrix<T, 8, 8> x[4], y[4];\n"
    "  simdgroup_float8x8 sums[4][4];\n"
    "  const uint row = 32 * (s / 2), column = 32 * (s % 2);\n"
    "  for (int i = 0; i < 16; i++)\n"
    "    sums[i / 4][i % 4] = simdgroup_float8x8(0);\n"
    "  for (uint k = 0; k < 64; k += 8) {\n"
    "    if (is_staged) {\n"
    "      threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "      for (uint e = at; e < 512; e += 128) own[e] = b[64 * k + e];\n"
    "      threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    }\n"
    "    for (int i = 0; i < 4; i++) {\n"
    "      simdgroup_load(x[i], a + 64 * (row + 8 * i) + k, 64);\n"
    "      if (is_staged) simdgroup_load(y[i], own + column + 8 * i, 64);\n"
    "      else simdgroup_load(y[i], b + 64 * k + column + 8 * i, 64);\n"
    "    }\n"
    "    for (int i = 0; i < 4; i++)\n"
    "      for (int j = 0; j < 4; j++)\n"
    "        simdgroup_multiply_accumulate(sums[i][j], x[i], y[j],\n"
    "                                      sums[i][j]);\n"
    "  }\n"
    "  for (int i = 0; i < 16; i++)\n"
    "    simdgroup_store(sums[i / 4][i % 4],\n"
    "                    c + 64 * (row + 8 * (i / 4)) + column + 8 * (i % 4),\n"
    "                    64);\n"
    "}\n"
    "#define KERNEL(T, name, staged) kernel void name(device const T *a, \\\n"
    "    device const T *b, device float *c, \\\n"
    "    uint s [[simdgroup_index_in_threadgroup]], \\\n"
    "    uint i [[thread_index_in_threadgroup]]) { \\\n"
    "  threadgroup T own[512]; multiply<T, staged>(a, b, c, own, s, i); }\n"
    "KERNEL(float, floats, false) KERNEL(float, staged_floats, true)\n"
    "KERNEL(half, halves, false) KERNEL(half, staged_halves, true)\n"
    "KERNEL(bfloat, bfloats, false) KERNEL(bfloat, staged_bfloats, true)\n"
    // Rows of a are numbered in its elements; b exchanges columns; one product
    // of a result, and one whose left side is a result.
    "kernel void elements(device float *c,\n"
    "                     uint3 p [[thread_position_in_threadgroup]],\n"
    "                     uint l [[thread_index_in_simdgroup]]) {\n"
    "  simdgroup_float8x8 a, b, d;\n"
    "  const uint row = (l >> 2 & 4) | (l >> 1 & 3);\n"
    "  const uint column = (l >> 1 & 4) | (l << 1 & 2);\n"
    "  for (uint i = 0; i < 2; i++) {\n"
    "    a.thread_elements()[i] = float(row * 8 + column + i);\n"
    "    b.thread_elements()[i] = row + column + i == 7 ? 1.0f : 0.0f;\n"
    "  }\n"
    "  simdgroup_multiply(d, a, b);\n"
    "  simdgroup_store(d, c, 8);\n"
    "  simdgroup_multiply(d, b, d);\n"
    "  simdgroup_store(d, c + 64, 8);\n"
    "  c[128 + l] = float(p.x + 8 * p.y);\n"
    "}\n";

// Numbers that are short enough for bfloats.
static double number(uint32_t i) {
  return (double)((int)(i * 2654435761u >> 24) - 128) / 64;
}

static void put(void *target, mtl_data_type type, uint32_t i) {
  const float value = (float)number(i);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t bfloat = (uint16_t)(bits >> 16);
  // Such a number's exponent and fraction fit a half exactly.
  const uint16_t half =
      value == 0 ? 0
                 : (uint16_t)((bits >> 16 & 0x8000) |
                              ((bits >> 23 & 0xff) - 112) << 10 |
                              (bits >> 13 & 0x3ff));
  if (type == MTL_TYPE_FLOAT) {
    ((float *)target)[i] = value;
  } else {
    ((uint16_t *)target)[i] = type == MTL_TYPE_HALF ? half : bfloat;
  }
}

static double expected(uint32_t row, uint32_t column) {
  double sum = 0;
  for (uint32_t k = 0; k < SIZE; k++) {
    sum += number(SIZE * row + k) * number(SIZE * k + column);
  }
  return sum;
}

static void multiply(const char *name, mtl_data_type type) {
  mtl_buffer *buffers[3];
  for (int i = 0; i < 3; i++) {
    buffers[i] = new_buffer(SIZE * SIZE * sizeof(float));
  }
  for (uint32_t i = 0; i < SIZE * SIZE; i++) {
    put(mtl_buffer_contents(buffers[0]), type, i);
    put(mtl_buffer_contents(buffers[1]), type, i);
  }
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline(products, name));
  for (uint32_t i = 0; i < 3; i++) {
    mtl_compute_encoder_set_buffer(encoder, buffers[i], 0, i);
  }
  mtl_compute_encoder_dispatch_threadgroups(encoder, size_of(1, 1, 1),
                                            size_of(128, 1, 1));
  CHECK_OK(mtl_compute_encoder_end(encoder));
  finish(commands);
  const float *c = mtl_buffer_contents(buffers[2]);
  for (uint32_t row = 0; row < SIZE; row++) {
    for (uint32_t column = 0; column < SIZE; column++) {
      // Terms are up to 4; each sum is rounded once or twice.
      CHECK(fabs(c[SIZE * row + column] - expected(row, column)) <
            4 * SIZE * SIZE * 0x1p-23);
    }
  }
}

TEST(tiles, products_of_floats) {
  multiply("floats", MTL_TYPE_FLOAT);
  multiply("staged_floats", MTL_TYPE_FLOAT);
}

TEST(tiles, products_of_halves) {
  multiply("halves", MTL_TYPE_HALF);
  multiply("staged_halves", MTL_TYPE_HALF);
}

TEST(tiles, products_of_bfloats) {
  multiply("bfloats", MTL_TYPE_BFLOAT);
  multiply("staged_bfloats", MTL_TYPE_BFLOAT);
}

TEST(tiles, elements_and_places_of_threads_are_those_of_metal) {
  mtl_buffer *buffer = new_buffer(160 * sizeof(float));
  mtl_command_buffer *commands = new_commands(new_queue());
  encode(commands, new_pipeline(products, "elements"), buffer,
         size_of(8, 4, 1), size_of(8, 4, 1));
  finish(commands);
  const float *c = mtl_buffer_contents(buffer);
  for (int i = 0; i < 64; i++) {
    CHECK(c[i] == (float)(i / 8 * 8 + 7 - i % 8));
    CHECK(c[64 + i] == (float)((7 - i / 8) * 8 + 7 - i % 8));
  }
  for (int i = 0; i < 32; i++) {
    CHECK(c[128 + i] == (float)i);
  }
}
