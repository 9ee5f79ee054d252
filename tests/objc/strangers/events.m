// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// events.m: shared events, listeners, handles, as a program for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> q1 = [device newCommandQueue],
                        q2 =
                            [device newCommandQueueWithMaxCommandBufferCount:8];
    q1.label = @"one";
    id<MTLSharedEvent> ev = [device newSharedEvent];
    ev.label = @"ev";
    dispatch_queue_t dq =
        dispatch_queue_create("listener", DISPATCH_QUEUE_SERIAL);
    MTLSharedEventListener *listener =
        [[MTLSharedEventListener alloc] initWithDispatchQueue:dq];
    CHECK(listener.dispatchQueue == dq);
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block uint64_t seen = 0;
    [ev notifyListener:listener
               atValue:2
                 block:^(id<MTLSharedEvent> e, uint64_t v) {
                   seen = v;
                   e.signaledValue = 3;
                   dispatch_semaphore_signal(done);
                 }];
    id<MTLBuffer> a = [device newBufferWithLength:256
                                          options:MTLResourceStorageModeShared],
                  b = [device newBufferWithLength:256
                                          options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> c2 = [q2 commandBuffer];
    [c2 encodeWaitForEvent:ev value:3];
    id<MTLBlitCommandEncoder> e2 = [c2 blitCommandEncoder];
    [e2 copyFromBuffer:a
             sourceOffset:0
                 toBuffer:b
        destinationOffset:0
                     size:256];
    [e2 endEncoding];
    [c2 commit];
    id<MTLCommandBuffer> c1 = [q1 commandBuffer];
    id<MTLBlitCommandEncoder> e1 = [c1 blitCommandEncoder];
    [e1 fillBuffer:a range:NSMakeRange(0, 256) value:0x5a];
    [e1 endEncoding];
    [c1 encodeSignalEvent:ev value:2];
    [c1 commit];
    CHECK(dispatch_semaphore_wait(
              done, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_SEC)) == 0);
    [c2 waitUntilCompleted];
    CHECK(seen >= 2);
    CHECK(ev.signaledValue == 3);
    CHECK(((uint8_t *)b.contents)[255] == 0x5a);
    CHECK([ev waitUntilSignaledValue:3 timeoutMS:10]);
    CHECK(![ev waitUntilSignaledValue:4 timeoutMS:1]);
    MTLSharedEventHandle *h = [ev newSharedEventHandle];
    CHECK([h.label isEqualToString:@"ev"]);
    id<MTLSharedEvent> same = [device newSharedEventWithHandle:h];
    same.signaledValue = 9;
    CHECK(ev.signaledValue == 9);
    id<MTLEvent> plain = [device newEvent];
    id<MTLCommandBuffer> c3 = [q1 commandBuffer];
    [c3 encodeSignalEvent:plain value:1];
    [c3 encodeWaitForEvent:plain value:1];
    [c3 commit];
    [c3 waitUntilCompleted];
    CHECK(c3.status == MTLCommandBufferStatusCompleted);
    MTLSharedEventListener *shared = [MTLSharedEventListener sharedListener];
    CHECK(shared != nil);
    dispatch_semaphore_t d2 = dispatch_semaphore_create(0);
    [ev notifyListener:shared
               atValue:9
                 block:^(id<MTLSharedEvent> e, uint64_t v) {
                   dispatch_semaphore_signal(d2);
                 }];
    CHECK(dispatch_semaphore_wait(
              d2, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_SEC)) == 0);
  }
  return checks_end();
}
