// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// failures.m: command buffers that fail, and who learns of it, as a program for
// macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> q = [d newCommandQueue];
    NSError *error = nil;
    id<MTLLibrary> lib =
        [d newLibraryWithSource:@"kernel void oob(device int *x [[buffer(0)]], "
                                @"constant int &i [[buffer(1)]]) { x[i] = 1; }"
                        options:nil
                          error:&error];
    id<MTLComputePipelineState> p =
        [d newComputePipelineStateWithFunction:[lib newFunctionWithName:@"oob"]
                                         error:&error];
    MTLCommandBufferDescriptor *cd = [MTLCommandBufferDescriptor new];
    cd.errorOptions = MTLCommandBufferErrorOptionEncoderExecutionStatus;
    cd.retainedReferences = YES;
    id<MTLCommandBuffer> cb = [q commandBufferWithDescriptor:cd];
    CHECK(cb.errorOptions == MTLCommandBufferErrorOptionEncoderExecutionStatus);
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    e.label = @"bad one";
    [e setComputePipelineState:p];
    int i = 1 << 30;
    [e setBytes:&i length:4 atIndex:1]; /* buffer 0 not bound */
    [e dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [e endEncoding];
    __block NSError *seen = nil;
    [cb addCompletedHandler:^(id<MTLCommandBuffer> b) {
      seen = b.error;
    }];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(cb.status == MTLCommandBufferStatusError);
    CHECK(cb.error);
    CHECK(seen);
    CHECK([cb.error.domain isEqual:MTLCommandBufferErrorDomain]);
    NSLog(@"%@", cb.error);
    NSArray<id<MTLCommandBufferEncoderInfo>> *infos =
        cb.error.userInfo[MTLCommandBufferEncoderInfoErrorKey];
    for (id<MTLCommandBufferEncoderInfo> in in infos) {
      NSLog(@"%@ %@ %ld", in.label, in.debugSignposts, (long)in.errorState);
      CHECK([in.label isEqual:@"bad one"]);
    }
    for (id<MTLFunctionLog> log in cb.logs) NSLog(@"%@", log);
    id<MTLBuffer> none = [d newBufferWithLength:0 options:0];
    (void)none;
    CHECK([d newBufferWithLength:(NSUInteger)1 << 60 options:0] == nil);
    CHECK([lib newFunctionWithName:@"nothing"] == nil);
    CHECK([d newDefaultLibrary] == nil);
    NSError *de = nil;
    CHECK([d newDefaultLibraryWithBundle:[NSBundle mainBundle]
                                   error:&de] == nil &&
          de);
  }
  return checks_end();
}
