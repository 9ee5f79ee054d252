// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLPipeline.h: what pipelines have in common.
#ifndef METTLE_OBJC_MTLPIPELINE_H
#define METTLE_OBJC_MTLPIPELINE_H

#include <Metal/MTLDefines.h>

typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1,
  MTLPipelineOptionBindingInfo = 1,
  MTLPipelineOptionBufferTypeInfo = 2,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 4
};

typedef NS_ENUM(NSInteger, MTLShaderValidation) {
  MTLShaderValidationDefault = 0,
  MTLShaderValidationEnabled = 1,
  MTLShaderValidationDisabled = 2
};

typedef NS_ENUM(NSUInteger, MTLMutability) {
  MTLMutabilityDefault = 0,
  MTLMutabilityMutable = 1,
  MTLMutabilityImmutable = 2
};

#ifdef __OBJC__

@interface MTLPipelineBufferDescriptor : NSObject
@property MTLMutability mutability;
@end

@interface MTLPipelineBufferDescriptorArray : NSObject
- (MTLPipelineBufferDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLPipelineBufferDescriptor *)descriptor
    atIndexedSubscript:(NSUInteger)index;
@end

#endif

#endif
