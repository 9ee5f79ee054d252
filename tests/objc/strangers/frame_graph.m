// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frame_graph.m: transient resources of a frame graph in one heap: sizes are
// asked for, lifetimes found, memory aliased; fences order the passes of an
// untracked heap, times are sampled around each.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "kernel void fill(device float *out, constant float &v [[buffer(1)]],\n"
     "                 uint i [[thread_position_in_grid]]) { out[i] = v + i; }\n"
     "kernel void blur(const device float *in, device float *out [[buffer(1)]],\n"
     "                 constant uint &n [[buffer(2)]],\n"
     "                 uint i [[thread_position_in_grid]]) {\n"
     "  out[i] = (in[i ? i - 1 : 0] + in[i] + in[min(i + 1, n - 1)]) / 3;\n"
     "}\n";

enum { COUNT = 4096 };

@interface Resource : NSObject
@property NSUInteger first, last, offset;
@property MTLSizeAndAlign need;
@property(strong) id<MTLBuffer> buffer;
@end
@implementation Resource
@end

static BOOL overlap(Resource *a, Resource *b) {
  return a.last >= b.first && b.last >= a.first;
}

// Places each where it first fits beside those that live with it. Returns the
// size of all.
static NSUInteger place(NSArray<Resource *> *resources) {
  NSUInteger size = 0;
  for (Resource *each in resources) {
    NSArray<Resource *> *beside = [resources
        objectsAtIndexes:[resources indexesOfObjectsPassingTest:^(
                                        Resource *other, NSUInteger i,
                                        BOOL *stop) {
          return (BOOL)(other.offset != NSNotFound && overlap(each, other));
        }]];
    NSUInteger at = 0;
    for (Resource *other in [beside
             sortedArrayUsingComparator:^(Resource *a, Resource *b) {
               return [@(a.offset) compare:@(b.offset)];
             }]) {
      if (at + each.need.size > other.offset) {
        at = other.offset + other.need.size;
        at = (at + each.need.align - 1) / each.need.align * each.need.align;
      }
    }
    each.offset = at;
    size = MAX(size, at + each.need.size);
  }
  return size;
}

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source
                                                  options:nil
                                                    error:&error];
    id<MTLComputePipelineState> fill = [device
        newComputePipelineStateWithFunction:[library
                                                newFunctionWithName:@"fill"]
                                      error:&error];
    id<MTLComputePipelineState> blur = [device
        newComputePipelineStateWithFunction:[library
                                                newFunctionWithName:@"blur"]
                                      error:&error];
    CHECK(fill && blur);
    // Pass p writes resource p and reads p - 1: three lifetimes overlap never.
    enum { PASSES = 6 };
    NSMutableArray<Resource *> *resources = [NSMutableArray new];
    for (NSUInteger i = 0; i < PASSES; ++i) {
      Resource *made = [Resource new];
      made.first = i;
      made.last = i + 1;
      made.offset = NSNotFound;
      made.need = [device
          heapBufferSizeAndAlignWithLength:COUNT * sizeof(float)
                                   options:MTLResourceStorageModePrivate];
      CHECK(made.need.size >= COUNT * sizeof(float) && made.need.align);
      [resources addObject:made];
    }
    const NSUInteger size = place(resources);
    CHECK(size < 3 * resources[0].need.size);
    MTLHeapDescriptor *descriptor = [MTLHeapDescriptor new];
    descriptor.type = MTLHeapTypePlacement;
    descriptor.storageMode = MTLStorageModePrivate;
    descriptor.hazardTrackingMode = MTLHazardTrackingModeUntracked;
    descriptor.size = size;
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    CHECK(heap && heap.type == MTLHeapTypePlacement && heap.size >= size);
    for (Resource *each in resources) {
      each.buffer = [heap newBufferWithLength:COUNT * sizeof(float)
                                      options:MTLResourceStorageModePrivate |
                                              MTLResourceHazardTrackingModeUntracked
                                       offset:each.offset];
      CHECK(each.buffer.heap == heap && each.buffer.heapOffset == each.offset);
    }
    CHECK(resources[0].buffer.gpuAddress == resources[2].buffer.gpuAddress);
    id<MTLCounterSet> set = nil;
    for (id<MTLCounterSet> each in device.counterSets) {
      if ([each.name isEqualToString:MTLCommonCounterSetTimestamp]) {
        set = each;
      }
    }
    CHECK(set && [device supportsCounterSampling:
                             MTLCounterSamplingPointAtStageBoundary]);
    MTLCounterSampleBufferDescriptor *counters =
        [MTLCounterSampleBufferDescriptor new];
    counters.counterSet = set;
    counters.sampleCount = 2 * PASSES;
    counters.storageMode = MTLStorageModeShared;
    id<MTLCounterSampleBuffer> samples =
        [device newCounterSampleBufferWithDescriptor:counters error:&error];
    MTLTimestamp cpu[2], gpu[2];
    [device sampleTimestamps:&cpu[0] gpuTimestamp:&gpu[0]];
    id<MTLFence> fence = [device newFence];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    commands.label = @"frame";
    [commands pushDebugGroup:@"graph"];
    for (NSUInteger i = 0; i < PASSES; ++i) {
      MTLComputePassDescriptor *pass =
          [MTLComputePassDescriptor computePassDescriptor];
      pass.dispatchType = MTLDispatchTypeConcurrent;
      pass.sampleBufferAttachments[0].sampleBuffer = samples;
      pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = 2 * i;
      pass.sampleBufferAttachments[0].endOfEncoderSampleIndex = 2 * i + 1;
      id<MTLComputeCommandEncoder> encoder =
          [commands computeCommandEncoderWithDescriptor:pass];
      encoder.label = [NSString stringWithFormat:@"pass %lu", (unsigned long)i];
      [encoder waitForFence:fence];
      [encoder useHeap:heap];
      const float value = 1;
      const uint32_t count = COUNT;
      [encoder setComputePipelineState:i ? blur : fill];
      if (i) {
        [encoder setBuffer:resources[i - 1].buffer offset:0 atIndex:0];
        [encoder setBuffer:resources[i].buffer offset:0 atIndex:1];
        [encoder setBytes:&count length:sizeof count atIndex:2];
      } else {
        [encoder setBuffer:resources[0].buffer offset:0 atIndex:0];
        [encoder setBytes:&value length:sizeof value atIndex:1];
      }
      [encoder dispatchThreads:MTLSizeMake(COUNT, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(256, 1, 1)];
      [encoder updateFence:fence];
      [encoder endEncoding];
    }
    [commands popDebugGroup];
    id<MTLBuffer> back = [device newBufferWithLength:COUNT * sizeof(float)
                                             options:0];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit waitForFence:fence];
    [blit copyFromBuffer:resources[PASSES - 1].buffer
            sourceOffset:0
                toBuffer:back
       destinationOffset:0
                    size:back.length];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.error == nil);
    const float *values = back.contents;
    for (int i = PASSES; i < COUNT - PASSES; i += 97) {
      CHECK(values[i] > i + 0.99f && values[i] < i + 1.01f);
    }
    [device sampleTimestamps:&cpu[1] gpuTimestamp:&gpu[1]];
    NSData *data = [samples resolveCounterRange:NSMakeRange(0, 2 * PASSES)];
    CHECK(data.length == 2 * PASSES * sizeof(MTLCounterResultTimestamp));
    const MTLCounterResultTimestamp *ticks = data.bytes;
    uint64_t before = gpu[0];
    for (int i = 0; i < 2 * PASSES; ++i) {
      CHECK(ticks[i].timestamp != MTLCounterErrorValue &&
            ticks[i].timestamp >= before);
      before = ticks[i].timestamp;
    }
    CHECK(before <= gpu[1] && cpu[0] < cpu[1]);
    [heap setPurgeableState:MTLPurgeableStateVolatile];
    CHECK([heap setPurgeableState:MTLPurgeableStateNonVolatile] !=
          MTLPurgeableStateNonVolatile);
  }
  return checks_end();
}
