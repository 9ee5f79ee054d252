// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// messages.c: what programs written for Metal pay for Objective-C: a message
// beside a virtual call, and a command buffer beside the C API's.
#include <dlfcn.h>
#include <math.h>
#include <time.h>

#include "bench.h"

typedef struct object object;
typedef const struct selector *selector;
typedef struct size {
  unsigned long width, height, depth;
} size;

// The library, opened at the first call.
typedef struct objective_c {
  bool is_there;
  void *(*send)(object *, selector);
  void *send_struct;  // objc_msgSend_stret where structs need one
  selector (*name)(const char *);
  void *(*push)(void);
  void (*pop)(void *);
  object *device;
  object *queue;
} objective_c;

#ifndef METTLE_BENCH_OBJC
#define METTLE_BENCH_OBJC "libMetal.so.1"
#endif

static const objective_c *library(void) {
  static objective_c opened;
  static bool is_opened;
  if (is_opened) {
    return opened.is_there ? &opened : NULL;
  }
  is_opened = true;
  void *file = dlopen(METTLE_BENCH_OBJC, RTLD_NOW | RTLD_LOCAL);
  if (file == NULL) {
    return NULL;
  }
  *(void **)&opened.send = dlsym(file, "objc_msgSend");
  opened.send_struct = dlsym(file, "objc_msgSend_stret");
  if (opened.send_struct == NULL) {
    opened.send_struct = *(void **)&opened.send;
  }
  *(void **)&opened.name = dlsym(file, "sel_registerName");
  *(void **)&opened.push = dlsym(file, "objc_autoreleasePoolPush");
  *(void **)&opened.pop = dlsym(file, "objc_autoreleasePoolPop");
  object *(*create)(void);
  *(void **)&create = dlsym(file, "MTLCreateSystemDefaultDevice");
  opened.device = create();
  opened.queue = opened.send(opened.device, opened.name("newCommandQueue"));
  opened.is_there = opened.queue != NULL;
  return opened.is_there ? &opened : NULL;
}

enum { CALLS = 2000000, COMMAND_BUFFERS = 2000 };

// This thread's processor time: messages take less than what other programs on
// the machine take away.
static uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double ns_each(uint64_t start, int count) {
  return (double)(thread_ns() - start) / count;
}

// --- Messages ----------------------------------------------------------------

static double message(const void *unused) {
  (void)unused;
  const objective_c *objc = library();
  if (objc == NULL) {
    return NAN;
  }
  const selector self = objc->name("self");
  object *at = objc->device;
  const uint64_t start = thread_ns();
  for (int i = 0; i < CALLS; i++) {
    at = objc->send(at, self);
  }
  return at == objc->device ? ns_each(start, CALLS) : NAN;
}

static double struct_message(const void *unused) {
  (void)unused;
  const objective_c *objc = library();
  if (objc == NULL) {
    return NAN;
  }
  const selector most = objc->name("maxThreadsPerThreadgroup");
  size (*send)(object *, selector);
  *(void **)&send = objc->send_struct;
  unsigned long sum = 0;
  const uint64_t start = thread_ns();
  for (int i = 0; i < CALLS; i++) {
    sum += send(objc->device, most).width;
  }
  return sum ? ns_each(start, CALLS) : NAN;
}

// --- Virtual calls -----------------------------------------------------------

typedef struct shape shape;
typedef struct shape_table {
  shape *(*self)(shape *);
  size (*most)(shape *);
} shape_table;
struct shape {
  const shape_table *table;
};

static shape *shape_self(shape *self) {
  return self;
}

static size shape_most(shape *self) {
  (void)self;
  return (size){1024, 1024, 64};
}

// Volatile, so that no compiler sees which functions are called.
static shape *shape_made(void) {
  static const shape_table table = {shape_self, shape_most};
  static shape made;
  static const shape_table *volatile hidden = &table;
  made.table = hidden;
  return &made;
}

static double virtual_call(const void *unused) {
  (void)unused;
  shape *at = shape_made();
  const uint64_t start = thread_ns();
  for (int i = 0; i < CALLS; i++) {
    at = at->table->self(at);
  }
  return at ? ns_each(start, CALLS) : NAN;
}

static double virtual_struct_call(const void *unused) {
  (void)unused;
  shape *at = shape_made();
  unsigned long sum = 0;
  const uint64_t start = thread_ns();
  for (int i = 0; i < CALLS; i++) {
    sum += at->table->most(at).width;
    __asm__ volatile("" : "+r"(at));
  }
  return sum ? ns_each(start, CALLS) : NAN;
}

// --- Command buffers ---------------------------------------------------------

static double objc_commands(const void *unused) {
  (void)unused;
  const objective_c *objc = library();
  if (objc == NULL) {
    return NAN;
  }
  const selector make = objc->name("commandBuffer"),
                 commit = objc->name("commit"),
                 wait = objc->name("waitUntilCompleted");
  const uint64_t start = thread_ns();
  for (int i = 0; i < COMMAND_BUFFERS; i++) {
    void *pool = objc->push();
    object *commands = objc->send(objc->queue, make);
    objc->send(commands, commit);
    objc->send(commands, wait);
    objc->pop(pool);
  }
  return ns_each(start, COMMAND_BUFFERS);
}

static double c_commands(const void *unused) {
  (void)unused;
  const uint64_t start = thread_ns();
  for (int i = 0; i < COMMAND_BUFFERS; i++) {
    mtl_command_buffer *commands = NULL;
    MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
    MUST(mtl_command_buffer_commit(commands));
    MUST(mtl_command_buffer_wait(commands));
    mtl_command_buffer_release(commands);
  }
  return ns_each(start, COMMAND_BUFFERS);
}

static const benchmark rows[] = {
    {.name = "message",
     .unit = "ns",
     .sample_count = 11,
     .mettle = message,
     .peers = {{"virtual call", virtual_call}}},
    {.name = "message that returns 24 bytes",
     .unit = "ns",
     .sample_count = 11,
     .mettle = struct_message,
     .peers = {{"virtual call", virtual_struct_call}}},
    {.name = "processor time of an empty command buffer",
     .unit = "ns",
     .sample_count = 11,
     .mettle = objc_commands,
     .peers = {{"the C API", c_commands}}},
};
const bench_topic message_topic = {
    .name = "Objective-C", .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
