// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLSampler.h: samplers.
#ifndef METTLE_OBJC_MTLSAMPLER_H
#define METTLE_OBJC_MTLSAMPLER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLDepthStencil.h>
#include <Metal/MTLTypes.h>

typedef NS_ENUM(NSUInteger, MTLSamplerBorderColor) {
  MTLSamplerBorderColorTransparentBlack = 0,
  MTLSamplerBorderColorOpaqueBlack = 1,
  MTLSamplerBorderColorOpaqueWhite = 2
};

typedef NS_ENUM(NSUInteger, MTLSamplerMinMagFilter) {
  MTLSamplerMinMagFilterNearest = 0,
  MTLSamplerMinMagFilterLinear = 1
};

typedef NS_ENUM(NSUInteger, MTLSamplerMipFilter) {
  MTLSamplerMipFilterNotMipmapped = 0,
  MTLSamplerMipFilterNearest = 1,
  MTLSamplerMipFilterLinear = 2
};

typedef NS_ENUM(NSUInteger, MTLSamplerAddressMode) {
  MTLSamplerAddressModeClampToEdge = 0,
  MTLSamplerAddressModeMirrorClampToEdge = 1,
  MTLSamplerAddressModeRepeat = 2,
  MTLSamplerAddressModeMirrorRepeat = 3,
  MTLSamplerAddressModeClampToZero = 4,
  MTLSamplerAddressModeClampToBorderColor = 5
};

#ifdef __OBJC__

@interface MTLSamplerDescriptor : NSObject <NSCopying>
@property MTLSamplerMinMagFilter minFilter, magFilter;
@property MTLSamplerMipFilter mipFilter;
@property NSUInteger maxAnisotropy;
@property MTLSamplerAddressMode sAddressMode, tAddressMode, rAddressMode;
@property MTLCompareFunction compareFunction;
@property float lodMinClamp, lodMaxClamp;
@property BOOL normalizedCoordinates;
@property MTLSamplerBorderColor borderColor;
@property BOOL lodAverage;
@property BOOL supportArgumentBuffers;
@property(copy) NSString *label;
@end

@protocol MTLSamplerState <NSObject>
@property(readonly) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLResourceID gpuResourceID;
@end

#endif

#endif
