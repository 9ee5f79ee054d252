// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conformance.c: devices, objects and files for the conformance tests.
#include "conformance.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char simple_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void store_index(device uint *out [[buffer(0)]],\n"
    "                        uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = i;\n"
    "}\n"
    "kernel void add_one(device uint *data [[buffer(0)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  data[i] += 1;\n"
    "}\n";

// Deferred functions take a void *: one wrapper for each kind of object.
#define DEFINE_LATER(word, type, release)          \
  static void release_##word##_now(void *object) { \
    release(object);                               \
  }                                                \
  void release_##word##_later(type *object) {      \
    test_defer(release_##word##_now, object);      \
  }
DEFINE_LATER(buffer, mtl_buffer, mtl_buffer_release)
DEFINE_LATER(library, mtl_library, mtl_library_release)
DEFINE_LATER(function, mtl_function, mtl_function_release)
DEFINE_LATER(pipeline, mtl_pipeline, mtl_pipeline_release)
DEFINE_LATER(commands, mtl_command_buffer, mtl_command_buffer_release)
DEFINE_LATER(queue, mtl_queue, mtl_queue_release)
DEFINE_LATER(event, mtl_event, mtl_event_release)
DEFINE_LATER(constants, mtl_constant_values, mtl_constant_values_release)

static void release_fence_now(void *fence) {
  mtl_fence_release(fence);
}

static void release_encoder_now(void *encoder) {
  mtl_compute_encoder_release(encoder);
}

static void release_blit_now(void *encoder) {
  mtl_blit_encoder_release(encoder);
}

static void release_device_now(void *device) {
  mtl_device_release(device);
}

mtl_device *the_device(void) {
  static mtl_device *device;
  if (device == NULL) {
    const char *name = getenv("METTLE_TEST_DEVICE");
    const mtl_status status = name ? mtl_device_by_name(name, &device)
                                   : mtl_device_default(&device);
    if (status == MTL_NOT_FOUND && name && strcmp(name, "cuda") == 0) {
      test_skip("no NVIDIA GPU");
    }
    CHECK_OK(status);
    test_defer(release_device_now, device);
  }
  return device;
}

void need_device(void) {
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    the_device();
    _exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED) {
    test_skip("as said");
  }
}

const mtl_device_info *the_info(void) {
  return mtl_device_get_info(the_device());
}

mtl_queue *new_queue(void) {
  mtl_queue *queue;
  CHECK_OK(mtl_queue_create(the_device(), NULL, &queue));
  release_queue_later(queue);
  return queue;
}

mtl_command_buffer *new_commands(mtl_queue *queue) {
  mtl_command_buffer *commands;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
  release_commands_later(commands);
  return commands;
}

static mtl_compute_encoder *open_encoder(mtl_command_buffer *commands,
                                         mtl_dispatch_type type) {
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, type, &encoder));
  test_defer(release_encoder_now, encoder);
  return encoder;
}

mtl_compute_encoder *new_encoder(mtl_command_buffer *commands) {
  return open_encoder(commands, MTL_DISPATCH_SERIAL);
}

mtl_compute_encoder *new_concurrent_encoder(mtl_command_buffer *commands) {
  return open_encoder(commands, MTL_DISPATCH_CONCURRENT);
}

mtl_blit_encoder *new_blit(mtl_command_buffer *commands) {
  mtl_blit_encoder *encoder;
  CHECK_OK(mtl_blit_encoder_create(commands, &encoder));
  test_defer(release_blit_now, encoder);
  return encoder;
}

mtl_event *new_event(void) {
  mtl_event *event;
  CHECK_OK(mtl_event_create(the_device(), &(mtl_event_desc){.shared = true},
                            &event));
  release_event_later(event);
  return event;
}

mtl_fence *new_fence(void) {
  mtl_fence *fence;
  CHECK_OK(mtl_fence_create(the_device(), &fence));
  test_defer(release_fence_now, fence);
  return fence;
}

mtl_buffer *new_buffer_like(mtl_buffer_desc desc) {
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(the_device(), &desc, &buffer));
  release_buffer_later(buffer);
  return buffer;
}

mtl_buffer *new_buffer(size_t length_bytes) {
  return new_buffer_like((mtl_buffer_desc){.length_bytes = length_bytes});
}

mtl_buffer *new_buffer_with(const void *bytes, size_t length_bytes) {
  return new_buffer_like(
      (mtl_buffer_desc){.length_bytes = length_bytes, .bytes = bytes});
}

