// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLArgumentEncoder.h: writers of argument buffers.
#ifndef METTLE_OBJC_MTLARGUMENTENCODER_H
#define METTLE_OBJC_MTLARGUMENTENCODER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLArgument.h>
#include <Metal/MTLTexture.h>

#ifdef __OBJC__

@interface MTLArgumentDescriptor : NSObject <NSCopying>
+ (MTLArgumentDescriptor *)argumentDescriptor;
@property MTLDataType dataType;
@property NSUInteger index, arrayLength, constantBlockAlignment;
@property MTLBindingAccess access;
@property MTLTextureType textureType;
@end

@protocol MTLArgumentEncoder <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger encodedLength, alignment;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer
              startOffset:(NSUInteger)offset
             arrayElement:(NSUInteger)element;
- (void)setBuffer:(id<MTLBuffer>)buffer
           offset:(NSUInteger)offset
          atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> __unsafe_unretained[])buffers
           offsets:(const NSUInteger[])offsets
         withRange:(NSRange)range;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures
          withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:
            (const id<MTLSamplerState> __unsafe_unretained[])samplers
               withRange:(NSRange)range;
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table
                        atIndex:(NSUInteger)index;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline
                        atIndex:(NSUInteger)index;
- (void)setComputePipelineStates:(id<MTLComputePipelineState> const[])pipelines
                       withRange:(NSRange)range;
- (void)setIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)commands
                         atIndex:(NSUInteger)index;
- (void)setIndirectCommandBuffers:(id<MTLIndirectCommandBuffer> const[])commands
                        withRange:(NSRange)range;
- (void *)constantDataAtIndex:(NSUInteger)index;
- (id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index;
@end

#endif

#endif
