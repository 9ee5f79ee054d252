// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_file.h: the file of a timeline, which one thread at a time writes.
#ifndef MTLI_TRACE_FILE_H
#define MTLI_TRACE_FILE_H

#include "base/trace/trace_text.h"

typedef struct mtli_trace_file {
  char *buffer;  // malloc'ed; NULL if no timeline is written
  size_t length;
  int file;
  int error;  // an errno: something is missing in the file
  bool has_events;
  mtli_trace_heads heads;
} mtli_trace_file;

// Creates the file path, in which %p is the process's number.
//
// Errors  MTL_IO_ERROR       the text has the reason
//         MTL_OUT_OF_MEMORY
mtl_status mtli_trace_file_create(mtli_trace_file *file, const char *path);
// Writes bytes of events, as they are kept (trace_text.h).
void mtli_trace_file_write(mtli_trace_file *file, const unsigned char *events,
                           size_t bytes);
// Completes and closes it.
//
// Errors  MTL_IO_ERROR  not all could be written
mtl_status mtli_trace_file_close(mtli_trace_file *file);

#endif
