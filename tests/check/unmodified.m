// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unmodified.m: unmodified.c in Objective-C, as its author would write it.
#import <Metal/Metal.h>
#include <stdio.h>

int main(int count, char **words) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    NSString *source =
        [NSString stringWithContentsOfFile:[NSString
                                               stringWithUTF8String:words[1]]
                                  encoding:NSUTF8StringEncoding
                                     error:&error];
    id<MTLLibrary> library = [device newLibraryWithSource:source
                                                  options:nil
                                                    error:&error];
    if (!library) {
      fprintf(stderr, "%s\n", error.localizedDescription.UTF8String);
      return 9;
    }
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLBuffer> buffers[2];
    for (int k = 0; k < 2; ++k) {
      buffers[k] =
          [device newBufferWithLength:4 * 512
                              options:MTLResourceHazardTrackingModeUntracked];
      for (int i = 0; i < 512; ++i) {
        ((float *)buffers[k].contents)[i] = i % 7;
      }
    }
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands
        computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    [encoder setBuffer:buffers[0] offset:0 atIndex:0];
    [encoder setBuffer:buffers[1] offset:0 atIndex:1];
    for (int i = 2; i < count; ++i) {
      NSString *name = [NSString stringWithUTF8String:words[i]];
      if ([name isEqualToString:@"barrier"]) {
        [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
        continue;
      }
      [encoder setComputePipelineState:
                   [device newComputePipelineStateWithFunction:
                               [library newFunctionWithName:name]
                                                         error:&error]];
      [encoder dispatchThreads:MTLSizeMake(128, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(128, 1, 1)];
    }
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    puts(commands.status == MTLCommandBufferStatusError
             ? commands.error.localizedDescription.UTF8String
             : "done");
  }
  return 0;
}
