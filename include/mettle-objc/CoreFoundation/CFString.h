// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFString.h: strings: NSString.
#ifndef METTLE_OBJC_CFSTRING_H
#define METTLE_OBJC_CFSTRING_H

#include <CoreFoundation/CFBase.h>

typedef UInt32 CFStringEncoding;
enum {
  kCFStringEncodingMacRoman = 0,
  kCFStringEncodingISOLatin1 = 0x0201,
  kCFStringEncodingASCII = 0x0600,
  kCFStringEncodingUTF8 = 0x08000100,
};
typedef CFOptionFlags CFStringCompareFlags;
enum {
  kCFCompareCaseInsensitive = 1,
  kCFCompareBackwards = 4,
  kCFCompareNumerically = 64,
};

#define CFSTR(text) \
  ((CFStringRef)__builtin___CFStringMakeConstantString("" text ""))

CF_EXPORT CFTypeID CFStringGetTypeID(void);
CF_EXPORT CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator,
                                                const char *text,
                                                CFStringEncoding encoding);
CF_EXPORT CFStringRef CFStringCreateWithBytes(CFAllocatorRef allocator,
                                              const UInt8 *bytes, CFIndex count,
                                              CFStringEncoding encoding,
                                              Boolean hasMark);
CF_EXPORT CFStringRef CFStringCreateWithFormat(CFAllocatorRef allocator,
                                               CFDictionaryRef options,
                                               CFStringRef format, ...);
CF_EXPORT CFStringRef CFStringCreateCopy(CFAllocatorRef allocator,
                                         CFStringRef string);
CF_EXPORT CFIndex CFStringGetLength(CFStringRef string);
CF_EXPORT CFIndex CFStringGetMaximumSizeForEncoding(CFIndex length,
                                                    CFStringEncoding encoding);
// NULL where the bytes are not in memory as they are asked for.
CF_EXPORT const char *CFStringGetCStringPtr(CFStringRef string,
                                            CFStringEncoding encoding);
CF_EXPORT Boolean CFStringGetCString(CFStringRef string, char *buffer,
                                     CFIndex size, CFStringEncoding encoding);
CF_EXPORT CFComparisonResult CFStringCompare(CFStringRef one, CFStringRef other,
                                             CFStringCompareFlags flags);
CF_EXPORT Boolean CFStringHasPrefix(CFStringRef string, CFStringRef prefix);
CF_EXPORT SInt32 CFStringGetIntValue(CFStringRef string);
CF_EXPORT double CFStringGetDoubleValue(CFStringRef string);

#endif
