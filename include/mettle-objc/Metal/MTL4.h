// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTL4.h: Metal 4's command model for compute; Metal.h includes it.
//
// An argument table holds addresses and identifiers: a buffer that it names must
// be in a residency set of the queue's or the command buffer's. Hazards are
// not tracked: barriers, fences and events order work, and nothing else does.
// Mettle runs encoders one after another all the same.
// Not here: rendering, machine learning passes, serialized pipelines, sparse
// mappings.
//
// Source  metal-cpp's enumerations (Apache-2.0), for the numbers
#ifndef METTLE_OBJC_MTL4_H
#define METTLE_OBJC_MTL4_H

#include <Metal/MTLCommandBuffer.h>
#include <Metal/MTLCommandEncoder.h>
#include <Metal/MTLComputePipeline.h>
#include <Metal/MTLDefines.h>
#include <Metal/MTLLibrary.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

typedef NS_OPTIONS(NSUInteger, MTLStages) {
  MTLStageDispatch = 1 << 27,
  MTLStageBlit = 1 << 28,
  MTLStageAll = NSIntegerMax
};
typedef NS_OPTIONS(NSUInteger, MTL4VisibilityOptions) {
  MTL4VisibilityOptionNone = 0,
  MTL4VisibilityOptionDevice = 1,
  MTL4VisibilityOptionResourceAlias = 2
};
typedef NS_ENUM(NSInteger, MTL4IndirectCommandBufferSupportState) {
  MTL4IndirectCommandBufferSupportStateDisabled = 0,
  MTL4IndirectCommandBufferSupportStateEnabled = 1
};

#ifdef __OBJC__

// --- Compiling -----------------------------------------------------------------

@interface MTL4CompilerDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@end
@interface MTL4LibraryDescriptor : NSObject <NSCopying>
@property(copy) NSString *source;
@property(copy) MTLCompileOptions *options;
@property(copy) NSString *name;
@end
@interface MTL4FunctionDescriptor : NSObject <NSCopying>
@end
@interface MTL4LibraryFunctionDescriptor : MTL4FunctionDescriptor
@property(copy) NSString *name;
@property(strong) id<MTLLibrary> library;
@end
@interface MTL4SpecializedFunctionDescriptor : MTL4FunctionDescriptor
@property(copy) MTL4FunctionDescriptor *functionDescriptor;
@property(copy) NSString *specializedName;
@property(strong) MTLFunctionConstantValues *constantValues;
@end
@interface MTL4ComputePipelineDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property(copy) MTL4FunctionDescriptor *computeFunctionDescriptor;
@property BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property NSUInteger maxTotalThreadsPerThreadgroup;
@property MTL4IndirectCommandBufferSupportState supportIndirectCommandBuffers;
- (void)reset;
@end
@class MTL4CompilerTaskOptions;

