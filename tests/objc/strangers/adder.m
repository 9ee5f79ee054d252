// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adder.m: a class around one kernel, as a program for macOS has them.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"
NS_ASSUME_NONNULL_BEGIN
@interface MetalAdder : NSObject
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device;
- (void)prepareData;
- (void)sendComputeCommand;
@end
NS_ASSUME_NONNULL_END
const unsigned int arrayLength = 1 << 12;
const unsigned int bufferSize = arrayLength * sizeof(float);
@implementation MetalAdder {
  id<MTLDevice> _mDevice;
  id<MTLComputePipelineState> _mAddFunctionPSO;
  id<MTLCommandQueue> _mCommandQueue;
  id<MTLBuffer> _mBufferA, _mBufferB, _mBufferResult;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  self = [super init];
  if (self) {
    _mDevice = device;
    NSError *error = nil;
    id<MTLLibrary> l = [_mDevice
        newLibraryWithSource:@"kernel void add_arrays(device const float* inA, "
                             @"device const float* inB, device float* result, "
                             @"uint index [[thread_position_in_grid]]) { "
                             @"result[index] = inA[index] + inB[index]; }"
                     options:nil
                       error:&error];
    if (l == nil) {
      NSLog(@"Failed to find the default library.");
      return nil;
    }
    id<MTLFunction> f = [l newFunctionWithName:@"add_arrays"];
    _mAddFunctionPSO = [_mDevice newComputePipelineStateWithFunction:f
                                                               error:&error];
    if (_mAddFunctionPSO == nil) {
      NSLog(@"Failed to created pipeline state object, error %@.", error);
      return nil;
    }
    _mCommandQueue = [_mDevice newCommandQueue];
  }
  return self;
}
- (void)prepareData {
  _mBufferA = [_mDevice newBufferWithLength:bufferSize
                                    options:MTLResourceStorageModeShared];
  _mBufferB = [_mDevice newBufferWithLength:bufferSize
                                    options:MTLResourceStorageModeShared];
  _mBufferResult = [_mDevice newBufferWithLength:bufferSize
                                         options:MTLResourceStorageModeShared];
  [self gen:_mBufferA];
  [self gen:_mBufferB];
}
- (void)gen:(id<MTLBuffer>)buffer {
  float *p = buffer.contents;
  for (unsigned long i = 0; i < arrayLength; i++)
    p[i] = (float)rand() / (float)(RAND_MAX);
}
- (void)sendComputeCommand {
  id<MTLCommandBuffer> cb = [_mCommandQueue commandBuffer];
  assert(cb != nil);
  id<MTLComputeCommandEncoder> ce = [cb computeCommandEncoder];
  assert(ce != nil);
  [ce setComputePipelineState:_mAddFunctionPSO];
  [ce setBuffer:_mBufferA offset:0 atIndex:0];
  [ce setBuffer:_mBufferB offset:0 atIndex:1];
  [ce setBuffer:_mBufferResult offset:0 atIndex:2];
  MTLSize g = MTLSizeMake(arrayLength, 1, 1);
  NSUInteger t = _mAddFunctionPSO.maxTotalThreadsPerThreadgroup;
  if (t > arrayLength) t = arrayLength;
  [ce dispatchThreads:g threadsPerThreadgroup:MTLSizeMake(t, 1, 1)];
  [ce endEncoding];
  [cb commit];
  [cb waitUntilCompleted];
  float *a = _mBufferA.contents, *b = _mBufferB.contents,
        *r = _mBufferResult.contents;
  for (unsigned long i = 0; i < arrayLength; i++)
    if (r[i] != a[i] + b[i]) {
      CHECK(0);
      break;
    }
}
@end
int main(int argc, const char *argv[]) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    MetalAdder *adder = [[MetalAdder alloc] initWithDevice:device];
    [adder prepareData];
    [adder sendComputeCommand];
    NSLog(@"Execution finished");
  }
  return checks_end();
}
