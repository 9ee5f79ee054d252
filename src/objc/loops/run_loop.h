// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_loop.h: run loops and timers, for each other.
#ifndef METTLE_OBJC_RUN_LOOP_H
#define METTLE_OBJC_RUN_LOOP_H

#include "objc/foundation/foundation.h"

extern id const NSDefaultRunLoopMode;
extern id const NSRunLoopCommonModes;

typedef struct timer {
  struct objc_object object;
  id target;  // +1, with selector; or NULL
  SEL selector;
  id argument;  // +1: of a delayed selector
  id info;      // +1
  void *block;  // of its own, or NULL
  double interval;
  double tolerance;
  bool repeats;
  bool gives_argument;  // the selector gets argument, not the timer
  bool is_told;         // of a selector with an argument: it has returned
  _Atomic bool is_valid;
  _Atomic double date;  // when it fires next, since the reference date
} timer;

// Creates a timer that no run loop calls yet; the caller owns it.
timer *loop_timer_create(double date, double interval, bool repeats);
// Calls what the timer is for, and ends it if it does not repeat.
void loop_timer_fire(timer *of);
void loop_timer_end(timer *of);

// Return the loop of this thread, or of the main one. On the main queue's
// thread it is the main one, too.
id run_loop_current(void);
id run_loop_main(void);

void run_loop_add_timer(id loop, timer *of, id mode);
// Ends those one-shot timers on the loop that send selector (any if NULL) with
// an argument equal to this one (any if !has_argument) to target.
void run_loop_cancel_performs(id loop, id target, SEL selector,
                              bool has_argument, id argument);
// Has the loop call a block in mode.
void run_loop_perform(id loop, id mode, const void *body);
void run_loop_wake(id loop);

// CFRunLoopRunResult
typedef enum run_loop_end {
  LOOP_FINISHED = 1,
  LOOP_STOPPED = 2,
  LOOP_TIMED_OUT = 3,
  LOOP_HANDLED_SOURCE = 4,
} run_loop_end;

// Runs the loop of this thread in mode for so many seconds, or until it is
// stopped, has nothing to wait for, or, if once, has called a block.
run_loop_end run_loop_run(id loop, id mode, double seconds, bool once);
void run_loop_stop(id loop);

#endif
