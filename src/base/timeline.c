// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeline.c: a value under one lock, with a futex for host threads and a list
// of watchers.
#include "base/timeline.h"

#include <stddef.h>

#include "base/futex.h"

void mtli_timeline_init(mtli_timeline *timeline, uint64_t value) {
  pthread_mutex_init(&timeline->lock, NULL);
  atomic_init(&timeline->value, value);
  atomic_init(&timeline->raised, 0);
  atomic_init(&timeline->sleepers, 0);
  timeline->watchers = NULL;
}

mtli_watcher *mtli_timeline_end(mtli_timeline *timeline) {
  pthread_mutex_destroy(&timeline->lock);
  mtli_watcher *rest = timeline->watchers;
  timeline->watchers = NULL;
  return rest;
}

// Unlinks and returns, in order, the watchers whose threshold the timeline has
// reached.
static mtli_watcher *take_reached(mtli_timeline *timeline, uint64_t value) {
  mtli_watcher *reached = NULL;
  mtli_watcher **reached_end = &reached;
  for (mtli_watcher **link = &timeline->watchers; *link;) {
    mtli_watcher *watcher = *link;
    if (watcher->threshold > value) {
      link = &watcher->next;
      continue;
    }
    *link = watcher->next;
    watcher->next = NULL;
    *reached_end = watcher;
    reached_end = &watcher->next;
  }
  return reached;
}

void mtli_timeline_raise(mtli_timeline *timeline, uint64_t value) {
  pthread_mutex_lock(&timeline->lock);
  if (value <= atomic_load_explicit(&timeline->value, memory_order_relaxed)) {
    pthread_mutex_unlock(&timeline->lock);
    return;
  }
  // pairs with the acquire in mtli_timeline_value
  atomic_store_explicit(&timeline->value, value, memory_order_release);
  // Sequentially consistent, as the sleepers' side: either the sleeper sees
  // the new count or this thread sees the sleeper.
  atomic_fetch_add(&timeline->raised, 1);
  const bool asleep = atomic_load(&timeline->sleepers) != 0;
  mtli_watcher *reached = take_reached(timeline, value);
  pthread_mutex_unlock(&timeline->lock);
  if (asleep) {
    mtli_futex_wake(&timeline->raised, UINT32_MAX);
  }
  while (reached) {
    mtli_watcher *next = reached->next;
    reached->reached(reached, value);
    reached = next;
  }
}

bool mtli_timeline_wait(mtli_timeline *timeline, uint64_t value,
                        uint64_t timeout_ns) {
  if (mtli_timeline_value(timeline) >= value) {
    return true;
  }
  if (timeout_ns == 0) {
    return false;
  }
  const uint64_t deadline_ns = mtli_deadline_ns(timeout_ns);
  const uint64_t spin_end_ns = mtli_now_ns() + MTLI_SPIN_NS;
  while (mtli_now_ns() < spin_end_ns) {
    mtli_pause();
    if (mtli_timeline_value(timeline) >= value) {
      return true;
    }
  }
  bool in_time = true;
  atomic_fetch_add(&timeline->sleepers, 1);
  for (;;) {
    const uint32_t seen = atomic_load(&timeline->raised);
    if (mtli_timeline_value(timeline) >= value) {
      break;
    }
    if (!in_time) {
      atomic_fetch_sub(&timeline->sleepers, 1);
      return false;
    }
    in_time = mtli_futex_wait(&timeline->raised, seen, deadline_ns);
  }
  atomic_fetch_sub(&timeline->sleepers, 1);
  return true;
}

bool mtli_timeline_watch(mtli_timeline *timeline, mtli_watcher *watcher) {
  pthread_mutex_lock(&timeline->lock);
  const bool waits =
      atomic_load_explicit(&timeline->value, memory_order_relaxed) <
      watcher->threshold;
  if (waits) {
    mtli_watcher **link = &timeline->watchers;
    while (*link) {
      link = &(*link)->next;
    }
    watcher->next = NULL;
    *link = watcher;
  }
  pthread_mutex_unlock(&timeline->lock);
  return waits;
}

bool mtli_timeline_unwatch(mtli_timeline *timeline, mtli_watcher *watcher) {
  pthread_mutex_lock(&timeline->lock);
  mtli_watcher **link = &timeline->watchers;
  while (*link && *link != watcher) {
    link = &(*link)->next;
  }
  const bool is_there = *link != NULL;
  if (is_there) {
    *link = watcher->next;
  }
  pthread_mutex_unlock(&timeline->lock);
  return is_there;
}
