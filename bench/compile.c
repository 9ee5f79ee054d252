// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile.c: from source to a pipeline that can run: cold, warm, from cache.
//
// cold   a new process with an empty cache, from its first call on; the
//        compiler's process starts within the time
// warm   a source never seen, in a process that has compiled before
// hit    a source seen before, through the cache on disk
//
// PoCL makes a kernel's machine code when it is first run, so on both sides a
// first run of one small group is within the time.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "opencl.h"

// A small kernel; the number makes it a new one.
static const char msl_format[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void saxpy(device const float *x [[buffer(0)]],\n"
    "                  device float *y [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  y[i] = fma(%u.5f, x[i], y[i]);\n"
    "}\n";
static const char cl_format[] =
    "kernel void saxpy(global const float *x, global float *y) {\n"
    "  size_t i = get_global_id(0);\n"
    "  y[i] = fma(%u.5f, x[i], y[i]);\n"
    "}\n";
static const size_t group[3] = {32, 1, 1};

// ms from source to the end of the first run.
static double mettle_once(uint32_t number) {
  static mtl_buffer *buffers[2];
  char source[512];
  snprintf(source, sizeof source, msl_format, number);
  const uint64_t start = now_ns();
  if (buffers[0] == NULL) {
    buffers[0] = bench_buffer(128);
    buffers[1] = bench_buffer(128);
  }
  mtl_pipeline *pipeline = bench_pipeline(source, "saxpy");
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, buffers[0], 0, 0);
  mtl_compute_encoder_set_buffer(encoder, buffers[1], 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){32, 1, 1},
                                       (mtl_size){32, 1, 1});
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  const double result = (double)(now_ns() - start) / 1e6;
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  mtl_pipeline_release(pipeline);
  return result;
}

static double pocl_once(uint32_t number) {
  static opencl_memory *memory[2];
  static opencl_queue *queue;
  char source[512];
  snprintf(source, sizeof source, cl_format, number);
  const uint64_t start = now_ns();
  if (!opencl_is_there()) {
    return NAN;
  }
  if (queue == NULL) {
    queue = opencl_new_queue();
    memory[0] = opencl_new_memory(128);
    memory[1] = opencl_new_memory(128);
  }
  opencl_kernel *kernel = opencl_new_kernel(source, "saxpy");
  opencl_set_memory(kernel, 0, memory[0]);
  opencl_set_memory(kernel, 1, memory[1]);
  opencl_run(queue, kernel, group, group);
  opencl_finish(queue);
  const double result = (double)(now_ns() - start) / 1e6;
  opencl_release_kernel(kernel);
  return result;
}

static double mettle_first(const void *unused) {
  (void)unused;
  return mettle_once(1);
}

static double pocl_first(const void *unused) {
  (void)unused;
  return pocl_once(1);
}

const bench_child_sample bench_child_samples[] = {
    {"mettle", mettle_first},
    {"pocl", pocl_first},
    {"compiler memory", bench_compiler_memory},
    {NULL, NULL}};

static double mettle_cold(const void *unused) {
  (void)unused;
  return bench_sample_without_cache("mettle");
}

static double pocl_cold(const void *unused) {
  (void)unused;
  return opencl_is_there() ? bench_sample_without_cache("pocl") : NAN;
}

static uint32_t fresh_number(void) {
  static uint32_t number = 1000;
  return number++;
}

static double mettle_warm(const void *unused) {
  (void)unused;
  return mettle_once(fresh_number());
}

static double pocl_warm(const void *unused) {
  (void)unused;
  return pocl_once(fresh_number());
}

static const benchmark rows[] = {
    {.name = "first compile, cold",
     .unit = "ms",
     .sample_count = 5,
     .mettle = mettle_cold,
     .peers = {{"pocl", pocl_cold}}},
    {.name = "compile, warm",
     .unit = "ms",
     .sample_count = 11,
     .mettle = mettle_warm,
     .peers = {{"pocl", pocl_warm}}},
    {.name = "compile, from the cache",
     .unit = "ms",
     .sample_count = 31,
     .mettle = mettle_first,
     .peers = {{"pocl", pocl_first}}},
};
const bench_topic compile_topic = {.name = "compilation to the first run",
                                   .rows = rows,
                                   .row_count = sizeof rows / sizeof rows[0]};
