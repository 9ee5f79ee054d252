// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unmodified4.m: unmodified.m with Metal 4's commands. Between the names of
// kernels: `barrier` within the encoder, `blits` for one of its blits alone,
// `end` for a new encoder, `consume` and `produce` for barriers of the queue,
// `update` and `wait` for those of a fence.
#import <Metal/Metal.h>
#include <stdio.h>

static bool order(id<MTL4ComputeCommandEncoder> encoder, id<MTLFence> fence,
                  NSString *word) {
  if ([word isEqualToString:@"barrier"] || [word isEqualToString:@"blits"]) {
    [encoder barrierAfterEncoderStages:[word isEqualToString:@"blits"]
                                           ? MTLStageBlit
                                           : MTLStageDispatch
                   beforeEncoderStages:MTLStageAll
                     visibilityOptions:MTL4VisibilityOptionDevice];
  } else if ([word isEqualToString:@"consume"]) {
    [encoder barrierAfterQueueStages:MTLStageDispatch
                        beforeStages:MTLStageDispatch
                   visibilityOptions:MTL4VisibilityOptionDevice];
  } else if ([word isEqualToString:@"produce"]) {
    [encoder barrierAfterStages:MTLStageDispatch
              beforeQueueStages:MTLStageDispatch
              visibilityOptions:MTL4VisibilityOptionDevice];
  } else if ([word isEqualToString:@"update"]) {
    [encoder updateFence:fence afterEncoderStages:MTLStageDispatch];
  } else if ([word isEqualToString:@"wait"]) {
    [encoder waitForFence:fence beforeEncoderStages:MTLStageDispatch];
  } else {
    return false;
  }
  return true;
}

int main(int count, char **words) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    NSString *source = [NSString
        stringWithContentsOfFile:[NSString stringWithUTF8String:words[1]]
                        encoding:NSUTF8StringEncoding
                           error:&error];
    id<MTLLibrary> library = [device newLibraryWithSource:source
                                                  options:nil
                                                    error:&error];
    id<MTL4CommandQueue> queue = [device newMTL4CommandQueue];
    id<MTL4CommandBuffer> commands = [device newCommandBuffer];
    MTL4ArgumentTableDescriptor *desc = [MTL4ArgumentTableDescriptor new];
    desc.maxBufferBindCount = 2;
    id<MTL4ArgumentTable> table = [device newArgumentTableWithDescriptor:desc
                                                                   error:&error];
    id<MTLResidencySet> resident =
        [device newResidencySetWithDescriptor:[MTLResidencySetDescriptor new]
                                        error:&error];
    id<MTLBuffer> buffers[2];
    for (int k = 0; k < 2; ++k) {
      buffers[k] = [device newBufferWithLength:4 * 512 options:0];
      for (int i = 0; i < 512; ++i) {
        ((float *)buffers[k].contents)[i] = i % 7;
      }
      [resident addAllocation:buffers[k]];
      [table setAddress:buffers[k].gpuAddress atIndex:(NSUInteger)k];
    }
    [resident commit];
    [queue addResidencySet:resident];
    id<MTLFence> fence = [device newFence];
    [commands beginCommandBufferWithAllocator:[device newCommandAllocator]];
    id<MTL4ComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setArgumentTable:table];
    for (int i = 2; i < count; ++i) {
      NSString *word = [NSString stringWithUTF8String:words[i]];
      if (order(encoder, fence, word)) {
        continue;
      }
      if ([word isEqualToString:@"end"]) {
        [encoder endEncoding];
        encoder = [commands computeCommandEncoder];
        [encoder setArgumentTable:table];
        continue;
      }
      [encoder setComputePipelineState:
                   [device newComputePipelineStateWithFunction:
                               [library newFunctionWithName:word]
                                                         error:&error]];
      // What was set stays set behind a copy.
      [encoder copyFromBuffer:buffers[1]
                 sourceOffset:1024
                     toBuffer:buffers[1]
            destinationOffset:1024 + 64 * (NSUInteger)i
                         size:4];
      [encoder dispatchThreads:MTLSizeMake(128, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(128, 1, 1)];
    }
    [encoder endEncoding];
    [commands endCommandBuffer];
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block NSString *text = @"done";
    MTL4CommitOptions *options = [MTL4CommitOptions new];
    [options addFeedbackHandler:^(id<MTL4CommitFeedback> feedback) {
      text = feedback.error ? feedback.error.localizedDescription : text;
      dispatch_semaphore_signal(done);
    }];
    [queue commit:&commands count:1 options:options];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    puts(text.UTF8String);
  }
  return 0;
}
