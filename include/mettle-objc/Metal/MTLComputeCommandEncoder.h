// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLComputeCommandEncoder.h: encoders of dispatches.
#ifndef METTLE_OBJC_MTLCOMPUTECOMMANDENCODER_H
#define METTLE_OBJC_MTLCOMPUTECOMMANDENCODER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLCommandBuffer.h>
#include <Metal/MTLCommandEncoder.h>
#include <Metal/MTLTypes.h>

#ifdef __OBJC__

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
@property(readonly) MTLDispatchType dispatchType;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)samples
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline;
- (void)setBuffer:(id<MTLBuffer>)buffer
           offset:(NSUInteger)offset
          atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> __unsafe_unretained[])buffers
           offsets:(const NSUInteger[])offsets
         withRange:(NSRange)range;
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes
          length:(NSUInteger)length
         atIndex:(NSUInteger)index;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures
          withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:
            (const id<MTLSamplerState> __unsafe_unretained[])samplers
               withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler
            lodMinClamp:(float)min
            lodMaxClamp:(float)max
                atIndex:(NSUInteger)index;
- (void)setSamplerStates:
            (const id<MTLSamplerState> __unsafe_unretained[])samplers
            lodMinClamps:(const float[])mins
            lodMaxClamps:(const float[])maxs
               withRange:(NSRange)range;
- (void)setStageInRegion:(MTLRegion)region;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table
                  atBufferIndex:(NSUInteger)index;
- (void)setVisibleFunctionTables:
            (const id<MTLVisibleFunctionTable> __unsafe_unretained[])tables
                 withBufferRange:(NSRange)range;
- (void)setTensor:(id<MTLTensor>)tensor atBufferIndex:(NSUInteger)index;
- (void)dispatchThreads:(MTLSize)grid threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroups:(MTLSize)grid threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                      withRange:(NSRange)range;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                 indirectBuffer:(id<MTLBuffer>)buffer
           indirectBufferOffset:(NSUInteger)offset;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)memoryBarrierWithResources:
            (const id<MTLResource> __unsafe_unretained[])resources
                             count:(NSUInteger)count;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)useResources:(const id<MTLResource> __unsafe_unretained[])resources
               count:(NSUInteger)count
               usage:(MTLResourceUsage)usage;
- (void)useHeap:(id<MTLHeap>)heap;
- (void)useHeaps:(const id<MTLHeap> __unsafe_unretained[])heaps
           count:(NSUInteger)count;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
@end

#endif

#endif
