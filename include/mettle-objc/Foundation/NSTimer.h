// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSTimer.h: timers of run loops.
#ifndef METTLE_OBJC_FOUNDATION_NSTIMER_H
#define METTLE_OBJC_FOUNDATION_NSTIMER_H

#include <Foundation/NSRunLoop.h>

#ifdef __OBJC__

@interface NSTimer : NSObject
+ (NSTimer *)timerWithTimeInterval:(NSTimeInterval)seconds
                           repeats:(BOOL)repeats
                             block:(void (^)(NSTimer *timer))block;
+ (NSTimer *)scheduledTimerWithTimeInterval:(NSTimeInterval)seconds
                                    repeats:(BOOL)repeats
                                      block:(void (^)(NSTimer *timer))block;
+ (NSTimer *)timerWithTimeInterval:(NSTimeInterval)seconds
                            target:(id)target
                          selector:(SEL)selector
                          userInfo:(id)info
                           repeats:(BOOL)repeats;
+ (NSTimer *)scheduledTimerWithTimeInterval:(NSTimeInterval)seconds
                                     target:(id)target
                                   selector:(SEL)selector
                                   userInfo:(id)info
                                    repeats:(BOOL)repeats;
- (instancetype)initWithFireDate:(NSDate *)date
                        interval:(NSTimeInterval)seconds
                         repeats:(BOOL)repeats
                           block:(void (^)(NSTimer *timer))block;
- (instancetype)initWithFireDate:(NSDate *)date
                        interval:(NSTimeInterval)seconds
                          target:(id)target
                        selector:(SEL)selector
                        userInfo:(id)info
                         repeats:(BOOL)repeats;
- (void)fire;
- (void)invalidate;
@property(readonly, getter=isValid) BOOL valid;
@property(copy) NSDate *fireDate;
@property(readonly) NSTimeInterval timeInterval;
@property NSTimeInterval tolerance;
@property(readonly, retain) id userInfo;
@end

#endif

#endif
