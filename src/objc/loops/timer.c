// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timer.c: NSTimer, and NSObject's selectors that are sent later or on the
// main thread, all of which a run loop calls.
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "objc/loops/run_loop.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSTimer;
extern double CFAbsoluteTimeGetCurrent(void);

#define SHORTEST 0.0001  // seconds: what Foundation makes of 0 and less

timer *loop_timer_create(double date, double interval, bool repeats) {
  timer *made = (timer *)CREATE(NSTimer);
  made->is_valid = true;
  made->date = date;
  made->repeats = repeats;
  made->interval = !repeats ? 0 : interval > 0 ? interval : SHORTEST;
  return made;
}

void loop_timer_end(timer *of) {
  of->is_valid = false;
  run_loop_wake(run_loop_current());
}

static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

void loop_timer_fire(timer *of) {
  if (!of->is_valid) {
    return;
  }
  const double now = CFAbsoluteTimeGetCurrent();
  if (of->repeats) {
    // Turns that were missed are left out.
    const double missed = fmax(floor((now - of->date) / of->interval), 0);
    of->date = of->date + (missed + 1) * of->interval;
  }
  if (of->block) {
    BLOCK_CALL(void (*)(id, id), of->block, &of->object);
  } else if (of->target) {
    SEND(id(*)(id, SEL, SEL, id), of->target,
         "performSelector:withObject:", of->selector,
         of->gives_argument ? of->argument : &of->object);
  }
  if (!of->repeats) {
    of->is_valid = false;
  }
  if (of->gives_argument) {
    pthread_mutex_lock(&told_lock);
    of->is_told = true;
    pthread_cond_broadcast(&told);
    pthread_mutex_unlock(&told_lock);
  }
}

// Waits until a selector of loop_timer_fire has returned.
static void wait_until_told(const timer *of) {
  pthread_mutex_lock(&told_lock);
  while (!of->is_told) {
    pthread_cond_wait(&told, &told_lock);
  }
  pthread_mutex_unlock(&told_lock);
}

static void timer_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  timer *of = (timer *)self;
  objc_release(of->target);
  objc_release(of->argument);
  objc_release(of->info);
  _Block_release(of->block);
  instance_dispose(self);
}

// --- Making ------------------------------------------------------------------

// Makes a timer that is first due after a delay, which is its interval as well.
static timer *make_after(double delay, int repeats) {
  return loop_timer_create(
      CFAbsoluteTimeGetCurrent() + (delay > 0 ? delay : SHORTEST), delay,
      repeats & 0xff);
}

static timer *make_block(double delay, int repeats, const void *body) {
  timer *made = make_after(delay, repeats);
  made->block = _Block_copy(body);
  return (timer *)objc_autorelease(&made->object);
}

static void set_target(timer *of, id target, SEL selector, id info) {
  of->target = objc_retain(target);
  of->selector = selector;
  of->info = objc_retain(info);
}

static timer *make_target(double delay, id target, SEL selector, id info,
                          int repeats) {
  timer *made = make_after(delay, repeats);
  set_target(made, target, selector, info);
  return (timer *)objc_autorelease(&made->object);
}

static id schedule(timer *of) {
  run_loop_add_timer(run_loop_current(), of, NSDefaultRunLoopMode);
  return &of->object;
}

static id with_block(id self, SEL _cmd, double delay, int repeats,
                     const void *body) {
  (void)self;
  (void)_cmd;
  return &make_block(delay, repeats, body)->object;
}

static id scheduled_block(id self, SEL _cmd, double delay, int repeats,
                          const void *body) {
  (void)self;
  (void)_cmd;
  return schedule(make_block(delay, repeats, body));
}

static id with_target(id self, SEL _cmd, double delay, id target, SEL selector,
                      id info, int repeats) {
  (void)self;
  (void)_cmd;
  return &make_target(delay, target, selector, info, repeats)->object;
}

static id scheduled_target(id self, SEL _cmd, double delay, id target,
                           SEL selector, id info, int repeats) {
  (void)self;
  (void)_cmd;
  return schedule(make_target(delay, target, selector, info, repeats));
}

static double seconds_of(id date) {
  return SEND(double (*)(id, SEL), date, "timeIntervalSinceReferenceDate");
}

static id init_block(id self, SEL _cmd, id date, double interval, int repeats,
                     const void *body) {
  (void)_cmd;
  objc_release(self);
  timer *made = loop_timer_create(seconds_of(date), interval, repeats & 0xff);
  made->block = _Block_copy(body);
  return &made->object;
}

static id init_target(id self, SEL _cmd, id date, double interval, id target,
                      SEL selector, id info, int repeats) {
  (void)_cmd;
  objc_release(self);
  timer *made = loop_timer_create(seconds_of(date), interval, repeats & 0xff);
  set_target(made, target, selector, info);
  return &made->object;
}

// --- NSTimer -----------------------------------------------------------------

static void fire(id self, SEL _cmd) {
  (void)_cmd;
  loop_timer_fire((timer *)self);
}

static void invalidate(id self, SEL _cmd) {
  (void)_cmd;
  loop_timer_end((timer *)self);
}

