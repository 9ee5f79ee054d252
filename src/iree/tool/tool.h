// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tool.h: the parts of `mettle iree`, which are built into libmettle-iree.
#ifndef METTLE_IREE_TOOL_TOOL_H
#define METTLE_IREE_TOOL_TOOL_H

#include <stdbool.h>

#include "iree/runtime/api.h"

#define TOOL_API __attribute__((visibility("default")))

enum { MAX_VALUES = 64, MAX_REPEATS = 1000000 };

// A command line of `mettle iree run`.
typedef struct tool_options {
  const char *program;
  const char *function;                   // NULL for the only one
  const char *device;                     // NULL for Mettle's default
  iree_string_view_t inputs[MAX_VALUES];  // as iree-run-module takes them
  iree_host_size_t input_count;
  iree_string_view_t outputs[MAX_VALUES];
  iree_host_size_t output_count;
  uint32_t repeats;
  bool as_json;
  char texts[MAX_VALUES * 2][1024];  // memory of inputs and outputs
  uint32_t text_count;
} tool_options;

// Prints the error and returns false, or fills out_options.
bool tool_parse(char **arguments, tool_options *out_options);

// What calls took.
typedef struct tool_times {
  double load_seconds;
  double min_seconds;
  double median_seconds;
  double cpu_seconds;  // processor time of a call, on average
} tool_times;

// Prints the results, or writes them where the options say.
iree_status_t tool_report(const tool_options *options, const char *function,
                          iree_runtime_session_t *session,
                          iree_vm_list_t *results, const tool_times *times);

#endif
