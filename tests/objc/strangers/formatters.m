// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// formatters.m: numbers, counts of bytes and times as text, as in the United
// States.
#import <Foundation/Foundation.h>
#include <math.h>

#include "../check.h"

static NSDate *at(NSTimeInterval seconds) {
  return [NSDate dateWithTimeIntervalSince1970:seconds];
}

static void numbers(void) {
  NSNumberFormatter *formatter = [NSNumberFormatter new];
  CHECK([[formatter stringFromNumber:@0] isEqual:@"0"]);
  CHECK([[formatter stringFromNumber:@2.5] isEqual:@"2"]);  // half to even
  CHECK([[formatter stringFromNumber:@3.5] isEqual:@"4"]);
  formatter.numberStyle = NSNumberFormatterDecimalStyle;
  CHECK([[formatter stringFromNumber:@1234567.8915] isEqual:@"1,234,567.892"]);
  CHECK([[formatter stringFromNumber:@-999.9996] isEqual:@"-1,000"]);
  CHECK([[formatter stringFromNumber:@9223372036854775807]
      isEqual:@"9,223,372,036,854,775,807"]);
  CHECK([[formatter stringFromNumber:@0.1f] isEqual:@"0.1"]);
  CHECK([[formatter numberFromString:@"12,345.5"] doubleValue] == 12345.5);
  CHECK(![formatter numberFromString:@"12a"]);
  formatter.minimumFractionDigits = formatter.maximumFractionDigits = 2;
  CHECK([[formatter stringFromNumber:@2.675] isEqual:@"2.68"]);
  CHECK([[formatter stringFromNumber:@0.004] isEqual:@"0.00"]);
  formatter.roundingMode = NSNumberFormatterRoundUp;
  CHECK([[formatter stringFromNumber:@0.004] isEqual:@"0.01"]);
  CHECK([[formatter stringFromNumber:@9.991] isEqual:@"10.00"]);
  formatter.roundingMode = NSNumberFormatterRoundHalfEven;
  formatter.usesSignificantDigits = YES;
  formatter.maximumSignificantDigits = 3;
  CHECK([[formatter stringFromNumber:@123456] isEqual:@"123,000"]);
  CHECK([[formatter stringFromNumber:@0.00123456] isEqual:@"0.00123"]);
  CHECK([[NSNumberFormatter
      localizedStringFromNumber:@0.256
                    numberStyle:NSNumberFormatterPercentStyle] isEqual:@"26%"]);
  CHECK([[NSNumberFormatter
      localizedStringFromNumber:@-1234.5
                    numberStyle:NSNumberFormatterCurrencyStyle]
      isEqual:@"-$1,234.50"]);
  CHECK([[NSNumberFormatter
      localizedStringFromNumber:@0.00125
                    numberStyle:NSNumberFormatterScientificStyle]
      isEqual:@"1.25E-3"]);
  NSByteCountFormatter *bytes = [NSByteCountFormatter new];
  CHECK([[bytes stringFromByteCount:512] isEqual:@"512 bytes"]);
  CHECK([[bytes stringFromByteCount:1] isEqual:@"1 byte"]);
  CHECK([[bytes stringFromByteCount:0] isEqual:@"Zero KB"]);
  CHECK([[bytes stringFromByteCount:4200] isEqual:@"4 KB"]);
  CHECK([[bytes stringFromByteCount:999999] isEqual:@"1 MB"]);
  CHECK([[bytes stringFromByteCount:1234567890] isEqual:@"1.23 GB"]);
  CHECK([[NSByteCountFormatter
      stringFromByteCount:3 << 20
               countStyle:NSByteCountFormatterCountStyleMemory]
      isEqual:@"3 MB"]);
  bytes.allowedUnits = NSByteCountFormatterUseMB;
  CHECK([[bytes stringFromByteCount:1500000000] isEqual:@"1500 MB"]);
}

static void times(void) {
  NSDateFormatter *formatter = [NSDateFormatter new];
  formatter.locale = [NSLocale localeWithLocaleIdentifier:@"en_US_POSIX"];
  formatter.timeZone = [NSTimeZone timeZoneWithName:@"UTC"];
  formatter.dateFormat = @"yyyy-MM-dd'T'HH:mm:ss.SSSZ";
  NSDate *date = at(951827696.789);  // 2000-02-29 12:34:56.789, a Tuesday
  CHECK([[formatter stringFromDate:date]
      isEqual:@"2000-02-29T12:34:56.789+0000"]);
  CHECK(fabs([[formatter dateFromString:@"2000-02-29T14:34:56.789+0200"]
            timeIntervalSinceDate:date]) < 1e-6);
  formatter.dateFormat = @"EEE, d MMM yy 'at' h 'o''clock' a";
  CHECK([[formatter stringFromDate:date]
      isEqual:@"Tue, 29 Feb 00 at 12 o'clock PM"]);
  CHECK([[formatter dateFromString:@"Tue, 29 Feb 00 at 1 o'clock PM"]
      isEqual:at(951829200)]);
  CHECK(![formatter dateFromString:@"Tue, 29 Fob 00 at 1 o'clock PM"]);
  formatter.dateFormat = @"yyyyMMdd";
  CHECK([[formatter dateFromString:@"20010101"]
            timeIntervalSinceReferenceDate] == 0);
  CHECK(![formatter dateFromString:@"20010101x"]);
  formatter.dateFormat = @"HH:mm xxx";
  formatter.timeZone = [NSTimeZone timeZoneForSecondsFromGMT:-12600];
  CHECK([[formatter stringFromDate:date] isEqual:@"09:04 -03:30"]);
  NSTimeZone *berlin = [NSTimeZone timeZoneWithName:@"Europe/Berlin"];
  if (berlin) {  // where the machine has its file
    CHECK([berlin secondsFromGMTForDate:date] == 3600);
    CHECK([berlin secondsFromGMTForDate:at(962366400)] == 7200);
  }
  CHECK(![NSTimeZone timeZoneWithName:@"No/Where"]);
  NSISO8601DateFormatter *iso = [NSISO8601DateFormatter new];
  CHECK([[iso stringFromDate:date] isEqual:@"2000-02-29T12:34:56Z"]);
  CHECK([[iso dateFromString:@"2000-02-29T12:34:56Z"] isEqual:at(951827696)]);
  CHECK(![iso dateFromString:@"2000-02-29"]);
  iso.formatOptions |= NSISO8601DateFormatWithFractionalSeconds;
  CHECK([[iso stringFromDate:date] isEqual:@"2000-02-29T12:34:56.789Z"]);
  CHECK([[NSISO8601DateFormatter
      stringFromDate:date
            timeZone:[NSTimeZone timeZoneForSecondsFromGMT:3600]
       formatOptions:NSISO8601DateFormatWithFullDate] isEqual:@"2000-02-29"]);
}

int main(void) {
  @autoreleasepool {
    numbers();
    times();
  }
  return checks_end();
}
