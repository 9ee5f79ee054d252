// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLBuffer.h: buffers.
#ifndef METTLE_OBJC_MTLBUFFER_H
#define METTLE_OBJC_MTLBUFFER_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLResource.h>

#ifdef __OBJC__

@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) uint64_t gpuAddress;
- (void *)contents;
- (void)didModifyRange:(NSRange)range;
- (void)addDebugMarker:(NSString *)marker range:(NSRange)range;
- (void)removeAllDebugMarkers;
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)row;
- (id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor
                                  offset:(NSUInteger)offset
                                   error:(NSError **)error;
@end

#endif

#endif
