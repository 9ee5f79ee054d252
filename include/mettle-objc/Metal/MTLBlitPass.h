// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLBlitPass.h: passes of blits, with samples at their ends.
#ifndef METTLE_OBJC_MTLBLITPASS_H
#define METTLE_OBJC_MTLBLITPASS_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@interface MTLBlitPassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSampleBuffer> sampleBuffer;
@property NSUInteger startOfEncoderSampleIndex, endOfEncoderSampleIndex;
@end

@interface MTLBlitPassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLBlitPassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:
    (NSUInteger)index;
- (void)setObject:(MTLBlitPassSampleBufferAttachmentDescriptor *)attachment
    atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLBlitPassDescriptor : NSObject <NSCopying>
+ (MTLBlitPassDescriptor *)blitPassDescriptor;
@property(readonly)
    MTLBlitPassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;
@end

#endif

#endif
