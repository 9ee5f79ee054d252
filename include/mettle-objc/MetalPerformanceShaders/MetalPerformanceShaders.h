// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalPerformanceShaders.h: MPSCommandBuffer alone. There are no kernels.
#ifndef METTLE_OBJC_METALPERFORMANCESHADERS_H
#define METTLE_OBJC_METALPERFORMANCESHADERS_H

#include <Metal/Metal.h>

#ifdef __OBJC__
@interface MPSCommandBuffer : NSObject <MTLCommandBuffer>
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue;
+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)commands;
- (instancetype)initWithCommandBuffer:(id<MTLCommandBuffer>)commands;
@property(readonly) id<MTLCommandBuffer> commandBuffer;
@property(readonly) id<MTLCommandBuffer> rootCommandBuffer;
@property(strong) id predicate;
// Commits what is encoded; what comes is in a new one of the same queue.
- (void)commitAndContinue;
@end
#endif

#endif
