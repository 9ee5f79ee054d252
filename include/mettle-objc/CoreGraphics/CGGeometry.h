// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CGGeometry.h: points, sizes and rectangles.
#ifndef METTLE_OBJC_COREGRAPHICS_CGGEOMETRY_H
#define METTLE_OBJC_COREGRAPHICS_CGGEOMETRY_H

typedef double CGFloat;
typedef struct CGPoint {
  CGFloat x, y;
} CGPoint;
typedef struct CGSize {
  CGFloat width, height;
} CGSize;
typedef struct CGRect {
  CGPoint origin;
  CGSize size;
} CGRect;

static inline CGPoint CGPointMake(CGFloat x, CGFloat y) {
  CGPoint made = {x, y};
  return made;
}
static inline CGSize CGSizeMake(CGFloat width, CGFloat height) {
  CGSize made = {width, height};
  return made;
}
static inline CGRect CGRectMake(CGFloat x, CGFloat y, CGFloat width,
                                CGFloat height) {
  CGRect made = {{x, y}, {width, height}};
  return made;
}

#endif
