// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.m: groups, semaphores, queues, data, as a program for macOS has
// them.
#import <Foundation/Foundation.h>
#include <stdatomic.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    dispatch_group_t g = dispatch_group_create();
    dispatch_queue_t q = dispatch_queue_create("com.example.q",
                                               DISPATCH_QUEUE_CONCURRENT),
                     s = dispatch_queue_create("com.example.s", NULL);
    __block atomic_int n = 0;
    for (int i = 0; i < 100; i++)
      dispatch_group_async(g, q, ^{
        atomic_fetch_add(&n, 1);
      });
    CHECK(dispatch_group_wait(g, DISPATCH_TIME_FOREVER) == 0);
    CHECK(n == 100);
    dispatch_group_enter(g);
    dispatch_async(s, ^{
      atomic_fetch_add(&n, 1);
      dispatch_group_leave(g);
    });
    dispatch_semaphore_t sem = dispatch_semaphore_create(0);
    dispatch_group_notify(g, s, ^{
      dispatch_semaphore_signal(sem);
    });
    CHECK(dispatch_semaphore_wait(
              sem, dispatch_time(DISPATCH_TIME_NOW, 10ull * NSEC_PER_SEC)) ==
          0);
    CHECK(n == 101);
    __block int order = 0;
    for (int i = 0; i < 10; i++)
      dispatch_async(s, ^{
        CHECK(order == i);
        order++;
      });
    dispatch_sync(s, ^{
                  });
    CHECK(order == 10);
    dispatch_apply(64, DISPATCH_APPLY_AUTO, ^(size_t i) {
      atomic_fetch_add(&n, 1);
    });
    CHECK(n == 165);
    dispatch_apply(8, dispatch_get_global_queue(QOS_CLASS_USER_INITIATED, 0),
                   ^(size_t i) {
                     atomic_fetch_add(&n, (int)i);
                   });
    CHECK(n == 193);
    dispatch_barrier_async(q, ^{
      atomic_store(&n, 0);
    });
    dispatch_barrier_sync(q, ^{
                          });
    CHECK(n == 0);
    static dispatch_once_t once;
    for (int i = 0; i < 3; i++)
      dispatch_once(&once, ^{
        atomic_fetch_add(&n, 1);
      });
    CHECK(n == 1);
    dispatch_after(
        dispatch_time(DISPATCH_TIME_NOW, (int64_t)(0.001 * NSEC_PER_SEC)), q, ^{
          dispatch_semaphore_signal(sem);
        });
    dispatch_semaphore_wait(sem, DISPATCH_TIME_FOREVER);
    CHECK(dispatch_semaphore_wait(sem, DISPATCH_TIME_NOW) != 0);
    CHECK(!strcmp(dispatch_queue_get_label(s), "com.example.s"));
    static char key;
    dispatch_queue_set_specific(s, &key, &key, NULL);
    dispatch_sync(s, ^{
      CHECK(dispatch_get_specific(&key) == &key);
    });
    CHECK(dispatch_get_specific(&key) == NULL);
    dispatch_queue_t u = dispatch_queue_create(
        "u", dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_SERIAL,
                                                     QOS_CLASS_UTILITY, 0));
    dispatch_suspend(u);
    dispatch_async(u, ^{
      dispatch_semaphore_signal(sem);
    });
    CHECK(dispatch_semaphore_wait(
              sem, dispatch_time(DISPATCH_TIME_NOW, 2000000)) != 0);
    dispatch_resume(u);
    CHECK(dispatch_semaphore_wait(
              sem, dispatch_time(DISPATCH_TIME_NOW, 10ull * NSEC_PER_SEC)) ==
          0);
    dispatch_data_t dd =
        dispatch_data_create("abcd", 4, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    CHECK(dispatch_data_get_size(dd) == 4);
    __block size_t seen = 0;
    dispatch_data_apply(
        dd, ^bool(dispatch_data_t r, size_t off, const void *b, size_t sz) {
          seen += sz;
          return true;
        });
    CHECK(seen == 4);
    dispatch_data_t sub = dispatch_data_create_subrange(dd, 1, 2),
                    cat = dispatch_data_create_concat(sub, dd);
    CHECK(dispatch_data_get_size(cat) == 6);
    dispatch_assert_queue_not(u);
  }
  return checks_end();
}
