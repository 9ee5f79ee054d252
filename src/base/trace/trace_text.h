// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_text.h: events of a timeline, as threads record them, and their text.
#ifndef MTLI_TRACE_TEXT_H
#define MTLI_TRACE_TEXT_H

#include "base/trace/trace.h"

// An event in a block: this, its arrows, its name, its arguments, and what
// aligns the next. Or a mtli_trace_dispatch, whose kind is MTLI_TRACE_DISPATCH.
typedef struct mtli_trace_event {
  char kind;  // "ph" of the trace event format: X, C or M
  // The arrows that end in an 'X', and those that begin there.
  uint8_t arrivals;
  uint8_t departures;
  uint16_t name_length;
  uint16_t arguments_length;
  uint64_t track;
  uint64_t time_ns;
  uint64_t length_ns;    // of 'X'
  const char *category;  // a literal; NULL for none
} mtli_trace_event;

enum {
  MTLI_TRACE_DISPATCH = 'D',
  MTLI_TRACE_NAME_BYTES = 512,  // longer names are cut
  // The longest text of an event, with its two arrows: each byte becomes six at
  // most.
  MTLI_TRACE_TEXT_BYTES = 6 * (MTLI_TRACE_NAME_BYTES + 1000) + 2048,
};

// Returns the bytes that an event takes in a block, a multiple of 8.
static inline size_t mtli_trace_event_bytes(const mtli_trace_event *event) {
  const size_t arrows = (size_t)event->arrivals + event->departures;
  const size_t bytes = sizeof *event + arrows * sizeof(mtli_trace_arrow) +
                       event->name_length + event->arguments_length;
  return (bytes + 7) & ~(size_t)7;
}

// What objects begin with, for some tracks. All zeros at first, but for the
// process.
enum { MTLI_TRACE_HEADS = 64 };
typedef struct mtli_trace_head {
  uint64_t track;
  size_t length;  // 0 for none
  char text[80];  // two numbers of up to 20 digits, and 34 characters
} mtli_trace_head;
typedef struct mtli_trace_heads {
  uint64_t process;
  mtli_trace_head kept[MTLI_TRACE_HEADS];
} mtli_trace_heads;

// Write the JSON objects of the event and of its arrows' ends, or of the
// dispatch and the thread's work, at target, of MTLI_TRACE_TEXT_BYTES, and
// return their end.
char *mtli_trace_write_text(char *target, mtli_trace_heads *heads,
                            const mtli_trace_event *event);
char *mtli_trace_write_dispatch(char *target, mtli_trace_heads *heads,
                                const mtli_trace_dispatch *dispatch);

#endif
