// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSDate.h: times.
#ifndef METTLE_OBJC_FOUNDATION_NSDATE_H
#define METTLE_OBJC_FOUNDATION_NSDATE_H

#include <Foundation/NSProcessInfo.h>

#ifdef __OBJC__

FOUNDATION_EXPORT const NSTimeInterval NSTimeIntervalSince1970;

@interface NSDate : NSObject <NSCopying>
@property(class, readonly, copy) NSDate *now;
@property(class, readonly, copy) NSDate *distantFuture;
@property(class, readonly, copy) NSDate *distantPast;
@property(class, readonly) NSTimeInterval timeIntervalSinceReferenceDate;
@property(readonly) NSTimeInterval timeIntervalSinceReferenceDate;
@property(readonly) NSTimeInterval timeIntervalSince1970;
@property(readonly) NSTimeInterval timeIntervalSinceNow;
+ (instancetype)date;
+ (instancetype)dateWithTimeIntervalSinceNow:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeIntervalSince1970:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeIntervalSinceReferenceDate:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeInterval:(NSTimeInterval)seconds
                           sinceDate:(NSDate *)date;
- (instancetype)initWithTimeIntervalSinceNow:(NSTimeInterval)seconds;
- (instancetype)initWithTimeIntervalSince1970:(NSTimeInterval)seconds;
- (instancetype)initWithTimeIntervalSinceReferenceDate:(NSTimeInterval)seconds;
- (NSTimeInterval)timeIntervalSinceDate:(NSDate *)other;
- (instancetype)dateByAddingTimeInterval:(NSTimeInterval)seconds;
- (NSComparisonResult)compare:(NSDate *)other;
- (NSDate *)earlierDate:(NSDate *)other;
- (NSDate *)laterDate:(NSDate *)other;
- (BOOL)isEqualToDate:(NSDate *)other;
@end

#endif

#endif
