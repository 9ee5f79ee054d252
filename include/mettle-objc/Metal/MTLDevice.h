// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLDevice.h: devices.
#ifndef METTLE_OBJC_MTLDEVICE_H
#define METTLE_OBJC_MTLDEVICE_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLComputePipeline.h>
#include <Metal/MTLCounters.h>
#include <Metal/MTLIOCommandQueue.h>
#include <Metal/MTLPipeline.h>
#include <Metal/MTLPixelFormat.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple1 = 1001,
  MTLGPUFamilyApple2 = 1002,
  MTLGPUFamilyApple3 = 1003,
  MTLGPUFamilyApple4 = 1004,
  MTLGPUFamilyApple5 = 1005,
  MTLGPUFamilyApple6 = 1006,
  MTLGPUFamilyApple7 = 1007,
  MTLGPUFamilyApple8 = 1008,
  MTLGPUFamilyApple9 = 1009,
  MTLGPUFamilyApple10 = 1010,
  MTLGPUFamilyMac1 = 2001,
  MTLGPUFamilyMac2 = 2002,
  MTLGPUFamilyCommon1 = 3001,
  MTLGPUFamilyCommon2 = 3002,
  MTLGPUFamilyCommon3 = 3003,
  MTLGPUFamilyMetal3 = 5001,
  MTLGPUFamilyMetal4 = 5002
};

typedef NS_ENUM(NSUInteger, MTLDeviceLocation) {
  MTLDeviceLocationBuiltIn = 0,
  MTLDeviceLocationSlot = 1,
  MTLDeviceLocationExternal = 2,
  MTLDeviceLocationUnspecified = NSUIntegerMax
};

typedef NS_ENUM(NSUInteger, MTLArgumentBuffersTier) {
  MTLArgumentBuffersTier1 = 0,
  MTLArgumentBuffersTier2 = 1
};

typedef NS_ENUM(NSUInteger, MTLReadWriteTextureTier) {
  MTLReadWriteTextureTierNone = 0,
  MTLReadWriteTextureTier1 = 1,
  MTLReadWriteTextureTier2 = 2
};

// Feature sets of before families: supportsFeatureSet: is false of all.
typedef NS_ENUM(NSUInteger, MTLFeatureSet) {
  MTLFeatureSet_macOS_GPUFamily1_v1 = 10000,
  MTLFeatureSet_macOS_GPUFamily1_v2 = 10001,
  MTLFeatureSet_macOS_GPUFamily1_v3 = 10003,
  MTLFeatureSet_macOS_GPUFamily1_v4 = 10004,
  MTLFeatureSet_macOS_GPUFamily2_v1 = 10005
};

#ifdef __OBJC__

MTL_EXTERN id<MTLDevice> MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;
MTL_EXTERN NSArray<id<MTLDevice>> *MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

// Devices neither come nor go here: an observer is never called.
typedef NSString *MTLDeviceNotificationName;

MTL_EXTERN MTLDeviceNotificationName const MTLDeviceWasAddedNotification;
MTL_EXTERN MTLDeviceNotificationName const
    MTLDeviceRemovalRequestedNotification;
MTL_EXTERN MTLDeviceNotificationName const MTLDeviceWasRemovedNotification;

typedef void (^MTLDeviceNotificationHandler)(id<MTLDevice> device,
                                             MTLDeviceNotificationName name);

MTL_EXTERN NSArray<id<MTLDevice>> *MTLCopyAllDevicesWithObserver(
    id<NSObject> __strong *observer,
    MTLDeviceNotificationHandler handler) NS_RETURNS_RETAINED;
MTL_EXTERN void MTLRemoveDeviceObserver(id<NSObject> observer);

typedef void (^MTLNewLibraryCompletionHandler)(id<MTLLibrary> library,
                                               NSError *error);

typedef void (^MTLNewComputePipelineStateCompletionHandler)(
    id<MTLComputePipelineState> pipeline, NSError *error);

typedef void (^MTLNewComputePipelineStateWithReflectionCompletionHandler)(
    id<MTLComputePipelineState> pipeline,
    MTLComputePipelineReflection *reflection, NSError *error);

