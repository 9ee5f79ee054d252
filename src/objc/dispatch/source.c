// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source.c: dispatch sources: timers and merged data. Sources of files, signals
// and processes do not exist: dispatch_source_create returns NULL.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"

typedef enum source_kind { TIMER, DATA_ADD, DATA_OR, DATA_REPLACE } source_kind;

struct source_type {
  source_kind kind;
};

OBJC_EXPORT const struct source_type _dispatch_source_type_timer;
OBJC_EXPORT const struct source_type _dispatch_source_type_data_add;
OBJC_EXPORT const struct source_type _dispatch_source_type_data_or;
OBJC_EXPORT const struct source_type _dispatch_source_type_data_replace;
const struct source_type _dispatch_source_type_timer = {TIMER};
const struct source_type _dispatch_source_type_data_add = {DATA_ADD};
const struct source_type _dispatch_source_type_data_or = {DATA_OR};
const struct source_type _dispatch_source_type_data_replace = {DATA_REPLACE};

// A block, or a function that gets the source's context.
typedef struct handler {
  id literal;  // +1
  dispatch_function *function;
} handler;

// What a source shares with its timer's thread and its queued block. It
// outlives the object, whose end cancels it.
typedef struct source_state {
  _Atomic size_t references;
  source_kind kind;
  id queue;  // +1
  uintptr_t handle;
  unsigned long mask;
  void *context;
  pthread_mutex_t lock;
  pthread_cond_t changed;  // of a timer
  handler event, cancel;
  unsigned long pending;  // the data for the next call of the handler
  unsigned long data;     // the data of the present call
  size_t suspensions;
  bool is_active;
  bool is_queued;  // a call of the handler is queued
  bool is_cancelled;
  bool is_over;  // the object is destroyed: no handler is called
  bool has_thread;
  uint64_t next_ns;      // of the timer; UINT64_MAX for none
  uint64_t interval_ns;  // UINT64_MAX for once
} source_state;

typedef struct source {
  struct objc_object object;
  source_state *state;
} source;

extern struct objc_class OBJC_CLASS_$_OS_dispatch_object;
extern struct objc_class OBJC_CLASS_$_OS_dispatch_source;

static void handler_clear(handler *it) {
  _Block_release(it->literal);
  *it = (handler){0};
}

static void state_release(source_state *state) {
  if (--state->references) {
    return;
  }
  handler_clear(&state->event);
  handler_clear(&state->cancel);
  pthread_mutex_destroy(&state->lock);
  pthread_cond_destroy(&state->changed);
  objc_release(state->queue);
  free(state);
}

static source_state *state_of(id object) {
  return ((source *)object)->state;
}

// Calls a handler, copied: it may be replaced meanwhile.
static void call(source_state *state, const handler *from) {
  pthread_mutex_lock(&state->lock);
  const handler now = {_Block_copy(from->literal), from->function};
  pthread_mutex_unlock(&state->lock);
  if (now.literal) {
    BLOCK_CALL(void (*)(id), now.literal);
  } else if (now.function) {
    now.function(state->context);
  }
  _Block_release(now.literal);
}

static void fire(void *context);

// Has the handler called, if there is data. The lock is held.
static void deliver(source_state *state) {
  if (state->pending && !state->is_queued && state->is_active &&
      !state->suspensions && !state->is_cancelled) {
    state->is_queued = true;
    ++state->references;
    dispatch_queue_add(state->queue, fire, state);
  }
}

static void fire(void *context) {
  source_state *state = context;
  pthread_mutex_lock(&state->lock);
  state->data = state->pending;
  state->pending = 0;
  const bool is_wanted = !state->is_cancelled && state->data;
  pthread_mutex_unlock(&state->lock);
  if (is_wanted) {
    call(state, &state->event);
  }
  pthread_mutex_lock(&state->lock);
  state->is_queued = false;
  deliver(state);
  pthread_mutex_unlock(&state->lock);
  state_release(state);
}

