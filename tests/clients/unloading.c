// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unloading.c LIBRARY: loads Mettle, uses it and closes it again, on threads
// that end after that, as plug-ins do. The process goes on, and its own signal
// handlers are called.
#include <dlfcn.h>
#include <mettle/mettle.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "kernel void add_one(device uint *x [[buffer(0)]],\n"
    "                    uint i [[thread_position_in_grid]]) { x[i] += 1; }\n";

static const char *path;
static volatile sig_atomic_t own_signals;

static void on_own_signal(int signal) {
  (void)signal;
  own_signals++;
}

// A function of the library, under its own name.
#define FIND(name)                   \
  __typeof__(&name) find_##name = \
      (__typeof__(&name))dlsym(library, #name)

static bool use(void *library) {
  FIND(mtl_device_default);
  FIND(mtl_library_create_from_source);
  FIND(mtl_function_create);
  FIND(mtl_pipeline_create);
  FIND(mtl_queue_create);
  FIND(mtl_buffer_create);
  FIND(mtl_buffer_contents);
  FIND(mtl_command_buffer_create);
  FIND(mtl_compute_encoder_create);
  FIND(mtl_compute_encoder_set_pipeline);
  FIND(mtl_compute_encoder_set_buffer);
  FIND(mtl_compute_encoder_dispatch_threads);
  FIND(mtl_compute_encoder_end);
  FIND(mtl_command_buffer_commit);
  FIND(mtl_command_buffer_wait);
  FIND(mtl_compute_encoder_release);
  FIND(mtl_command_buffer_release);
  FIND(mtl_buffer_release);
  FIND(mtl_queue_release);
  FIND(mtl_pipeline_release);
  FIND(mtl_function_release);
  FIND(mtl_library_release);
  FIND(mtl_device_release);
  mtl_device *device = NULL;
  mtl_library *code = NULL;
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  mtl_queue *queue = NULL;
  mtl_buffer *buffer = NULL;
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  const mtl_buffer_desc desc = {.length_bytes = 4096};
  if (find_mtl_device_default(&device) ||
      find_mtl_library_create_from_source(device, source, strlen(source), NULL,
                                          &code) ||
      find_mtl_function_create(code, "add_one", NULL, &function) ||
      find_mtl_pipeline_create(function, NULL, &pipeline) ||
      find_mtl_queue_create(device, NULL, &queue) ||
      find_mtl_buffer_create(device, &desc, &buffer) ||
      find_mtl_command_buffer_create(queue, NULL, &commands) ||
      find_mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL,
                                      &encoder)) {
    return false;
  }
  find_mtl_compute_encoder_set_pipeline(encoder, pipeline);
  find_mtl_compute_encoder_set_buffer(encoder, buffer, 0, 0);
  find_mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){64, 1, 1},
                                            (mtl_size){64, 1, 1});
  bool is_good = find_mtl_compute_encoder_end(encoder) == MTL_OK &&
                 find_mtl_command_buffer_commit(commands) == MTL_OK &&
                 find_mtl_command_buffer_wait(commands) == MTL_OK &&
                 ((uint32_t *)find_mtl_buffer_contents(buffer))[63] == 1;
  find_mtl_compute_encoder_release(encoder);
  find_mtl_command_buffer_release(commands);
  find_mtl_buffer_release(buffer);
  find_mtl_queue_release(queue);
  find_mtl_pipeline_release(pipeline);
  find_mtl_function_release(function);
  find_mtl_library_release(code);
  find_mtl_device_release(device);
  return is_good;
}

static void *load_use_and_close(void *unused) {
  (void)unused;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    puts(dlerror());
    return NULL;
  }
  const bool is_good = use(library);
  dlclose(library);
  return is_good ? library : NULL;
}

int main(int argc, char **argv) {
  path = argc > 1 ? argv[1] : "";
  signal(SIGFPE, on_own_signal);
  int passed = 0;
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    void *is_good = NULL;
    pthread_create(&thread, NULL, load_use_and_close, NULL);
    pthread_join(thread, &is_good);
    passed += is_good != NULL;
  }
  passed += load_use_and_close(NULL) != NULL;
  raise(SIGFPE);
  passed += own_signals == 1;
  printf("%d passed, %d failed\n", passed, 5 - passed);
  return passed != 5;
}
