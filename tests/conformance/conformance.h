// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conformance.h: what the conformance tests share. Every function here ends
// the test when it fails, and what it makes is released when the test ends.
//
// The device under test is METTLE_TEST_DEVICE's; the whole suite runs on each
// (CMakeLists.txt), with the driver's list of what it cannot do beside it.
#ifndef METTLE_CONFORMANCE_H
#define METTLE_CONFORMANCE_H

#include "harness/test.h"
#include "mettle/mettle.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND_NS UINT64_C(1000000000)
// No wait of a test is meant to last; this only bounds a broken one.
#define LONG_NS (10 * SECOND_NS)

mtl_device *the_device(void);
// Skips the test where a child finds no such device; this process opens none.
void need_device(void);
const mtl_device_info *the_info(void);

mtl_queue *new_queue(void);
mtl_command_buffer *new_commands(mtl_queue *queue);
mtl_compute_encoder *new_encoder(mtl_command_buffer *commands);
mtl_compute_encoder *new_concurrent_encoder(mtl_command_buffer *commands);
mtl_blit_encoder *new_blit(mtl_command_buffer *commands);
mtl_event *new_event(void);  // shared, 0
mtl_fence *new_fence(void);

// A shared buffer of zeros, or of bytes.
mtl_buffer *new_buffer(size_t length_bytes);
mtl_buffer *new_buffer_with(const void *bytes, size_t length_bytes);
mtl_buffer *new_buffer_like(mtl_buffer_desc desc);
#define BUFFER_OF(array) new_buffer_with(array, sizeof(array))

mtl_library *new_library(const char *source);
mtl_library *new_library_with(const char *source,
                              const mtl_compile_options *options);
mtl_function *new_function(mtl_library *library, const char *name);
mtl_pipeline *new_pipeline(const char *source, const char *name);
mtl_pipeline *new_pipeline_from(mtl_library *library, const char *name);

// Compiles wrong source: the status must be MTL_COMPILE_FAILED. Returns the
// text of the error, valid until the next call of Mettle.
const char *compile_error(const char *source);

// Ends an encoder; commits, waits and checks that all went well.
void end(mtl_compute_encoder *encoder);
void end_blit(mtl_blit_encoder *encoder);
void finish(mtl_command_buffer *commands);

// Encodes one dispatch of grid threads with data as buffer 0.
void encode(mtl_command_buffer *commands, mtl_pipeline *pipeline,
            mtl_buffer *data, mtl_size grid, mtl_size group);

// Binds buffers[0..] to 0.., dispatches grid threads once and waits.
void run(mtl_pipeline *pipeline, mtl_buffer *const *buffers, size_t count,
         mtl_size grid, mtl_size group);
#define RUN(pipeline, grid, group, ...)                                   \
  run(pipeline, (mtl_buffer *[]){__VA_ARGS__},                            \
      sizeof((mtl_buffer *[]){__VA_ARGS__}) / sizeof(mtl_buffer *), grid, \
      group)

typedef struct worker {
  mtl_queue *queue;
  mtl_pipeline *pipeline;
  mtl_buffer *data;
} worker;

// One dispatch of "add_one" over 1000 numbers; its objects are released on
// return, so that it may be called often and from any thread.
void work_once(const worker *it);

uint64_t now_ns(void);  // of CLOCK_MONOTONIC, as Mettle's times

mtl_size size_of(uint32_t x, uint32_t y, uint32_t z);

uint32_t *words(mtl_buffer *buffer);
float *floats(mtl_buffer *buffer);

// Releases at the end of the test an object that the test made itself.
void release_buffer_later(mtl_buffer *buffer);
void release_library_later(mtl_library *library);
void release_function_later(mtl_function *function);
void release_pipeline_later(mtl_pipeline *pipeline);
void release_commands_later(mtl_command_buffer *commands);
void release_queue_later(mtl_queue *queue);
void release_event_later(mtl_event *event);
void release_constants_later(mtl_constant_values *values);

// A new folder that is removed, with its files, when the test ends.
const char *new_folder(void);
void write_file(const char *path, const void *bytes, size_t length_bytes);
// malloc'ed bytes of a file.
void *read_file(const char *path, size_t *out_length_bytes);

// Kernels that several files use.
//   store_index   out[i] = i                     buffer 0 out (uint)
//   add_one       data[i] += 1                   buffer 0 data (uint)
extern const char simple_kernels[];

// --- MSL that several files have ---------------------------------------------

// add: data[i] += amount. triple: data[i] = data[i] * 3 + amount, in a time that
// differs among threads; noise is never that value, which no compiler knows.
#define ADD_AND_TRIPLE \
    "kernel void add(device uint *data [[buffer(0)]],\n" \
    "                constant uint &amount [[buffer(1)]],\n" \
    "                uint i [[thread_position_in_grid]]) {\n" \
    "  data[i] += amount;\n" \
    "}\n" \
    "kernel void triple(device uint *data [[buffer(0)]],\n" \
    "                   constant uint &amount [[buffer(1)]],\n" \
    "                   uint i [[thread_position_in_grid]]) {\n" \
    "  uint spin = i < 64 ? 2000 : 10;\n" \
    "  uint noise = i;\n" \
    "  for (uint n = 0; n < spin; n++) { noise = noise * 1664525 + n; }\n" \
    "  data[i] = data[i] * 3 + amount + (noise == 0x9e3779b9 ? 1 : 0);\n" \
    "}\n"

// plain and full: data[i] * 2; full adds bias[i] * by.scale and a texel's red.
#define OPTIONAL_ARGUMENTS \
    "#include <metal_stdlib>\n" \
    "using namespace metal;\n" \
    "struct By { uint scale; };\n" \
    "template <bool has_more>\n" \
    "kernel void twice(device uint *data [[buffer(0)]],\n" \
    "                  device const uint *bias [[buffer(3)]],\n" \
    "                  constant By &by [[buffer(4)]],\n" \
    "                  texture2d<float> image [[texture(1)]],\n" \
    "                  sampler how [[sampler(1)]],\n" \
    "                  uint i [[thread_position_in_grid]]) {\n" \
    "  uint value = data[i] * 2;\n" \
    "  constant uint &scale = by.scale;\n" \
    "  device const uint *own = bias + i;\n" \
    "  if (has_more)\n" \
    "    value += *own * scale + uint(image.sample(how, float2(0)).x);\n" \
    "  data[i] = value;\n" \
    "}\n" \
    "template [[host_name(\"plain\")]] kernel\n" \
    "decltype(twice<false>) twice<false>;\n" \
    "template [[host_name(\"full\")]] kernel\n" \
    "decltype(twice<true>) twice<true>;\n"

// add_there: adds 4 to the number that a pointer in an argument buffer points
// to.
#define ADD_THERE \
    "struct Place { device uint *data; };\n" \
    "kernel void add_there(constant Place &place [[buffer(0)]],\n" \
    "                      uint i [[thread_position_in_grid]]) {\n" \
    "  place.data[i] += 4;\n" \
    "}\n"

#endif
