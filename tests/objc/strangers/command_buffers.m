// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// command_buffers.m: MPSCommandBuffer, which goes on behind a commit, as a
// program for macOS has them.
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> q = [d newCommandQueue];
    id<MTLBuffer> b = [d newBufferWithLength:16 options:0];
    MPSCommandBuffer *cb = [MPSCommandBuffer commandBufferFromCommandQueue:q];
    cb.label = @"first";
    id<MTLCommandBuffer> root = cb.rootCommandBuffer;
    CHECK([root.label isEqual:@"first"]);
    CHECK([cb respondsToSelector:@selector(commit)]);
    CHECK([cb conformsToProtocol:@protocol(MTLCommandBuffer)]);
    id<MTLBlitCommandEncoder> e = [cb blitCommandEncoder];
    [e fillBuffer:b range:NSMakeRange(0, 8) value:5];
    [e endEncoding];
    [cb commitAndContinue];
    CHECK(cb.rootCommandBuffer != root);
    CHECK(root.status >= MTLCommandBufferStatusCommitted);
    __block int done = 0;
    [cb addCompletedHandler:^(id<MTLCommandBuffer> c) {
      done++;
    }];
    e = [cb blitCommandEncoder];
    [e copyFromBuffer:b sourceOffset:0 toBuffer:b destinationOffset:8 size:4];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(cb.status == MTLCommandBufferStatusCompleted);
    CHECK(done == 1);
    unsigned char *p = b.contents;
    CHECK(p[7] == 5 && p[11] == 5 && p[12] == 0);
    CHECK([MPSCommandBuffer commandBufferWithCommandBuffer:[q commandBuffer]]
              .commandBuffer != nil);
  }
  return checks_end();
}