static int is_valid(id self, SEL _cmd) {
  (void)_cmd;
  return ((timer *)self)->is_valid;
}

static double interval(id self, SEL _cmd) {
  (void)_cmd;
  return ((timer *)self)->interval;
}

static double tolerance(id self, SEL _cmd) {
  (void)_cmd;
  return ((timer *)self)->tolerance;
}

static void set_tolerance(id self, SEL _cmd, double seconds) {
  (void)_cmd;
  ((timer *)self)->tolerance = seconds;
}

static id info(id self, SEL _cmd) {
  (void)_cmd;
  return ((timer *)self)->info;
}

extern struct objc_class OBJC_CLASS_$_NSDate;

static id fire_date(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL, double), CLASS_OF(NSDate),
              "dateWithTimeIntervalSinceReferenceDate:", ((timer *)self)->date);
}

static void set_fire_date(id self, SEL _cmd, id date) {
  (void)_cmd;
  ((timer *)self)->date = seconds_of(date);
  run_loop_wake(run_loop_current());
}

METHODS(timer_methods, METHOD("dealloc", "v16@0:8", timer_dealloc),
        METHOD("initWithFireDate:interval:repeats:block:",
               "@44@0:8@16d24B32@?36", init_block),
        METHOD("initWithFireDate:interval:target:selector:userInfo:repeats:",
               "@60@0:8@16d24@32:40@48B56", init_target),
        METHOD("fire", "v16@0:8", fire),
        METHOD("invalidate", "v16@0:8", invalidate),
        METHOD("isValid", "B16@0:8", is_valid),
        METHOD("timeInterval", "d16@0:8", interval),
        METHOD("tolerance", "d16@0:8", tolerance),
        METHOD("setTolerance:", "v24@0:8d16", set_tolerance),
        METHOD("userInfo", "@16@0:8", info),
        METHOD("fireDate", "@16@0:8", fire_date),
        METHOD("setFireDate:", "v24@0:8@16", set_fire_date));
METHODS(timer_class_methods,
        METHOD("timerWithTimeInterval:repeats:block:", "@36@0:8d16B24@?28",
               with_block),
        METHOD("scheduledTimerWithTimeInterval:repeats:block:",
               "@36@0:8d16B24@?28", scheduled_block),
        METHOD("timerWithTimeInterval:target:selector:userInfo:repeats:",
               "@52@0:8d16@24:32@40B48", with_target),
        METHOD("scheduledTimerWithTimeInterval:target:selector:userInfo:"
               "repeats:",
               "@52@0:8d16@24:32@40B48", scheduled_target));
DEFINE_CLASS(NSTimer, NSObject, sizeof(timer), timer_methods,
             &timer_class_methods);

// --- Selectors that are sent later -------------------------------------------

static timer *later(id target, SEL selector, id argument, double delay) {
  timer *made =
      loop_timer_create(CFAbsoluteTimeGetCurrent() + fmax(delay, 0), 0, false);
  set_target(made, target, selector, NULL);
  made->argument = objc_retain(argument);
  made->gives_argument = true;
  return made;
}

static void perform_after(id self, SEL _cmd, SEL selector, id argument,
                          double delay) {
  (void)_cmd;
  timer *made = later(self, selector, argument, delay);
  run_loop_add_timer(run_loop_current(), made, NSDefaultRunLoopMode);
  objc_release(&made->object);
}

static void cancel_all(id self, SEL _cmd, id target) {
  (void)self;
  (void)_cmd;
  run_loop_cancel_performs(run_loop_current(), target, NULL, false, NULL);
}

static void cancel_one(id self, SEL _cmd, id target, SEL selector,
                       id argument) {
  (void)self;
  (void)_cmd;
  run_loop_cancel_performs(run_loop_current(), target, selector, true,
                           argument);
}

static void perform_on_main(id self, SEL _cmd, SEL selector, id argument,
                            int waits) {
  (void)_cmd;
  if ((waits & 0xff) && gettid() == getpid()) {
    SEND(id(*)(id, SEL, SEL, id), self, "performSelector:withObject:", selector,
         argument);
    return;
  }
  timer *made = later(self, selector, argument, 0);
  run_loop_add_timer(run_loop_main(), made, NSRunLoopCommonModes);
  if (waits & 0xff) {
    wait_until_told(made);
  }
  objc_release(&made->object);
}

// The cancelling ones are NSObject's own, which as a class has the methods of
// its instances.
METHODS(later_methods,
        METHOD("performSelector:withObject:afterDelay:", "v40@0:8:16@24d32",
               perform_after),
        METHOD("performSelectorOnMainThread:withObject:waitUntilDone:",
               "v36@0:8:16@24B32", perform_on_main),
        METHOD("cancelPreviousPerformRequestsWithTarget:", "v24@0:8@16",
               cancel_all),
        METHOD("cancelPreviousPerformRequestsWithTarget:selector:object:",
               "v40@0:8@16:24@32", cancel_one));
DEFINE_CATEGORY(NSObject, Later, later_methods);
