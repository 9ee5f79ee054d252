// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSDateFormatter.h: times as text by Unicode's patterns, with the words of
// English.
#ifndef METTLE_OBJC_FOUNDATION_NSDATEFORMATTER_H
#define METTLE_OBJC_FOUNDATION_NSDATEFORMATTER_H

#include <Foundation/NSFormatter.h>

#ifdef __OBJC__

@class NSTimeZone, NSLocale;

typedef NS_ENUM(NSUInteger, NSDateFormatterStyle) {
  NSDateFormatterNoStyle = 0,
  NSDateFormatterShortStyle = 1,
  NSDateFormatterMediumStyle = 2,
  NSDateFormatterLongStyle = 3,
  NSDateFormatterFullStyle = 4,
};

@interface NSDateFormatter : NSFormatter
+ (NSString *)localizedStringFromDate:(NSDate *)date
                            dateStyle:(NSDateFormatterStyle)dateStyle
                            timeStyle:(NSDateFormatterStyle)timeStyle;
- (NSString *)stringFromDate:(NSDate *)date;
- (NSDate *)dateFromString:(NSString *)string;
@property(copy) NSString *dateFormat;
@property NSDateFormatterStyle dateStyle;
@property NSDateFormatterStyle timeStyle;
@property(copy) NSTimeZone *timeZone;
@property(copy) NSLocale *locale;
@end

#endif

#endif
