// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.m: indirect command buffers and dispatches, as a program
// for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> lib = [d
        newLibraryWithSource:
            @"#include <metal_stdlib>\nusing namespace metal;\nkernel void "
            @"add(device int *x [[buffer(0)]], constant int &v [[buffer(1)]], "
            @"uint i [[thread_position_in_grid]]) { x[i] += v; }"
                     options:nil
                       error:&error];
    MTLComputePipelineDescriptor *pd = [MTLComputePipelineDescriptor new];
    pd.computeFunction = [lib newFunctionWithName:@"add"];
    pd.supportIndirectCommandBuffers = YES;
    id<MTLComputePipelineState> p =
        [d newComputePipelineStateWithDescriptor:pd
                                         options:0
                                      reflection:nil
                                           error:&error];
    MTLIndirectCommandBufferDescriptor *id_ =
        [MTLIndirectCommandBufferDescriptor new];
    id_.commandTypes = MTLIndirectCommandTypeConcurrentDispatch |
                       MTLIndirectCommandTypeConcurrentDispatchThreads;
    id_.inheritBuffers = NO;
    id_.inheritPipelineState = NO;
    id_.maxKernelBufferBindCount = 2;
    id_.maxVertexBufferBindCount = 0;
    id_.maxFragmentBufferBindCount = 0;
    id<MTLIndirectCommandBuffer> icb =
        [d newIndirectCommandBufferWithDescriptor:id_
                                  maxCommandCount:4
                                          options:MTLResourceStorageModeShared];
    CHECK(icb.size == 4);
    icb.label = @"icb";
    id<MTLBuffer> x = [d newBufferWithLength:64 options:0],
                  v = [d newBufferWithLength:1024 options:0];
    for (int i = 0; i < 4; i++) *(int *)((char *)v.contents + 256 * i) = i + 1;
    for (NSUInteger i = 0; i < 4; i++) {
      id<MTLIndirectComputeCommand> c = [icb indirectComputeCommandAtIndex:i];
      [c setComputePipelineState:p];
      [c setKernelBuffer:x offset:0 atIndex:0];
      [c setKernelBuffer:v offset:256 * i atIndex:1];
      [c concurrentDispatchThreads:MTLSizeMake(16, 1, 1)
             threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
      [c setBarrier];
    }
    id<MTLCommandQueue> q = [d newCommandQueue];
    id<MTLCommandBuffer> cb = [q commandBuffer];
    id<MTLBlitCommandEncoder> be = [cb blitCommandEncoder];
    [be optimizeIndirectCommandBuffer:icb withRange:NSMakeRange(0, 4)];
    [be endEncoding];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e useResource:x usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    [e useResource:v usage:MTLResourceUsageRead];
    [e executeCommandsInBuffer:icb withRange:NSMakeRange(0, 4)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(!cb.error);
    CHECK(((int *)x.contents)[15] == 10);
    // indirect dispatch
    id<MTLBuffer> args =
        [d newBufferWithLength:sizeof(MTLDispatchThreadgroupsIndirectArguments)
                       options:0];
    MTLDispatchThreadgroupsIndirectArguments *ia = args.contents;
    ia->threadgroupsPerGrid[0] = 2;
    ia->threadgroupsPerGrid[1] = ia->threadgroupsPerGrid[2] = 1;
    cb = [q commandBuffer];
    e = [cb computeCommandEncoder];
    [e setComputePipelineState:p];
    id<MTLBuffer> bs[] = {x, v};
    NSUInteger of[] = {0, 512};
    [e setBuffers:bs offsets:of withRange:NSMakeRange(0, 2)];
    [e setBufferOffset:768 atIndex:1];
    [e dispatchThreadgroupsWithIndirectBuffer:args
                         indirectBufferOffset:0
                        threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(((int *)x.contents)[7] == 14 && ((int *)x.contents)[8] == 10);
  }
  return checks_end();
}