// Runs behind earlier events. Releases the handlers: they may retain the
// source.
static void tell_cancelled(void *context) {
  source_state *state = context;
  if (!state->is_over) {
    call(state, &state->cancel);
  }
  pthread_mutex_lock(&state->lock);
  handler event = state->event, cancel = state->cancel;
  state->event = state->cancel = (handler){0};
  pthread_mutex_unlock(&state->lock);
  handler_clear(&event);
  handler_clear(&cancel);
  state_release(state);
}

static void cancel(source_state *state, bool is_over) {
  pthread_mutex_lock(&state->lock);
  if (!state->is_cancelled) {
    state->is_cancelled = true;
    state->is_over = is_over;
    pthread_cond_signal(&state->changed);
    ++state->references;
    dispatch_queue_add(state->queue, tell_cancelled, state);
  }
  pthread_mutex_unlock(&state->lock);
}

static void source_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  cancel(state_of(self), true);
  state_release(state_of(self));
  instance_dispose(self);
}

METHODS(source_methods, METHOD("dealloc", "v16@0:8", source_dealloc));
DEFINE_CLASS(OS_dispatch_source, OS_dispatch_object, sizeof(source),
             source_methods, NO_METHODS);

OBJC_EXPORT id dispatch_source_create(const struct source_type *type,
                                      uintptr_t handle, unsigned long mask,
                                      id queue) {
  if (!type) {
    return NULL;
  }
  source_state *state = calloc(1, sizeof *state);
  source *made = (source *)instance_create(&OBJC_CLASS_$_OS_dispatch_source, 0);
  if (!state || !made) {
    runtime_fail("no memory for a dispatch source");
  }
  state->references = 1;
  state->kind = type->kind;
  state->handle = handle;
  state->mask = mask;
  state->queue = objc_retain(queue ? queue : dispatch_get_global_queue(0, 0));
  state->next_ns = state->interval_ns = UINT64_MAX;
  pthread_mutex_init(&state->lock, NULL);
  dispatch_cond_init(&state->changed);
  made->state = state;
  return &made->object;
}

// --- Handlers and what they ask ----------------------------------------------

static void set(source_state *state, handler *place, id literal,
                dispatch_function *function) {
  const handler made = {_Block_copy(literal), function};
  pthread_mutex_lock(&state->lock);
  handler before = *place;
  *place = made;
  pthread_mutex_unlock(&state->lock);
  handler_clear(&before);
}

OBJC_EXPORT void dispatch_source_set_event_handler(id object, id literal) {
  set(state_of(object), &state_of(object)->event, literal, NULL);
}

OBJC_EXPORT void dispatch_source_set_event_handler_f(
    id object, dispatch_function *function) {
  set(state_of(object), &state_of(object)->event, NULL, function);
}

OBJC_EXPORT void dispatch_source_set_cancel_handler(id object, id literal) {
  set(state_of(object), &state_of(object)->cancel, literal, NULL);
}

OBJC_EXPORT void dispatch_source_set_cancel_handler_f(
    id object, dispatch_function *function) {
  set(state_of(object), &state_of(object)->cancel, NULL, function);
}

OBJC_EXPORT void dispatch_source_cancel(id object) {
  cancel(state_of(object), false);
}

OBJC_EXPORT long dispatch_source_testcancel(id object) {
  source_state *state = state_of(object);
  pthread_mutex_lock(&state->lock);
  const bool is_cancelled = state->is_cancelled;
  pthread_mutex_unlock(&state->lock);
  return is_cancelled;
}

OBJC_EXPORT unsigned long dispatch_source_get_data(id object) {
  return state_of(object)->data;
}

OBJC_EXPORT uintptr_t dispatch_source_get_handle(id object) {
  return state_of(object)->handle;
}

OBJC_EXPORT unsigned long dispatch_source_get_mask(id object) {
  return state_of(object)->mask;
}

