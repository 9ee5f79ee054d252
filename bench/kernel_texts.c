// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernel_texts.c: the kernels of the benchmark in MSL and in OpenCL C. The two
// forms of a kernel do the same work in the same way.
#include "kernels.h"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define METAL "#include <metal_stdlib>\nusing namespace metal;\n"

const char saxpy_msl[] = METAL
    "kernel void k(device const float *x [[buffer(0)]],\n"
    "              device float *y [[buffer(1)]],\n"
    "              uint i [[thread_position_in_grid]]) {\n"
    "  y[i] = 0.5f * x[i] + y[i];\n"
    "}\n";
const char saxpy_opencl[] =
    "kernel void k(global const float *x, global float *y) {\n"
    "  uint i = get_global_id(0);\n"
    "  y[i] = 0.5f * x[i] + y[i];\n"
    "}\n";

#define MANDELBROT_BODY \
  "  float cr = -2.0f + 2.5f * (float)px / (float)n;\n"                     \
  "  float ci = -1.25f + 2.5f * (float)py / (float)n;\n"                    \
  "  float zr = 0, zi = 0;\n"                                               \
  "  uint count = 0;\n"                                                     \
  "  while (count < " TEXT(MANDELBROT_LIMIT) " && zr * zr + zi * zi < 4.0f) { \n" \
  "    float next = zr * zr - zi * zi + cr;\n"                              \
  "    zi = 2.0f * zr * zi + ci;\n"                                         \
  "    zr = next;\n"                                                        \
  "    count++;\n"                                                          \
  "  }\n"                                                                   \
  "  out[py * n + px] = count;\n"
const char mandelbrot_msl[] = METAL
    "kernel void k(device uint *out [[buffer(0)]],\n"
    "              uint2 p [[thread_position_in_grid]],\n"
    "              uint2 size [[threads_per_grid]]) {\n"
    "  uint px = p.x, py = p.y, n = size.x;\n" MANDELBROT_BODY "}\n";
const char mandelbrot_opencl[] =
    "kernel void k(global uint *out) {\n"
    "  uint px = get_global_id(0), py = get_global_id(1);\n"
    "  uint n = get_global_size(0);\n" MANDELBROT_BODY "}\n";

#define PRODUCT_BODY                                 \
  "  float sum = 0;\n"                               \
  "  for (uint i = 0; i < n; i++) {\n"               \
  "    sum += a[row * n + i] * b[i * n + column];\n" \
  "  }\n"                                            \
  "  c[row * n + column] = sum;\n"
const char product_msl[] = METAL
    "kernel void k(device const float *a [[buffer(0)]],\n"
    "              device const float *b [[buffer(1)]],\n"
    "              device float *c [[buffer(2)]],\n"
    "              uint2 p [[thread_position_in_grid]],\n"
    "              uint2 size [[threads_per_grid]]) {\n"
    "  uint column = p.x, row = p.y, n = size.x;\n" PRODUCT_BODY "}\n";
const char product_opencl[] =
    "kernel void k(global const float *a, global const float *b,\n"
    "              global float *c) {\n"
    "  uint column = get_global_id(0), row = get_global_id(1);\n"
    "  uint n = get_global_size(0);\n" PRODUCT_BODY "}\n";

#define TILED_BODY(barrier)                            \
  "  float sum = 0;\n"                                 \
  "  for (uint first = 0; first < n; first += 16) {\n" \
  "    ta[y][x] = a[row * n + first + x];\n"           \
  "    tb[y][x] = b[(first + y) * n + column];\n"      \
  "    " barrier                                       \
  ";\n"                                                \
  "    for (uint i = 0; i < 16; i++) {\n"              \
  "      sum += ta[y][i] * tb[i][x];\n"                \
  "    }\n"                                            \
  "    " barrier                                       \
  ";\n"                                                \
  "  }\n"                                              \
  "  c[row * n + column] = sum;\n"
const char tiled_product_msl[] = METAL
    "kernel void k(device const float *a [[buffer(0)]],\n"
    "              device const float *b [[buffer(1)]],\n"
    "              device float *c [[buffer(2)]],\n"
    "              uint2 p [[thread_position_in_grid]],\n"
    "              uint2 local [[thread_position_in_threadgroup]],\n"
    "              uint2 size [[threads_per_grid]]) {\n"
    "  threadgroup float ta[16][16], tb[16][16];\n"
    "  uint column = p.x, row = p.y, n = size.x;\n"
    "  uint x = local.x, y = local.y;\n" TILED_BODY(
        "threadgroup_barrier(mem_flags::mem_threadgroup)") "}\n";
