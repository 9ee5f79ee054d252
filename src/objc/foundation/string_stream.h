// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_stream.h: a string that is written piece by piece.
#ifndef METTLE_OBJC_STRING_STREAM_H
#define METTLE_OBJC_STRING_STREAM_H

#include <stddef.h>
#include <stdio.h>

#include "objc/runtime/abi.h"

typedef struct string_stream {
  FILE *file;  // to write UTF-8 to
  char *text;
  size_t length;
} string_stream;

// Opens a stream, which stays where it is until it is closed.
void string_stream_open(string_stream *stream);
// Closes it, and makes a string of what was written.
id string_stream_close(string_stream *stream);

#endif
