// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLDepthStencil.h: comparisons.
#ifndef METTLE_OBJC_MTLDEPTHSTENCIL_H
#define METTLE_OBJC_MTLDEPTHSTENCIL_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSUInteger, MTLCompareFunction) {
  MTLCompareFunctionNever = 0,
  MTLCompareFunctionLess = 1,
  MTLCompareFunctionEqual = 2,
  MTLCompareFunctionLessEqual = 3,
  MTLCompareFunctionGreater = 4,
  MTLCompareFunctionNotEqual = 5,
  MTLCompareFunctionGreaterEqual = 6,
  MTLCompareFunctionAlways = 7
};

#endif
