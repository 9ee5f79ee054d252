// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_stream.c: a string that is written piece by piece, over the C
// library's streams in memory.
#include "objc/foundation/string_stream.h"

#include <stdlib.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

void string_stream_open(string_stream *stream) {
  stream->file = open_memstream(&stream->text, &stream->length);
  if (!stream->file) {
    runtime_fail("no memory for a string");
  }
}

id string_stream_close(string_stream *stream) {
  fclose(stream->file);
  const id made = string_make_bytes(stream->text, stream->length);
  free(stream->text);
  return made;
}
