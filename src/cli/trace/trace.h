// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.h: a timeline's events, as read from its file.
#ifndef METTLE_CLI_TRACE_H
#define METTLE_CLI_TRACE_H

#include <stdint.h>

#include "cli/base/cli.h"

typedef struct trace_event {
  char kind;         // 'X' a slice, 'M' a name; others are as in the file
  uint64_t track;
  const char *name;  // of name and category: in the file's bytes
  const char *category;
  double start_us;
  double length_us;
  double bytes;  // bytes bound or copied; 0 if the event does not say
  const char *new_name;   // of 'M'
} trace_event;

typedef struct trace_file {
  char *bytes;  // malloc'ed; the events' texts point into it
  trace_event *events;  // [count] malloc'ed
  size_t count;
  size_t first, end;  // offsets of the whole events in the file
} trace_file;

// Reads a timeline that Mettle wrote, a whole one or one that was cut short.
// *out_raw, unless out_raw is NULL, is the file as it is, yours to free; it is
// set if the file could be read.
bool trace_read(const char *path, trace_file *out_file, char **out_raw,
                cli_error *error);
void trace_clear(trace_file *file);

// `mettle trace view`: arguments are what follows these words.
bool trace_view(char **arguments, cli_error *error);

#endif
