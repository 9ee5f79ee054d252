// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scarcity.c: a small client in which the Nth allocation fails, for every N;
// then each from the Nth on; and the same for memory maps and for threads. Each
// run is a child process: it may end well or with a status, and neither crash,
// nor hang, nor lose an error, nor give a wrong result.
#include <dlfcn.h>
#include <errno.h>
#include <mettle/mettle.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// --- what fails --------------------------------------------------------------

typedef enum resource { MEMORY, MAPS, THREADS, RESOURCE_COUNT } resource;

static resource scarce;
static long fails_at = -1;  // the number of the call that fails; -1 for none
static bool all_follow;     // and those behind it
static atomic_long calls;

static bool fails(resource wanted) {
  if (wanted != scarce || fails_at < 0) {
    return false;
  }
  const long number = atomic_fetch_add(&calls, 1);
  return number == fails_at || (all_follow && number > fails_at);
}

extern void *__libc_malloc(size_t size_bytes);
extern void *__libc_calloc(size_t count, size_t size_bytes);
extern void *__libc_realloc(void *memory, size_t size_bytes);
extern void *__libc_memalign(size_t alignment, size_t size_bytes);

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t size_bytes) {
  return fails(MEMORY) ? no_memory() : __libc_malloc(size_bytes);
}

void *calloc(size_t count, size_t size_bytes) {
  return fails(MEMORY) ? no_memory() : __libc_calloc(count, size_bytes);
}

void *realloc(void *memory, size_t size_bytes) {
  return fails(MEMORY) ? no_memory() : __libc_realloc(memory, size_bytes);
}

void *aligned_alloc(size_t alignment, size_t size_bytes) {
  return fails(MEMORY) ? no_memory() : __libc_memalign(alignment, size_bytes);
}

int posix_memalign(void **out, size_t alignment, size_t size_bytes) {
  *out = fails(MEMORY) ? NULL : __libc_memalign(alignment, size_bytes);
  return *out ? 0 : ENOMEM;
}

void *mmap(void *address, size_t size_bytes, int protection, int flags,
           int file, off_t offset) {
  static void *(*next)(void *, size_t, int, int, int, off_t);
  if (!next) {
    *(void **)&next = dlsym(RTLD_NEXT, "mmap");
  }
  if (fails(MAPS)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(address, size_bytes, protection, flags, file, offset);
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *argument) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                     void *);
  if (!next) {
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
  }
  return fails(THREADS) ? EAGAIN : next(out, attributes, run, argument);
}

// --- the client --------------------------------------------------------------

static const char source[] =
    "kernel void add(device uint *x [[buffer(0)]],\n"
    "                constant uint &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { x[i] += n; }\n";
enum { THREADS_WIDE = 1000, DISPATCHES = 20, STEP = 3 };

// How a child process ends.
enum { FINE = 0, TOLD = 1, LOST_ERROR = 2, WRONG_RESULT = 3, UNREACHED = 4 };

typedef struct objects {
  mtl_device *device;
  mtl_library *library;
  mtl_function *function;
  mtl_pipeline *pipeline;
  mtl_queue *queue;
  mtl_buffer *buffer;
  mtl_event *event;
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
} objects;

static void on_completed(void *context, mtl_command_buffer *commands) {
  (void)commands;
  atomic_fetch_add((atomic_int *)context, 1);
}

static mtl_status make(objects *it) {
  mtl_status status = mtl_device_default(&it->device);
#define THEN(call) status = status == MTL_OK ? (call) : status
  THEN(mtl_library_create_from_source(it->device, source, strlen(source), NULL,
                                      &it->library));
  THEN(mtl_function_create(it->library, "add", NULL, &it->function));
  THEN(mtl_pipeline_create(it->function, NULL, &it->pipeline));
  THEN(mtl_queue_create(it->device,
                        &(mtl_queue_desc){.label = "scarce",
                                          .time_limit_ns = 60000000000u},
                        &it->queue));
  THEN(mtl_buffer_create(it->device,
                         &(mtl_buffer_desc){.length_bytes = 4 * THREADS_WIDE,
                                            .label = "numbers"},
                         &it->buffer));
  THEN(mtl_event_create(it->device, &(mtl_event_desc){.shared = true},
                        &it->event));
  THEN(mtl_command_buffer_create(
      it->queue, &(mtl_command_buffer_desc){.label = "list"}, &it->commands));
  THEN(mtl_compute_encoder_create(it->commands, MTL_DISPATCH_SERIAL,
                                  &it->encoder));
#undef THEN
  return status;
}

