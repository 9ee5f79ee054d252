// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.h: a timeline of the process, as a file in the trace event format that
// Perfetto and Chrome read. Off, it costs a look at one variable. On, a thread
// copies what an event consists of into a block of its own; another thread
// makes the text.
// Source: "Trace Event Format", Google, 2016; times are CLOCK_MONOTONIC's.
#ifndef MTLI_TRACE_H
#define MTLI_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

extern _Atomic bool mtli_trace_state;

static inline bool mtli_trace_is_on(void) {
  // Relaxed: who begins or ends a timeline does not mind an event more or less.
  return atomic_load_explicit(&mtli_trace_state, memory_order_relaxed);
}

// Begins a timeline in the file path, in which %p is the process's number.
//
// Errors  MTL_INVALID_STATE  one is being written
//         MTL_IO_ERROR       the text has the reason
mtl_status mtli_trace_start(const char *path);
// Begins the timeline that METTLE_TRACE names, if any, once in a process.
mtl_status mtli_trace_start_by_setting(void);
// Ends the timeline and completes its file. So does the end of the process.
//
// Errors  MTL_IO_ERROR  not all could be written
mtl_status mtli_trace_stop(void);
// Counts the timelines of the process.
uint32_t mtli_trace_timeline(void);
// In the child of a fork: forgets the timeline, which is the parent's.
void mtli_trace_forget(void);

// The track that shows an event: the calling thread's, or one made for it. A
// queue has several, for work that overlaps.
typedef uint64_t mtli_trace_track;
#define MTLI_TRACE_THREAD ((mtli_trace_track)0)
enum { MTLI_TRACE_ROWS = 8 };  // of a queue

// Makes MTLI_TRACE_ROWS rows; the first has the name.
mtli_trace_track mtli_trace_add_track(const char *name);

// The members of a JSON object that is shown with an event. Names are literals.
// Members that do not fit are dropped.
typedef struct mtli_trace_arguments {
  size_t length;  // length of bytes; 0 at first
  unsigned char bytes[1000];
} mtli_trace_arguments;
static inline void mtli_trace_clear(mtli_trace_arguments *arguments) {
  arguments->length = 0;  // only the length: clearing all of it takes longer
                          // than an event
}
void mtli_trace_text(mtli_trace_arguments *arguments, const char *name,
                     const char *value);
void mtli_trace_number(mtli_trace_arguments *arguments, const char *name,
                       uint64_t value);
void mtli_trace_sizes(mtli_trace_arguments *arguments, const char *name,
                      const uint32_t value[3]);

// One end of an arrow, which leads from a slice to a later one.
typedef struct mtli_trace_arrow {
  const char *name;  // a literal
  uint64_t flow;     // of both ends, and of no other arrow; 0 for no arrow
  uint64_t at_ns;    // within the slice of this end
} mtli_trace_arrow;
uint64_t mtli_trace_new_flow(void);

// The calling thread's part of the timeline. Several events at a time cost less
// than one by one.
typedef struct mtli_trace_log mtli_trace_log;
// Opens it, until it is closed; NULL if no timeline is being written. In
// between the thread does nothing but add: a timeline that ends waits for it.
mtli_trace_log *mtli_trace_open(void);
void mtli_trace_close(mtli_trace_log *log);

// Categories are literals; the name is copied, its first 512 bytes. arguments
// may be NULL, and so may what ends in the slice (arrival) and begins there
// (departure).
typedef struct mtli_trace_slice {
  mtli_trace_track track;
  const char *category;
  const char *name;
  uint64_t start_ns, end_ns;
  const mtli_trace_arguments *arguments;
  const mtli_trace_arrow *arrival, *departure;
} mtli_trace_slice;
void mtli_trace_add(mtli_trace_log *log, const mtli_trace_slice *slice);

// A dispatch, of which most timelines have the most: kept in one cache line.
typedef struct mtli_trace_dispatch {
  char kind;  // set by mtli_trace_add_dispatch
  uint16_t group[3];
  const char *name;  // lasts until the timeline ends
  uint64_t start_ns, end_ns;
  uint64_t bytes;
  uint32_t track;
  uint32_t thread;  // whose work alone it was; 0 for nobody's
  uint32_t line;    // 0 for none
  uint32_t grid[3];
} mtli_trace_dispatch;
void mtli_trace_add_dispatch(mtli_trace_log *log,
                             const mtli_trace_dispatch *dispatch);
// The calling thread, as a track that has its name; 0 if there is no timeline.
uint32_t mtli_trace_thread(void);

// Records one event, if a timeline is being written. Counters' units are
// literals.
void mtli_trace_add_alone(const mtli_trace_slice *slice);
void mtli_trace_counter(const char *name, const char *unit, uint64_t at_ns,
                        uint64_t value);

#endif
