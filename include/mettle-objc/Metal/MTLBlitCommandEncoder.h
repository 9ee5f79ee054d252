// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLBlitCommandEncoder.h: encoders of copies.
#ifndef METTLE_OBJC_MTLBLITCOMMANDENCODER_H
#define METTLE_OBJC_MTLBLITCOMMANDENCODER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLCommandEncoder.h>
#include <Metal/MTLTypes.h>

typedef NS_OPTIONS(NSUInteger, MTLBlitOption) {
  MTLBlitOptionNone = 0,
  MTLBlitOptionDepthFromDepthStencil = 1,
  MTLBlitOptionStencilFromDepthStencil = 2
};

#ifdef __OBJC__

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)samples
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
- (void)resolveCounters:(id<MTLCounterSampleBuffer>)samples
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)buffer
      destinationOffset:(NSUInteger)offset;
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)source_offset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)target_offset
                  size:(NSUInteger)size;
- (void)fillBuffer:(id<MTLBuffer>)buffer
             range:(NSRange)range
             value:(uint8_t)value;
- (void)synchronizeResource:(id<MTLResource>)resource;
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)offset
      sourceBytesPerRow:(NSUInteger)row
    sourceBytesPerImage:(NSUInteger)image
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin;
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)row
    destinationBytesPerImage:(NSUInteger)image;
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)offset
      sourceBytesPerRow:(NSUInteger)row
    sourceBytesPerImage:(NSUInteger)image
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin
                options:(MTLBlitOption)options;
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)row
    destinationBytesPerImage:(NSUInteger)image
                     options:(MTLBlitOption)options;
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)source_slice
            sourceLevel:(NSUInteger)source_level
           sourceOrigin:(MTLOrigin)source_origin
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)target_slice
       destinationLevel:(NSUInteger)target_level
      destinationOrigin:(MTLOrigin)target_origin;
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)source_slice
            sourceLevel:(NSUInteger)source_level
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)target_slice
       destinationLevel:(NSUInteger)target_level
             sliceCount:(NSUInteger)slices
             levelCount:(NSUInteger)levels;
- (void)copyFromTexture:(id<MTLTexture>)source toTexture:(id<MTLTexture>)target;
- (void)synchronizeTexture:(id<MTLTexture>)texture
                     slice:(NSUInteger)slice
                     level:(NSUInteger)level;
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture;
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture
                               slice:(NSUInteger)slice
                               level:(NSUInteger)level;
- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture;
- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture
                               slice:(NSUInteger)slice
                               level:(NSUInteger)level;
- (void)generateMipmapsForTexture:(id<MTLTexture>)texture;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)copyIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)source
                      sourceRange:(NSRange)range
                      destination:(id<MTLIndirectCommandBuffer>)destination
                 destinationIndex:(NSUInteger)index;
- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                    withRange:(NSRange)range;
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)commands
                            withRange:(NSRange)range;
@end

#endif

#endif