static void record(const objects *it) {
  const uint32_t step = STEP;
  mtl_compute_encoder_push_debug_group(it->encoder, "all");
  mtl_compute_encoder_set_pipeline(it->encoder, it->pipeline);
  mtl_compute_encoder_set_buffer(it->encoder, it->buffer, 0, 0);
  mtl_compute_encoder_set_bytes(it->encoder, &step, sizeof step, 1);
  for (int i = 0; i < DISPATCHES; i++) {
    mtl_compute_encoder_dispatch_threads(it->encoder,
                                         (mtl_size){THREADS_WIDE, 1, 1},
                                         (mtl_size){64, 1, 1});
  }
  mtl_compute_encoder_pop_debug_group(it->encoder);
}

// Records, commits and waits; returns how that ended.
static int work(const objects *it) {
  static atomic_int callbacks;
  record(it);
  const mtl_status ended = mtl_compute_encoder_end(it->encoder);
  mtl_command_buffer_signal_event(it->commands, it->event, 1);
  const mtl_status added =
      mtl_command_buffer_on_completed(it->commands, on_completed, &callbacks);
  const mtl_status committed = mtl_command_buffer_commit(it->commands);
  const mtl_status waited = mtl_command_buffer_wait(it->commands);
  uint64_t value = 0;
  const mtl_status read = mtl_event_value(it->event, &value);
  const uint32_t *numbers = mtl_buffer_contents(it->buffer);
  if ((ended != MTL_OK || committed != MTL_OK) && waited == MTL_OK) {
    return LOST_ERROR;
  }
  if (waited != MTL_OK) {
    return TOLD;
  }
  const bool is_right = numbers[5] == DISPATCHES * STEP &&
                        numbers[THREADS_WIDE - 1] == DISPATCHES * STEP &&
                        read == MTL_OK && value == 1 &&
                        atomic_load(&callbacks) == (added == MTL_OK);
  return is_right ? FINE : WRONG_RESULT;
}

static int run_client(void) {
  objects it = {0};
  const int end = make(&it) == MTL_OK ? work(&it) : TOLD;
  mtl_compute_encoder_release(it.encoder);
  mtl_command_buffer_release(it.commands);
  mtl_event_release(it.event);
  mtl_buffer_release(it.buffer);
  mtl_queue_release(it.queue);
  mtl_pipeline_release(it.pipeline);
  mtl_function_release(it.function);
  mtl_library_release(it.library);
  mtl_device_release(it.device);
  return end == FINE && fails_at >= 0 && atomic_load(&calls) <= fails_at
             ? UNREACHED
             : end;
}

// --- all runs ----------------------------------------------------------------

// Runs the client in a child; returns its end, or minus the signal.
static int run_child(resource which, long at, bool follow) {
  enum { PATIENCE_SECONDS = 30 };
  const pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE_SECONDS);
    scarce = which;
    all_follow = follow;
    fails_at = at;
    _exit(run_client());
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const char *name_of(int end) {
  switch (end) {
    case LOST_ERROR: return "an error was lost";
    case WRONG_RESULT: return "the result is wrong";
    default: return end < 0 ? strsignal(-end) : "an unknown status";
  }
}

static bool sweep(resource which, bool follow) {
  static const char *const names[] = {"allocation", "map", "thread"};
  long at = 0;
  int bad = 0;
  int end = FINE;
  for (; end != UNREACHED && bad < 5; at++) {
    end = run_child(which, at, follow);
    if (end < FINE || end == LOST_ERROR || end == WRONG_RESULT) {
      bad++;
      printf("%s %ld%s: %s\n", names[which], at,
             follow ? " and all behind it" : "", name_of(end));
    }
  }
  printf("%s%s: %ld runs\n", names[which], follow ? " and on" : "", at);
  fflush(stdout);
  return bad == 0 && at > 1;
}

int main(void) {
  int passed = 0;
  int failed = 0;
  // The compiler is needed once: its work is cached by a run in which nothing
  // fails.
  const int first = run_child(MEMORY, -1, false);
  if (first != FINE) {
    printf("where nothing fails: %s\n", name_of(first));
    failed++;
  }
  for (int which = 0; which < RESOURCE_COUNT; which++) {
    for (int follow = 0; follow < 2; follow++) {
      *(sweep((resource)which, follow) ? &passed : &failed) += 1;
    }
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
