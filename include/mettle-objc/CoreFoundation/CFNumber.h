// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFNumber.h: numbers and booleans: NSNumber.
#ifndef METTLE_OBJC_CFNUMBER_H
#define METTLE_OBJC_CFNUMBER_H

#include <CoreFoundation/CFBase.h>

typedef CFIndex CFNumberType;
enum {
  kCFNumberSInt8Type = 1,
  kCFNumberSInt16Type = 2,
  kCFNumberSInt32Type = 3,
  kCFNumberSInt64Type = 4,
  kCFNumberFloat32Type = 5,
  kCFNumberFloat64Type = 6,
  kCFNumberCharType = 7,
  kCFNumberShortType = 8,
  kCFNumberIntType = 9,
  kCFNumberLongType = 10,
  kCFNumberLongLongType = 11,
  kCFNumberFloatType = 12,
  kCFNumberDoubleType = 13,
  kCFNumberCFIndexType = 14,
  kCFNumberNSIntegerType = 15,
  kCFNumberCGFloatType = 16,
};

CF_EXPORT const CFBooleanRef kCFBooleanTrue;
CF_EXPORT const CFBooleanRef kCFBooleanFalse;

CF_EXPORT CFTypeID CFNumberGetTypeID(void);
CF_EXPORT CFTypeID CFBooleanGetTypeID(void);
CF_EXPORT Boolean CFBooleanGetValue(CFBooleanRef boolean);
CF_EXPORT CFNumberRef CFNumberCreate(CFAllocatorRef allocator,
                                     CFNumberType type, const void *value);
// False if the value is not exactly one of type.
CF_EXPORT Boolean CFNumberGetValue(CFNumberRef number, CFNumberType type,
                                   void *value);

#endif
