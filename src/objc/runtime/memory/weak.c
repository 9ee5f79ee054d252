// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weak.c: weak references, which become nil when their object is destroyed. One
// table maps objects to the places that refer to them, under one lock.
#include <pthread.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/message/message.h"

typedef struct place {
  struct place *next;
  id *location;
} place;

typedef struct entry {
  struct entry *next;
  id object;
  place *places;
} entry;

enum { BUCKETS = 1024 };
static entry *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static entry **entry_of(id object) {
  entry **at = &buckets[(uintptr_t)object / 16 % BUCKETS];
  while (*at && (*at)->object != object) {
    at = &(*at)->next;
  }
  return at;
}

// True if the object is one that a table can keep: on the heap, counted here.
static bool is_counted_here(id object) {
  return !(class_flags(object->isa) & (CLASS_IMMORTAL | CLASS_COUNTS_ITSELF));
}

// Makes *location refer to object. The lock is held.
static void add(id *location, id object) {
  entry **at = entry_of(object);
  if (!*at) {
    *at = calloc(1, sizeof **at);
    if (*at) {
      (*at)->object = object;
    }
  }
  place *made = *at ? malloc(sizeof *made) : NULL;
  if (!made) {
    runtime_fail("no memory for a weak reference");
  }
  *made = (place){(*at)->places, location};
  (*at)->places = made;
  atomic_fetch_or_explicit(&object_header_of(object)->state,
                           OBJECT_IS_WEAKLY_REFERENCED, memory_order_relaxed);
}

// The lock is held.
static void drop(id *location) {
  if (!*location || !is_counted_here(*location)) {
    return;
  }
  entry **at = entry_of(*location);
  for (place **each = *at ? &(*at)->places : NULL; each && *each;
       each = &(*each)->next) {
    if ((*each)->location == location) {
      place *found = *each;
      *each = found->next;
      free(found);
      break;
    }
  }
  if (*at && !(*at)->places) {
    entry *empty = *at;
    *at = empty->next;
    free(empty);
  }
}

void weak_clear(id object) {
  pthread_mutex_lock(&lock);
  entry **at = entry_of(object);
  entry *found = *at;
  if (found) {
    *at = found->next;
    while (found->places) {
      place *each = found->places;
      found->places = each->next;
      *each->location = NULL;
      free(each);
    }
    free(found);
  }
  pthread_mutex_unlock(&lock);
}

// Returns object unless it is about to end. The lock is held.
static id living(id object) {
  return !object || !is_counted_here(object) || instance_references(object) > 0
             ? object
             : NULL;
}

OBJC_EXPORT id objc_storeWeak(id *location, id object) {
  pthread_mutex_lock(&lock);
  drop(location);
  object = living(object);
  if (object && is_counted_here(object)) {
    add(location, object);
  }
  *location = object;
  pthread_mutex_unlock(&lock);
  return object;
}

OBJC_EXPORT id objc_initWeak(id *location, id object) {
  *location = NULL;
  return objc_storeWeak(location, object);
}

OBJC_EXPORT void objc_destroyWeak(id *location) {
  objc_storeWeak(location, NULL);
}

OBJC_EXPORT id objc_loadWeakRetained(id *location) {
  pthread_mutex_lock(&lock);
  id object = *location;
  const bool is_ours = object && is_counted_here(object);
  if (is_ours && !instance_try_retain(object)) {
    object = NULL;
  }
  pthread_mutex_unlock(&lock);
  return is_ours ? object : objc_retain(object);
}

OBJC_EXPORT id objc_loadWeak(id *location) {
  return objc_autorelease(objc_loadWeakRetained(location));
}

OBJC_EXPORT void objc_copyWeak(id *to, id *from) {
  const id object = objc_loadWeakRetained(from);
  objc_initWeak(to, object);
  objc_release(object);
}

OBJC_EXPORT void objc_moveWeak(id *to, id *from) {
  objc_copyWeak(to, from);
  objc_destroyWeak(from);
}
