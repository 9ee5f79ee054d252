// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common.c: what the examples share.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef METTLE_EXAMPLES_DIRECTORY
#define METTLE_EXAMPLES_DIRECTORY "."  // of a program that is built by hand
#endif

void check(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s: %s\n", mtl_status_name(status), mtl_last_error());
    exit(1);
  }
}

// Reads a whole file of examples/, where the build found it.
static char *read_text(const char *file_name, size_t *out_length) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", METTLE_EXAMPLES_DIRECTORY, file_name);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    exit(1);
  }
  const size_t length = (size_t)ftell(file);
  char *text = malloc(length + 1);
  rewind(file);
  if (text == NULL || fread(text, 1, length, file) != length) {
    perror(path);
    exit(1);
  }
  fclose(file);
  *out_length = length;
  return text;
}

mtl_pipeline *load_kernel(mtl_device *device, const char *file_name,
                          const char *kernel_name, mtl_size group) {
  mtl_library *library;
  mtl_function *function;
  mtl_pipeline *pipeline;
  size_t length;
  char *text = read_text(file_name, &length);
  const mtl_compile_options options = {.file_name = file_name};
  check(
      mtl_library_create_from_source(device, text, length, &options, &library));
  check(mtl_function_create(library, kernel_name, NULL, &function));
  const mtl_pipeline_desc desc = {
      .group_threads = {group.x, group.y, group.z}};
  check(mtl_pipeline_create(function, &desc, &pipeline));
  mtl_function_release(function);  // the pipeline needs neither of them
  mtl_library_release(library);
  free(text);
  return pipeline;
}

mtl_buffer *make_buffer(mtl_device *device, size_t length_bytes) {
  mtl_buffer *buffer;
  const mtl_buffer_desc desc = {.length_bytes = length_bytes};
  check(mtl_buffer_create(device, &desc, &buffer));
  return buffer;
}

double run_and_time(mtl_command_buffer *commands) {
  check(mtl_command_buffer_commit(commands));
  check(mtl_command_buffer_wait(commands));
  const mtl_command_buffer_times times = mtl_command_buffer_get_times(commands);
  mtl_command_buffer_release(commands);
  return (double)(times.device_end_ns - times.device_start_ns) * 1e-9;
}
