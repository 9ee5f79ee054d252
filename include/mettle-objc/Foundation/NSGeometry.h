// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSGeometry.h: points and sizes.
#ifndef METTLE_OBJC_FOUNDATION_NSGEOMETRY_H
#define METTLE_OBJC_FOUNDATION_NSGEOMETRY_H

#include <Foundation/NSRange.h>

typedef CGPoint NSPoint;
typedef CGSize NSSize;
typedef CGRect NSRect;
NS_INLINE NSPoint NSMakePoint(CGFloat x, CGFloat y) {
  return CGPointMake(x, y);
}
NS_INLINE NSSize NSMakeSize(CGFloat width, CGFloat height) {
  return CGSizeMake(width, height);
}
NS_INLINE NSRect NSMakeRect(CGFloat x, CGFloat y, CGFloat width,
                            CGFloat height) {
  return CGRectMake(x, y, width, height);
}

#endif