@interface MTLArchitecture : NSObject
@property(readonly, copy) NSString *name;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString *name;
@property(readonly) uint64_t registryID;
@property(readonly) MTLArchitecture *architecture;
@property(readonly) BOOL hasUnifiedMemory;
@property(readonly, getter=isLowPower) BOOL lowPower;
@property(readonly, getter=isHeadless) BOOL headless;
@property(readonly, getter=isRemovable) BOOL removable;
@property(readonly) MTLDeviceLocation location;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
@property(readonly) NSUInteger currentAllocatedSize;
@property(readonly) NSUInteger maxThreadgroupMemoryLength;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) MTLArgumentBuffersTier argumentBuffersSupport;
@property(readonly) MTLReadWriteTextureTier readWriteTextureSupport;
@property(readonly) BOOL supportsFunctionPointers;
@property(readonly) BOOL supportsDynamicLibraries;
@property(readonly) BOOL supportsRaytracing;
@property(readonly) BOOL supportsRenderDynamicLibraries;
@property(readonly) BOOL supportsFunctionPointersFromRender;
@property(readonly) BOOL supportsRaytracingFromRender;
@property(readonly) BOOL supportsPrimitiveMotionBlur;
@property(readonly) BOOL supports32BitFloatFiltering;
@property(readonly) BOOL supports32BitMSAA;
@property(readonly) BOOL supportsQueryTextureLOD;
@property(readonly) BOOL supportsBCTextureCompression;
@property(readonly) BOOL supportsPullModelInterpolation;
@property(readonly) BOOL supportsShaderBarycentricCoordinates;
@property(readonly) BOOL areBarycentricCoordsSupported;
@property(readonly) BOOL areProgrammableSamplePositionsSupported;
@property(readonly) BOOL areRasterOrderGroupsSupported;
@property(readonly) BOOL isDepth24Stencil8PixelFormatSupported;
@property(readonly) NSUInteger locationNumber;
@property(readonly) uint64_t maxTransferRate;
@property(readonly) uint64_t peerGroupID;
@property(readonly) uint32_t peerIndex, peerCount;
@property(readonly) NSUInteger maxArgumentBufferSamplerCount;
@property(readonly) NSUInteger sparseTileSizeInBytes;
@property(readonly) NSUInteger maximumConcurrentCompilationTaskCount;
@property BOOL shouldMaximizeConcurrentCompilation;
- (BOOL)supportsFeatureSet:(MTLFeatureSet)set;
- (BOOL)supportsTextureSampleCount:(NSUInteger)count;
- (BOOL)supportsVertexAmplificationCount:(NSUInteger)count;
- (NSUInteger)minimumTextureBufferAlignmentForPixelFormat:
    (MTLPixelFormat)format;
- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle *)handle;
- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor
                                       error:(NSError **)error;
- (id<MTLIOCommandQueue>)newIOCommandQueueWithDescriptor:
                             (MTLIOCommandQueueDescriptor *)descriptor
                                                   error:(NSError **)error;
- (id<MTLIOFileHandle>)newIOFileHandleWithURL:(NSURL *)url
                                        error:(NSError **)error;
- (id<MTLIOFileHandle>)newIOFileHandleWithURL:(NSURL *)url
                            compressionMethod:(MTLIOCompressionMethod)method
                                        error:(NSError **)error;
// The names of before macOS 14.
- (id<MTLIOFileHandle>)newIOHandleWithURL:(NSURL *)url error:(NSError **)error;
- (id<MTLIOFileHandle>)newIOHandleWithURL:(NSURL *)url
                        compressionMethod:(MTLIOCompressionMethod)method
                                    error:(NSError **)error;
