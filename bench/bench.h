// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench.h: a benchmark is a row of a table: what Mettle takes and what others
// take for the same thing, measured side by side. Each topic has a file with
// its table; main.c runs them all, interleaved, and keeps the medians.
#ifndef METTLE_BENCH_H
#define METTLE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mettle/mettle.h"

#define BENCH_MAX_PEERS 4

// Measures once, in the benchmark's unit. NAN if it cannot be measured here.
typedef double bench_measure(const void *context);

typedef struct bench_peer {
  const char *name;  // "pocl", "memcpy", ...
  bench_measure *measure;
} bench_peer;

typedef struct benchmark {
  const char *name;
  const char *unit;       // "ns", "us", "ms": less is better; "GB/s": more is
  uint32_t sample_count;  // at least; the median is taken
  bench_measure *mettle;
  bench_peer peers[BENCH_MAX_PEERS];  // the rest have no name
  const void *context;                // for all measures of this row
  // NULL, or ends the program unless all sides' first results agree.
  void (*check)(const void *context);
  // NULL, or gives back what the row needed.
  void (*release)(const void *context);
} benchmark;

typedef struct bench_topic {
  const char *name;
  const benchmark *rows;  // [row_count]
  size_t row_count;
  bool has_summary;  // ends with geometric means
} bench_topic;

extern const bench_topic submit_topic, small_topic, copy_topic, compile_topic,
    length_topic, matrix_product_topic, stream_topic, message_topic;
extern bench_topic kernel_topic, scaling_topic;
// Fills in the last two.
void bench_kernels_prepare(void);

// --- what topics share (common.c) --------------------------------------------

uint64_t now_ns(void);
// Returns once this process is idle, or after a second: threads of libraries
// that wait by spinning would be in the way of the next sample.
void bench_let_threads_sleep(void);
// Ends the program with a message if a call of Mettle failed.
#define MUST(call) bench_must(call, #call)
void bench_must(mtl_status status, const char *call);
void *bench_allocate(size_t length_bytes);
// Pages, large ones where the system has them, as Mettle's buffers are.
void *bench_allocate_pages(size_t length_bytes);
void bench_free_pages(void *bytes, size_t length_bytes);

// Objects of the default device, made at the first call.
mtl_device *bench_device(void);
mtl_queue *bench_queue(int number);  // 0 or 1
mtl_buffer *bench_buffer(size_t length_bytes);
mtl_pipeline *bench_pipeline(const char *source, const char *name);
// One that is told its threadgroups, whose best code else comes in the
// background, when they are dispatched a second time.
mtl_pipeline *bench_pipeline_for(const char *source, const char *name,
                                 const uint32_t group[3]);

// Runs this program anew for one sample, "--sample NAME": with empty caches, or
// with a setting of the environment such as "METTLE_CPU_THREADS=1".
double bench_sample_without_cache(const char *name);
double bench_sample_with(const char *name, const char *setting);
// The samples that such a run can be asked for.
typedef struct bench_child_sample {
  const char *name;
  bench_measure *measure;
} bench_child_sample;
extern const bench_child_sample bench_child_samples[];
// MB that a compiler's process has at the most (compile_lengths.c). Takes all
// children of this process for the compiler's.
double bench_compiler_memory(const void *unused);
// The same for a kernel of that name; NAN if there is none.
double bench_kernel_sample(const char *name);

#endif