const char tiled_product_opencl[] =
    "kernel void k(global const float *a, global const float *b,\n"
    "              global float *c) {\n"
    "  local float ta[16][16], tb[16][16];\n"
    "  uint column = get_global_id(0), row = get_global_id(1);\n"
    "  uint n = get_global_size(0);\n"
    "  uint x = get_local_id(0), y = get_local_id(1);\n" TILED_BODY(
        "barrier(CLK_LOCAL_MEM_FENCE)") "}\n";

#define TREE_BODY(barrier)                                 \
  "  sums[l] = in[i];\n"                                   \
  "  for (uint stride = 128; stride > 0; stride /= 2) {\n" \
  "    " barrier                                           \
  ";\n"                                                    \
  "    if (l < stride) { sums[l] += sums[l + stride]; }\n" \
  "  }\n"                                                  \
  "  if (l == 0) { out[g] = sums[0]; }\n"
const char tree_sum_msl[] = METAL
    "kernel void k(device const float *in [[buffer(0)]],\n"
    "              device float *out [[buffer(1)]],\n"
    "              uint i [[thread_position_in_grid]],\n"
    "              uint l [[thread_index_in_threadgroup]],\n"
    "              uint g [[threadgroup_position_in_grid]]) {\n"
    "  threadgroup float sums[256];\n" TREE_BODY(
        "threadgroup_barrier(mem_flags::mem_threadgroup)") "}\n";
const char tree_sum_opencl[] =
    "kernel void k(global const float *in, global float *out) {\n"
    "  local float sums[256];\n"
    "  uint i = get_global_id(0), l = get_local_id(0);\n"
    "  uint g = get_group_id(0);\n" TREE_BODY(
        "barrier(CLK_LOCAL_MEM_FENCE)") "}\n";

// A row is a threadgroup of 256 threads.
#define SOFTMAX_BODY(barrier) \
  "  const uint n = " TEXT(SOFTMAX_COLUMNS) ";\n"                   \
  "  float most = -INFINITY;\n"                                     \
  "  for (uint c = l; c < n; c += 256) {\n"                         \
  "    most = fmax(most, in[row * n + c]);\n"                       \
  "  }\n"                                                           \
  "  shared[l] = most;\n"                                           \
  "  for (uint stride = 128; stride > 0; stride /= 2) {\n"          \
  "    " barrier ";\n"                                              \
  "    if (l < stride) {\n"                                         \
  "      shared[l] = fmax(shared[l], shared[l + stride]);\n"        \
  "    }\n"                                                         \
  "  }\n"                                                           \
  "  " barrier ";\n"                                                \
  "  most = shared[0];\n"                                           \
  "  " barrier ";\n"                                                \
  "  float sum = 0;\n"                                              \
  "  for (uint c = l; c < n; c += 256) {\n"                         \
  "    sum += exp(in[row * n + c] - most);\n"                       \
  "  }\n"                                                           \
  "  shared[l] = sum;\n"                                            \
  "  for (uint stride = 128; stride > 0; stride /= 2) {\n"          \
  "    " barrier ";\n"                                              \
  "    if (l < stride) { shared[l] += shared[l + stride]; }\n"      \
  "  }\n"                                                           \
  "  " barrier ";\n"                                                \
  "  sum = shared[0];\n"                                            \
  "  for (uint c = l; c < n; c += 256) {\n"                         \
  "    out[row * n + c] = exp(in[row * n + c] - most) / sum;\n"     \
  "  }\n"
const char softmax_msl[] = METAL
    "kernel void k(device const float *in [[buffer(0)]],\n"
    "              device float *out [[buffer(1)]],\n"
    "              uint l [[thread_index_in_threadgroup]],\n"
    "              uint row [[threadgroup_position_in_grid]]) {\n"
    "  threadgroup float shared[256];\n" SOFTMAX_BODY(
        "threadgroup_barrier(mem_flags::mem_threadgroup)") "}\n";
const char softmax_opencl[] =
    "kernel void k(global const float *in, global float *out) {\n"
    "  local float shared[256];\n"
    "  uint l = get_local_id(0), row = get_group_id(0);\n" SOFTMAX_BODY(
        "barrier(CLK_LOCAL_MEM_FENCE)") "}\n";

const char histogram_msl[] = METAL
    "kernel void k(device const uint *in [[buffer(0)]],\n"
    "              device atomic_uint *bins [[buffer(1)]],\n"
    "              uint i [[thread_position_in_grid]]) {\n"
    "  atomic_fetch_add_explicit(&bins[in[i] & 255], 1,\n"
    "                            memory_order_relaxed);\n"
    "}\n";
const char histogram_opencl[] =
    "kernel void k(global const uint *in, global volatile uint *bins) {\n"
    "  atomic_inc(&bins[in[get_global_id(0)] & 255]);\n"
    "}\n";
