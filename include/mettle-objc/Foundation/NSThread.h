// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSThread.h: threads.
#ifndef METTLE_OBJC_FOUNDATION_NSTHREAD_H
#define METTLE_OBJC_FOUNDATION_NSTHREAD_H

#include <Foundation/NSDate.h>

#ifdef __OBJC__

@interface NSThread : NSObject
@property(class, readonly, strong) NSThread *currentThread;
@property(class, readonly, strong) NSThread *mainThread;
@property(class, readonly) BOOL isMainThread;
@property(readonly) BOOL isMainThread;
@property(readonly, getter=isExecuting) BOOL executing;
@property(readonly, getter=isFinished) BOOL finished;
@property(readonly, getter=isCancelled) BOOL cancelled;
@property(copy) NSString *name;
@property(readonly, retain) NSMutableDictionary *threadDictionary;
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds;
+ (void)sleepUntilDate:(NSDate *)date;
+ (void)detachNewThreadSelector:(SEL)selector
                       toTarget:(id)target
                     withObject:(id)argument;
+ (void)detachNewThreadWithBlock:(void (^)(void))block;
- (instancetype)initWithTarget:(id)target
                      selector:(SEL)selector
                        object:(id)argument;
- (instancetype)initWithBlock:(void (^)(void))block;
- (void)start;
- (void)main;
- (void)cancel;
@end

#endif

#endif
