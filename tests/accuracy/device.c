// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: runs a function of the library over arguments, in either tier,
// through the public API.
#include "device.h"

#include <mettle/mettle.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mtl_device *device;
static mtl_queue *queue;
static mtl_buffer *buffers[3];  // results, two lists of arguments

static void must(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s: %s\n", mtl_status_name(status), mtl_last_error());
    exit(2);
  }
}

void device_open(void) {
  must(mtl_device_by_name("cpu", &device));
  must(mtl_queue_create(device, NULL, &queue));
  for (int i = 0; i < 3; i++) {
    must(mtl_buffer_create(
        device, &(mtl_buffer_desc){.length_bytes = BLOCK * sizeof(float)},
        &buffers[i]));
  }
}

void device_close(void) {
  for (int i = 0; i < 3; i++) {
    mtl_buffer_release(buffers[i]);
  }
  mtl_queue_release(queue);
  mtl_device_release(device);
}

float *device_arguments(int which) {
  return mtl_buffer_contents(buffers[1 + which]);
}

mtl_pipeline *device_function(const char *space, const char *name,
                              const char *type, int arguments, bool debug) {
  char source[1024];
  snprintf(source, sizeof source,
           "#include <metal_stdlib>\n"
           "using namespace metal;\n"
           "typedef %s T;\n"
           "template <typename T> T counted(uint bits);\n"
           "template <> float counted(uint b) { return as_type<float>(b); }\n"
           "template <> half counted(uint b) {\n"
           "  return as_type<half>(ushort(b));\n"
           "}\n"
           "kernel void one(device T *out [[buffer(0)]],\n"
           "                constant uint2 &range [[buffer(3)]],\n"
           "                uint i [[thread_position_in_grid]]) {\n"
           "  out[i] = %s::%s(counted<T>(range.x + i * range.y)%s);\n"
           "}\n"
           "kernel void two(device T *out [[buffer(0)]],\n"
           "                device const T *x [[buffer(1)]],\n"
           "                device const T *y [[buffer(2)]],\n"
           "                uint i [[thread_position_in_grid]]) {\n"
           "  out[i] = %s::%s(x[i]%s);\n"
           "}\n",
           type, space, name, arguments == 1 ? "" : ", T(1)", space, name,
           arguments == 1 ? "" : ", y[i]");
  mtl_library *library = NULL;
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  must(mtl_library_create_from_source(device, source, strlen(source), NULL,
                                      &library));
  must(mtl_function_create(library, arguments == 1 ? "one" : "two", NULL,
                           &function));
  must(mtl_pipeline_create(function, &(mtl_pipeline_desc){.debug = debug},
                           &pipeline));
  mtl_function_release(function);
  mtl_library_release(library);
  return pipeline;
}

const void *device_run(mtl_pipeline *pipeline, uint32_t count, uint32_t first,
                       uint32_t step) {
  const uint32_t range[2] = {first, step};
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  must(mtl_command_buffer_create(queue, NULL, &commands));
  must(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < 3; i++) {
    mtl_compute_encoder_set_buffer(encoder, buffers[i], 0, i);
  }
  mtl_compute_encoder_set_bytes(encoder, range, sizeof range, 3);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){count, 1, 1},
                                       (mtl_size){256, 1, 1});
  must(mtl_compute_encoder_end(encoder));
  must(mtl_command_buffer_commit(commands));
  must(mtl_command_buffer_wait(commands));
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return mtl_buffer_contents(buffers[0]);
}
