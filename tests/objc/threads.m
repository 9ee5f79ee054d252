// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threads.m: eight threads at once over objects that programs share: queues,
// buffers, libraries, events and their listeners, pools, blocks, weak
// references, classes that are met for the first time, associated objects,
// locks. Built with automatic reference counting.
#import <Metal/Metal.h>
#include <pthread.h>
#include <stdatomic.h>
#include "check.h"

enum { THREADS = 8, ROUNDS = 100, WIDTH = 64 };

// --- Weak references and classes, each met first by many threads ---------------

static atomic_int alive;
@interface Item : NSObject
@property(strong) Item *next;
@property(weak) Item *back;
@property(copy) NSString *name;
@end
@implementation Item
- (instancetype)init {
  if ((self = [super init])) {
    atomic_fetch_add(&alive, 1);
  }
  return self;
}
- (void)dealloc {
  atomic_fetch_sub(&alive, 1);
}
@end

// +initialize runs once, and before any other message.
static atomic_int initialized;
#define LATE(n)                                          \
  @interface Late##n : NSObject                          \
  +(int)count;                                           \
  @end                                                   \
  @implementation Late##n                                \
  +(void)initialize {                                    \
    if (self == [Late##n class])                         \
      atomic_fetch_add(&initialized, 1);                 \
  }                                                      \
  +(int)count {                                          \
    return atomic_load(&initialized) > 0;                \
  }                                                      \
  @end
LATE(0)
LATE(1)
LATE(2)
LATE(3)

// --- What all threads use --------------------------------------------------------

static id<MTLDevice> device;
static id<MTLCommandQueue> shared_queue;
static id<MTLComputePipelineState> pipeline;
static id<MTLSharedEvent> event;
static MTLSharedEventListener *listener;
static Item *shared_item;
static atomic_int completed, told, wrong;

static void expect(BOOL condition) {
  if (!condition) {
    atomic_fetch_add(&wrong, 1);
  }
}

static void compute(id<MTLCommandQueue> queue, int thread, int round) {
  id<MTLBuffer> buffer = [device newBufferWithLength:WIDTH * sizeof(int)
                                             options:0];
  const int value = thread * ROUNDS + round;
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder setBytes:&value length:sizeof value atIndex:1];
  [encoder dispatchThreads:MTLSizeMake(WIDTH, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
    expect(done.status == MTLCommandBufferStatusCompleted);
    atomic_fetch_add(&completed, 1);
  }];
  [commands commit];
  [commands waitUntilCompleted];
  const int *out = buffer.contents;
  expect(out[0] == value && out[WIDTH - 1] == value + WIDTH - 1);
  RELEASE(buffer);
}

static void references(void) {
  Item *strong = shared_item;
  __weak Item *weak = strong;
  expect(weak == strong);
  Item *own = [[Item alloc] init], *other = [[Item alloc] init];
  own.next = other;
  other.back = own;
  own.name = @"own";
  __weak Item *gone = own;
  @autoreleasepool {  // objects that getters return may live until the pool
                      // ends
    expect([other.back.name isEqualToString:@"own"]);
  }
  static char key;
  objc_setAssociatedObject(own, &key, other, OBJC_ASSOCIATION_RETAIN);
  @autoreleasepool {
    expect(objc_getAssociatedObject(own, &key) == other);
  }
  RELEASE(own);
  expect(gone == nil && other.back == nil);
  RELEASE(other);
}

static void collections(int thread) {
  NSMutableDictionary *found = [NSMutableDictionary dictionary];
  for (int i = 0; i < 20; ++i) {
    NSString *key = [NSString stringWithFormat:@"%d/%d", thread, i];
    found[key] = @(i);
  }
  int sum = 0;
  for (NSString *key in found) {
    sum += [found[key] intValue];
  }
  expect(sum == 190);
  @try {
    (void)[@[ @1 ] objectAtIndex:7];
    expect(NO);
  } @catch (NSException *raised) {
    expect([raised.name isEqualToString:NSRangeException]);
  }
}

static void listen(void) {
  const uint64_t value = event.signaledValue;
  [event notifyListener:listener
                atValue:value
                  block:^(id<MTLSharedEvent> of, uint64_t reached) {
                    expect(reached >= value);
                    atomic_fetch_add(&told, 1);
                  }];
}

static void *work(void *argument) {
  const int thread = (int)(intptr_t)argument;
  @autoreleasepool {
    expect([Late0 count] && [Late1 count] && [Late2 count] && [Late3 count]);
    id<MTLCommandQueue> own = [device newCommandQueue];
    for (int round = 0; round < ROUNDS; ++round) {
      @autoreleasepool {
        compute(round % 2 ? own : shared_queue, thread, round);
        references();
        collections(thread);
        listen();
        @synchronized(shared_item) {
          shared_item.name = [NSString stringWithFormat:@"%d", thread];
        }
      }
    }
    NSError *error = nil;
    id<MTLLibrary> library = [device
        newLibraryWithSource:
            @"kernel void fill(device int *x [[buffer(0)]], constant int &v "
            @"[[buffer(1)]], uint i [[thread_position_in_grid]]) "
            @"{ x[i] = v + int(i); }"
                     options:nil
                       error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"fill"];
    expect(function && !error && [library.functionNames count] == 1);
    RELEASE(function);
    RELEASE(library);
    RELEASE(own);
  }
  return NULL;
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    shared_queue = [device newCommandQueue];
    event = [device newSharedEvent];
    listener = [[MTLSharedEventListener alloc] init];
    shared_item = [[Item alloc] init];
    NSError *error = nil;
    id<MTLLibrary> library = [device
        newLibraryWithSource:
            @"kernel void fill(device int *x [[buffer(0)]], constant int &v "
            @"[[buffer(1)]], uint i [[thread_position_in_grid]]) "
            @"{ x[i] = v + int(i); }"
                     options:nil
                       error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"fill"];
    pipeline = [device newComputePipelineStateWithFunction:function
                                                     error:&error];
    RELEASE(function);
    RELEASE(library);
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; ++i) {
      pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < THREADS; ++i) {
      pthread_join(threads[i], NULL);
    }
    __block int counted = 0;
    dispatch_queue_t serial = dispatch_queue_create("count", NULL);
    dispatch_apply(THREADS, dispatch_get_global_queue(0, 0), ^(size_t i) {
      for (int k = 0; k < 50; ++k) {
        dispatch_async(serial, ^{
          ++counted;
        });
      }
    });
    dispatch_sync(serial, ^{
      CHECK(counted == THREADS * 50);
    });
    // The queue already holds the calls of earlier listeners.
    dispatch_sync(listener.dispatchQueue, ^{
    });
    CHECK(wrong == 0);
    CHECK(completed == THREADS * ROUNDS);
    CHECK(told == THREADS * ROUNDS);
    CHECK(initialized == 4);
    CHECK(alive == 1);
    RELEASE(shared_item);
    CHECK(alive == 0);
    RELEASE(pipeline);
    RELEASE(listener);
    RELEASE(event);
    RELEASE(shared_queue);
    RELEASE(device);
  }
  return checks_end();
}
