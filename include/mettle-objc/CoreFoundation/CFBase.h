// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFBase.h: the types of CoreFoundation, and what all its objects have. They
// are Objective-C's objects: CFStringRef is NSString. No Objective-C here, as
// C++ clients include it.
#ifndef METTLE_OBJC_CFBASE_H
#define METTLE_OBJC_CFBASE_H

#include <Availability.h>
#include <TargetConditionals.h>
// Clients rely on those of C that Apple's header brings along.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dispatch/dispatch.h>

#ifdef __cplusplus
#define CF_EXPORT extern "C"
#else
#define CF_EXPORT extern
#endif

typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFArray *CFArrayRef;
typedef const struct __CFDictionary *CFDictionaryRef;
typedef const struct __CFURL *CFURLRef;
typedef const struct __CFData *CFDataRef;
typedef const struct __CFNumber *CFNumberRef;
typedef const struct __CFBoolean *CFBooleanRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef struct __CFString *CFMutableStringRef;
typedef struct __CFArray *CFMutableArrayRef;
typedef struct __CFDictionary *CFMutableDictionaryRef;
typedef struct __CFData *CFMutableDataRef;
typedef struct __CFBundle *CFBundleRef;
typedef unsigned long CFTypeID;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFHashCode;
typedef long CFIndex;
typedef struct {
  CFIndex location;
  CFIndex length;
} CFRange;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef unsigned char Boolean;
typedef unsigned char UInt8;
typedef int8_t SInt8;
typedef uint16_t UInt16;
typedef int16_t SInt16;
typedef uint32_t UInt32;
typedef int32_t SInt32;
typedef uint64_t UInt64;
typedef int64_t SInt64;
typedef int32_t OSStatus;
typedef uint32_t FourCharCode;
typedef FourCharCode OSType;
typedef UInt16 UniChar;
typedef CFIndex CFComparisonResult;
enum {
  kCFCompareLessThan = -1,
  kCFCompareEqualTo = 0,
  kCFCompareGreaterThan = 1,
};
enum { kCFNotFound = -1 };

// There is one allocator: each of these is NULL.
#define kCFAllocatorDefault ((CFAllocatorRef)0)
#define kCFAllocatorSystemDefault ((CFAllocatorRef)0)
#define kCFAllocatorMalloc ((CFAllocatorRef)0)

CF_EXPORT CFTypeRef CFRetain(CFTypeRef object);
CF_EXPORT void CFRelease(CFTypeRef object);
CF_EXPORT CFTypeRef CFAutorelease(CFTypeRef object);
CF_EXPORT CFIndex CFGetRetainCount(CFTypeRef object);
CF_EXPORT Boolean CFEqual(CFTypeRef one, CFTypeRef other);
CF_EXPORT CFHashCode CFHash(CFTypeRef object);
CF_EXPORT CFStringRef CFCopyDescription(CFTypeRef object);
// Prints an object's description.
CF_EXPORT void CFShow(CFTypeRef object);
CF_EXPORT CFTypeID CFGetTypeID(CFTypeRef object);
// Seconds since the beginning of 2001, UTC.
CF_EXPORT CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);

static inline CFRange CFRangeMake(CFIndex location, CFIndex length) {
  CFRange range;
  range.location = location;
  range.length = length;
  return range;
}

#endif
