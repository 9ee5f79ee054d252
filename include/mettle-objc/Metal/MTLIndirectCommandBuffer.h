// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLIndirectCommandBuffer.h: commands that are executed again.
#ifndef METTLE_OBJC_MTLINDIRECTCOMMANDBUFFER_H
#define METTLE_OBJC_MTLINDIRECTCOMMANDBUFFER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

typedef NS_OPTIONS(NSUInteger, MTLIndirectCommandType) {
  MTLIndirectCommandTypeConcurrentDispatch = 1 << 5,
  MTLIndirectCommandTypeConcurrentDispatchThreads = 1 << 6
};

#ifdef __OBJC__

@interface MTLIndirectCommandBufferDescriptor : NSObject <NSCopying>
@property NSUInteger maxVertexBufferBindCount, maxFragmentBufferBindCount;
@property MTLIndirectCommandType commandTypes;
@property BOOL inheritBuffers;
@property BOOL inheritPipelineState;
@property NSUInteger maxKernelBufferBindCount;
@property NSUInteger maxKernelThreadgroupMemoryBindCount;
@end

@protocol MTLIndirectCommandBuffer <MTLResource>
@property(readonly) NSUInteger size;
@property(readonly) MTLResourceID gpuResourceID;
- (void)resetWithRange:(NSRange)range;
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:
    (NSUInteger)index;
@end

#endif

#endif
