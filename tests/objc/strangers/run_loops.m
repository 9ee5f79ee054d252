// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_loops.m: a program that polls a command buffer by a timer, leaves its
// loop from a completion handler, and sends itself selectors later.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"

@interface Worker : NSObject
@property NSMutableArray *seen;
@property int ticks;
@end

@implementation Worker
- (void)see:(id)what {
  [self.seen addObject:what];
}
- (void)tick:(NSTimer *)timer {
  if (++self.ticks == [timer.userInfo intValue]) {
    [timer invalidate];
  }
}
@end

static void timers(void) {
  NSRunLoop *loop = [NSRunLoop currentRunLoop];
  CHECK(loop == [NSRunLoop mainRunLoop]);
  Worker *worker = [Worker new];
  NSTimer *ticking =
      [NSTimer scheduledTimerWithTimeInterval:0.001
                                       target:worker
                                     selector:@selector(tick:)
                                     userInfo:@3
                                      repeats:YES];
  __block int once = 0;
  NSTimer *single =
      [NSTimer timerWithTimeInterval:0.002
                             repeats:NO
                               block:^(NSTimer *timer) {
                                 once += timer.isValid;
                               }];
  [loop addTimer:single forMode:NSRunLoopCommonModes];
  NSTimer *elsewhere = [NSTimer timerWithTimeInterval:0
                                              repeats:NO
                                                block:^(NSTimer *timer) {
                                                  once += 100;
                                                }];
  [loop addTimer:elsewhere forMode:@"another mode"];
  while (ticking.isValid || single.isValid) {
    [loop runMode:NSDefaultRunLoopMode
        beforeDate:[NSDate dateWithTimeIntervalSinceNow:0.01]];
  }
  CHECK(worker.ticks == 3 && once == 1);
  CHECK(elsewhere.isValid && elsewhere.timeInterval == 0);
  [loop runMode:@"another mode"
      beforeDate:[NSDate dateWithTimeIntervalSinceNow:0.01]];
  CHECK(once == 101 && !elsewhere.isValid);
  NSDate *end = [NSDate dateWithTimeIntervalSinceNow:0.01];
  [loop runUntilDate:end];  // with nothing on it
  CHECK(end.timeIntervalSinceNow <= 0);
}

static void later(void) {
  Worker *worker = [Worker new];
  worker.seen = [NSMutableArray array];
  // In this order, so that a slow machine does not change theirs.
  [worker performSelector:@selector(see:) withObject:@"first" afterDelay:0];
  [worker performSelector:@selector(see:) withObject:@"never" afterDelay:0.001];
  [worker performSelector:@selector(see:) withObject:@"second" afterDelay:0.002];
  [NSObject cancelPreviousPerformRequestsWithTarget:worker
                                           selector:@selector(see:)
                                             object:@"never"];
  while (worker.seen.count < 2) {
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.01, false);
  }
  NSArray *both = @[ @"first", @"second" ];
  CHECK([worker.seen isEqual:both]);
  // Another thread waits for the main one.
  NSThread *other = [[NSThread alloc] initWithBlock:^{
    [worker performSelectorOnMainThread:@selector(see:)
                             withObject:@"third"
                          waitUntilDone:YES];
    [worker performSelectorOnMainThread:@selector(see:)
                             withObject:@(worker.seen.count)
                          waitUntilDone:NO];
  }];
  [other start];
  while (worker.seen.count < 4) {
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.01, false);
  }
  CHECK([worker.seen[3] isEqual:@3]);
}

// The handler comes on another thread, and its block on the main queue's.
static void completion(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0];
  id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit fillBuffer:buffer range:NSMakeRange(0, 64) value:7];
  [blit endEncoding];
  __block int told = 0;
  [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
    dispatch_async(dispatch_get_main_queue(), ^{
      told = done.status == MTLCommandBufferStatusCompleted;
      CFRunLoopStop(CFRunLoopGetCurrent());
    });
  }];
  [commands commit];
  CFRunLoopRun();
  CHECK(told && ((const char *)buffer.contents)[63] == 7);
}

static void other_threads(void) {
  __block CFRunLoopRunResult empty = 0, block = 0, timed = 0;
  __block NSUInteger done = 0;
  dispatch_semaphore_t end = dispatch_semaphore_create(0);
  [NSThread detachNewThreadWithBlock:^{
    NSRunLoop *loop = [NSRunLoop currentRunLoop];
    done += loop != [NSRunLoop mainRunLoop];
    empty = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 10, false);
    [loop performBlock:^{
      ++done;
    }];
    block = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 10, true);
    CFRunLoopTimerRef far = CFRunLoopTimerCreateWithHandler(
        kCFAllocatorDefault, CFAbsoluteTimeGetCurrent() + 100, 0, 0, 0,
        ^(CFRunLoopTimerRef timer) {
          done += 100;
        });
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), far, kCFRunLoopDefaultMode);
    timed = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.001, false);
    CFRunLoopTimerInvalidate(far);
    CFRelease(far);
    [loop run];  // returns, as nothing is on it any more
    dispatch_semaphore_signal(end);
  }];
  dispatch_semaphore_wait(end, DISPATCH_TIME_FOREVER);
  CHECK(empty == kCFRunLoopRunFinished && block == kCFRunLoopRunHandledSource);
  CHECK(timed == kCFRunLoopRunTimedOut && done == 2);
}

int main(void) {
  @autoreleasepool {
    timers();
    later();
    completion();
    other_threads();
  }
  return checks_end();
}
