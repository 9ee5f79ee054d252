// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fences.m: fences and barriers between concurrent encoders, as a program for
// macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
static NSString *src =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "kernel void inc(device uint *a [[buffer(0)]], constant uint &n "
     "[[buffer(1)]], uint i [[thread_position_in_grid]]) { if (i < n) a[i] += "
     "1; }";
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> lib = [device newLibraryWithSource:src
                                              options:nil
                                                error:&error];
    id<MTLComputePipelineState> p = [device
        newComputePipelineStateWithFunction:[lib newFunctionWithName:@"inc"]
                                      error:&error];
    if (!p) {
      NSLog(@"%@", error);
      return 1;
    }
    id<MTLCommandQueue> q = [device newCommandQueue];
    id<MTLBuffer> a =
        [device newBufferWithLength:1000 * sizeof(uint)
                            options:MTLResourceStorageModeShared |
                                    MTLResourceHazardTrackingModeUntracked];
    id<MTLFence> fence = [device newFence];
    fence.label = @"f";
    CHECK(fence.device == device);
    id<MTLCommandBuffer> cb = [q commandBuffer];
    uint n = 1000;
    for (int k = 0; k < 10; k++) {
      id<MTLComputeCommandEncoder> e =
          [cb computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
      CHECK(e.dispatchType == MTLDispatchTypeConcurrent);
      if (k) [e waitForFence:fence];
      [e setComputePipelineState:p];
      [e setBuffer:a offset:0 atIndex:0];
      [e setBytes:&n length:sizeof n atIndex:1];
      NSUInteger w = p.threadExecutionWidth,
                 h = p.maxTotalThreadsPerThreadgroup / w;
      (void)h;
      [e dispatchThreads:MTLSizeMake(n, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(w, 1, 1)];
      [e memoryBarrierWithScope:MTLBarrierScopeBuffers];
      [e dispatchThreadgroups:MTLSizeMake((n + w - 1) / w, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(w, 1, 1)];
      [e updateFence:fence];
      [e endEncoding];
    }
    id<MTLBlitCommandEncoder> b = [cb blitCommandEncoder];
    [b waitForFence:fence];
    [b updateFence:fence];
    [b endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(cb.error == nil);
    uint *v = a.contents;
    for (uint i = 0; i < n; i++)
      if (v[i] != 20) {
        CHECK(v[i] == 20);
        break;
      }
  }
  return checks_end();
}
