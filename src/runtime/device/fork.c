// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fork.c: what the child of a fork may do. It has none of our threads, so
// devices from before the fork are lost to it: their objects can be released,
// everything else on them fails with MTL_INVALID_STATE, and a device that the
// child opens itself works. See docs/threads.md.
#include "runtime/objects.h"

static _Atomic uint64_t process_number;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

uint64_t mtli_process_number(void) {
  return atomic_load_explicit(&process_number, memory_order_relaxed);
}

// Our global locks are held around the fork, so that the child finds them free
// and their data consistent.
static void before_fork(void) {
  mtli_registry_lock();
  mtli_lane_lock();
}

static void after_fork_in_parent(void) {
  mtli_lane_unlock();
  mtli_registry_unlock();
}

static void after_fork_in_child(void) {
  // Relaxed: the child has one thread.
  atomic_fetch_add_explicit(&process_number, 1, memory_order_relaxed);
  mtli_trace_forget();
  mtli_lane_unlock();
  mtli_lane_forget_threads();
  mtli_registry_unlock();
}

static void watch(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void mtli_watch_forks(void) {
  pthread_once(&watch_once, watch);
}
