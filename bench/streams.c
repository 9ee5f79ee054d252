// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// streams.c: what a dispatch costs on a stream under each way to synchronise
// behind every one of them, all 1,000 waited for in the end; and the same where
// the host waits often, as a model does that makes word after word.
#include "bench.h"

#define DISPATCHES 1000
#define STEPS 20  // of the decoding loop, waited for each
#define STEP_DISPATCHES 150

static const char msl_source[] =
    "kernel void add(device float *x [[buffer(0)]],\n"
    "                constant long &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  x[i] += float(n);\n"
    "}\n";

static mtl_stream *stream;
static mtl_kernel *kernel;
static void *memory;

static void prepare(void) {
  if (stream != NULL) {
    return;
  }
  MUST(mtl_stream_create(bench_device(), NULL, &stream));
  mtl_shader_library *library = NULL;
  MUST(mtl_shader_library_create(bench_device(), msl_source, &library));
  MUST(mtl_shader_library_kernel(library, "add", &kernel));
  MUST(mtl_memory_allocate(stream, 1 << 20, MTL_MEMORY_FOR_HOST, &memory));
}

static void dispatch(uint64_t threads) {
  MUST(mtl_stream_start_encoding(stream, kernel));
  MUST(mtl_stream_set_address(stream, 0, memory, threads * sizeof(float)));
  MUST(mtl_stream_set_int64(stream, 1, 1));
  MUST(mtl_stream_dispatch(stream, &threads, 1, NULL));
}

// us for a dispatch of DISPATCHES.
static double per_dispatch(const void *context) {
  const mtl_sync_mode mode = *(const mtl_sync_mode *)context;
  prepare();
  const uint64_t start = now_ns();
  for (int i = 0; i < DISPATCHES; i++) {
    dispatch(1024);
    MUST(mtl_stream_synchronize(stream, mode));
  }
  MUST(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  return (double)(now_ns() - start) / 1e3 / DISPATCHES;
}

// us for a step of STEP_DISPATCHES that take some microseconds each.
static double per_step(const mtl_sync_mode mode) {
  prepare();
  const uint64_t start = now_ns();
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < STEP_DISPATCHES; i++) {
      dispatch(i % 8 == 0 ? 65536 : 4096);
      MUST(mtl_stream_synchronize(stream, mode));
    }
    MUST(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  }
  return (double)(now_ns() - start) / 1e3 / STEPS;
}

static double step_adaptive(const void *unused) {
  (void)unused;
  return per_step(MTL_SYNC_COMMIT_ADAPTIVE);
}

static double step_none(const void *unused) {
  (void)unused;
  return per_step(MTL_SYNC_NONE);
}

static double step_commit(const void *unused) {
  (void)unused;
  return per_step(MTL_SYNC_COMMIT);
}

static double step_wait(const void *unused) {
  (void)unused;
  return per_step(MTL_SYNC_COMMIT_AND_WAIT);
}

static const mtl_sync_mode modes[] = {
    MTL_SYNC_NONE, MTL_SYNC_COMMIT, MTL_SYNC_COMMIT_AND_WAIT,
    MTL_SYNC_COMMIT_AND_CONTINUE, MTL_SYNC_COMMIT_ADAPTIVE};

static const benchmark rows[] = {
    {"dispatch, none", "us", 15, per_dispatch, {{0}}, &modes[0], NULL, NULL},
    {"dispatch, commit", "us", 15, per_dispatch, {{0}}, &modes[1], NULL, NULL},
    {"dispatch, commit-and-wait",
     "us",
     15,
     per_dispatch,
     {{0}},
     &modes[2],
     NULL,
     NULL},
    {"dispatch, commit-and-continue",
     "us",
     15,
     per_dispatch,
     {{0}},
     &modes[3],
     NULL,
     NULL},
    {"dispatch, adaptive",
     "us",
     15,
     per_dispatch,
     {{0}},
     &modes[4],
     NULL,
     NULL},
    {"decoding step, adaptive",
     "us",
     15,
     step_adaptive,
     {{"none", step_none},
      {"commit", step_commit},
      {"commit-and-wait", step_wait}},
     NULL,
     NULL,
     NULL},
};

const bench_topic stream_topic = {"streams", rows, sizeof rows / sizeof rows[0],
                                  false};
