// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeline_order.c: the value under events: it only rises, and everyone who
// waits is told once.
#include <pthread.h>

#include "base/timeline.h"
#include "harness/test.h"

typedef struct noted {
  mtli_watcher watcher;
  int calls;
  uint64_t value;
  int order;
} noted;

static int calls_so_far;

static void note(mtli_watcher *watcher, uint64_t value) {
  noted *it = (noted *)watcher;
  it->calls++;
  it->value = value;
  it->order = ++calls_so_far;
}

static mtli_timeline *start(uint64_t value) {
  static mtli_timeline timeline;
  mtli_timeline_init(&timeline, value);
  return &timeline;
}

TEST(timeline, lower_values_change_nothing) {
  mtli_timeline *timeline = start(5);
  mtli_timeline_raise(timeline, 4);
  CHECK_EQUAL(mtli_timeline_value(timeline), 5);
  mtli_timeline_raise(timeline, 9);
  CHECK_EQUAL(mtli_timeline_value(timeline), 9);
}

TEST(timeline, watchers_are_called_once_and_in_order) {
  mtli_timeline *timeline = start(0);
  noted first = {.watcher = {.threshold = 2, .reached = note}};
  noted second = {.watcher = {.threshold = 3, .reached = note}};
  noted third = {.watcher = {.threshold = 2, .reached = note}};
  CHECK(mtli_timeline_watch(timeline, &first.watcher));
  CHECK(mtli_timeline_watch(timeline, &second.watcher));
  CHECK(mtli_timeline_watch(timeline, &third.watcher));
  mtli_timeline_raise(timeline, 1);
  CHECK_EQUAL(calls_so_far, 0);
  mtli_timeline_raise(timeline, 2);
  CHECK_EQUAL(first.order, 1);
  CHECK_EQUAL(third.order, 2);
  CHECK_EQUAL(second.calls, 0);
  mtli_timeline_raise(timeline, 100);
  CHECK_EQUAL(second.value, 100);
  CHECK_EQUAL(first.calls + second.calls + third.calls, 3);
}

TEST(timeline, reached_values_are_not_watched) {
  mtli_timeline *timeline = start(7);
  noted it = {.watcher = {.threshold = 7, .reached = note}};
  CHECK(!mtli_timeline_watch(timeline, &it.watcher));
  mtli_timeline_raise(timeline, 8);
  CHECK_EQUAL(it.calls, 0);
}

TEST(timeline, unreached_watchers_are_handed_back) {
  mtli_timeline *timeline = start(0);
  noted it = {.watcher = {.threshold = 1, .reached = note}};
  CHECK(mtli_timeline_watch(timeline, &it.watcher));
  CHECK(mtli_timeline_end(timeline) == &it.watcher);
  CHECK_EQUAL(it.calls, 0);
}

TEST(timeline, waits_end_at_their_limit) {
  mtli_timeline *timeline = start(0);
  CHECK(!mtli_timeline_wait(timeline, 1, 0));
  CHECK(!mtli_timeline_wait(timeline, 1, 1000000));
  CHECK(mtli_timeline_wait(timeline, 0, 0));
}

static void *raise_to_two(void *timeline) {
  mtli_timeline_raise(timeline, 1);
  mtli_timeline_raise(timeline, 2);
  return NULL;
}

TEST(timeline, sleeping_threads_are_woken) {
  for (int i = 0; i < 200; i++) {
    mtli_timeline *timeline = start(0);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, raise_to_two, timeline), 0);
    CHECK(mtli_timeline_wait(timeline, 2, UINT64_MAX));
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(mtli_timeline_end(timeline) == NULL);
  }
}
