// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sync.c: @synchronized: a recursive lock for each object in use.
#include <pthread.h>
#include <stdlib.h>

#include "objc/runtime/abi.h"
#include "objc/runtime/failure.h"

typedef struct monitor {
  struct monitor *next;
  id object;
  size_t users;  // threads inside or waiting
  pthread_mutex_t mutex;
} monitor;

enum { BUCKETS = 64, SYNC_SUCCESS = 0, SYNC_NOT_OWNED = -1 };
static monitor *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static monitor **find(id object) {
  monitor **at = &buckets[(uintptr_t)object / 16 % BUCKETS];
  while (*at && (*at)->object != object) {
    at = &(*at)->next;
  }
  return at;
}

static monitor *create(id object) {
  monitor *made = calloc(1, sizeof *made);
  if (!made) {
    runtime_fail("no memory for @synchronized");
  }
  made->object = object;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&made->mutex, &recursive);
  pthread_mutexattr_destroy(&recursive);
  return made;
}

OBJC_EXPORT int objc_sync_enter(id object) {
  if (!object) {
    return SYNC_SUCCESS;
  }
  pthread_mutex_lock(&lock);
  monitor **at = find(object);
  if (!*at) {
    *at = create(object);
  }
  monitor *found = *at;
  ++found->users;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&found->mutex);
  return SYNC_SUCCESS;
}

OBJC_EXPORT int objc_sync_exit(id object) {
  if (!object) {
    return SYNC_SUCCESS;
  }
  pthread_mutex_lock(&lock);
  monitor **at = find(object);
  monitor *found = *at;
  int result = SYNC_NOT_OWNED;
  if (found && pthread_mutex_unlock(&found->mutex) == 0) {
    result = SYNC_SUCCESS;
    if (--found->users == 0) {
      *at = found->next;
      pthread_mutex_destroy(&found->mutex);
      free(found);
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}
