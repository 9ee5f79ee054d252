// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common.c: the clock, the device and its objects for all topics.
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t process_time_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void bench_let_threads_sleep(void) {
  enum { STEP_NS = 2000000, STEPS = 500 };
  const struct timespec step = {.tv_nsec = STEP_NS};
  for (int i = 0; i < STEPS; i++) {
    const uint64_t before = process_time_ns();
    nanosleep(&step, NULL);
    if (process_time_ns() - before < STEP_NS / 10) {
      return;
    }
  }
}

void bench_must(mtl_status status, const char *call) {
  if (status != MTL_OK) {
    fprintf(stderr, "mettle-bench: %s: %s: %s\n", call, mtl_status_name(status),
            mtl_last_error());
    exit(1);
  }
}

void *bench_allocate(size_t length_bytes) {
  void *bytes = malloc(length_bytes);
  if (bytes == NULL) {
    fprintf(stderr, "mettle-bench: no memory for %zu bytes\n", length_bytes);
    exit(1);
  }
  return bytes;
}

void *bench_allocate_pages(size_t length_bytes) {
  void *bytes = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) {
    fprintf(stderr, "mettle-bench: no memory for %zu bytes\n", length_bytes);
    exit(1);
  }
  madvise(bytes, length_bytes, MADV_HUGEPAGE);  // a wish
  return bytes;
}

void bench_free_pages(void *bytes, size_t length_bytes) {
  if (bytes != NULL) {
    munmap(bytes, length_bytes);
  }
}

mtl_device *bench_device(void) {
  static mtl_device *device;
  if (device == NULL) {
    MUST(mtl_device_default(&device));
  }
  return device;
}

mtl_queue *bench_queue(int number) {
  static mtl_queue *queues[2];
  if (queues[number] == NULL) {
    MUST(mtl_queue_create(bench_device(), NULL, &queues[number]));
  }
  return queues[number];
}

mtl_buffer *bench_buffer(size_t length_bytes) {
  mtl_buffer *buffer = NULL;
  MUST(mtl_buffer_create(bench_device(),
                         &(mtl_buffer_desc){.length_bytes = length_bytes},
                         &buffer));
  // The first touch of a page is the system's time, not Mettle's.
  memset(mtl_buffer_contents(buffer), 1, length_bytes);
  return buffer;
}

mtl_pipeline *bench_pipeline_for(const char *source, const char *name,
                                 const uint32_t group[3]) {
  const mtl_pipeline_desc desc = {.group_threads = {group[0], group[1],
                                                    group[2]}};
  mtl_library *library = NULL;
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  MUST(mtl_library_create_from_source(bench_device(), source, strlen(source),
                                      NULL, &library));
  MUST(mtl_function_create(library, name, NULL, &function));
  MUST(mtl_pipeline_create(function, &desc, &pipeline));
  mtl_function_release(function);
  mtl_library_release(library);
  return pipeline;
}

mtl_pipeline *bench_pipeline(const char *source, const char *name) {
  return bench_pipeline_for(source, name, (const uint32_t[3]){0, 0, 0});
}

// Removes a folder of caches; the name is one that mkdtemp made.
static void remove_folder(const char *path) {
  char *arguments[] = {"rm", "-rf", "--", (char *)path, NULL};
  pid_t child;
  if (posix_spawnp(&child, "rm", NULL, NULL, arguments, environ) == 0) {
    waitpid(child, NULL, 0);
  }
}

// env(1) sets what is for the new process alone. Returns what it prints.
static double value_from_new_process(const char *first_setting,
                                     const char *second_setting,
                                     const char *name) {
  char program[1024] = "", text[64] = "";
  int ends[2];
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 ||
      pipe(ends) != 0) {
    return NAN;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  const char *arguments[] = {
      "env", first_setting, second_setting, program, "--sample", name, NULL};
  pid_t child;
  const int failed = posix_spawnp(&child, "env", &actions, NULL,
                                  (char *const *)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed == 0) {
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    waitpid(child, NULL, 0);
  }
  close(ends[0]);
  char *end;
  const double value = strtod(text, &end);
  return end == text ? NAN : value;
}

double bench_sample_with(const char *name, const char *setting) {
  return value_from_new_process(setting, setting, name);
}

double bench_sample_without_cache(const char *name) {
  char folder[] = "/tmp/mettle-bench-XXXXXX";
  char mettle_cache[64], pocl_cache[64];
  if (mkdtemp(folder) == NULL) {
    return NAN;
  }
  snprintf(mettle_cache, sizeof mettle_cache, "METTLE_CACHE_DIR=%s", folder);
  snprintf(pocl_cache, sizeof pocl_cache, "POCL_CACHE_DIR=%s", folder);
  const double value = value_from_new_process(mettle_cache, pocl_cache, name);
  remove_folder(folder);
  return value;
}
