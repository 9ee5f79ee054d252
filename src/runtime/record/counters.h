// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.h: samples as encoders record them (counters.c), and the times of a
// command buffer's work (work_times.c).
#ifndef MTLI_COUNTERS_H
#define MTLI_COUNTERS_H

#include "mettle/counters.h"
#include "runtime/record/recording.h"

// Fails unless samples has a sample index and is of device.
mtl_status mtli_counters_check(const mtl_counter_sample_buffer *samples,
                               uint32_t index, const mtl_device *device,
                               const char *call);
// Records that sample index, which was checked, is taken.
void mtli_counters_sample(mtli_recording *recording,
                          mtl_counter_sample_buffer *samples, uint32_t index,
                          bool is_ordered);

// The times of one command buffer: a list while it is recorded.
typedef struct mtli_work_entry {
  struct mtli_work_entry *next;
  mtli_command *command;  // NULL for an encoder
  mtli_command_times times;
  mtl_work_time shown;  // its times, once it has run
  bool is_hidden;       // an event: of the timeline alone (trace_work.c)
} mtli_work_entry;

struct mtli_work_times {
  mtli_arena arena;
  mtli_work_entry *first;
  mtli_work_entry *last;
  size_t count;  // of those that are shown
  uint32_t encoder_count;
  bool is_encoding;
  mtl_work_time *shown;  // [count] filled in at completion
};

// Makes an empty list in blocks of pool, which outlives it; NULL when out of
// memory.
mtli_work_times *mtli_work_times_create(mtli_arena_pool *pool);
void mtli_work_times_free(mtli_work_times *times);
// An encoder opens, and ends. Fail the recording when out of memory.
void mtli_work_times_open(mtli_recording *recording, mtl_work_kind kind);
void mtli_work_times_close(mtli_recording *recording);
// Has a command's times kept.
void mtli_work_times_add(mtli_recording *recording, mtli_command *command);
// Copies the recorded names, which are freed when the work is done.
void mtli_work_times_seal(mtli_recording *recording);
// All work has run: fills in the result of mtl_command_buffer_work_times.
void mtli_work_times_finish(mtli_work_times *times);

#endif
