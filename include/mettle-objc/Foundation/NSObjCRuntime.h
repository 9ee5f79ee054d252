// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSObjCRuntime.h: macros, numbers and comparisons.
#ifndef METTLE_OBJC_FOUNDATION_NSOBJCRUNTIME_H
#define METTLE_OBJC_FOUNDATION_NSOBJCRUNTIME_H

#include <Availability.h>
#include <Block.h>
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CoreGraphics.h>
#include <TargetConditionals.h>
#include <objc/runtime.h>
#include <sys/types.h>
#include <unistd.h>
#include <dispatch/dispatch.h>
#include <mach/mach.h>

#define FOUNDATION_EXPORT OBJC_EXTERN
#define FOUNDATION_EXTERN OBJC_EXTERN
#define NS_INLINE static inline
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
// In C++ an integer, so that flags may be joined and converted.
#ifdef __cplusplus
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
#else
#define NS_OPTIONS(type, name) \
  enum name : type name;       \
  enum name : type
#endif
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_CLOSED_ENUM NS_ENUM
#define NS_ERROR_ENUM(domain, name) \
  enum name : NSInteger name;       \
  enum name : NSInteger
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define UNAVAILABLE_ATTRIBUTE __attribute__((unavailable))
#define NS_REQUIRES_SUPER __attribute__((objc_requires_super))
#define NS_ROOT_CLASS __attribute__((objc_root_class))
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_NOT_RETAINED __attribute__((ns_returns_not_retained))
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_VALID_UNTIL_END_OF_SCOPE __attribute__((objc_precise_lifetime))
#define NS_NOESCAPE __attribute__((noescape))
#define NS_TYPED_ENUM
#define NS_TYPED_EXTENSIBLE_ENUM
#define NS_STRING_ENUM
#define NS_EXTENSIBLE_STRING_ENUM
#define NS_SWIFT_NAME(...)
#define NS_SWIFT_UNAVAILABLE(...)
#define NS_SWIFT_SENDABLE
#define NS_REFINED_FOR_SWIFT
#define NS_AVAILABLE(...)
#define NS_AVAILABLE_MAC(...)
#define NS_DEPRECATED(...)
#define NS_CLASS_AVAILABLE(...)
#define NS_HEADER_AUDIT_BEGIN(...)
#define NS_HEADER_AUDIT_END(...)
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel(0, 1)))
#define NS_FORMAT_FUNCTION(f, a) __attribute__((format(__NSString__, f, a)))

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef double NSTimeInterval;
typedef unsigned short unichar;
typedef struct _NSZone NSZone;
typedef uint32_t UTF32Char;
#define NSIntegerMax LONG_MAX
#define NSUIntegerMax ULONG_MAX
#define NSNotFound ((NSInteger)__LONG_MAX__)

#ifndef MAX
#define MAX(a, b)           \
  __extension__({           \
    __typeof__(a) a_ = (a); \
    __typeof__(b) b_ = (b); \
    a_ > b_ ? a_ : b_;      \
  })
#endif
#ifndef MIN
#define MIN(a, b)           \
  __extension__({           \
    __typeof__(a) a_ = (a); \
    __typeof__(b) b_ = (b); \
    a_ < b_ ? a_ : b_;      \
  })
#endif
#ifndef ABS
#define ABS(a)              \
  __extension__({           \
    __typeof__(a) a_ = (a); \
    a_ < 0 ? -a_ : a_;      \
  })
#endif

typedef NS_ENUM(NSInteger, NSComparisonResult) {
  NSOrderedAscending = -1,
  NSOrderedSame = 0,
  NSOrderedDescending = 1
};

typedef struct {
  NSInteger majorVersion;
  NSInteger minorVersion;
  NSInteger patchVersion;
} NSOperatingSystemVersion;

#endif
