// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLCommandBuffer.h: command buffers.
#ifndef METTLE_OBJC_MTLCOMMANDBUFFER_H
#define METTLE_OBJC_MTLCOMMANDBUFFER_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSUInteger, MTLDispatchType) {
  MTLDispatchTypeSerial = 0,
  MTLDispatchTypeConcurrent = 1
};

typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5
};

typedef NS_ENUM(NSUInteger, MTLCommandBufferError) {
  MTLCommandBufferErrorNone = 0,
  MTLCommandBufferErrorInternal = 1,
  MTLCommandBufferErrorTimeout = 2,
  MTLCommandBufferErrorPageFault = 3,
  MTLCommandBufferErrorNotPermitted = 7,
  MTLCommandBufferErrorOutOfMemory = 8,
  MTLCommandBufferErrorInvalidResource = 9
};

typedef NS_OPTIONS(NSUInteger, MTLCommandBufferErrorOption) {
  MTLCommandBufferErrorOptionNone = 0,
  MTLCommandBufferErrorOptionEncoderExecutionStatus = 1
};

typedef NS_ENUM(NSInteger, MTLCommandEncoderErrorState) {
  MTLCommandEncoderErrorStateUnknown = 0,
  MTLCommandEncoderErrorStateCompleted = 1,
  MTLCommandEncoderErrorStateAffected = 2,
  MTLCommandEncoderErrorStatePending = 3,
  MTLCommandEncoderErrorStateFaulted = 4
};

#ifdef __OBJC__

MTL_EXTERN NSErrorDomain const MTLCommandBufferErrorDomain;
MTL_EXTERN NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey;

typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer> commands);

@interface MTLCommandBufferDescriptor : NSObject <NSCopying>
@property(strong) id<MTLLogState> logState;
@property BOOL retainedReferences;
@property MTLCommandBufferErrorOption errorOptions;
@end

// In the userInfo of the error of a command buffer that asked for
// MTLCommandBufferErrorOptionEncoderExecutionStatus, under
// MTLCommandBufferEncoderInfoErrorKey.
@protocol MTLCommandBufferEncoderInfo <NSObject>
@property(readonly) NSString *label;
@property(readonly) NSArray<NSString *> *debugSignposts;
@property(readonly) MTLCommandEncoderErrorState errorState;
@end

@protocol MTLCommandBuffer <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) id<MTLCommandQueue> commandQueue;
@property(readonly) BOOL retainedReferences;
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError *error;
@property(readonly) MTLCommandBufferErrorOption errorOptions;
@property(readonly) id<MTLLogContainer> logs;
@property(readonly) CFTimeInterval kernelStartTime, kernelEndTime;
@property(readonly) CFTimeInterval GPUStartTime, GPUEndTime;
- (void)enqueue;
- (void)commit;
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler;
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler;
- (void)waitUntilScheduled;
- (void)waitUntilCompleted;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:
    (MTLDispatchType)type;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:
    (MTLComputePassDescriptor *)descriptor;
- (id<MTLBlitCommandEncoder>)blitCommandEncoder;
- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:
    (MTLBlitPassDescriptor *)descriptor;
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)useResidencySet:(id<MTLResidencySet>)set;
- (void)useResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets
                   count:(NSUInteger)count;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
@end

#endif

#endif
