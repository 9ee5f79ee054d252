// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// in_flight.m: three command buffers in flight over a ring of buffers, as a
// renderer paces its frames: a semaphore, handlers, a shared event between two
// queues, and a listener.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <stdatomic.h>
#include "../check.h"

enum { IN_FLIGHT = 3, FRAMES = 50, COUNT = 256 };

typedef struct Uniforms {
  uint32_t frame;
  float scale;
} Uniforms;

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct Uniforms { uint frame; float scale; };\n"
     "kernel void produce(device float *out [[buffer(0)]],\n"
     "                    constant Uniforms &u [[buffer(1)]],\n"
     "                    uint i [[thread_position_in_grid]]) {\n"
     "  out[i] = u.frame * u.scale + i;\n"
     "}\n"
     "kernel void consume(const device float *in [[buffer(0)]],\n"
     "                    device float *sum [[buffer(1)]],\n"
     "                    constant Uniforms &u [[buffer(2)]],\n"
     "                    uint lane [[thread_index_in_simdgroup]]) {\n"
     "  float total = 0;\n"
     "  for (uint i = lane; i < 256; i += 32) total += in[i];\n"
     "  total = simd_sum(total);\n"
     "  if (lane == 0) sum[u.frame] = total;\n"
     "}\n";

@interface Renderer : NSObject {
  id<MTLDevice> _device;
  id<MTLCommandQueue> _producer, _consumer;
  id<MTLComputePipelineState> _produce, _consume;
  id<MTLBuffer> _uniforms;
  id<MTLBuffer> _ring[IN_FLIGHT];
  id<MTLSharedEvent> _produced;
  dispatch_semaphore_t _slots;
  dispatch_group_t _group;
  _Atomic int _scheduled, _completed, _overlap, _most;
}
@property(readonly) id<MTLBuffer> sums;
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (void)frame:(uint32_t)number;
- (void)finish;
@property(readonly) int scheduled, completed, most;
@property(readonly) id<MTLSharedEvent> produced;
@end

@implementation Renderer
@synthesize produced = _produced;

- (id<MTLComputePipelineState>)pipeline:(NSString *)name
                                     of:(id<MTLLibrary>)library {
  NSError *error = nil;
  id<MTLComputePipelineState> made = [_device
      newComputePipelineStateWithFunction:[library newFunctionWithName:name]
                                    error:&error];
  NSAssert(made, @"%@: %@", name, error);
  return made;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if (!(self = [super init])) {
    return nil;
  }
  _device = device;
  _producer = [device newCommandQueueWithMaxCommandBufferCount:IN_FLIGHT];
  _consumer = [device newCommandQueue];
  NSError *error = nil;
  MTLCompileOptions *options = [MTLCompileOptions new];
  options.languageVersion = MTLLanguageVersion3_0;
  id<MTLLibrary> library = [device newLibraryWithSource:source
                                                options:options
                                                  error:&error];
  _produce = [self pipeline:@"produce" of:library];
  _consume = [self pipeline:@"consume" of:library];
  _uniforms = [device newBufferWithLength:256 * IN_FLIGHT
                                  options:MTLResourceCPUCacheModeWriteCombined];
  for (int i = 0; i < IN_FLIGHT; ++i) {
    _ring[i] = [device newBufferWithLength:COUNT * sizeof(float)
                                   options:MTLResourceStorageModePrivate];
    _ring[i].label = [NSString stringWithFormat:@"ring %d", i];
  }
  _sums = [device newBufferWithLength:FRAMES * sizeof(float)
                              options:MTLResourceStorageModeShared];
  _produced = [device newSharedEvent];
  _slots = dispatch_semaphore_create(IN_FLIGHT);
  _group = dispatch_group_create();
  return self;
}

