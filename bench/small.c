// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// small.c: dispatches of a few threadgroups that take 2.7 us each, 100 in a
// command buffer, one behind the other: what it costs to share them.
#include <math.h>
#include <stdlib.h>

#include "bench.h"

enum { BATCH = 100, GROUP_NS = 2700, GROUP_THREADS = 32, MOST_GROUPS = 256 };

static const char msl_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void chain(device float *out [[buffer(0)]],\n"
    "                  constant uint &count [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  float x = i;\n"
    "  for (uint n = 0; n < count; n++) {\n"
    "    x = fma(x, 0.999f, 1.0f);\n"
    "  }\n"
    "  out[i] = x;\n"
    "}\n";

static void run(mtl_pipeline *pipeline, mtl_buffer *out, uint32_t dispatches,
                uint32_t groups, uint32_t count) {
  mtl_command_buffer *commands = NULL;
  MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
  mtl_compute_encoder *encoder = NULL;
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_set_bytes(encoder, &count, sizeof count, 1);
  for (uint32_t i = 0; i < dispatches; i++) {
    mtl_compute_encoder_dispatch_threads(
        encoder, (mtl_size){groups * GROUP_THREADS, 1, 1},
        (mtl_size){GROUP_THREADS, 1, 1});
  }
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
}

// Finds how many turns of the loop take GROUP_NS.
static uint32_t calibrate(mtl_pipeline *pipeline, mtl_buffer *out) {
  enum { MANY = 1000 * 1000, TRIES = 5 };
  uint64_t best_ns = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    const uint64_t start = now_ns();
    run(pipeline, out, 1, 1, MANY);
    const uint64_t spent_ns = now_ns() - start;
    best_ns = spent_ns < best_ns ? spent_ns : best_ns;
  }
  return (uint32_t)((double)GROUP_NS * MANY / (double)best_ns);
}

// us a dispatch.
static double measure(const void *context) {
  static mtl_pipeline *pipeline;
  static mtl_buffer *out;
  static uint32_t count;
  if (pipeline == NULL) {
    pipeline = bench_pipeline(msl_source, "chain");
    out = bench_buffer(MOST_GROUPS * GROUP_THREADS * sizeof(float));
    count = calibrate(pipeline, out);
  }
  const uint64_t start = now_ns();
  run(pipeline, out, BATCH, (uint32_t)(uintptr_t)context, count);
  return (double)(now_ns() - start) / 1e3 / BATCH;
}

// What as many processors as the device has would take if sharing cost nothing.
static double find_ideal(const void *context) {
  const uint32_t groups = (uint32_t)(uintptr_t)context;
  const uint32_t threads = mtl_device_get_info(bench_device())->compute_units;
  return ceil((double)groups / threads) * GROUP_NS / 1e3;
}

#define ROW(groups, title)                               \
  {                                                      \
    .name = title, .unit = "us", .sample_count = 31,     \
    .mettle = measure, .peers = {{"ideal", find_ideal}}, \
    .context = (const void *)(uintptr_t)(groups)         \
  }
static const benchmark rows[] = {
    ROW(1, "1 group of 2.7 us"),     ROW(4, "4 groups of 2.7 us"),
    ROW(16, "16 groups of 2.7 us"),  ROW(64, "64 groups of 2.7 us"),
    ROW(256, "256 groups of 2.7 us"),
};
const bench_topic small_topic = {.name = "small dispatches",
                                 .rows = rows,
                                 .row_count = sizeof rows / sizeof rows[0]};
