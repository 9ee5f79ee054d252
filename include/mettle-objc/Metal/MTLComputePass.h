// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLComputePass.h: passes of dispatches, with samples at their ends.
#ifndef METTLE_OBJC_MTLCOMPUTEPASS_H
#define METTLE_OBJC_MTLCOMPUTEPASS_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLCommandBuffer.h>

#ifdef __OBJC__

@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSampleBuffer> sampleBuffer;
@property NSUInteger startOfEncoderSampleIndex, endOfEncoderSampleIndex;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:
    (NSUInteger)index;
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor *)attachment
    atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePassDescriptor : NSObject <NSCopying>
+ (MTLComputePassDescriptor *)computePassDescriptor;
@property MTLDispatchType dispatchType;
@property(readonly) MTLComputePassSampleBufferAttachmentDescriptorArray
    *sampleBufferAttachments;
@end

#endif

#endif
