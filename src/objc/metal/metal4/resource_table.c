// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// resource_table.c: finds objects by the identifiers with which Metal 4 binds
// them.
#include <pthread.h>
#include <stdlib.h>

#include "objc/metal/metal4/mtl4.h"
#include "objc/runtime/failure.h"

typedef struct entry {
  struct entry *next;
  uint64_t identifier;
  id object;  // a weak reference, by the runtime's own
} entry;

enum { BUCKETS = 1024 };
static entry *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

extern id objc_initWeak(id *place, id object);
extern id objc_loadWeakRetained(id *place);
extern void objc_destroyWeak(id *place);

static entry **bucket_of(uint64_t identifier) {
  return &buckets[(identifier ^ identifier >> 12) % BUCKETS];
}

void resource_add(uint64_t identifier, id object) {
  entry *made = calloc(1, sizeof *made);
  if (!made) {
    runtime_fail("no memory for a resource's identifier");
  }
  made->identifier = identifier;
  objc_initWeak(&made->object, object);
  pthread_mutex_lock(&lock);
  entry **bucket = bucket_of(identifier);
  made->next = *bucket;
  *bucket = made;
  // Entries of freed resources make room.
  for (entry **each = &made->next; *each;) {
    entry *old = *each;
    const id live = objc_loadWeakRetained(&old->object);
    if (live) {
      objc_release(live);
      each = &old->next;
    } else {
      *each = old->next;
      objc_destroyWeak(&old->object);
      free(old);
    }
  }
  pthread_mutex_unlock(&lock);
}

id resource_find(uint64_t identifier) {
  id found = NULL;
  pthread_mutex_lock(&lock);
  for (entry *each = *bucket_of(identifier); each && !found;
       each = each->next) {
    if (each->identifier == identifier) {
      found = objc_loadWeakRetained(&each->object);
    }
  }
  pthread_mutex_unlock(&lock);
  return objc_autorelease(found);
}
