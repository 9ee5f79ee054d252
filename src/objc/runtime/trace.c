// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.c: counts messages in a table by class and selector.
#include "objc/runtime/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"

typedef struct counter {
  Class class;
  SEL selector;
  unsigned long count;
} counter;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static counter *counters;  // [capacity] open addressing
static size_t capacity;
static size_t used;
static int is_on;  // 0 unknown, 1 off, 2 on; a race, but all threads find the
                   // same

static int by_count(const void *one, const void *other) {
  const unsigned long a = ((const counter *)one)->count;
  const unsigned long b = ((const counter *)other)->count;
  return (a < b) - (a > b);
}

static void tell(void) {
  pthread_mutex_lock(&lock);
  qsort(counters, capacity, sizeof *counters, by_count);
  for (size_t i = 0; i < used; ++i) {
    fprintf(stderr, "mettle objc: %10lu  %c[%s %s]\n", counters[i].count,
            class_is_meta(counters[i].class) ? '+' : '-',
            class_name(counters[i].class), counters[i].selector);
  }
  pthread_mutex_unlock(&lock);
}

bool trace_messages(void) {
  int state = __atomic_load_n(&is_on, __ATOMIC_RELAXED);
  if (!state) {
    pthread_mutex_lock(&lock);
    if (!is_on) {
      is_on = runtime_debugs("messages") ? 2 : 1;
      if (is_on == 2) {
        atexit(tell);
      }
    }
    state = is_on;
    pthread_mutex_unlock(&lock);
  }
  return state == 2;
}

static counter *counter_of(Class class, SEL selector) {
  size_t at = ((uintptr_t)class / 8 * 31 + (uintptr_t)selector / 8) &
              (capacity - 1);
  while (counters[at].selector && (counters[at].class != class ||
                                   counters[at].selector != selector)) {
    at = (at + 1) & (capacity - 1);
  }
  return &counters[at];
}

static bool grow(void) {
  counter *old = counters;
  const size_t old_capacity = capacity;
  const size_t wanted = capacity ? 2 * capacity : 1024;
  counters = calloc(wanted, sizeof *counters);
  if (!counters) {
    counters = old;
    return false;
  }
  capacity = wanted;
  for (size_t i = 0; i < old_capacity; ++i) {
    if (old[i].selector) {
      *counter_of(old[i].class, old[i].selector) = old[i];
    }
  }
  free(old);
  return true;
}

void trace_message(Class class, SEL selector) {
  if (!trace_messages()) {
    return;
  }
  pthread_mutex_lock(&lock);
  if (2 * used < capacity || grow()) {
    counter *found = counter_of(class, selector);
    used += !found->selector;
    found->class = class;
    found->selector = selector;
    ++found->count;
  }
  pthread_mutex_unlock(&lock);
}
