// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// add_vectors.c: the smallest whole program. Against the installed library:
//   cc add_vectors.c -o add_vectors $(pkg-config --cflags --libs mettle)
#include <mettle/mettle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "kernel void add(device const float *a [[buffer(0)]],\n"
    "                device const float *b [[buffer(1)]],\n"
    "                device float *sum [[buffer(2)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  sum[i] = a[i] + b[i];\n"
    "}\n";

static void check(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s: %s\n", mtl_status_name(status), mtl_last_error());
    exit(1);
  }
}

int main(void) {
  const float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40};
  const void *const contents[3] = {a, b, NULL};  // the sum starts as zeros
  mtl_device *device;
  mtl_library *library;
  mtl_function *function;
  mtl_pipeline *pipeline;
  mtl_queue *queue;
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
  mtl_buffer *buffers[3];
  check(mtl_device_default(&device));
  check(mtl_library_create_from_source(device, source, strlen(source), NULL,
                                       &library));
  check(mtl_function_create(library, "add", NULL, &function));
  check(mtl_pipeline_create(function, NULL, &pipeline));
  check(mtl_queue_create(device, NULL, &queue));
  check(mtl_command_buffer_create(queue, NULL, &commands));
  check(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < 3; ++i) {
    const mtl_buffer_desc desc = {.length_bytes = sizeof a,
                                  .bytes = contents[i]};
    check(mtl_buffer_create(device, &desc, &buffers[i]));
    mtl_compute_encoder_set_buffer(encoder, buffers[i], 0, i);
  }
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){4, 1, 1},
                                       (mtl_size){4, 1, 1});
  check(mtl_compute_encoder_end(encoder));
  check(mtl_command_buffer_commit(commands));  // returns at once
  check(mtl_command_buffer_wait(commands));
  const float *sum = mtl_buffer_contents(buffers[2]);
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  for (int i = 0; i < 3; ++i) {
    mtl_buffer_release(buffers[i]);
  }
  mtl_queue_release(queue);
  mtl_pipeline_release(pipeline);
  mtl_function_release(function);
  mtl_library_release(library);
  mtl_device_release(device);
  return 0;
}