mtl_library *new_library_with(const char *source,
                              const mtl_compile_options *options) {
  mtl_library *library;
  CHECK_OK(mtl_library_create_from_source(the_device(), source, strlen(source),
                                          options, &library));
  release_library_later(library);
  return library;
}

mtl_library *new_library(const char *source) {
  return new_library_with(source, NULL);
}

mtl_function *new_function(mtl_library *library, const char *name) {
  mtl_function *function;
  CHECK_OK(mtl_function_create(library, name, NULL, &function));
  release_function_later(function);
  return function;
}

mtl_pipeline *new_pipeline_from(mtl_library *library, const char *name) {
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_pipeline_create(new_function(library, name), NULL, &pipeline));
  release_pipeline_later(pipeline);
  return pipeline;
}

mtl_pipeline *new_pipeline(const char *source, const char *name) {
  return new_pipeline_from(new_library(source), name);
}

const char *compile_error(const char *source) {
  mtl_library *library = (mtl_library *)1;
  const mtl_status status = mtl_library_create_from_source(
      the_device(), source, strlen(source), NULL, &library);
  test_check_status(__FILE__, __LINE__, source, status, MTL_COMPILE_FAILED,
                    "error: ");
  CHECK(library == NULL);
  return mtl_last_error();
}

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

void end(mtl_compute_encoder *encoder) {
  CHECK_OK(mtl_compute_encoder_end(encoder));
}

void end_blit(mtl_blit_encoder *encoder) {
  CHECK_OK(mtl_blit_encoder_end(encoder));
}

void finish(mtl_command_buffer *commands) {
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_COMPLETED);
}

void encode(mtl_command_buffer *commands, mtl_pipeline *pipeline,
            mtl_buffer *data, mtl_size grid, mtl_size group) {
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, grid, group);
  end(encoder);
}

void run(mtl_pipeline *pipeline, mtl_buffer *const *buffers, size_t count,
         mtl_size grid, mtl_size group) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (size_t i = 0; i < count; i++) {
    mtl_compute_encoder_set_buffer(encoder, buffers[i], 0, (uint32_t)i);
  }
  mtl_compute_encoder_dispatch_threads(encoder, grid, group);
  end(encoder);
  finish(commands);
}

void work_once(const worker *it) {
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(it->queue, NULL, &commands));
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, it->pipeline);
  mtl_compute_encoder_set_buffer(encoder, it->data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1000, 1, 1),
                                       size_of(64, 1, 1));
  CHECK_OK(mtl_compute_encoder_end(encoder));
  mtl_compute_encoder_release(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  mtl_command_buffer_release(commands);
}

mtl_size size_of(uint32_t x, uint32_t y, uint32_t z) {
  return (mtl_size){x, y, z};
}

uint32_t *words(mtl_buffer *buffer) {
  return mtl_buffer_contents(buffer);
}

float *floats(mtl_buffer *buffer) {
  return mtl_buffer_contents(buffer);
}

// Removes a folder with the plain files in it, and one level of folders.
static void remove_folder(const char *path, int depth) {
  DIR *folder = opendir(path);
  if (folder == NULL) {
    return;
  }
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    char name[1024];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (unlink(name) != 0 && depth > 0) {
      remove_folder(name, depth - 1);
    }
  }
  closedir(folder);
  rmdir(path);
}

static void remove_folder_now(void *path) {
  chmod(path, 0700);
  remove_folder(path, 3);
  free(path);
}

const char *new_folder(void) {
  char *path = strdup("/tmp/mettle-test-XXXXXX");
  CHECK(path != NULL && mkdtemp(path) != NULL);
  test_defer(remove_folder_now, path);
  return path;
}

void write_file(const char *path, const void *bytes, size_t length_bytes) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  CHECK_EQUAL(fwrite(bytes, 1, length_bytes, file), length_bytes);
  CHECK_EQUAL(fclose(file), 0);
}

void *read_file(const char *path, size_t *out_length_bytes) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  const long length = ftell(file);
  CHECK(length >= 0);
  rewind(file);
  void *bytes = malloc((size_t)length + 1);
  CHECK(bytes != NULL);
  CHECK_EQUAL(fread(bytes, 1, (size_t)length, file), length);
  fclose(file);
  *out_length_bytes = (size_t)length;
  return bytes;
}