@protocol MTL4Compiler <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (id<MTLLibrary>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor
                                     error:(NSError **)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:
        (MTL4ComputePipelineDescriptor *)descriptor
                      compilerTaskOptions:(MTL4CompilerTaskOptions *)options
                                    error:(NSError **)error;
@end

// --- Binding -------------------------------------------------------------------

// At most 31 buffers, 128 textures, 16 samplers.
@interface MTL4ArgumentTableDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property NSUInteger maxBufferBindCount;
@property NSUInteger maxTextureBindCount;
@property NSUInteger maxSamplerStateBindCount;
@property BOOL initializeBindings;
@end
@protocol MTL4ArgumentTable <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (void)setAddress:(MTLGPUAddress)address atIndex:(NSUInteger)index;
// A tensor, or a table of visible functions.
- (void)setResource:(MTLResourceID)resource atBufferIndex:(NSUInteger)index;
- (void)setTexture:(MTLResourceID)texture atIndex:(NSUInteger)index;
- (void)setSamplerState:(MTLResourceID)sampler atIndex:(NSUInteger)index;
@end

// --- Encoding ------------------------------------------------------------------

@interface MTL4CommandAllocatorDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@end
@protocol MTL4CommandAllocator <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (uint64_t)allocatedSize;
- (void)reset;
@end
@class MTL4CommandBufferOptions;
@protocol MTL4ComputeCommandEncoder;

typedef NS_ENUM(NSInteger, MTL4CounterHeapType) {
  MTL4CounterHeapTypeInvalid = 0,
  MTL4CounterHeapTypeTimestamp = 1
};
typedef NS_ENUM(NSInteger, MTL4TimestampGranularity) {
  MTL4TimestampGranularityRelaxed = 0,
  MTL4TimestampGranularityPrecise = 1
};
typedef struct {
  uint64_t timestamp;  // ticks of queryTimestampFrequency; 0 if not written
} MTL4TimestampHeapEntry;
@interface MTL4CounterHeapDescriptor : NSObject <NSCopying>
@property MTL4CounterHeapType type;
@property NSUInteger count;
@end
@protocol MTL4CounterHeap <NSObject>
@property(copy) NSString *label;
@property(readonly) NSUInteger count;
@property(readonly) MTL4CounterHeapType type;
// Entries of MTL4TimestampHeapEntry, which completed work has written.
- (NSData *)resolveCounterRange:(NSRange)range;
@end

@protocol MTL4CommandBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString *label;
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator;
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator
                                options:(MTL4CommandBufferOptions *)options;
- (void)endCommandBuffer;
- (id<MTL4ComputeCommandEncoder>)computeCommandEncoder;
- (void)writeTimestampIntoHeap:(id<MTL4CounterHeap>)heap
                       atIndex:(NSUInteger)index;
- (void)useResidencySet:(id<MTLResidencySet>)set;
- (void)useResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets
                   count:(NSUInteger)count;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
@end

@protocol MTL4CommandEncoder <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTL4CommandBuffer> commandBuffer;
- (void)barrierAfterQueueStages:(MTLStages)after
                   beforeStages:(MTLStages)before
              visibilityOptions:(MTL4VisibilityOptions)options;
- (void)barrierAfterStages:(MTLStages)after
         beforeQueueStages:(MTLStages)before
         visibilityOptions:(MTL4VisibilityOptions)options;
- (void)barrierAfterEncoderStages:(MTLStages)after
              beforeEncoderStages:(MTLStages)before
                visibilityOptions:(MTL4VisibilityOptions)options;
- (void)updateFence:(id<MTLFence>)fence afterEncoderStages:(MTLStages)stages;
- (void)waitForFence:(id<MTLFence>)fence beforeEncoderStages:(MTLStages)stages;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
- (void)insertDebugSignpost:(NSString *)name;
- (void)endEncoding;
@end

@protocol MTL4ComputeCommandEncoder <MTL4CommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline;
// A dispatch has what the table holds when it is encoded.
- (void)setArgumentTable:(id<MTL4ArgumentTable>)table;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreads:(MTLSize)grid threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroups:(MTLSize)grid
       threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroupsWithIndirectBuffer:(MTLGPUAddress)address
                         threadsPerThreadgroup:(MTLSize)group;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                      withRange:(NSRange)range;
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)source_offset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)target_offset
                  size:(NSUInteger)size;
- (void)copyFromTexture:(id<MTLTexture>)source
              toTexture:(id<MTLTexture>)target;
- (void)fillBuffer:(id<MTLBuffer>)buffer
             range:(NSRange)range
             value:(uint8_t)value;
- (void)generateMipmapsForTexture:(id<MTLTexture>)texture;
// Both granularities are the same.
- (void)writeTimestampWithGranularity:(MTL4TimestampGranularity)granularity
                             intoHeap:(id<MTL4CounterHeap>)heap
                              atIndex:(NSUInteger)index;
@end

// --- Committing ----------------------------------------------------------------

@protocol MTL4CommitFeedback <NSObject>
@property(readonly) NSError *error;
@property(readonly) CFTimeInterval GPUStartTime, GPUEndTime;
@end
typedef void (^MTL4CommitFeedbackHandler)(id<MTL4CommitFeedback> feedback);
@interface MTL4CommitOptions : NSObject
// Called on the queue's feedbackQueue.
- (void)addFeedbackHandler:(MTL4CommitFeedbackHandler)handler;
@end
@interface MTL4CommandQueueDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property(strong) dispatch_queue_t feedbackQueue;
@end
@protocol MTL4CommandQueue <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (void)commit:(const id<MTL4CommandBuffer> __unsafe_unretained[])commands
         count:(NSUInteger)count;
- (void)commit:(const id<MTL4CommandBuffer> __unsafe_unretained[])commands
         count:(NSUInteger)count
       options:(MTL4CommitOptions *)options;
- (void)signalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)waitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)addResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets
                   count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:
            (const id<MTLResidencySet> __unsafe_unretained[])sets
                      count:(NSUInteger)count;
@end

#endif  // __OBJC__
#endif
