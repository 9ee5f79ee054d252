// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_text.h: events of a timeline, as threads record them, and their text.
#ifndef MTLI_TRACE_TEXT_H
#define MTLI_TRACE_TEXT_H

#include "base/trace/trace.h"

// An event in a block: this, its name, its arguments, and what aligns the next.
typedef struct mtli_trace_event {
  uint64_t track;
  uint64_t time_ns;
  union {
    uint64_t length_ns;  // of 'X'
    uint64_t flow;       // of 's' and 'f'
  };
  const char *category;  // a literal; NULL for none
  uint16_t name_length;
  uint16_t arguments_length;
  char kind;  // "ph" of the trace event format: X, i, C, s, f or M
} mtli_trace_event;

enum {
  MTLI_TRACE_NAME_BYTES = 512,  // what is longer is cut
  // No event's text is longer: each byte of it takes six at the most.
  MTLI_TRACE_TEXT_BYTES = 6 * (MTLI_TRACE_NAME_BYTES + 1000) + 1024,
};

// The bytes that an event takes in a block, a multiple of 8.
static inline size_t mtli_trace_event_bytes(const mtli_trace_event *event) {
  const size_t bytes =
      sizeof *event + event->name_length + event->arguments_length;
  return (bytes + 7) & ~(size_t)7;
}

// Writes the event's JSON object at target, of MTLI_TRACE_TEXT_BYTES, and
// returns its end.
char *mtli_trace_write_text(char *target, uint64_t process,
                            const mtli_trace_event *event);

#endif
