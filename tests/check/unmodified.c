// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unmodified.c: a program over the C API that knows nothing of checks: runs
// kernels one after the other in a concurrent encoder, over two buffers of 512
// floats that are not tracked. unmodified.py has it checked.
//
//   unmodified FILE KERNEL...   128 threads each, in one threadgroup; a word
//                               "barrier" between two is one
//
// Prints the command buffer's error, or "done".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mettle/mettle.h>

static void must(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s\n", mtl_last_error());
    exit(9);
  }
}

static mtl_buffer *buffer_of(mtl_device *device) {
  mtl_buffer *buffer;
  must(mtl_buffer_create(
      device,
      &(mtl_buffer_desc){.length_bytes = 4 * 512,
                         .hazard_tracking = MTL_HAZARD_UNTRACKED},
      &buffer));
  for (int i = 0; i < 512; ++i) {
    ((float *)mtl_buffer_contents(buffer))[i] = (float)(i % 7);
  }
  return buffer;
}

static mtl_library *library_of(mtl_device *device, const char *path) {
  static char text[1 << 16];
  FILE *file = fopen(path, "r");
  const size_t length = file ? fread(text, 1, sizeof text, file) : 0;
  const mtl_compile_options options = {.file_name = path};
  mtl_library *library;
  must(mtl_library_create_from_source(device, text, length, &options,
                                      &library));
  fclose(file);
  return library;
}

static void encode(mtl_compute_encoder *encoder, mtl_library *library,
                   const char *name) {
  mtl_function *function;
  mtl_pipeline *pipeline;
  if (strcmp(name, "barrier") == 0) {
    mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
    return;
  }
  must(mtl_function_create(library, name, NULL, &function));
  must(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){128, 1, 1},
                                       (mtl_size){128, 1, 1});
  mtl_pipeline_release(pipeline);
  mtl_function_release(function);
}

int main(int count, char **words) {
  mtl_device *device;
  mtl_queue *queue;
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
  must(mtl_device_default(&device));
  must(mtl_queue_create(device, NULL, &queue));
  mtl_library *library = library_of(device, words[1]);
  mtl_buffer *x = buffer_of(device), *y = buffer_of(device);
  must(mtl_command_buffer_create(queue, NULL, &commands));
  must(mtl_compute_encoder_create(commands, MTL_DISPATCH_CONCURRENT, &encoder));
  mtl_compute_encoder_set_buffer(encoder, x, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, y, 0, 1);
  for (int i = 2; i < count; ++i) {
    encode(encoder, library, words[i]);
  }
  must(mtl_compute_encoder_end(encoder));
  must(mtl_command_buffer_commit(commands));
  puts(mtl_command_buffer_wait(commands) == MTL_OK ? "done" : mtl_last_error());
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  mtl_buffer_release(x);
  mtl_buffer_release(y);
  mtl_library_release(library);
  mtl_queue_release(queue);
  mtl_device_release(device);
  return 0;
}
