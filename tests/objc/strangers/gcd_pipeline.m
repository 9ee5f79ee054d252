// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gcd_pipeline.m: a pipeline of Grand Central Dispatch around a GPU: stages on
// queues of their own, target queues, barriers, sources and timers, blocks that
// can be cancelled and waited for.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "../check.h"

static void stages(void) {
  dispatch_queue_t base = dispatch_queue_create("base", DISPATCH_QUEUE_SERIAL);
  dispatch_queue_t decode = dispatch_queue_create_with_target(
      "decode", DISPATCH_QUEUE_CONCURRENT,
      dispatch_get_global_queue(QOS_CLASS_UTILITY, 0));
  dispatch_queue_t one = dispatch_queue_create("one", DISPATCH_QUEUE_SERIAL);
  dispatch_queue_t two = dispatch_queue_create("two", DISPATCH_QUEUE_SERIAL);
  dispatch_set_target_queue(one, base);
  dispatch_set_target_queue(two, base);
  dispatch_group_t group = dispatch_group_create();
  __block _Atomic int decoded = 0;
  for (int i = 0; i < 20; ++i) {
    dispatch_group_async(group, decode, ^{
      atomic_fetch_add(&decoded, 1);
    });
  }
  __block int seen = -1;
  dispatch_barrier_sync(decode, ^{
    seen = atomic_load(&decoded);
  });
  CHECK(seen == 20);
  // Two queues with one serial target: no two of their blocks at once.
  __block _Atomic int running = 0;
  __block int together = 0, ran = 0;
  for (int i = 0; i < 50; ++i) {
    dispatch_group_async(group, i & 1 ? one : two, ^{
      together += atomic_fetch_add(&running, 1) != 0;
      ++ran;
      atomic_fetch_sub(&running, 1);
    });
  }
  CHECK(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW,
                                                 20 * NSEC_PER_SEC)) == 0);
  CHECK(together == 0 && ran == 50);
}

static void timers(void) {
  dispatch_queue_t queue = dispatch_queue_create("t", DISPATCH_QUEUE_SERIAL);
  dispatch_source_t timer =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
  dispatch_semaphore_t three = dispatch_semaphore_create(0);
  dispatch_semaphore_t gone = dispatch_semaphore_create(0);
  __block unsigned long fired = 0;
  dispatch_source_set_timer(timer, dispatch_time(DISPATCH_TIME_NOW, 0),
                            2 * NSEC_PER_MSEC, NSEC_PER_MSEC);
  dispatch_source_set_event_handler(timer, ^{
    fired += dispatch_source_get_data(timer);
    if (fired >= 3) {
      dispatch_semaphore_signal(three);
    }
  });
  dispatch_source_set_cancel_handler(timer, ^{
    dispatch_semaphore_signal(gone);
  });
  CHECK(dispatch_semaphore_wait(three, dispatch_time(DISPATCH_TIME_NOW,
                                                     NSEC_PER_MSEC)) != 0);
  dispatch_resume(timer);
  CHECK(dispatch_semaphore_wait(three, dispatch_time(DISPATCH_TIME_NOW,
                                                     20 * NSEC_PER_SEC)) == 0);
  CHECK(!dispatch_source_testcancel(timer));
  dispatch_source_cancel(timer);
  CHECK(dispatch_source_testcancel(timer));
  CHECK(dispatch_semaphore_wait(gone, dispatch_time(DISPATCH_TIME_NOW,
                                                    20 * NSEC_PER_SEC)) == 0);
  CHECK(fired >= 3);
}

static void progress(void) {
  dispatch_queue_t queue = dispatch_queue_create("p", DISPATCH_QUEUE_SERIAL);
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, queue);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block unsigned long total = 0;
  dispatch_source_set_event_handler(source, ^{
    total += dispatch_source_get_data(source);
    if (total == 100) {
      dispatch_semaphore_signal(done);
    }
  });
  dispatch_activate(source);
  dispatch_apply(100, dispatch_get_global_queue(0, 0), ^(size_t i) {
    (void)i;
    dispatch_source_merge_data(source, 1);
  });
  CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW,
                                                    20 * NSEC_PER_SEC)) == 0);
  CHECK(total == 100);
  dispatch_source_cancel(source);
}

static void blocks(void) {
  dispatch_queue_t queue = dispatch_queue_create("b", DISPATCH_QUEUE_SERIAL);
  __block int ran = 0;
  dispatch_block_t work = dispatch_block_create(0, ^{
    ++ran;
  });
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  dispatch_block_notify(work, queue, ^{
    dispatch_semaphore_signal(told);
  });
  dispatch_async(queue, work);
  CHECK(dispatch_block_wait(work, DISPATCH_TIME_FOREVER) == 0);
  CHECK(ran == 1 && !dispatch_block_testcancel(work));
  CHECK(dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER) == 0);
  dispatch_block_t never = dispatch_block_create_with_qos_class(
      DISPATCH_BLOCK_ENFORCE_QOS_CLASS, QOS_CLASS_UTILITY, 0, ^{
        ran = 100;
      });
  dispatch_suspend(queue);
  dispatch_async(queue, never);
  dispatch_block_cancel(never);
  dispatch_resume(queue);
  dispatch_sync(queue, ^{
  });
  CHECK(ran == 1 && dispatch_block_testcancel(never));
  dispatch_async_and_wait(queue, ^{
    ++ran;
  });
  CHECK(ran == 2);
}

static void add(void *context) {
  atomic_fetch_add((_Atomic int *)context, 1);
}

static void functions(void) {
  dispatch_queue_t queue = dispatch_queue_create("f", DISPATCH_QUEUE_CONCURRENT);
  dispatch_group_t group = dispatch_group_create();
  _Atomic int count = 0;
  for (int i = 0; i < 10; ++i) {
    dispatch_group_async_f(group, queue, &count, add);
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  dispatch_barrier_async_f(queue, &count, add);
  dispatch_barrier_sync_f(queue, &count, add);
  CHECK(atomic_load(&count) == 12);
  dispatch_semaphore_t later = dispatch_semaphore_create(0);
  dispatch_group_notify_f(group, queue, (__bridge void *)later,
                          (dispatch_function_t)dispatch_semaphore_signal);
  dispatch_after_f(dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC), queue,
                   (__bridge void *)later,
                   (dispatch_function_t)dispatch_semaphore_signal);
  CHECK(dispatch_semaphore_wait(later, DISPATCH_TIME_FOREVER) == 0);
  CHECK(dispatch_semaphore_wait(later, DISPATCH_TIME_FOREVER) == 0);
  dispatch_set_context(queue, &count);
  CHECK(dispatch_get_context(queue) == &count);
}

int main(void) {
  @autoreleasepool {
    stages();
    timers();
    progress();
    blocks();
    functions();
  }
  return checks_end();
}
