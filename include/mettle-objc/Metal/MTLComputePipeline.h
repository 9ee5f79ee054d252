// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLComputePipeline.h: compute pipelines.
#ifndef METTLE_OBJC_MTLCOMPUTEPIPELINE_H
#define METTLE_OBJC_MTLCOMPUTEPIPELINE_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLPipeline.h>
#include <Metal/MTLTypes.h>

#ifdef __OBJC__

typedef MTLComputePipelineReflection *MTLAutoreleasedComputePipelineReflection;

@interface MTLComputePipelineDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property(strong) id<MTLFunction> computeFunction;
@property BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property NSUInteger maxTotalThreadsPerThreadgroup;
@property NSUInteger maxCallStackDepth;
@property BOOL supportIndirectCommandBuffers;
@property(copy) MTLLinkedFunctions *linkedFunctions;
@property(copy) NSArray<id<MTLBinaryArchive>> *binaryArchives;
@property(copy) NSArray<id<MTLDynamicLibrary>> *preloadedLibraries;
@property(copy) NSArray<id<MTLDynamicLibrary>> *insertLibraries;
@property BOOL supportAddingBinaryFunctions;
@property MTLShaderValidation shaderValidation;
@property(readonly) MTLPipelineBufferDescriptorArray *buffers;
- (void)reset;
@end

@interface MTLComputePipelineReflection : NSObject
@property(readonly) NSArray<id<MTLBinding>> *bindings;
@property(readonly) NSArray<MTLArgument *> *arguments;
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@property(readonly) BOOL supportIndirectCommandBuffers;
@property(readonly) MTLResourceID gpuResourceID;
@property(readonly) MTLShaderValidation shaderValidation;
@property(readonly) MTLComputePipelineReflection *reflection;
- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)dimensions;
- (id<MTLFunctionHandle>)functionHandleWithFunction:(id<MTLFunction>)function;
- (id<MTLVisibleFunctionTable>)newVisibleFunctionTableWithDescriptor:
    (MTLVisibleFunctionTableDescriptor *)descriptor;
@end

#endif

#endif
