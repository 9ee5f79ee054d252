// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLIOCommandBuffer.h: loads of pieces of files. After one that fails no other
// is done; events are signalled all the same.
#ifndef METTLE_OBJC_MTLIOCOMMANDBUFFER_H
#define METTLE_OBJC_MTLIOCOMMANDBUFFER_H

#include <Metal/MTLIOCommandQueue.h>
#include <Metal/MTLTypes.h>

typedef NS_ENUM(NSInteger, MTLIOStatus) {
  MTLIOStatusPending = 0,
  MTLIOStatusCancelled = 1,
  MTLIOStatusError = 2,
  MTLIOStatusComplete = 3
};

#ifdef __OBJC__

@protocol MTLSharedEvent;
@protocol MTLTexture;
typedef void (^MTLIOCommandBufferHandler)(id<MTLIOCommandBuffer> commands);

@protocol MTLIOCommandBuffer <NSObject>
@property(copy, atomic) NSString *label;
@property(readonly) MTLIOStatus status;
@property(readonly) NSError *error;
- (void)addCompletedHandler:(MTLIOCommandBufferHandler)block;
- (void)loadBytes:(void *)bytes
                  size:(NSUInteger)size
          sourceHandle:(id<MTLIOFileHandle>)handle
    sourceHandleOffset:(NSUInteger)handleOffset;
- (void)loadBuffer:(id<MTLBuffer>)buffer
                offset:(NSUInteger)offset
                  size:(NSUInteger)size
          sourceHandle:(id<MTLIOFileHandle>)handle
    sourceHandleOffset:(NSUInteger)handleOffset;
- (void)loadTexture:(id<MTLTexture>)texture
                  slice:(NSUInteger)slice
                  level:(NSUInteger)level
                   size:(MTLSize)size
      sourceBytesPerRow:(NSUInteger)rowBytes
    sourceBytesPerImage:(NSUInteger)imageBytes
      destinationOrigin:(MTLOrigin)origin
           sourceHandle:(id<MTLIOFileHandle>)handle
     sourceHandleOffset:(NSUInteger)handleOffset;
// Writes the MTLIOStatus, 8 bytes, when all is done.
- (void)copyStatusToBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)commit;
- (void)waitUntilCompleted;
- (void)tryCancel;
- (void)addBarrier;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
- (void)enqueue;
- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;
- (void)signalEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;
@end

#endif

#endif
