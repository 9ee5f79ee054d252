// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSByteCountFormatter.h: counts of bytes as text.
#ifndef METTLE_OBJC_FOUNDATION_NSBYTECOUNTFORMATTER_H
#define METTLE_OBJC_FOUNDATION_NSBYTECOUNTFORMATTER_H

#include <Foundation/NSFormatter.h>

#ifdef __OBJC__

typedef NS_OPTIONS(NSUInteger, NSByteCountFormatterUnits) {
  NSByteCountFormatterUseDefault = 0,
  NSByteCountFormatterUseBytes = 1 << 0,
  NSByteCountFormatterUseKB = 1 << 1,
  NSByteCountFormatterUseMB = 1 << 2,
  NSByteCountFormatterUseGB = 1 << 3,
  NSByteCountFormatterUseTB = 1 << 4,
  NSByteCountFormatterUsePB = 1 << 5,
  NSByteCountFormatterUseEB = 1 << 6,
  NSByteCountFormatterUseAll = 0xffff,
};
typedef NS_ENUM(NSInteger, NSByteCountFormatterCountStyle) {
  NSByteCountFormatterCountStyleFile = 0,
  NSByteCountFormatterCountStyleMemory = 1,
  NSByteCountFormatterCountStyleDecimal = 2,
  NSByteCountFormatterCountStyleBinary = 3,
};

@interface NSByteCountFormatter : NSFormatter
+ (NSString *)stringFromByteCount:(long long)count
                       countStyle:(NSByteCountFormatterCountStyle)style;
- (NSString *)stringFromByteCount:(long long)count;
@property NSByteCountFormatterUnits allowedUnits;
@property NSByteCountFormatterCountStyle countStyle;
@property BOOL allowsNonnumericFormatting;
@property BOOL includesUnit;
@property BOOL includesCount;
@property(getter=isAdaptive) BOOL adaptive;
@property BOOL zeroPadsFractionDigits;
@end

#endif

#endif
