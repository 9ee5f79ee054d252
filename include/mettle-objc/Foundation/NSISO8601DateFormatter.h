// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSISO8601DateFormatter.h: times as text by ISO 8601.
#ifndef METTLE_OBJC_FOUNDATION_NSISO8601DATEFORMATTER_H
#define METTLE_OBJC_FOUNDATION_NSISO8601DATEFORMATTER_H

#include <Foundation/NSDateFormatter.h>

#ifdef __OBJC__

// Weeks (1 << 2 and 1 << 3) are not there.
typedef NS_OPTIONS(NSUInteger, NSISO8601DateFormatOptions) {
  NSISO8601DateFormatWithYear = 1 << 0,
  NSISO8601DateFormatWithMonth = 1 << 1,
  NSISO8601DateFormatWithDay = 1 << 4,
  NSISO8601DateFormatWithTime = 1 << 5,
  NSISO8601DateFormatWithTimeZone = 1 << 6,
  NSISO8601DateFormatWithSpaceBetweenDateAndTime = 1 << 7,
  NSISO8601DateFormatWithDashSeparatorInDate = 1 << 8,
  NSISO8601DateFormatWithColonSeparatorInTime = 1 << 9,
  NSISO8601DateFormatWithColonSeparatorInTimeZone = 1 << 10,
  NSISO8601DateFormatWithFractionalSeconds = 1 << 11,
  NSISO8601DateFormatWithFullDate = 0x113,
  NSISO8601DateFormatWithFullTime = 0x660,
  NSISO8601DateFormatWithInternetDateTime = 0x773,
};

@interface NSISO8601DateFormatter : NSFormatter
+ (NSString *)stringFromDate:(NSDate *)date
                    timeZone:(NSTimeZone *)zone
               formatOptions:(NSISO8601DateFormatOptions)options;
- (NSString *)stringFromDate:(NSDate *)date;
- (NSDate *)dateFromString:(NSString *)string;
@property(copy) NSTimeZone *timeZone;
@property NSISO8601DateFormatOptions formatOptions;
@end

#endif

#endif
