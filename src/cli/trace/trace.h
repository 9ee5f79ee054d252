// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.h: a timeline's events, as read from its file.
#ifndef METTLE_CLI_TRACE_H
#define METTLE_CLI_TRACE_H

#include <stdint.h>

#include "cli/base/cli.h"

typedef struct trace_event {
  char kind;         // 'X' a slice, 'M' a name; others are as in the file
  uint64_t track;
  const char *name;  // and category: in the file's bytes
  const char *category;
  double start_us;
  double length_us;
  double bytes;           // bound or copied; 0 if it does not say
  const char *new_name;   // of 'M'
} trace_event;

typedef struct trace_file {
  char *bytes;          // malloc'ed; texts of events are in it
  trace_event *events;  // [count] malloc'ed
  size_t count;
} trace_file;

// Reads a timeline that Mettle wrote, a whole one or one that was cut short.
bool trace_read(const char *path, trace_file *out_file, cli_error *error);
void trace_clear(trace_file *file);

#endif
