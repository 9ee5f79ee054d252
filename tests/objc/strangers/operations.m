// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operations.m: pipelines compiled and work run by operations that depend on
// each other, one of which ends by itself when its command buffer does.
#import <Metal/Metal.h>
#include <stdatomic.h>
#include "../check.h"

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;

@interface Compile : NSOperation
@property(readonly) id<MTLComputePipelineState> made;
@end
@implementation Compile
- (void)main {
  id<MTLLibrary> library = [device
      newLibraryWithSource:@"kernel void add(device int *x [[buffer(0)]], uint "
                           @"i [[thread_position_in_grid]]) { x[i] += 1; }"
                   options:nil
                     error:NULL];
  _made = [device
      newComputePipelineStateWithFunction:[library newFunctionWithName:@"add"]
                                    error:NULL];
}
@end

// Ends when the device has done its work.
@interface Run : NSOperation {
  BOOL running, ended;
}
@property Compile *compiled;
@property id<MTLBuffer> buffer;
@end
@implementation Run
- (BOOL)isAsynchronous {
  return YES;
}
- (BOOL)isExecuting {
  @synchronized(self) {
    return running;
  }
}
- (BOOL)isFinished {
  @synchronized(self) {
    return ended;
  }
}
- (void)become:(BOOL)isRunning ended:(BOOL)isEnded {
  [self willChangeValueForKey:@"isExecuting"];
  [self willChangeValueForKey:@"isFinished"];
  @synchronized(self) {
    running = isRunning;
    ended = isEnded;
  }
  [self didChangeValueForKey:@"isExecuting"];
  [self didChangeValueForKey:@"isFinished"];
}
- (void)start {
  [self become:!self.cancelled ended:self.cancelled];
  if (self.cancelled) {
    return;
  }
  id<MTLCommandBuffer> work = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [work computeCommandEncoder];
  [encoder setComputePipelineState:self.compiled.made];
  [encoder setBuffer:self.buffer offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(16, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
  [encoder endEncoding];
  [work addCompletedHandler:^(id<MTLCommandBuffer> done) {
    [self become:NO ended:YES];
  }];
  [work commit];
}
@end

static void frames(void) {
  NSOperationQueue *jobs = [NSOperationQueue new];
  jobs.name = @"frames";
  jobs.qualityOfService = NSQualityOfServiceUserInitiated;
  Compile *compile = [Compile new];
  id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0];
  __block int seen = -1;
  __block NSOperationQueue *current = nil;
  NSBlockOperation *check = [NSBlockOperation blockOperationWithBlock:^{
    seen = ((int *)buffer.contents)[15];
    current = NSOperationQueue.currentQueue;
  }];
  NSOperation *before = compile;
  NSMutableArray *all = [NSMutableArray arrayWithObject:check];
  for (int i = 0; i < 5; ++i) {
    Run *run = [Run new];
    run.compiled = compile;
    run.buffer = buffer;
    [run addDependency:before];
    [all addObject:run];
    before = run;
  }
  [check addDependency:before];
  [all addObject:compile];
  CHECK(!check.ready && compile.ready);
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  check.completionBlock = ^{
    dispatch_semaphore_signal(told);
  };
  [jobs addOperations:all waitUntilFinished:YES];
  dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER);
  CHECK(seen == 5 && current == jobs);
  CHECK(check.finished && before.finished && !before.executing);
  CHECK(jobs.operationCount == 0 && compile.dependencies.count == 0);
  BOOL raised = NO;
  @try {
    [jobs addOperation:check];
  } @catch (NSException *exception) {
    raised = [exception.name isEqual:NSInvalidArgumentException];
  }
  CHECK(raised);
}

static void order(void) {
  NSOperationQueue *serial = [NSOperationQueue new];
  serial.maxConcurrentOperationCount = 1;
  serial.suspended = YES;
  NSMutableString *text = [NSMutableString string];
  for (int i = 0; i < 4; ++i) {
    [serial addOperationWithBlock:^{
      [text appendFormat:@"%d", i];
    }];
  }
  NSOperation *urgent = [NSBlockOperation blockOperationWithBlock:^{
    [text appendString:@"u"];
  }];
  urgent.queuePriority = NSOperationQueuePriorityVeryHigh;
  NSOperation *never = [NSBlockOperation blockOperationWithBlock:^{
    [text appendString:@"never"];
  }];
  NSOperation *unmet = [NSOperation new];
  [never addDependency:unmet];
  [serial addOperations:@[ urgent, never ] waitUntilFinished:NO];
  CHECK(serial.operationCount == 6 && !never.ready);
  [never cancel];
  CHECK(never.ready);
  serial.suspended = NO;
  [serial waitUntilAllOperationsAreFinished];
  CHECK([text isEqual:@"u0123"]);
  CHECK(never.finished && never.cancelled);
  [unmet start];
  CHECK(unmet.finished);
}

static void limits(void) {
  NSOperationQueue *two = [NSOperationQueue new];
  two.maxConcurrentOperationCount = 2;
  __block atomic_int running = 0, most = 0, ran = 0;
  for (int i = 0; i < 40; ++i) {
    [two addOperationWithBlock:^{
      const int now = atomic_fetch_add(&running, 1) + 1;
      int seen = most;
      while (seen < now && !atomic_compare_exchange_weak(&most, &seen, now)) {
      }
      atomic_fetch_add(&ran, 1);
      atomic_fetch_sub(&running, 1);
    }];
  }
  [two waitUntilAllOperationsAreFinished];
  CHECK(ran == 40 && most >= 1 && most <= 2);
  NSOperationQueue *none = [NSOperationQueue new];
  none.suspended = YES;
  [none addOperationWithBlock:^{
    atomic_fetch_add(&ran, 1);
  }];
  [none cancelAllOperations];
  none.suspended = NO;
  [none waitUntilAllOperationsAreFinished];
  CHECK(ran == 40);
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    frames();
    order();
    limits();
    device = nil;
    queue = nil;
  }
  return checks_end();
}