- (id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library
                                     error:(NSError **)error;
- (id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url
                                            error:(NSError **)error;
- (void)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                      completionHandler:
                          (MTLNewComputePipelineStateWithReflectionCompletionHandler)
                              handler;
- (void)
    newComputePipelineStateWithDescriptor:
        (MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                        completionHandler:
                            (MTLNewComputePipelineStateWithReflectionCompletionHandler)
                                handler;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (void)sampleTimestamps:(MTLTimestamp *)cpu gpuTimestamp:(MTLTimestamp *)gpu;
- (uint64_t)queryTimestampFrequency;
@property(readonly) NSArray<id<MTLCounterSet>> *counterSets;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point;
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:
                                  (MTLCounterSampleBufferDescriptor *)descriptor
                                                             error:(NSError **)
                                                                       error;
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:
                            (MTLBinaryArchiveDescriptor *)descriptor
                                                 error:(NSError **)error;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithArguments:
    (NSArray<MTLArgumentDescriptor *> *)arguments;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:
    (NSUInteger)count;
- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:
    (MTLCommandQueueDescriptor *)descriptor;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                             options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void *)bytes
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)bytes
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:
                                  (void (^)(void *bytes,
                                            NSUInteger length))deallocator;
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor;
- (id<MTLSamplerState>)newSamplerStateWithDescriptor:
    (MTLSamplerDescriptor *)descriptor;
- (id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor
                                   error:(NSError **)error;
- (MTLSizeAndAlign)tensorSizeAndAlignWithDescriptor:
    (MTLTensorDescriptor *)descriptor;
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:(MTLResourceOptions)options;
- (MTLSizeAndAlign)heapTextureSizeAndAlignWithDescriptor:
    (MTLTextureDescriptor *)descriptor;
- (NSUInteger)minimumLinearTextureAlignmentForPixelFormat:
    (MTLPixelFormat)format;
- (id<MTLLibrary>)newDefaultLibrary;
- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle *)bundle
                                        error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                               options:(MTLCompileOptions *)options
                                 error:(NSError **)error;
- (void)newLibraryWithSource:(NSString *)source
                     options:(MTLCompileOptions *)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler;
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data
                               error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithFile:(NSString *)path error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                  error:(NSError **)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                             reflection:
                                 (MTLAutoreleasedComputePipelineReflection *)
                                     reflection
                                  error:(NSError **)error;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:
                              (MTLNewComputePipelineStateCompletionHandler)
                                  handler;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:
        (MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:
                                   (MTLAutoreleasedComputePipelineReflection *)
                                       reflection
                                    error:(NSError **)error;
// Metal 4: MTL4.h.
- (id<MTL4CommandQueue>)newMTL4CommandQueue;
- (id<MTL4CommandQueue>)newMTL4CommandQueueWithDescriptor:
                            (MTL4CommandQueueDescriptor *)descriptor
                                                    error:(NSError **)error;
- (id<MTL4CommandAllocator>)newCommandAllocator;
- (id<MTL4CommandAllocator>)newCommandAllocatorWithDescriptor:
                                (MTL4CommandAllocatorDescriptor *)descriptor
                                                        error:(NSError **)error;
- (id<MTL4CommandBuffer>)newCommandBuffer;
- (id<MTL4CounterHeap>)newCounterHeapWithDescriptor:
                           (MTL4CounterHeapDescriptor *)descriptor
                                              error:(NSError **)error;
- (NSUInteger)sizeOfCounterHeapEntry:(NSInteger)type;
- (id<MTL4ArgumentTable>)newArgumentTableWithDescriptor:
                             (MTL4ArgumentTableDescriptor *)descriptor
                                                  error:(NSError **)error;
- (id<MTL4Compiler>)newCompilerWithDescriptor:
                        (MTL4CompilerDescriptor *)descriptor
                                        error:(NSError **)error;
- (id<MTLEvent>)newEvent;
- (id<MTLSharedEvent>)newSharedEvent;
- (id<MTLFence>)newFence;
- (id<MTLResidencySet>)newResidencySetWithDescriptor:
                           (MTLResidencySetDescriptor *)descriptor
                                               error:(NSError **)error;
- (id<MTLIndirectCommandBuffer>)
    newIndirectCommandBufferWithDescriptor:
        (MTLIndirectCommandBufferDescriptor *)descriptor
                           maxCommandCount:(NSUInteger)count
                                   options:(MTLResourceOptions)options;
@end

#endif

#endif
