// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLCaptureManager.h: captures: timelines (docs/tracing.md).
#ifndef METTLE_OBJC_MTLCAPTUREMANAGER_H
#define METTLE_OBJC_MTLCAPTUREMANAGER_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2
};

typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3
};

#ifdef __OBJC__

MTL_EXTERN NSErrorDomain const MTLCaptureErrorDomain;

@interface MTLCaptureDescriptor : NSObject <NSCopying>
@property(strong) id captureObject;
@property MTLCaptureDestination destination;
@property(copy) NSURL *outputURL;
@end

@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager *)sharedCaptureManager;
@property(readonly) BOOL isCapturing;
@property(strong) id<MTLCaptureScope> defaultCaptureScope;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor
                             error:(NSError **)error;
- (void)stopCapture;
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device;
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:
    (id<MTLCommandQueue>)queue;
@end

#endif

#endif
