// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_text.h: events of a timeline, as threads record them, and their text.
#ifndef MTLI_TRACE_TEXT_H
#define MTLI_TRACE_TEXT_H

#include "base/trace/trace.h"

// An event in a block: this, its arrows, its name, its arguments, and what
// aligns the next.
typedef struct mtli_trace_event {
  uint64_t track;
  uint64_t time_ns;
  uint64_t length_ns;    // of 'X'
  const char *category;  // a literal; NULL for none
  uint16_t name_length;
  uint16_t arguments_length;
  char kind;  // "ph" of the trace event format: X, i, C or M
  // The arrows that end in an 'X', and those that begin there.
  uint8_t arrivals;
  uint8_t departures;
} mtli_trace_event;

enum {
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

// Writes the JSON objects of the event and of its arrows' ends at target, of
// MTLI_TRACE_TEXT_BYTES, and returns their end.
char *mtli_trace_write_text(char *target, uint64_t process,
                            const mtli_trace_event *event);

#endif
