// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFRunLoop.h: run loops and timers: NSRunLoop and NSTimer.
#ifndef METTLE_OBJC_CFRUNLOOP_H
#define METTLE_OBJC_CFRUNLOOP_H

#include <CoreFoundation/CFBase.h>

typedef struct __CFRunLoop *CFRunLoopRef;
typedef struct __CFRunLoopTimer *CFRunLoopTimerRef;
typedef CFStringRef CFRunLoopMode;
typedef int32_t CFRunLoopRunResult;
enum {
  kCFRunLoopRunFinished = 1,
  kCFRunLoopRunStopped = 2,
  kCFRunLoopRunTimedOut = 3,
  kCFRunLoopRunHandledSource = 4,
};

CF_EXPORT const CFRunLoopMode kCFRunLoopDefaultMode;
CF_EXPORT const CFRunLoopMode kCFRunLoopCommonModes;

CF_EXPORT CFRunLoopRef CFRunLoopGetCurrent(void);
CF_EXPORT CFRunLoopRef CFRunLoopGetMain(void);
CF_EXPORT void CFRunLoopRun(void);
CF_EXPORT CFRunLoopRunResult CFRunLoopRunInMode(CFRunLoopMode mode,
                                                CFTimeInterval seconds,
                                                Boolean once);
CF_EXPORT void CFRunLoopStop(CFRunLoopRef loop);
CF_EXPORT void CFRunLoopWakeUp(CFRunLoopRef loop);
CF_EXPORT void CFRunLoopAddTimer(CFRunLoopRef loop, CFRunLoopTimerRef timer,
                                 CFRunLoopMode mode);
CF_EXPORT void CFRunLoopTimerInvalidate(CFRunLoopTimerRef timer);
CF_EXPORT Boolean CFRunLoopTimerIsValid(CFRunLoopTimerRef timer);
#ifdef __BLOCKS__
CF_EXPORT void CFRunLoopPerformBlock(CFRunLoopRef loop, CFTypeRef mode,
                                     void (^block)(void));
CF_EXPORT CFRunLoopTimerRef CFRunLoopTimerCreateWithHandler(
    CFAllocatorRef allocator, CFAbsoluteTime date, CFTimeInterval interval,
    CFOptionFlags flags, CFIndex order, void (^block)(CFRunLoopTimerRef timer));
#endif

#endif
