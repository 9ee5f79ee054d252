// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// live_counts.c: counts live objects by class, and prints the counts at exit.
#include "objc/runtime/memory/live_counts.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/name_table.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static name_table counts;  // class name to count, as a pointer's number
static _Bool is_on;

static void tell(void) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < counts.capacity; ++i) {
    const name_entry *each = &counts.entries[i];
    if (each->name && each->value) {
      fprintf(stderr, "mettle objc: %8ld of %s still live\n",
              (long)(intptr_t)each->value, each->name);
    }
  }
  pthread_mutex_unlock(&lock);
}

static void start(void) {
  is_on = runtime_debugs("leaks");
  if (is_on) {
    atexit(tell);
  }
}

void live_count(Class class, int change) {
  pthread_once(&once, start);
  if (!is_on) {
    return;
  }
  pthread_mutex_lock(&lock);
  const char *name = class_name(class);
  const intptr_t count = (intptr_t)name_table_find(&counts, name);
  name_table_add(&counts, name, (void *)(count + change));
  pthread_mutex_unlock(&lock);
}
