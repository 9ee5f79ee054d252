// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoreFoundation.h: the types that clients name; no Objective-C, as C++ clients
// include it.
#ifndef METTLE_OBJC_COREFOUNDATION_H
#define METTLE_OBJC_COREFOUNDATION_H

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
typedef long CFIndex;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef unsigned char Boolean;
typedef uint32_t UInt32;

CF_EXPORT CFTypeRef CFRetain(CFTypeRef object);
CF_EXPORT void CFRelease(CFTypeRef object);
// Seconds since the beginning of 2001, UTC.
CF_EXPORT CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);

#endif
