// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_loop.c: a thread's run loop, which waits for timers and for blocks that
// others hand to it. There are no ports: of input sources there are blocks
// alone.
#include "objc/loops/run_loop.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/memory/block.h"

CONSTANT_STRING(NSDefaultRunLoopMode, "kCFRunLoopDefaultMode");
CONSTANT_STRING(NSRunLoopCommonModes, "kCFRunLoopCommonModes");
OBJC_EXPORT id const kCFRunLoopDefaultMode = (id)&NSDefaultRunLoopMode_storage;
OBJC_EXPORT id const kCFRunLoopCommonModes = (id)&NSRunLoopCommonModes_storage;

extern struct objc_class OBJC_CLASS_$_NSRunLoop;
extern double CFAbsoluteTimeGetCurrent(void);

// A timer, or a block that is called once.
typedef struct loop_item {
  struct loop_item *next;
  id mode;       // +1
  timer *timer;  // +1, or NULL
  void *block;   // of its own, or NULL
} loop_item;

typedef struct run_loop {
  struct objc_object object;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  loop_item *items;
  id mode;  // in which it runs, +1; or NULL
  bool is_main, is_stopped, is_awake;
} run_loop;

// --- The loops ---------------------------------------------------------------

static pthread_key_t current_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static run_loop *main_loop;

static void release_current(void *object) {
  objc_release(object);
}

static run_loop *loop_create(void) {
  run_loop *made = (run_loop *)CREATE(NSRunLoop);
  pthread_mutex_init(&made->lock, NULL);
  dispatch_cond_init(&made->changed);
  return made;
}

static void make_main(void) {
  pthread_key_create(&current_key, release_current);
  main_loop = loop_create();
  main_loop->is_main = true;
}

id run_loop_main(void) {
  pthread_once(&once, make_main);
  return &main_loop->object;
}

id run_loop_current(void) {
  pthread_once(&once, make_main);
  if (gettid() == getpid() || dispatch_is_on_main_queue()) {
    return &main_loop->object;
  }
  run_loop *found = pthread_getspecific(current_key);
  if (!found) {
    found = loop_create();
    pthread_setspecific(current_key, found);
  }
  return &found->object;
}

// --- What is on them ---------------------------------------------------------

static void item_free(loop_item *item) {
  objc_release(item->mode);
  if (item->timer) {
    objc_release(&item->timer->object);
  }
  _Block_release(item->block);
  free(item);
}

static void loop_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  run_loop *of = (run_loop *)self;
  for (loop_item *each = of->items, *next; each; each = next) {
    next = each->next;
    item_free(each);
  }
  objc_release(of->mode);
  pthread_mutex_destroy(&of->lock);
  pthread_cond_destroy(&of->changed);
  instance_dispose(self);
}

// Takes the item to the end of the loop's list, and wakes the loop.
static void loop_add(run_loop *of, loop_item *item) {
  pthread_mutex_lock(&of->lock);
  loop_item **end = &of->items;
  while (*end) {
    end = &(*end)->next;
  }
  *end = item;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->lock);
}

static loop_item *item_create(id mode) {
  loop_item *made = calloc(1, sizeof *made);
  if (!made) {
    abort();
  }
  made->mode = objc_retain(mode ? mode : NSDefaultRunLoopMode);
  return made;
}

void run_loop_add_timer(id loop, timer *of, id mode) {
  loop_item *item = item_create(mode);
  item->timer = (timer *)objc_retain(&of->object);
  loop_add((run_loop *)loop, item);
}

void run_loop_perform(id loop, id mode, const void *body) {
  loop_item *item = item_create(mode);
  item->block = _Block_copy(body);
  loop_add((run_loop *)loop, item);
}

void run_loop_wake(id loop) {
  run_loop *of = (run_loop *)loop;
  pthread_mutex_lock(&of->lock);
  of->is_awake = true;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->lock);
}

void run_loop_stop(id loop) {
  run_loop *of = (run_loop *)loop;
  pthread_mutex_lock(&of->lock);
  of->is_stopped = true;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->lock);
}

