// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLIndirectCommandEncoder.h: one indirect command.
#ifndef METTLE_OBJC_MTLINDIRECTCOMMANDENCODER_H
#define METTLE_OBJC_MTLINDIRECTCOMMANDENCODER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLTypes.h>

#ifdef __OBJC__

@protocol MTLIndirectComputeCommand <NSObject>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline;
- (void)setKernelBuffer:(id<MTLBuffer>)buffer
                 offset:(NSUInteger)offset
                atIndex:(NSUInteger)index;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)concurrentDispatchThreadgroups:(MTLSize)grid
                 threadsPerThreadgroup:(MTLSize)group;
- (void)concurrentDispatchThreads:(MTLSize)grid
            threadsPerThreadgroup:(MTLSize)group;
- (void)setBarrier;
- (void)clearBarrier;
- (void)reset;
@end

#endif

#endif
