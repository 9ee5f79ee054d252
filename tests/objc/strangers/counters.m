// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.m: counter sample buffers of passes, as a program for macOS has
// them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLCounterSet> ts = nil;
    for (id<MTLCounterSet> s in d.counterSets)
      if ([s.name isEqualToString:MTLCommonCounterSetTimestamp]) ts = s;
    CHECK(ts);
    BOOL found = NO;
    for (id<MTLCounter> c in ts.counters)
      if ([c.name isEqualToString:MTLCommonCounterTimestamp]) found = YES;
    CHECK(found);
    CHECK([d supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary]);
    CHECK(![d supportsCounterSampling:MTLCounterSamplingPointAtDrawBoundary]);
    MTLCounterSampleBufferDescriptor *sd =
        [MTLCounterSampleBufferDescriptor new];
    sd.counterSet = ts;
    sd.sampleCount = 4;
    sd.storageMode = MTLStorageModeShared;
    sd.label = @"s";
    id<MTLCounterSampleBuffer> sb =
        [d newCounterSampleBufferWithDescriptor:sd error:&error];
    CHECK(sb);
    CHECK(sb.sampleCount == 4);
    MTLComputePassDescriptor *pd =
        [MTLComputePassDescriptor computePassDescriptor];
    pd.dispatchType = MTLDispatchTypeSerial;
    pd.sampleBufferAttachments[0].sampleBuffer = sb;
    pd.sampleBufferAttachments[0].startOfEncoderSampleIndex = 0;
    pd.sampleBufferAttachments[0].endOfEncoderSampleIndex = 1;
    MTLBlitPassDescriptor *bp = [MTLBlitPassDescriptor blitPassDescriptor];
    bp.sampleBufferAttachments[0].sampleBuffer = sb;
    bp.sampleBufferAttachments[0].startOfEncoderSampleIndex = 2;
    bp.sampleBufferAttachments[0].endOfEncoderSampleIndex = 3;
    MTLTimestamp cpu0, gpu0, cpu1, gpu1;
    [d sampleTimestamps:&cpu0 gpuTimestamp:&gpu0];
    id<MTLCommandQueue> q = [d newCommandQueue];
    id<MTLCommandBuffer> cb = [q commandBuffer];
    id<MTLComputeCommandEncoder> e =
        [cb computeCommandEncoderWithDescriptor:pd];
    id<MTLLibrary> l =
        [d newLibraryWithSource:@"kernel void k(device int *x) { *x = 1; }"
                        options:nil
                          error:nil];
    [e setComputePipelineState:
            [d newComputePipelineStateWithFunction:[l newFunctionWithName:@"k"]
                                             error:nil]];
    [e setBuffer:[d newBufferWithLength:4 options:0] offset:0 atIndex:0];
    [e dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [e endEncoding];
    id<MTLBlitCommandEncoder> b = [cb blitCommandEncoderWithDescriptor:bp];
    id<MTLBuffer> x = [d newBufferWithLength:64 options:0];
    [b fillBuffer:x range:NSMakeRange(0, 64) value:1];
    [b endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    [d sampleTimestamps:&cpu1 gpuTimestamp:&gpu1];
    CHECK(gpu1 > gpu0 && cpu1 > cpu0);
    NSData *data = [sb resolveCounterRange:NSMakeRange(0, 4)];
    const MTLCounterResultTimestamp *r = data.bytes;
    CHECK(data.length == 4 * sizeof *r);
    CHECK(r[0].timestamp <= r[1].timestamp &&
          r[1].timestamp <= r[2].timestamp &&
          r[2].timestamp <= r[3].timestamp &&
          r[0].timestamp != MTLCounterErrorValue);
    MTLCounterSampleBufferDescriptor *bad =
        [MTLCounterSampleBufferDescriptor new];
    bad.counterSet = ts;
    bad.sampleCount = 0;
    NSError *be = nil;
    CHECK([d newCounterSampleBufferWithDescriptor:bad error:&be] == nil && be);
    CHECK([be.domain isEqual:MTLCounterErrorDomain]);
  }
  return checks_end();
}
