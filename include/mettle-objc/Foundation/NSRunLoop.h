// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSRunLoop.h: run loops, which call timers and blocks on their threads. The
// main queue's blocks run on a thread of their own, where the current loop is
// the main one, too.
#ifndef METTLE_OBJC_FOUNDATION_NSRUNLOOP_H
#define METTLE_OBJC_FOUNDATION_NSRUNLOOP_H

#include <CoreFoundation/CFRunLoop.h>
#include <Foundation/NSDate.h>

#ifdef __OBJC__

@class NSTimer;
typedef NSString *NSRunLoopMode;
OBJC_EXTERN NSRunLoopMode const NSDefaultRunLoopMode;
OBJC_EXTERN NSRunLoopMode const NSRunLoopCommonModes;

@interface NSRunLoop : NSObject
@property(class, readonly, strong) NSRunLoop *currentRunLoop;
@property(class, readonly, strong) NSRunLoop *mainRunLoop;
@property(readonly, copy) NSRunLoopMode currentMode;
- (CFRunLoopRef)getCFRunLoop;
- (void)addTimer:(NSTimer *)timer forMode:(NSRunLoopMode)mode;
- (void)run;
// The main loop waits until the date, others until nothing is on them.
- (void)runUntilDate:(NSDate *)date;
- (BOOL)runMode:(NSRunLoopMode)mode beforeDate:(NSDate *)date;
- (void)acceptInputForMode:(NSRunLoopMode)mode beforeDate:(NSDate *)date;
- (void)performBlock:(void (^)(void))block;
- (void)performInModes:(NSArray *)modes block:(void (^)(void))block;
@end

@interface NSObject (NSDelayedPerforming)
- (void)performSelector:(SEL)selector
             withObject:(id)argument
             afterDelay:(NSTimeInterval)delay;
- (void)performSelectorOnMainThread:(SEL)selector
                         withObject:(id)argument
                      waitUntilDone:(BOOL)waits;
+ (void)cancelPreviousPerformRequestsWithTarget:(id)target;
+ (void)cancelPreviousPerformRequestsWithTarget:(id)target
                                       selector:(SEL)selector
                                         object:(id)argument;
@end

#endif

#endif
