// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copy.c: how fast buffers are copied.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "opencl.h"

#define COPY_BYTES ((size_t)128 << 20)  // beyond the caches

// Bytes read and bytes written both count, as in STREAM.
static double bandwidth(uint64_t start_ns) {
  return 2.0 * (double)COPY_BYTES / (double)(now_ns() - start_ns);
}

static double mettle_copy(const void *unused) {
  (void)unused;
  static mtl_buffer *source, *target;
  if (source == NULL) {
    source = bench_buffer(COPY_BYTES);
    target = bench_buffer(COPY_BYTES);
  }
  const uint64_t start = now_ns();
  mtl_command_buffer *commands = NULL;
  mtl_blit_encoder *encoder = NULL;
  MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
  MUST(mtl_blit_encoder_create(commands, &encoder));
  mtl_blit_encoder_copy(encoder, source, 0, target, 0, COPY_BYTES);
  MUST(mtl_blit_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  const double result = bandwidth(start);
  mtl_blit_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return result;
}

static double pocl_copy(const void *unused) {
  (void)unused;
  if (!opencl_is_there()) {
    return NAN;
  }
  static opencl_memory *source, *target;
  static opencl_queue *queue;
  if (source == NULL) {
    source = opencl_new_memory(COPY_BYTES);
    target = opencl_new_memory(COPY_BYTES);
    queue = opencl_new_queue();
  }
  const uint64_t start = now_ns();
  opencl_copy(queue, source, target, COPY_BYTES);
  opencl_finish(queue);
  return bandwidth(start);
}

static double memcpy_copy(const void *unused) {
  (void)unused;
  static char *source, *target;
  if (source == NULL) {
    source = bench_allocate(COPY_BYTES);
    target = bench_allocate(COPY_BYTES);
    memset(source, 1, COPY_BYTES);
    memset(target, 1, COPY_BYTES);
  }
  const uint64_t start = now_ns();
  memcpy(target, source, COPY_BYTES);
  __asm__ volatile("" ::"r"(target) : "memory");  // the copy is wanted
  return bandwidth(start);
}

static const benchmark rows[] = {
    {.name = "copy of 128 MiB",
     .unit = "GB/s",
     .sample_count = 11,
     .mettle = mettle_copy,
     .peers = {{"pocl", pocl_copy}, {"memcpy", memcpy_copy}}},
};
const bench_topic copy_topic = {
    .name = "memory", .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
