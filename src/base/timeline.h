// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeline.h: a 64-bit value that only rises, with threads and watchers that
// wait for it. The part of an event that every driver shares whose signals
// arrive on the host.
#ifndef MTLI_TIMELINE_H
#define MTLI_TIMELINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mtli_watcher mtli_watcher;

// Called once when the value is reached, on the thread that raised it, with no
// lock held. The watcher is free again: it may be reused or freed.
typedef void mtli_watcher_fn(mtli_watcher *watcher, uint64_t value);

// Part of the object that waits.
struct mtli_watcher {
  mtli_watcher *next;
  uint64_t threshold;
  mtli_watcher_fn *reached;
};

typedef struct mtli_timeline {
  pthread_mutex_t lock;
  _Atomic uint64_t value;   // written under lock
  _Atomic uint32_t raised;  // counts raises; host threads sleep on it
  _Atomic uint32_t sleepers;
  mtli_watcher *watchers;  // under lock, in the order they came
} mtli_timeline;

void mtli_timeline_init(mtli_timeline *timeline, uint64_t value);

// Frees nothing of the watchers: returns those that were never reached.
mtli_watcher *mtli_timeline_end(mtli_timeline *timeline);

static inline uint64_t mtli_timeline_value(mtli_timeline *timeline) {
  // pairs with the release in mtli_timeline_raise
  return atomic_load_explicit(&timeline->value, memory_order_acquire);
}

// Raises the value, wakes threads and calls watchers. No change if value is
// not above the present one. The caller has a reference of its own to what
// holds the timeline: others may drop theirs as soon as they see the value.
void mtli_timeline_raise(mtli_timeline *timeline, uint64_t value);

// Waits on the calling thread. Returns false if timeout_ns passed before.
bool mtli_timeline_wait(mtli_timeline *timeline, uint64_t value,
                        uint64_t timeout_ns);

// Adds watcher, whose threshold and reached are set, and returns true; returns
// false, having done nothing, if the value is reached already.
bool mtli_timeline_watch(mtli_timeline *timeline, mtli_watcher *watcher);

// Removes a watcher. False if it is not in the list: it has been called or will
// be.
bool mtli_timeline_unwatch(mtli_timeline *timeline, mtli_watcher *watcher);

#endif