OBJC_EXPORT void dispatch_source_merge_data(id object, unsigned long value) {
  source_state *state = state_of(object);
  pthread_mutex_lock(&state->lock);
  state->pending = state->kind == DATA_OR        ? state->pending | value
                   : state->kind == DATA_REPLACE ? value
                                                 : state->pending + value;
  deliver(state);
  pthread_mutex_unlock(&state->lock);
}

// --- Timers ------------------------------------------------------------------

// Counts how often the timer has fired by now, and finds its next time. The
// lock is held.
static void count_fired(source_state *state, uint64_t now_ns) {
  uint64_t times = 1;
  if (state->interval_ns == UINT64_MAX) {
    state->next_ns = UINT64_MAX;
  } else {
    times += (now_ns - state->next_ns) / state->interval_ns;
    state->next_ns += times * state->interval_ns;
  }
  state->pending += times;
  deliver(state);
}

// Runs on a thread of the pool, as long as the timer has a next time.
static void wait_for_times(void *context) {
  source_state *state = context;
  pthread_mutex_lock(&state->lock);
  while (!state->is_cancelled && state->next_ns != UINT64_MAX) {
    const uint64_t now_ns = dispatch_now_ns();
    if (state->next_ns <= now_ns) {
      count_fired(state, now_ns);
      continue;
    }
    const struct timespec until = {(time_t)(state->next_ns / 1000000000u),
                                   (long)(state->next_ns % 1000000000u)};
    pthread_cond_timedwait(&state->changed, &state->lock, &until);
  }
  state->has_thread = false;
  pthread_mutex_unlock(&state->lock);
  state_release(state);
}

typedef struct timer_job {
  pool_job job;
  source_state *state;
} timer_job;

static void timer_run(void *context) {
  timer_job *job = context;
  source_state *state = job->state;
  free(job);
  wait_for_times(state);
}

// The lock is held.
static void start_timer(source_state *state) {
  if (state->kind != TIMER || !state->is_active || state->has_thread ||
      state->next_ns == UINT64_MAX) {
    return;
  }
  timer_job *job = calloc(1, sizeof *job);
  if (!job) {
    runtime_fail("no memory for a timer");
  }
  state->has_thread = true;
  ++state->references;
  *job = (timer_job){{NULL, timer_run, job}, state};
  thread_pool_add(&job->job);
}

OBJC_EXPORT void dispatch_source_set_timer(id object, uint64_t start,
                                           uint64_t interval_ns,
                                           uint64_t leeway_ns) {
  source_state *state = state_of(object);
  (void)leeway_ns;
  pthread_mutex_lock(&state->lock);
  state->next_ns = dispatch_deadline_ns(start);
  state->interval_ns = interval_ns ? interval_ns : 1;
  state->pending = 0;
  pthread_cond_signal(&state->changed);
  start_timer(state);
  pthread_mutex_unlock(&state->lock);
}

// --- Suspending --------------------------------------------------------------

void dispatch_source_suspend(id object) {
  source_state *state = state_of(object);
  pthread_mutex_lock(&state->lock);
  ++state->suspensions;
  pthread_mutex_unlock(&state->lock);
}

// Activates a source at the first call; a later dispatch_resume undoes one
// suspension.
static void go_on(source_state *state, bool is_activation) {
  pthread_mutex_lock(&state->lock);
  if (!state->is_active) {
    state->is_active = true;
    start_timer(state);
  } else if (!is_activation && state->suspensions) {
    --state->suspensions;
  }
  deliver(state);
  pthread_mutex_unlock(&state->lock);
}

void dispatch_source_resume(id object) {
  go_on(state_of(object), false);
}

void dispatch_source_activate(id object) {
  go_on(state_of(object), true);
}

void dispatch_source_set_context(id object, void *context) {
  state_of(object)->context = context;
}

void dispatch_source_set_queue(id object, id queue) {
  source_state *state = state_of(object);
  objc_retain(queue);
  pthread_mutex_lock(&state->lock);
  const id before = state->queue;
  state->queue = queue;
  pthread_mutex_unlock(&state->lock);
  objc_release(before);
}
