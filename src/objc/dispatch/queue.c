// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: dispatch queues: run tasks in the order of submission, serially or
// concurrently.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"

typedef struct task {
  struct task *next;
  dispatch_function *run;
  void *context;
  bool is_alone;  // nothing else of the queue runs at the same time
  bool is_sync;   // a thread waits to run it itself
  bool may_start;
  pthread_cond_t started;  // of a sync task
} task;

struct dispatch_queue {
  struct objc_object object;
  pthread_mutex_t lock;
  task *first;
  task **last;
  size_t running;
  bool runs_alone;  // a barrier task is running
  bool is_serial;
  bool is_pumped;  // a job of the pool is starting tasks
  size_t suspensions;
  dispatch_queue *target;  // +1; tasks run within its tasks; NULL for none
  struct specific *specifics;
  pool_job pump;
  char *label;
};

// A value under a key, of dispatch_queue_set_specific.
typedef struct specific {
  struct specific *next;
  const void *key;
  void *value;
  dispatch_function *destructor;
} specific;

extern struct objc_class OBJC_CLASS_$_OS_dispatch_queue;

static id create(const char *label, bool is_serial) {
  dispatch_queue *made =
      (dispatch_queue *)instance_create(&OBJC_CLASS_$_OS_dispatch_queue, 0);
  if (!made) {
    runtime_fail("no memory for a dispatch queue");
  }
  pthread_mutex_init(&made->lock, NULL);
  made->last = &made->first;
  made->is_serial = is_serial;
  made->label = strdup(label ? label : "");
  return &made->object;
}

id dispatch_queue_create_serial(const char *label) {
  return create(label, true);
}

static void queue_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  dispatch_queue *queue = (dispatch_queue *)self;
  pthread_mutex_destroy(&queue->lock);
  while (queue->specifics) {
    specific *each = queue->specifics;
    queue->specifics = each->next;
    if (each->destructor) {
      each->destructor(each->value);
    }
    free(each);
  }
  free(queue->label);
  objc_release((id)queue->target);
  instance_dispose(self);
}

extern struct objc_class OBJC_CLASS_$_OS_dispatch_object;
METHODS(queue_methods, METHOD("dealloc", "v16@0:8", queue_dealloc));
DEFINE_CLASS(OS_dispatch_queue, OS_dispatch_object, sizeof(dispatch_queue),
             queue_methods, NO_METHODS);

// --- Starting tasks ----------------------------------------------------------

// True if a task may start beside those that run. The lock is held.
static bool may_start(const dispatch_queue *queue, const task *next) {
  return !queue->suspensions &&
         (queue->running == 0 || (!queue->runs_alone && !next->is_alone));
}

// Takes the first task if it may start, and counts it as running.
static task *take(dispatch_queue *queue) {
  task *next = queue->first;
  if (!next || !may_start(queue, next)) {
    return NULL;
  }
  queue->first = next->next;
  if (!queue->first) {
    queue->last = &queue->first;
  }
  ++queue->running;
  queue->runs_alone = next->is_alone;
  return next;
}

static void pump(void *context);

// The queue whose task a thread runs, and the one whose task waits for it.
static __thread dispatch_queue *current;

static void restore_current(dispatch_queue **before) {
  current = *before;
}

// A task and its queue, on the way through the target queues.
typedef struct targeted {
  dispatch_queue *queue;
  dispatch_function *run;
  void *context;
} targeted;

static void run_here(dispatch_queue *queue, dispatch_function *run,
                     void *context, bool is_alone);

static void run_targeted(void *context) {
  const targeted *it = context;
  dispatch_queue *before __attribute__((cleanup(restore_current))) = current;
  current = it->queue;
  it->run(it->context);
}

static void run_on(dispatch_queue *queue, dispatch_function *run,
                   void *context) {
  targeted it = {queue, run, context};
  if (queue->target) {
    run_here(queue->target, run_targeted, &it, false);
  } else {
    run_targeted(&it);
  }
}

// Has the pool start tasks, if one may start. The lock is held.
static void wake(dispatch_queue *queue) {
  if (!queue->is_pumped && queue->first && may_start(queue, queue->first)) {
    queue->is_pumped = true;
    objc_retain(&queue->object);  // +1, for the job
    queue->pump.run = pump;
    queue->pump.context = queue;
    thread_pool_add(&queue->pump);
  }
}