void run_loop_cancel_performs(id loop, id target, SEL selector,
                              bool has_argument, id argument) {
  run_loop *of = (run_loop *)loop;
  pthread_mutex_lock(&of->lock);
  for (loop_item *each = of->items; each; each = each->next) {
    timer *on = each->timer;
    if (on && on->gives_argument && on->target == target &&
        (!selector || on->selector == selector) &&
        (!has_argument || objects_equal(on->argument, argument))) {
      on->is_valid = false;
    }
  }
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->lock);
}

// --- Running -----------------------------------------------------------------

// True if an item of this mode counts while the loop runs in running. The
// common modes are the default one.
static bool is_in_mode(id mode, id running) {
  return string_equals(mode, running) ||
         (string_equals(mode, NSRunLoopCommonModes) &&
          string_equals(running, NSDefaultRunLoopMode)) ||
         (string_equals(running, NSRunLoopCommonModes) &&
          string_equals(mode, NSDefaultRunLoopMode));
}

// Frees the timers that have ended, but for those that are being called: each
// of these holds itself. The lock is held.
static void drop_ended(run_loop *of) {
  for (loop_item **at = &of->items; *at;) {
    loop_item *each = *at;
    if (each->timer && !each->timer->is_valid) {
      *at = each->next;
      // The end of a target may ask for this loop.
      pthread_mutex_unlock(&of->lock);
      item_free(each);
      pthread_mutex_lock(&of->lock);
      at = &of->items;
    } else {
      at = &each->next;
    }
  }
}

typedef struct loop_look {
  loop_item **block;  // the first block, or NULL
  timer *earliest;
  bool has_any;
} loop_look;

// Looks for what there is to do in mode. The lock is held.
static loop_look look(run_loop *of, id mode) {
  loop_look seen = {.has_any = of->is_main};
  for (loop_item **at = &of->items; *at; at = &(*at)->next) {
    if (!is_in_mode((*at)->mode, mode)) {
      continue;
    }
    seen.has_any = true;
    timer *on = (*at)->timer;
    if (!on) {
      seen.block = seen.block ? seen.block : at;
    } else if (!seen.earliest || on->date < seen.earliest->date) {
      seen.earliest = on;
    }
  }
  return seen;
}

// Waits for a change until a date; the lock is held.
static void wait_until(run_loop *of, double date) {
  const double seconds = fmin(date - CFAbsoluteTimeGetCurrent(), 3600);
  if (seconds <= 0) {
    return;
  }
  const uint64_t until = dispatch_now_ns() + (uint64_t)(seconds * 1e9) + 1;
  const struct timespec when = {.tv_sec = (time_t)(until / 1000000000u),
                                .tv_nsec = (long)(until % 1000000000u)};
  pthread_cond_timedwait(&of->changed, &of->lock, &when);
}

static void call_block(run_loop *of, loop_item **at) {
  loop_item *item = *at;
  *at = item->next;
  pthread_mutex_unlock(&of->lock);
  void *pool = objc_autoreleasePoolPush();
  BLOCK_CALL(void (*)(id), item->block);
  objc_autoreleasePoolPop(pool);
  item_free(item);
  pthread_mutex_lock(&of->lock);
}

static void call_timer(run_loop *of, timer *due) {
  objc_retain(&due->object);
  pthread_mutex_unlock(&of->lock);
  void *pool = objc_autoreleasePoolPush();
  loop_timer_fire(due);
  objc_autoreleasePoolPop(pool);
  objc_release(&due->object);
  pthread_mutex_lock(&of->lock);
}

// Does one thing, or waits for one. Returns 0 to go on; the lock is held.
static int turn(run_loop *of, id mode, double end, bool stop_after_block) {
  drop_ended(of);
  if (of->is_stopped) {
    of->is_stopped = false;
    return LOOP_STOPPED;
  }
  const loop_look seen = look(of, mode);
  const double now = CFAbsoluteTimeGetCurrent();
  if (seen.block) {
    call_block(of, seen.block);
    return stop_after_block ? LOOP_HANDLED_SOURCE : 0;
  }
  if (seen.earliest && seen.earliest->date <= now) {
    call_timer(of, seen.earliest);
    return 0;
  }
  if (!seen.has_any) {
    return LOOP_FINISHED;
  }
  if (now >= end) {
    return LOOP_TIMED_OUT;
  }
  if (!of->is_awake) {
    wait_until(of, seen.earliest ? fmin(end, seen.earliest->date) : end);
  }
  of->is_awake = false;
  return 0;
}

