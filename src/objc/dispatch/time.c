// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// time.c: dispatch_time, semaphores, groups and dispatch_after.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"

// --- Time --------------------------------------------------------------------

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t dispatch_now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

// A dispatch_time_t counts nanoseconds of CLOCK_MONOTONIC; with the top bit
// set it is minus a time of CLOCK_REALTIME.
uint64_t dispatch_deadline_ns(uint64_t when) {
  if (when == DISPATCH_TIME_NOW) {
    return dispatch_now_ns();
  }
  if (when == DISPATCH_TIME_FOREVER || when < 1ull << 63) {
    return when;
  }
  const uint64_t wall = -when, now = clock_ns(CLOCK_REALTIME);
  return dispatch_now_ns() + (wall > now ? wall - now : 0);
}

static uint64_t sum(uint64_t start, int64_t delta_ns) {
  return delta_ns < 0 && (uint64_t)-delta_ns > start
             ? 1
             : start + (uint64_t)delta_ns;
}

OBJC_EXPORT uint64_t dispatch_time(uint64_t when, int64_t delta_ns) {
  if (when == DISPATCH_TIME_FOREVER) {
    return when;
  }
  if (when >= 1ull << 63) {  // a wall clock's
    return -sum(-when, delta_ns);
  }
  return sum(when ? when : dispatch_now_ns(), delta_ns);
}

OBJC_EXPORT uint64_t dispatch_walltime(const struct timespec *when,
                                       int64_t delta_ns) {
  const uint64_t start =
      when ? (uint64_t)when->tv_sec * 1000000000u + (uint64_t)when->tv_nsec
           : clock_ns(CLOCK_REALTIME);
  return -sum(start, delta_ns);
}

void dispatch_cond_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

// Waits for a change; false once the deadline has passed.
static bool cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                      uint64_t deadline_ns) {
  if (deadline_ns == DISPATCH_TIME_FOREVER) {
    return pthread_cond_wait(condition, lock) == 0;
  }
  const struct timespec until = {(time_t)(deadline_ns / 1000000000u),
                                 (long)(deadline_ns % 1000000000u)};
  return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

// --- Semaphores --------------------------------------------------------------

typedef struct semaphore {
  struct objc_object object;
  pthread_mutex_t lock;
  pthread_cond_t risen;
  long value;
} semaphore;

static void semaphore_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  pthread_mutex_destroy(&((semaphore *)self)->lock);
  pthread_cond_destroy(&((semaphore *)self)->risen);
  instance_dispose(self);
}

extern struct objc_class OBJC_CLASS_$_OS_dispatch_object;
METHODS(semaphore_methods, METHOD("dealloc", "v16@0:8", semaphore_dealloc));
DEFINE_CLASS(OS_dispatch_semaphore, OS_dispatch_object, sizeof(semaphore),
             semaphore_methods, NO_METHODS);

OBJC_EXPORT id dispatch_semaphore_create(long value) {
  if (value < 0) {
    return NULL;
  }
  semaphore *made = (semaphore *)instance_create(
      &OBJC_CLASS_$_OS_dispatch_semaphore, 0);
  pthread_mutex_init(&made->lock, NULL);
  dispatch_cond_init(&made->risen);
  made->value = value;
  return &made->object;
}

OBJC_EXPORT long dispatch_semaphore_signal(id object) {
  semaphore *of = (semaphore *)object;
  pthread_mutex_lock(&of->lock);
  ++of->value;
  pthread_cond_signal(&of->risen);
  pthread_mutex_unlock(&of->lock);
  return 0;
}

// Returns 0, or not 0 once the time has passed.
OBJC_EXPORT long dispatch_semaphore_wait(id object, uint64_t when) {
  semaphore *of = (semaphore *)object;
  const uint64_t deadline_ns = dispatch_deadline_ns(when);
  pthread_mutex_lock(&of->lock);
  while (of->value <= 0 && cond_wait(&of->risen, &of->lock, deadline_ns)) {
  }
  const bool taken = of->value > 0;
  of->value -= taken;
  pthread_mutex_unlock(&of->lock);
  return taken ? 0 : 49;  // KERN_OPERATION_TIMED_OUT, as Apple's
}

// --- Groups ------------------------------------------------------------------

// A block, or a function with its context.
typedef struct notice {
  struct notice *next;
  id queue;
  id literal;
  dispatch_function *function;
  void *context;
} notice;

typedef struct group {
  struct objc_object object;
  pthread_mutex_t lock;
  pthread_cond_t empty;
  size_t count;
  notice *notices;
} group;

static void group_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  pthread_mutex_destroy(&((group *)self)->lock);
  pthread_cond_destroy(&((group *)self)->empty);
  instance_dispose(self);
}

METHODS(group_methods, METHOD("dealloc", "v16@0:8", group_dealloc));
DEFINE_CLASS(OS_dispatch_group, OS_dispatch_object, sizeof(group),
             group_methods, NO_METHODS);

OBJC_EXPORT void dispatch_async(id queue, id literal);

OBJC_EXPORT id dispatch_group_create(void) {
  group *made =
      (group *)instance_create(&OBJC_CLASS_$_OS_dispatch_group, 0);
  pthread_mutex_init(&made->lock, NULL);
  dispatch_cond_init(&made->empty);
  return &made->object;
}

