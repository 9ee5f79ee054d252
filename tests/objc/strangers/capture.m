// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// capture.m: MTLCaptureManager and scopes, as a program for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    MTLCaptureManager *m = [MTLCaptureManager sharedCaptureManager];
    CHECK(m == [MTLCaptureManager sharedCaptureManager]);
    CHECK(![m supportsDestination:MTLCaptureDestinationDeveloperTools]);
    id<MTLCaptureScope> scope = [m newCaptureScopeWithCommandQueue:queue];
    scope.label = @"frame";
    CHECK([scope.label isEqualToString:@"frame"]);
    CHECK(scope.device == device);
    CHECK(scope.commandQueue == queue);
    m.defaultCaptureScope = scope;
    CHECK(m.defaultCaptureScope == scope);
    if ([m supportsDestination:MTLCaptureDestinationGPUTraceDocument]) {
      MTLCaptureDescriptor *c = [[MTLCaptureDescriptor alloc] init];
      c.captureObject = scope;
      c.destination = MTLCaptureDestinationGPUTraceDocument;
      c.outputURL = [NSURL
          fileURLWithPath:[NSTemporaryDirectory()
                              stringByAppendingPathComponent:@"cap_a02.json"]];
      NSError *e = nil;
      CHECK([m startCaptureWithDescriptor:c error:&e]);
      CHECK(m.isCapturing);
      [scope beginScope];
      id<MTLCommandBuffer> cb = [queue commandBuffer];
      id<MTLBlitCommandEncoder> b = [cb blitCommandEncoder];
      id<MTLBuffer> buf =
          [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
      [b fillBuffer:buf range:NSMakeRange(0, 64) value:7];
      [b endEncoding];
      [cb commit];
      [cb waitUntilCompleted];
      [scope endScope];
      NSError *e2 = nil;
      CHECK(![m startCaptureWithDescriptor:c error:&e2]);
      CHECK(e2.code == MTLCaptureErrorAlreadyCapturing);
      CHECK([e2.domain isEqual:MTLCaptureErrorDomain]);
      [m stopCapture];
      CHECK(!m.isCapturing);
      CHECK([[NSFileManager defaultManager] fileExistsAtPath:c.outputURL.path]);
      NSError *e3 = nil;
      CHECK([[NSFileManager defaultManager] removeItemAtURL:c.outputURL
                                                      error:&e3]);
    }
    MTLCaptureDescriptor *c = [MTLCaptureDescriptor new];
    c.captureObject = device;
    CHECK(c.destination == MTLCaptureDestinationDeveloperTools);
    NSError *e = nil;
    CHECK(![m startCaptureWithDescriptor:c error:&e]);
    CHECK(e.code == MTLCaptureErrorNotSupported);
  }
  return checks_end();
}