run_loop_end run_loop_run(id loop, id mode, double seconds, bool once_only) {
  run_loop *of = (run_loop *)loop;
  const double end = CFAbsoluteTimeGetCurrent() + seconds;
  pthread_mutex_lock(&of->lock);
  const id outer = of->mode;
  of->mode = mode;
  int result = 0;
  while (!result) {
    result = turn(of, mode, end, once_only);
  }
  of->mode = outer;
  pthread_mutex_unlock(&of->lock);
  return (run_loop_end)result;
}

// --- NSRunLoop ---------------------------------------------------------------

static id loop_class_current(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return run_loop_current();
}

static id loop_class_main(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return run_loop_main();
}

static id loop_mode(id self, SEL _cmd) {
  (void)_cmd;
  return ((run_loop *)self)->mode;
}

static void loop_run_until(id self, SEL _cmd, id date) {
  (void)_cmd;
  int result = LOOP_STOPPED;
  while (result == LOOP_STOPPED) {
    const double seconds =
        SEND(double (*)(id, SEL), date, "timeIntervalSinceNow");
    result = run_loop_run(self, NSDefaultRunLoopMode, seconds, false);
  }
}

static void loop_run(id self, SEL _cmd) {
  (void)_cmd;
  while (run_loop_run(self, NSDefaultRunLoopMode, INFINITY, false) !=
         LOOP_FINISHED) {
  }
}

static int loop_run_mode(id self, SEL _cmd, id mode, id date) {
  (void)_cmd;
  const double seconds =
      SEND(double (*)(id, SEL), date, "timeIntervalSinceNow");
  return run_loop_run(self, mode, seconds, true) != LOOP_FINISHED;
}

static void loop_accept(id self, SEL _cmd, id mode, id date) {
  loop_run_mode(self, _cmd, mode, date);
}

static void loop_add_timer(id self, SEL _cmd, id of, id mode) {
  (void)_cmd;
  run_loop_add_timer(self, (timer *)of, mode);
}

static void loop_perform(id self, SEL _cmd, const void *body) {
  (void)_cmd;
  run_loop_perform(self, NSRunLoopCommonModes, body);
}

static void loop_perform_in(id self, SEL _cmd, id modes, const void *body) {
  (void)_cmd;
  for (size_t i = 0; i < array_count(modes); ++i) {
    run_loop_perform(self, array_at(modes, i), body);
  }
}

static id loop_as_core(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

METHODS(loop_methods, METHOD("dealloc", "v16@0:8", loop_dealloc),
        METHOD("currentMode", "@16@0:8", loop_mode),
        METHOD("runUntilDate:", "v24@0:8@16", loop_run_until),
        METHOD("run", "v16@0:8", loop_run),
        METHOD("runMode:beforeDate:", "B32@0:8@16@24", loop_run_mode),
        METHOD("acceptInputForMode:beforeDate:", "v32@0:8@16@24", loop_accept),
        METHOD("addTimer:forMode:", "v32@0:8@16@24", loop_add_timer),
        METHOD("performBlock:", "v24@0:8@?16", loop_perform),
        METHOD("performInModes:block:", "v32@0:8@16@?24", loop_perform_in),
        METHOD("getCFRunLoop", "^{__CFRunLoop=}16@0:8", loop_as_core));
METHODS(loop_class_methods,
        METHOD("currentRunLoop", "@16@0:8", loop_class_current),
        METHOD("mainRunLoop", "@16@0:8", loop_class_main));
DEFINE_CLASS(NSRunLoop, NSObject, sizeof(run_loop), loop_methods,
             &loop_class_methods);
