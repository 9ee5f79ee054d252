// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSLock.h: locks.
#ifndef METTLE_OBJC_FOUNDATION_NSLOCK_H
#define METTLE_OBJC_FOUNDATION_NSLOCK_H

#include <Foundation/NSThread.h>

#ifdef __OBJC__

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end
@interface NSLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
- (BOOL)lockBeforeDate:(NSDate *)date;
@end
@interface NSRecursiveLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
- (BOOL)lockBeforeDate:(NSDate *)date;
@end
@interface NSConditionLock : NSObject <NSLocking>
@property(copy) NSString *name;
@property(readonly) NSInteger condition;
- (instancetype)initWithCondition:(NSInteger)condition;
- (void)lockWhenCondition:(NSInteger)condition;
- (void)unlockWithCondition:(NSInteger)condition;
- (BOOL)tryLock;
- (BOOL)tryLockWhenCondition:(NSInteger)condition;
- (BOOL)lockBeforeDate:(NSDate *)date;
- (BOOL)lockWhenCondition:(NSInteger)condition beforeDate:(NSDate *)date;
@end
@interface NSCondition : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)waitUntilDate:(NSDate *)date;
- (void)wait;
- (void)signal;
- (void)broadcast;
@end

#endif

#endif