- (void)frame:(uint32_t)number {
  dispatch_semaphore_wait(_slots, DISPATCH_TIME_FOREVER);
  const NSUInteger slot = number % IN_FLIGHT;
  *(Uniforms *)((char *)_uniforms.contents + 256 * slot) =
      (Uniforms){number, 0.5f};
  const int now = atomic_fetch_add(&_overlap, 1) + 1;
  int most = atomic_load(&_most);
  while (now > most && !atomic_compare_exchange_weak(&_most, &most, now)) {
  }
  id<MTLCommandBuffer> first = [_producer commandBuffer];
  [first addScheduledHandler:^(id<MTLCommandBuffer> buffer) {
    atomic_fetch_add(&self->_scheduled, 1);
  }];
  id<MTLComputeCommandEncoder> encoder = [first computeCommandEncoder];
  [encoder setComputePipelineState:_produce];
  [encoder setBuffer:_ring[slot] offset:0 atIndex:0];
  [encoder setBuffer:_uniforms offset:256 * slot atIndex:1];
  [encoder dispatchThreads:MTLSizeMake(COUNT, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(_produce.threadExecutionWidth, 1, 1)];
  [encoder endEncoding];
  [first encodeSignalEvent:_produced value:number + 1];
  [first commit];
  id<MTLCommandBuffer> second = [_consumer commandBufferWithUnretainedReferences];
  [second encodeWaitForEvent:_produced value:number + 1];
  encoder = [second computeCommandEncoder];
  [encoder setComputePipelineState:_consume];
  [encoder setBuffer:_ring[slot] offset:0 atIndex:0];
  [encoder setBuffer:_sums offset:0 atIndex:1];
  [encoder setBuffer:_uniforms offset:0 atIndex:2];
  [encoder setBufferOffset:256 * slot atIndex:2];
  [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  dispatch_group_enter(_group);
  __block dispatch_semaphore_t slots = _slots;
  dispatch_group_t group = _group;
  [second addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
    if (buffer.status == MTLCommandBufferStatusCompleted && !buffer.error &&
        buffer.GPUEndTime >= buffer.GPUStartTime) {
      atomic_fetch_add(&self->_completed, 1);
    }
    atomic_fetch_sub(&self->_overlap, 1);
    dispatch_semaphore_signal(slots);
    dispatch_group_leave(group);
  }];
  [second commit];
}

- (void)finish {
  dispatch_group_wait(_group, DISPATCH_TIME_FOREVER);
}
- (int)scheduled {
  return atomic_load(&_scheduled);
}
- (int)completed {
  return atomic_load(&_completed);
}
- (int)most {
  return atomic_load(&_most);
}
@end

int main(void) {
  @autoreleasepool {
    Renderer *renderer =
        [[Renderer alloc] initWithDevice:MTLCreateSystemDefaultDevice()];
    dispatch_queue_t events = dispatch_queue_create(
        "events", dispatch_queue_attr_make_with_qos_class(
                      DISPATCH_QUEUE_SERIAL, QOS_CLASS_USER_INITIATED, 0));
    MTLSharedEventListener *listener =
        [[MTLSharedEventListener alloc] initWithDispatchQueue:events];
    CHECK(listener.dispatchQueue == events);
    dispatch_semaphore_t half = dispatch_semaphore_create(0);
    __block uint64_t seen = 0;
    [renderer.produced notifyListener:listener
                              atValue:FRAMES / 2
                                block:^(id<MTLSharedEvent> event, uint64_t v) {
                                  seen = event.signaledValue >= v ? v : 0;
                                  dispatch_semaphore_signal(half);
                                }];
    for (uint32_t i = 0; i < FRAMES; ++i) {
      @autoreleasepool {
        [renderer frame:i];
      }
    }
    [renderer finish];
    CHECK(dispatch_semaphore_wait(
              half, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_SEC)) == 0);
    CHECK(seen == FRAMES / 2);
    CHECK([renderer.produced waitUntilSignaledValue:FRAMES timeoutMS:20000]);
    CHECK(![renderer.produced waitUntilSignaledValue:FRAMES + 1 timeoutMS:1]);
    CHECK(renderer.completed == FRAMES && renderer.most <= IN_FLIGHT);
    const float *sums = renderer.sums.contents;
    for (int i = 0; i < FRAMES; ++i) {
      CHECK(sums[i] == 256 * 0.5f * i + 255 * 128);
    }
  }
  return checks_end();
}
