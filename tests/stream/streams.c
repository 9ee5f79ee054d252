// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// streams.c: shared by the tests of streams.
#include "stream/streams.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char stream_kernels[] =
    "kernel void add_one(device uint *data, uint i [[thread_position_in_grid]])"
    " { data[i] += 1; }\n"
    "kernel void scale(device uint *data, constant long &factor,\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  data[i] *= uint(factor);\n"
    "}\n"
    "kernel void add_two(device uint *data, constant uint2 &value,\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  data[i] += value.x + value.y;\n"
    "}\n"
    "kernel void positions(device uint *data,\n"
    "                      uint3 p [[thread_position_in_grid]],\n"
    "                      uint3 size [[threads_per_grid]],\n"
    "                      uint3 group [[threads_per_threadgroup]]) {\n"
    "  data[p.x + size.x * (p.y + size.y * p.z)] +=\n"
    "      group.x * group.y * group.z > 0 ? 1 : 0;\n"
    "}\n"
    "kernel void fault(device uint *data,\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  data[(1ul << 40) + i] = 1;\n"
    "}\n"
    // Runs long enough for later work to be recorded before it ends.
    "kernel void slow(device uint *data,\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  uint value = data[i];\n"
    "  for (uint n = 0; n < 3000000; ++n) value = value * 1664525 + "
    "1013904223;\n"
    "  data[i] = value;\n"
    "}\n";

void test_prepare(void) {
  const char *device = getenv("METTLE_DEVICE");
  if (device && strcmp(device, "cuda") == 0 &&
      access("/dev/nvidiactl", F_OK) != 0) {
    test_skip("no NVIDIA GPU");
  }
}

static void release_stream(void *stream) {
  mtl_stream_release(stream);
}

static void release_library(void *library) {
  mtl_shader_library_release(library);
}

static void release_buffer(void *buffer) {
  mtl_buffer_release(buffer);
}

mtl_stream *new_stream_like(mtl_stream_desc desc) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_create(NULL, &desc, &stream));
  test_defer(release_stream, stream);
  return stream;
}

mtl_stream *new_stream(void) {
  return new_stream_like((mtl_stream_desc){0});
}

mtl_shader_library *new_shader_library(const char *source) {
  mtl_shader_library *library = NULL;
  CHECK_OK(mtl_shader_library_create(NULL, source, &library));
  test_defer(release_library, library);
  return library;
}

mtl_kernel *new_kernel(const char *name) {
  mtl_kernel *kernel = NULL;
  CHECK_OK(mtl_shader_library_kernel(new_shader_library(stream_kernels), name,
                                     &kernel));
  return kernel;
}

mtl_buffer *new_words(mtl_stream *stream, size_t count) {
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(mtl_stream_device(stream),
                             &(mtl_buffer_desc){.length_bytes = 4 * count},
                             &buffer));
  test_defer(release_buffer, buffer);
  return buffer;
}

void record(mtl_stream *stream, mtl_kernel *kernel, mtl_buffer *buffer,
            uint64_t count) {
  CHECK_OK(mtl_stream_start_encoding(stream, kernel));
  CHECK_OK(mtl_stream_set_buffer(stream, 0, buffer, 0, 0));
  CHECK_OK(mtl_stream_dispatch(stream, &count, 1, NULL));
}
