// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// streams.h: shared by the tests of streams.
#ifndef TESTS_STREAM_STREAMS_H
#define TESTS_STREAM_STREAMS_H

#include "harness/test.h"
#include "mettle/mettle.h"

// add_one(data), scale(data, factor), fault(data), slow(data).
extern const char stream_kernels[];

// Released when the test ends.
mtl_stream *new_stream(void);
mtl_stream *new_stream_like(mtl_stream_desc desc);
mtl_shader_library *new_shader_library(const char *source);
mtl_kernel *new_kernel(const char *name);
mtl_buffer *new_words(mtl_stream *stream, size_t count);
static inline uint32_t *words_of(const mtl_buffer *buffer) {
  return mtl_buffer_contents(buffer);
}

// Records kernel over count threads with buffer at index 0.
void record(mtl_stream *stream, mtl_kernel *kernel, mtl_buffer *buffer,
            uint64_t count);

#endif
