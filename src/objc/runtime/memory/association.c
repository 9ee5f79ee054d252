// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// association.c: associated objects: values attached to an object by key.
#include <pthread.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/message/message.h"

// The policies of objc_setAssociatedObject, by Apple's documentation.
enum {
  ASSIGN = 0,
  RETAIN_NONATOMIC = 1,
  COPY_NONATOMIC = 3,
  RETAIN = 01401,
  COPY = 01403,
};

typedef struct association {
  struct association *next;
  id object;
  const void *key;
  uintptr_t policy;
  id value;
} association;

enum { BUCKETS = 256 };
static association *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static association **bucket_of(id object) {
  return &buckets[(uintptr_t)object / 16 % BUCKETS];
}

static association **find(id object, const void *key) {
  association **at = bucket_of(object);
  while (*at && ((*at)->object != object || (*at)->key != key)) {
    at = &(*at)->next;
  }
  return at;
}

static bool owns(uintptr_t policy) {
  return policy != ASSIGN;
}

OBJC_EXPORT void objc_setAssociatedObject(id object, const void *key, id value,
                                          uintptr_t policy) {
  if (!object) {
    return;
  }
  if (policy == COPY || policy == COPY_NONATOMIC) {
    value = SEND(id(*)(id, SEL), value, "copy");
  } else if (owns(policy)) {
    objc_retain(value);
  }
  association *made = value ? malloc(sizeof *made) : NULL;
  if (value && !made) {
    runtime_fail("no memory for an associated object");
  }
  pthread_mutex_lock(&lock);
  association **at = find(object, key);
  association *old = *at;
  if (old) {
    *at = old->next;
  }
  if (made) {
    association **bucket = bucket_of(object);
    *made = (association){*bucket, object, key, policy, value};
    *bucket = made;
    if (!(class_flags(object->isa) & (CLASS_IMMORTAL | CLASS_COUNTS_ITSELF))) {
      atomic_fetch_or_explicit(&object_header_of(object)->state,
                               OBJECT_HAS_ASSOCIATIONS, memory_order_relaxed);
    }
  }
  pthread_mutex_unlock(&lock);
  if (old && owns(old->policy)) {
    objc_release(old->value);
  }
  free(old);
}

OBJC_EXPORT id objc_getAssociatedObject(id object, const void *key) {
  pthread_mutex_lock(&lock);
  const association *found = *find(object, key);
  const id value = found ? found->value : NULL;
  const bool is_atomic =
      found && (found->policy == RETAIN || found->policy == COPY);
  if (is_atomic) {
    objc_retain(value);
  }
  pthread_mutex_unlock(&lock);
  return is_atomic ? objc_autorelease(value) : value;
}

void associations_clear(id object) {
  association *dropped = NULL;
  pthread_mutex_lock(&lock);
  for (association **at = bucket_of(object); *at;) {
    association *each = *at;
    if (each->object == object) {
      *at = each->next;
      each->next = dropped;
      dropped = each;
    } else {
      at = &each->next;
    }
  }
  pthread_mutex_unlock(&lock);
  while (dropped) {
    association *each = dropped;
    dropped = each->next;
    if (owns(each->policy)) {
      objc_release(each->value);
    }
    free(each);
  }
}

OBJC_EXPORT void objc_removeAssociatedObjects(id object) {
  if (object) {
    associations_clear(object);
  }
}