static void finish(dispatch_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  --queue->running;
  wake(queue);
  pthread_mutex_unlock(&queue->lock);
}

// Starts tasks: one that is alone, or the last that may start, on this thread;
// before others another job takes over the pump.
static void pump(void *context) {
  dispatch_queue *queue = context;
  pthread_mutex_lock(&queue->lock);
  for (task *next; (next = take(queue)) != NULL;) {
    if (next->is_sync) {
      next->may_start = true;
      pthread_cond_signal(&next->started);
      continue;
    }
    if (!next->is_alone) {
      queue->is_pumped = false;
      wake(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    run_on(queue, next->run, next->context);
    const bool was_alone = next->is_alone;
    free(next);
    pthread_mutex_lock(&queue->lock);
    --queue->running;
    if (!was_alone) {
      wake(queue);
      pthread_mutex_unlock(&queue->lock);
      objc_release(&queue->object);  // -1
      return;
    }
  }
  queue->is_pumped = false;
  wake(queue);
  pthread_mutex_unlock(&queue->lock);
  objc_release(&queue->object);  // -1
}

static void append(dispatch_queue *queue, task *added) {
  added->next = NULL;
  *queue->last = added;
  queue->last = &added->next;
}

static void add(dispatch_queue *queue, dispatch_function *run, void *context,
                bool is_alone) {
  task *made = calloc(1, sizeof *made);
  if (!made) {
    runtime_fail("no memory for a dispatch queue's task");
  }
  made->run = run;
  made->context = context;
  made->is_alone = is_alone || queue->is_serial;
  pthread_mutex_lock(&queue->lock);
  append(queue, made);
  wake(queue);
  pthread_mutex_unlock(&queue->lock);
}

void dispatch_queue_add(id queue, dispatch_function *function, void *context) {
  add((dispatch_queue *)queue, function, context, false);
}

// --- Running on the caller's thread ------------------------------------------

static void finish_by_cleanup(dispatch_queue **queue) {
  finish(*queue);
}

// Waits for the task's turn, and runs it on this thread. An exception passes
// through.
static void run_here(dispatch_queue *queue, dispatch_function *run,
                     void *context, bool is_alone) {
  task own = {.is_alone = is_alone || queue->is_serial, .is_sync = true};
  pthread_mutex_lock(&queue->lock);
  if (!queue->first && may_start(queue, &own)) {
    ++queue->running;
    queue->runs_alone = own.is_alone;
  } else {
    pthread_cond_init(&own.started, NULL);
    append(queue, &own);
    wake(queue);
    while (!own.may_start) {
      pthread_cond_wait(&own.started, &queue->lock);
    }
    pthread_cond_destroy(&own.started);
  }
  pthread_mutex_unlock(&queue->lock);
  dispatch_queue *held __attribute__((cleanup(finish_by_cleanup))) = queue;
  run_on(queue, run, context);
}

// --- Blocks ------------------------------------------------------------------

static void call_and_release(void *literal) {
  BLOCK_CALL(void (*)(id), literal);
  _Block_release(literal);
}

static void call(void *literal) {
  BLOCK_CALL(void (*)(id), literal);
}

OBJC_EXPORT void dispatch_async(id queue, id literal) {
  add((dispatch_queue *)queue, call_and_release, _Block_copy(literal), false);
}

OBJC_EXPORT void dispatch_async_f(id queue, void *context,
                                  dispatch_function *run) {
  add((dispatch_queue *)queue, run, context, false);
}

OBJC_EXPORT void dispatch_sync(id queue, id literal) {
  run_here((dispatch_queue *)queue, call, literal, false);
}

OBJC_EXPORT void dispatch_sync_f(id queue, void *context,
                                 dispatch_function *run) {
  run_here((dispatch_queue *)queue, run, context, false);
}

OBJC_EXPORT void dispatch_barrier_async(id queue, id literal) {
  add((dispatch_queue *)queue, call_and_release, _Block_copy(literal), true);
}

OBJC_EXPORT void dispatch_barrier_async_f(id queue, void *context,
                                          dispatch_function *run) {
  add((dispatch_queue *)queue, run, context, true);
}

OBJC_EXPORT void dispatch_barrier_sync(id queue, id literal) {
  run_here((dispatch_queue *)queue, call, literal, true);
}

OBJC_EXPORT void dispatch_barrier_sync_f(id queue, void *context,
                                         dispatch_function *run) {
  run_here((dispatch_queue *)queue, run, context, true);
}

OBJC_EXPORT void dispatch_async_and_wait(id queue, id literal) {
  run_here((dispatch_queue *)queue, call, literal, false);
}

OBJC_EXPORT void dispatch_async_and_wait_f(id queue, void *context,
                                           dispatch_function *run) {
  run_here((dispatch_queue *)queue, run, context, false);
}

// --- Suspending, and values of queues ----------------------------------------

void dispatch_queue_suspend(id object) {
  dispatch_queue *queue = (dispatch_queue *)object;
  pthread_mutex_lock(&queue->lock);
  ++queue->suspensions;
  pthread_mutex_unlock(&queue->lock);
}

void dispatch_queue_resume(id object) {
  dispatch_queue *queue = (dispatch_queue *)object;
  pthread_mutex_lock(&queue->lock);
  if (!queue->suspensions) {
    pthread_mutex_unlock(&queue->lock);
    runtime_fail("dispatch_resume: the queue is not suspended");
  }
  --queue->suspensions;
  wake(queue);
  pthread_mutex_unlock(&queue->lock);
}

void dispatch_queue_set_target(id object, id target) {
  dispatch_queue *queue = (dispatch_queue *)object;
  // The global queue lets everything run: it is no target.
  dispatch_queue *wanted = target == dispatch_get_global_queue(0, 0)
                               ? NULL
                               : (dispatch_queue *)target;
  objc_retain((id)wanted);
  pthread_mutex_lock(&queue->lock);
  dispatch_queue *before = queue->target;
  queue->target = wanted;
  pthread_mutex_unlock(&queue->lock);
  objc_release((id)before);
}

OBJC_EXPORT void dispatch_queue_set_specific(id object, const void *key,
                                             void *value,
                                             dispatch_function *destructor) {
  dispatch_queue *queue = (dispatch_queue *)object;
  specific *made = malloc(sizeof *made);
  if (!made) {
    runtime_fail("no memory for a value of a dispatch queue");
  }
  pthread_mutex_lock(&queue->lock);
  *made = (specific){queue->specifics, key, value, destructor};
  queue->specifics = made;  // an earlier value under this key is no longer
                            // found
  pthread_mutex_unlock(&queue->lock);
}

OBJC_EXPORT void *dispatch_queue_get_specific(id object, const void *key) {
  dispatch_queue *queue = (dispatch_queue *)object;
  void *value = NULL;
  pthread_mutex_lock(&queue->lock);
  for (const specific *each = queue->specifics; each; each = each->next) {
    if (each->key == key) {
      value = each->value;
      break;
    }
  }
  pthread_mutex_unlock(&queue->lock);
  return value;
}

OBJC_EXPORT void *dispatch_get_specific(const void *key) {
  void *value = NULL;
  for (dispatch_queue *each = current; each && !value; each = each->target) {
    value = dispatch_queue_get_specific(&each->object, key);
  }
  return value;
}

// True if the thread runs a task of the queue, or of one that it is a target
// of.
static bool runs_here(id object) {
  const dispatch_queue *each = current;
  while (each && each != (dispatch_queue *)object) {
    each = each->target;
  }
  return each != NULL;
}

OBJC_EXPORT void dispatch_assert_queue(id object) {
  if (!runs_here(object)) {
    runtime_fail("dispatch_assert_queue: the queue '%s' does not run here",
                 ((dispatch_queue *)object)->label);
  }
}

OBJC_EXPORT void dispatch_assert_queue_not(id object) {
  if (runs_here(object)) {
    runtime_fail("dispatch_assert_queue_not: the queue '%s' runs here",
                 ((dispatch_queue *)object)->label);
  }
}

// --- Making and finding queues -----------------------------------------------

// The attribute of dispatch_queue_create: NULL for a serial queue, ours for a
// concurrent one.
OBJC_EXPORT struct objc_object _dispatch_queue_attr_concurrent;

OBJC_EXPORT id dispatch_queue_create(const char *label, id attributes) {
  return create(label, attributes != &_dispatch_queue_attr_concurrent);
}

OBJC_EXPORT id dispatch_queue_create_with_target(const char *label,
                                                 id attributes, id target) {
  const id made = dispatch_queue_create(label, attributes);
  if (target) {
    dispatch_queue_set_target(made, target);
  }
  return made;
}

OBJC_EXPORT id dispatch_queue_attr_make_with_qos_class(id attributes,
                                                       unsigned qos,
                                                       int priority) {
  (void)qos;
  (void)priority;
  return attributes;
}

OBJC_EXPORT id dispatch_queue_attr_make_with_autorelease_frequency(
    id attributes, unsigned long frequency) {
  (void)frequency;
  return attributes;
}

static id global_queue;
static id main_queue;

static void make_queues(void) {
  global_queue = create("com.apple.root.default-qos", false);
  main_queue = create("com.apple.main-thread", true);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

OBJC_EXPORT id dispatch_get_global_queue(long identifier, unsigned long flags) {
  (void)identifier;
  (void)flags;
  pthread_once(&once, make_queues);
  return global_queue;
}

// The main queue is a serial one on a thread of its own.
OBJC_EXPORT id dispatch_get_main_queue(void) {
  pthread_once(&once, make_queues);
  return main_queue;
}

bool dispatch_is_on_main_queue(void) {
  const dispatch_queue *each = current;
  while (each && (id)each != main_queue) {
    each = each->target;
  }
  return each != NULL;
}

OBJC_EXPORT const char *dispatch_queue_get_label(id queue) {
  return queue ? ((dispatch_queue *)queue)->label : "";
}

// --- Loops and once ----------------------------------------------------------

typedef struct loop {
  size_t count;
  _Atomic size_t next;
  id literal;
  void *context;
  void (*function)(void *, size_t);
  pthread_mutex_t lock;
  pthread_cond_t done;
  size_t helpers;
} loop;

static void loop_work(loop *of) {
  for (size_t i; (i = of->next++) < of->count;) {
    if (of->function) {
      of->function(of->context, i);
    } else {
      BLOCK_CALL(void (*)(id, size_t), of->literal, i);
    }
  }
}

static void loop_help(void *context) {
  loop *of = context;
  loop_work(of);
  pthread_mutex_lock(&of->lock);
  if (--of->helpers == 0) {
    pthread_cond_signal(&of->done);
  }
  pthread_mutex_unlock(&of->lock);
}

enum { MAX_HELPERS = 63 };

// Calls for 0 to count - 1, on this thread and some of the pool's.
static void loop_run(loop *of) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  size_t helpers = processors > 1 ? (size_t)processors - 1 : 0;
  helpers = helpers < of->count ? helpers : of->count ? of->count - 1 : 0;
  helpers = helpers < MAX_HELPERS ? helpers : MAX_HELPERS;
  pool_job jobs[MAX_HELPERS];
  pthread_mutex_init(&of->lock, NULL);
  pthread_cond_init(&of->done, NULL);
  of->helpers = helpers;
  for (size_t i = 0; i < helpers; ++i) {
    jobs[i] = (pool_job){.run = loop_help, .context = of};
    thread_pool_add(&jobs[i]);
  }
  loop_work(of);
  pthread_mutex_lock(&of->lock);
  while (of->helpers) {
    pthread_cond_wait(&of->done, &of->lock);
  }
  pthread_mutex_unlock(&of->lock);
  pthread_mutex_destroy(&of->lock);
  pthread_cond_destroy(&of->done);
}

OBJC_EXPORT void dispatch_apply(size_t count, id queue, id literal) {
  (void)queue;
  loop run = {.count = count, .literal = literal};
  loop_run(&run);
}

OBJC_EXPORT void dispatch_apply_f(size_t count, id queue, void *context,
                                  void (*function)(void *, size_t)) {
  (void)queue;
  loop run = {.count = count, .context = context, .function = function};
  loop_run(&run);
}

// A dispatch_once_t is 0, then 1 while the first caller runs the block, then
// -1, which the compiled inline check looks for.
OBJC_EXPORT void dispatch_once_f(_Atomic long *state, void *context,
                                 dispatch_function *run) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&lock);
  while (*state == 1) {
    pthread_cond_wait(&changed, &lock);
  }
  if (*state == 0) {
    *state = 1;
    pthread_mutex_unlock(&lock);
    run(context);
    pthread_mutex_lock(&lock);
    *state = -1;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
}

OBJC_EXPORT void dispatch_once(_Atomic long *state, id literal) {
  if (*state != -1) {
    dispatch_once_f(state, literal, call);
  }
}
