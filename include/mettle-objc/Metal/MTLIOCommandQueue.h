// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLIOCommandQueue.h: queues that load files into resources. Compressed files
// are refused by an NSError; there is no compressor.
#ifndef METTLE_OBJC_MTLIOCOMMANDQUEUE_H
#define METTLE_OBJC_MTLIOCOMMANDQUEUE_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSInteger, MTLIOPriority) {
  MTLIOPriorityHigh = 0,
  MTLIOPriorityNormal = 1,
  MTLIOPriorityLow = 2
};

typedef NS_ENUM(NSInteger, MTLIOCommandQueueType) {
  MTLIOCommandQueueTypeConcurrent = 0,
  MTLIOCommandQueueTypeSerial = 1
};

typedef NS_ENUM(NSInteger, MTLIOError) {
  MTLIOErrorURLInvalid = 1,
  MTLIOErrorInternal = 2
};

typedef NS_ENUM(NSInteger, MTLIOCompressionMethod) {
  MTLIOCompressionMethodZlib = 0,
  MTLIOCompressionMethodLZFSE = 1,
  MTLIOCompressionMethodLZ4 = 2,
  MTLIOCompressionMethodLZMA = 3,
  MTLIOCompressionMethodLZBitmap = 4
};

#ifdef __OBJC__

@protocol MTLBuffer;
@protocol MTLIOCommandBuffer;
MTL_EXTERN NSErrorDomain const MTLIOErrorDomain;

@protocol MTLIOScratchBuffer <NSObject>
@property(readonly) id<MTLBuffer> buffer;
@end

@protocol MTLIOScratchBufferAllocator <NSObject>
- (id<MTLIOScratchBuffer>)newScratchBufferWithMinimumSize:(NSUInteger)size;
@end

@protocol MTLIOFileHandle <NSObject>
@property(copy, atomic) NSString *label;
@end

@protocol MTLIOCommandQueue <NSObject>
@property(copy, atomic) NSString *label;
- (void)enqueueBarrier;
- (id<MTLIOCommandBuffer>)commandBuffer;
- (id<MTLIOCommandBuffer>)commandBufferWithUnretainedReferences;
@end

// Counts and priorities are kept; a queue takes what there is. An allocator is
// for decompression, and never asked.
@interface MTLIOCommandQueueDescriptor : NSObject <NSCopying>
@property(readwrite, nonatomic) NSUInteger maxCommandBufferCount;
@property(readwrite, nonatomic) MTLIOPriority priority;
@property(readwrite, nonatomic) MTLIOCommandQueueType type;
@property(readwrite, nonatomic) NSUInteger maxCommandsInFlight;
@property(readwrite, nonatomic, retain) id<MTLIOScratchBufferAllocator>
    scratchBufferAllocator;
@end

#endif

#endif
