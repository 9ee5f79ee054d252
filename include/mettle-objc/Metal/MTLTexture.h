// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLTexture.h: textures.
#ifndef METTLE_OBJC_MTLTEXTURE_H
#define METTLE_OBJC_MTLTEXTURE_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLPixelFormat.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

typedef NS_ENUM(NSUInteger, MTLTextureType) {
  MTLTextureType1D = 0,
  MTLTextureType1DArray = 1,
  MTLTextureType2D = 2,
  MTLTextureType2DArray = 3,
  MTLTextureType2DMultisample = 4,
  MTLTextureTypeCube = 5,
  MTLTextureTypeCubeArray = 6,
  MTLTextureType3D = 7,
  MTLTextureType2DMultisampleArray = 8,
  MTLTextureTypeTextureBuffer = 9
};

typedef NS_OPTIONS(NSUInteger, MTLTextureUsage) {
  MTLTextureUsageUnknown = 0,
  MTLTextureUsageShaderRead = 1,
  MTLTextureUsageShaderWrite = 2,
  MTLTextureUsageRenderTarget = 4,
  MTLTextureUsagePixelFormatView = 0x10,
  MTLTextureUsageShaderAtomic = 0x20
};

typedef NS_ENUM(uint8_t, MTLTextureSwizzle) {
  MTLTextureSwizzleZero = 0,
  MTLTextureSwizzleOne = 1,
  MTLTextureSwizzleRed = 2,
  MTLTextureSwizzleGreen = 3,
  MTLTextureSwizzleBlue = 4,
  MTLTextureSwizzleAlpha = 5
};

typedef struct {
  MTLTextureSwizzle red, green, blue, alpha;
} MTLTextureSwizzleChannels;

NS_INLINE MTLTextureSwizzleChannels
MTLTextureSwizzleChannelsMake(MTLTextureSwizzle red, MTLTextureSwizzle green,
                              MTLTextureSwizzle blue, MTLTextureSwizzle alpha) {
  MTLTextureSwizzleChannels channels = {red, green, blue, alpha};
  return channels;
}

#define MTLTextureSwizzleChannelsDefault                                      \
  MTLTextureSwizzleChannelsMake(MTLTextureSwizzleRed, MTLTextureSwizzleGreen, \
                                MTLTextureSwizzleBlue, MTLTextureSwizzleAlpha)

typedef NS_ENUM(NSInteger, MTLTextureCompressionType) {
  MTLTextureCompressionTypeLossless = 0,
  MTLTextureCompressionTypeLossy = 1
};

#ifdef __OBJC__

@interface MTLTextureDescriptor : NSObject <NSCopying>
+ (MTLTextureDescriptor *)texture2DDescriptorWithPixelFormat:
                              (MTLPixelFormat)format
                                                       width:(NSUInteger)width
                                                      height:(NSUInteger)height
                                                   mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor *)textureCubeDescriptorWithPixelFormat:
                              (MTLPixelFormat)format
                                                          size:(NSUInteger)size
                                                     mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor *)
    textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)format
                                     width:(NSUInteger)width
                           resourceOptions:(MTLResourceOptions)options
                                     usage:(MTLTextureUsage)usage;
@property MTLTextureType textureType;
@property MTLPixelFormat pixelFormat;
@property NSUInteger width, height, depth;
@property NSUInteger mipmapLevelCount, sampleCount, arrayLength;
@property MTLResourceOptions resourceOptions;
@property MTLStorageMode storageMode;
@property MTLCPUCacheMode cpuCacheMode;
@property MTLHazardTrackingMode hazardTrackingMode;
@property MTLTextureUsage usage;
@property BOOL allowGPUOptimizedContents;
@property MTLTextureSwizzleChannels swizzle;
@property MTLTextureCompressionType compressionType;
@end

@protocol MTLTexture <MTLResource>
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLPixelFormat pixelFormat;
@property(readonly) NSUInteger width, height, depth;
@property(readonly) NSUInteger mipmapLevelCount, sampleCount, arrayLength;
@property(readonly) MTLTextureUsage usage;
@property(readonly) MTLResourceID gpuResourceID;
@property(readonly) id<MTLTexture> parentTexture;
@property(readonly) NSUInteger parentRelativeLevel, parentRelativeSlice;
@property(readonly) id<MTLBuffer> buffer;
@property(readonly) NSUInteger bufferOffset, bufferBytesPerRow;
@property(readonly) MTLTextureSwizzleChannels swizzle;
@property(readonly) BOOL allowGPUOptimizedContents;
@property(readonly) MTLTextureCompressionType compressionType;
@property(readonly, getter=isFramebufferOnly) BOOL framebufferOnly;
@property(readonly, getter=isShareable) BOOL shareable;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void *)bytes
          bytesPerRow:(NSUInteger)row;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void *)bytes
          bytesPerRow:(NSUInteger)row
        bytesPerImage:(NSUInteger)image;
- (void)getBytes:(void *)bytes
     bytesPerRow:(NSUInteger)row
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level;
- (void)getBytes:(void *)bytes
      bytesPerRow:(NSUInteger)row
    bytesPerImage:(NSUInteger)image
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format
                                    textureType:(MTLTextureType)type
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format
                                    textureType:(MTLTextureType)type
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices
                                        swizzle:
                                            (MTLTextureSwizzleChannels)swizzle;
@end

#endif

#endif
