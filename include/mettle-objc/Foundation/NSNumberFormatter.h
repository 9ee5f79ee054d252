// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSNumberFormatter.h: numbers as text, as in the United States.
#ifndef METTLE_OBJC_FOUNDATION_NSNUMBERFORMATTER_H
#define METTLE_OBJC_FOUNDATION_NSNUMBERFORMATTER_H

#include <Foundation/NSFormatter.h>

#ifdef __OBJC__

typedef NS_ENUM(NSUInteger, NSNumberFormatterStyle) {
  NSNumberFormatterNoStyle = 0,
  NSNumberFormatterDecimalStyle = 1,
  NSNumberFormatterCurrencyStyle = 2,
  NSNumberFormatterPercentStyle = 3,
  NSNumberFormatterScientificStyle = 4,
};
typedef NS_ENUM(NSUInteger, NSNumberFormatterRoundingMode) {
  NSNumberFormatterRoundCeiling = 0,
  NSNumberFormatterRoundFloor = 1,
  NSNumberFormatterRoundDown = 2,
  NSNumberFormatterRoundUp = 3,
  NSNumberFormatterRoundHalfEven = 4,
  NSNumberFormatterRoundHalfDown = 5,
  NSNumberFormatterRoundHalfUp = 6,
};

@interface NSNumberFormatter : NSFormatter
+ (NSString *)localizedStringFromNumber:(NSNumber *)number
                            numberStyle:(NSNumberFormatterStyle)style;
- (NSString *)stringFromNumber:(NSNumber *)number;
- (NSNumber *)numberFromString:(NSString *)string;
@property NSNumberFormatterStyle numberStyle;
@property NSNumberFormatterRoundingMode roundingMode;
@property NSUInteger minimumIntegerDigits;
@property NSUInteger minimumFractionDigits;
@property NSUInteger maximumFractionDigits;
@property NSUInteger minimumSignificantDigits;
@property NSUInteger maximumSignificantDigits;
@property BOOL usesSignificantDigits;
@property BOOL usesGroupingSeparator;
@property(copy) NSString *groupingSeparator;
@property(copy) NSString *decimalSeparator;
@property(copy) NSString *positivePrefix;
@property(copy) NSString *positiveSuffix;
@property(copy) NSString *currencySymbol;
@end

#endif

#endif
