// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSTimeZone.h: time zones: the machine's, offsets from UTC, and those of
// /usr/share/zoneinfo.
#ifndef METTLE_OBJC_FOUNDATION_NSTIMEZONE_H
#define METTLE_OBJC_FOUNDATION_NSTIMEZONE_H

#include <Foundation/NSUserDefaults.h>

#ifdef __OBJC__

@interface NSTimeZone : NSObject
@property(class, readonly, copy) NSTimeZone *localTimeZone;
@property(class, readonly, copy) NSTimeZone *systemTimeZone;
@property(class, readonly, copy) NSTimeZone *defaultTimeZone;
+ (instancetype)timeZoneWithName:(NSString *)name;
+ (instancetype)timeZoneWithAbbreviation:(NSString *)abbreviation;
+ (instancetype)timeZoneForSecondsFromGMT:(NSInteger)seconds;
@property(readonly, copy) NSString *name;
@property(readonly) NSInteger secondsFromGMT;
- (NSInteger)secondsFromGMTForDate:(NSDate *)date;
@end

#endif

#endif