OBJC_EXPORT void dispatch_group_enter(id object) {
  group *of = (group *)object;
  objc_retain(object);  // +1 until it leaves
  pthread_mutex_lock(&of->lock);
  ++of->count;
  pthread_mutex_unlock(&of->lock);
}

static void send_notices(notice *notices) {
  while (notices) {
    notice *each = notices;
    notices = each->next;
    if (each->function) {
      dispatch_queue_add(each->queue, each->function, each->context);
    } else {
      dispatch_async(each->queue, each->literal);
    }
    _Block_release(each->literal);
    objc_release(each->queue);
    free(each);
  }
}

OBJC_EXPORT void dispatch_group_leave(id object) {
  group *of = (group *)object;
  notice *ready = NULL;
  pthread_mutex_lock(&of->lock);
  if (of->count == 0) {
    runtime_fail("dispatch_group_leave without dispatch_group_enter");
  }
  if (--of->count == 0) {
    ready = of->notices;
    of->notices = NULL;
    pthread_cond_broadcast(&of->empty);
  }
  pthread_mutex_unlock(&of->lock);
  send_notices(ready);
  objc_release(object);  // -1
}

OBJC_EXPORT long dispatch_group_wait(id object, uint64_t when) {
  group *of = (group *)object;
  const uint64_t deadline_ns = dispatch_deadline_ns(when);
  pthread_mutex_lock(&of->lock);
  while (of->count && cond_wait(&of->empty, &of->lock, deadline_ns)) {
  }
  const bool is_empty = of->count == 0;
  pthread_mutex_unlock(&of->lock);
  return is_empty ? 0 : 49;
}

static void notify(id object, const notice *wanted) {
  group *of = (group *)object;
  notice *made = malloc(sizeof *made);
  if (!made) {
    runtime_fail("no memory for dispatch_group_notify");
  }
  *made = *wanted;
  pthread_mutex_lock(&of->lock);
  if (of->count) {
    notice **last = &of->notices;
    while (*last) {
      last = &(*last)->next;
    }
    *last = made;
    made = NULL;
  }
  pthread_mutex_unlock(&of->lock);
  send_notices(made);
}

OBJC_EXPORT void dispatch_group_notify(id object, id queue, id literal) {
  notify(object, &(notice){.queue = objc_retain(queue),
                           .literal = _Block_copy(literal)});
}

OBJC_EXPORT void dispatch_group_notify_f(id object, id queue, void *context,
                                         dispatch_function *function) {
  notify(object, &(notice){.queue = objc_retain(queue),
                           .function = function,
                           .context = context});
}

typedef struct group_task {
  id group;
  id literal;
  dispatch_function *function;  // of context, without a block
  void *context;
} group_task;

static void group_run(void *context) {
  group_task *of = context;
  if (of->function) {
    of->function(of->context);
  } else {
    BLOCK_CALL(void (*)(id), of->literal);
  }
  _Block_release(of->literal);
  dispatch_group_leave(of->group);
  free(of);
}

static void group_add(id queue, const group_task *wanted) {
  group_task *made = malloc(sizeof *made);
  if (!made) {
    runtime_fail("no memory for dispatch_group_async");
  }
  *made = *wanted;
  dispatch_group_enter(made->group);
  dispatch_queue_add(queue, group_run, made);
}

OBJC_EXPORT void dispatch_group_async(id object, id queue, id literal) {
  group_add(queue, &(group_task){object, _Block_copy(literal), NULL, NULL});
}

OBJC_EXPORT void dispatch_group_async_f(id object, id queue, void *context,
                                        dispatch_function *function) {
  group_add(queue, &(group_task){object, NULL, function, context});
}

// --- Later -------------------------------------------------------------------

typedef struct delayed {
  pool_job job;
  uint64_t deadline_ns;
  id queue;
  id literal;
  dispatch_function *function;  // of context, without a block
  void *context;
} delayed;

static void delayed_run(void *context) {
  delayed *of = context;
  const struct timespec until = {(time_t)(of->deadline_ns / 1000000000u),
                                 (long)(of->deadline_ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
         EINTR) {
  }
  if (of->function) {
    dispatch_queue_add(of->queue, of->function, of->context);
  } else {
    dispatch_async(of->queue, of->literal);
  }
  _Block_release(of->literal);
  objc_release(of->queue);
  free(of);
}

static void delay(uint64_t when, id queue, id literal, void *context,
                  dispatch_function *function) {
  delayed *made = calloc(1, sizeof *made);
  if (!made) {
    runtime_fail("no memory for dispatch_after");
  }
  made->deadline_ns = dispatch_deadline_ns(when);
  made->queue = objc_retain(queue);
  made->literal = _Block_copy(literal);
  made->job.run = delayed_run;
  made->job.context = made;
  made->function = function;
  made->context = context;
  thread_pool_add(&made->job);
}

OBJC_EXPORT void dispatch_after(uint64_t when, id queue, id literal) {
  delay(when, queue, literal, NULL, NULL);
}

OBJC_EXPORT void dispatch_after_f(uint64_t when, id queue, void *context,
                                  dispatch_function *function) {
  delay(when, queue, NULL, context, function);
}
