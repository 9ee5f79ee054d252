// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLCommandQueue.h: queues.
#ifndef METTLE_OBJC_MTLCOMMANDQUEUE_H
#define METTLE_OBJC_MTLCOMMANDQUEUE_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@interface MTLCommandQueueDescriptor : NSObject <NSCopying>
@property(strong) id<MTLLogState> logState;
@property NSUInteger maxCommandBufferCount;
@end

@protocol MTLCommandQueue <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
- (id<MTLCommandBuffer>)commandBuffer;
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:
    (MTLCommandBufferDescriptor *)descriptor;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:
            (const id<MTLResidencySet> __unsafe_unretained[])sets
                      count:(NSUInteger)count;
- (void)addResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets
                   count:(NSUInteger)count;
@end

#endif

#endif
