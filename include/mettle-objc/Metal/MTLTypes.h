// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLTypes.h: sizes, origins and regions.
#ifndef METTLE_OBJC_MTLTYPES_H
#define METTLE_OBJC_MTLTYPES_H

#include <Metal/MTLDefines.h>

typedef struct {
  NSUInteger width, height, depth;
} MTLSize;

typedef struct {
  NSUInteger x, y, z;
} MTLOrigin;

typedef struct {
  MTLOrigin origin;
  MTLSize size;
} MTLRegion;

typedef struct {
  NSUInteger size, align;
} MTLSizeAndAlign;

typedef struct {
  uint64_t _impl;
} MTLResourceID;

typedef struct {
  uint32_t threadgroupsPerGrid[3];
} MTLDispatchThreadgroupsIndirectArguments;

typedef struct {
  uint32_t location, length;
} MTLIndirectCommandBufferExecutionRange;

NS_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height,
                              NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}

NS_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
  MTLOrigin origin = {x, y, z};
  return origin;
}

NS_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {
  MTLRegion region = {{x, 0, 0}, {width, 1, 1}};
  return region;
}

NS_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y,
                                    NSUInteger width, NSUInteger height) {
  MTLRegion region = {{x, y, 0}, {width, height, 1}};
  return region;
}

NS_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z,
                                    NSUInteger width, NSUInteger height,
                                    NSUInteger depth) {
  MTLRegion region = {{x, y, z}, {width, height, depth}};
  return region;
}

typedef uint64_t MTLGPUAddress;

#endif
