// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// core_run_loop.c: CoreFoundation's functions of run loops and their timers,
// which are NSRunLoop and NSTimer.
#include <math.h>

#include "objc/loops/run_loop.h"
#include "objc/runtime/memory/block.h"

OBJC_EXPORT id CFRunLoopGetCurrent(void) {
  return run_loop_current();
}

OBJC_EXPORT id CFRunLoopGetMain(void) {
  return run_loop_main();
}

OBJC_EXPORT void CFRunLoopRun(void) {
  run_loop_run(run_loop_current(), NSDefaultRunLoopMode, INFINITY, false);
}

OBJC_EXPORT int CFRunLoopRunInMode(id mode, double seconds, uint8_t once) {
  return run_loop_run(run_loop_current(), mode, seconds, once != 0);
}

OBJC_EXPORT void CFRunLoopStop(id loop) {
  run_loop_stop(loop);
}

OBJC_EXPORT void CFRunLoopWakeUp(id loop) {
  run_loop_wake(loop);
}

OBJC_EXPORT void CFRunLoopPerformBlock(id loop, id mode, const void *body) {
  run_loop_perform(loop, mode, body);
}

OBJC_EXPORT void CFRunLoopAddTimer(id loop, id of, id mode) {
  run_loop_add_timer(loop, (timer *)of, mode);
}

OBJC_EXPORT void CFRunLoopTimerInvalidate(id of) {
  loop_timer_end((timer *)of);
}

OBJC_EXPORT uint8_t CFRunLoopTimerIsValid(id of) {
  return ((timer *)of)->is_valid;
}

// Makes a timer that calls a block; the caller owns it.
OBJC_EXPORT id CFRunLoopTimerCreateWithHandler(id allocator, double date,
                                               double interval,
                                               unsigned long flags, long order,
                                               const void *body) {
  (void)allocator;
  (void)flags;
  (void)order;
  timer *made = loop_timer_create(date, interval, interval > 0);
  made->block = _Block_copy(body);
  return &made->object;
}
