// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLCounters.h: samples of the GPU's clock.
#ifndef METTLE_OBJC_MTLCOUNTERS_H
#define METTLE_OBJC_MTLCOUNTERS_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLResource.h>

typedef uint64_t MTLTimestamp;

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary = 0,
  MTLCounterSamplingPointAtDrawBoundary = 1,
  MTLCounterSamplingPointAtDispatchBoundary = 2,
  MTLCounterSamplingPointAtTileDispatchBoundary = 3,
  MTLCounterSamplingPointAtBlitBoundary = 4
};

// Sources: the sample was not taken; no sample is wanted.
#define MTLCounterErrorValue ((uint64_t)~0ULL)

#define MTLCounterDontSample ((NSUInteger) - 1)

typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;

#ifdef __OBJC__

typedef NSString *MTLCommonCounter;

typedef NSString *MTLCommonCounterSet;

MTL_EXTERN MTLCommonCounter const MTLCommonCounterTimestamp;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetTimestamp;
MTL_EXTERN NSErrorDomain const MTLCounterErrorDomain;

@protocol MTLCounter <NSObject>
@property(readonly) NSString *name;
@end

@protocol MTLCounterSet <NSObject>
@property(readonly) NSString *name;
@property(readonly) NSArray<id<MTLCounter>> *counters;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSet> counterSet;
@property(copy) NSString *label;
@property MTLStorageMode storageMode;
@property NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
@property(readonly) NSUInteger sampleCount;
- (NSData *)resolveCounterRange:(NSRange)range;
@end

#endif

#endif
