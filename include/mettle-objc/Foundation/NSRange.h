// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSRange.h: ranges.
#ifndef METTLE_OBJC_FOUNDATION_NSRANGE_H
#define METTLE_OBJC_FOUNDATION_NSRANGE_H

#include <Foundation/NSObjCRuntime.h>

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;
NS_INLINE NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
NS_INLINE NSUInteger NSMaxRange(NSRange range) {
  return range.location + range.length;
}
NS_INLINE bool NSLocationInRange(NSUInteger location, NSRange range) {
  return location >= range.location && location - range.location < range.length;
}
NS_INLINE bool NSEqualRanges(NSRange one, NSRange other) {
  return one.location == other.location && one.length == other.length;
}
NS_INLINE NSRange NSUnionRange(NSRange one, NSRange other) {
  const NSUInteger first =
      one.location < other.location ? one.location : other.location;
  const NSUInteger end =
      NSMaxRange(one) > NSMaxRange(other) ? NSMaxRange(one) : NSMaxRange(other);
  return NSMakeRange(first, end - first);
}
NS_INLINE NSRange NSIntersectionRange(NSRange one, NSRange other) {
  const NSUInteger first =
      one.location > other.location ? one.location : other.location;
  const NSUInteger end =
      NSMaxRange(one) < NSMaxRange(other) ? NSMaxRange(one) : NSMaxRange(other);
  return first < end ? NSMakeRange(first, end - first) : NSMakeRange(0, 0);
}
typedef NSRange *NSRangePointer;

#endif
