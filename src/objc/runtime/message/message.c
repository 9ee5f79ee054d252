// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// message.c: the slow path of a message: realizes and initializes the
// receiver's class, finds the method, and fills the cache.
#include "objc/runtime/message/message.h"

#include <stddef.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/exception.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/invocation/call_frame.h"
#include "objc/runtime/trace.h"

_Static_assert(offsetof(struct objc_class, superclass) == CLASS_SUPERCLASS, "");
_Static_assert(offsetof(struct objc_class, cache) == CLASS_CACHE, "");
_Static_assert(offsetof(message_cache, mask_bytes) == CACHE_MASK, "");
_Static_assert(offsetof(message_cache, entries) == CACHE_ENTRIES, "");
_Static_assert(sizeof(cache_entry) == 16, "");

// Every class starts with this cache, by name in compiled ones.
OBJC_EXPORT struct {
  message_cache header;
  cache_entry end;
} _objc_empty_cache;
OBJC_EXPORT void *_objc_empty_vtable;  // older compilers name it

// --- Caches ------------------------------------------------------------------

static size_t first_entry(const message_cache *cache, SEL selector) {
  return (2 * (uintptr_t)selector & cache->mask_bytes) / sizeof(cache_entry);
}

// Puts a method into the table. False if there is no room where it belongs.
static bool cache_put(message_cache *cache, SEL selector, IMP imp) {
  size_t at = first_entry(cache, selector);
  SEL other;
  while ((other = atomic_load_explicit(&cache->entries[at].selector,
                                       memory_order_relaxed)) != NULL) {
    if (other == selector) {
      return true;
    }
    ++at;
  }
  if (at + 1 >= cache->capacity) {
    return false;
  }
  cache->entries[at].imp = imp;
  // Pairs with the probe's load: whoever sees the selector sees the method.
  atomic_store_explicit(&cache->entries[at].selector, selector,
                        memory_order_release);
  ++cache->count;
  return true;
}

// Makes a table of 2^log2 places and some behind them, so that a search need
// not wrap around.
static message_cache *cache_create(size_t places, message_cache *previous) {
  const size_t capacity = places + 8;
  message_cache *cache =
      calloc(1, sizeof *cache + capacity * sizeof(cache_entry));
  if (!cache) {
    runtime_fail("no memory for a method cache");
  }
  cache->mask_bytes = (places - 1) * sizeof(cache_entry);
  cache->capacity = (uint32_t)capacity;
  cache->previous = previous;
  return cache;
}

static size_t cache_places(const message_cache *cache) {
  return cache->mask_bytes / sizeof(cache_entry) + 1;
}

static void cache_replace(Class class, message_cache *cache) {
  __atomic_store_n(&class->cache, cache, __ATOMIC_RELEASE);
}

// Copies the class' table into one twice as large, with a further method.
static void cache_grow(Class class, SEL selector, IMP imp) {
  message_cache *old = class->cache;
  size_t places = cache_places(old) < 8 ? 8 : 2 * cache_places(old);
  for (;; places *= 2) {
    message_cache *cache = cache_create(places, old);
    bool fits = cache_put(cache, selector, imp);
    for (size_t i = 0; fits && i < old->capacity; ++i) {
      const SEL each = atomic_load_explicit(&old->entries[i].selector,
                                            memory_order_relaxed);
      fits = !each || cache_put(cache, each, old->entries[i].imp);
    }
    if (fits) {
      cache_replace(class, cache);
      return;
    }
    free(cache);
  }
}

static void cache_add(Class class, SEL selector, IMP imp) {
  message_cache *cache = class->cache;
  const bool is_empty_one = cache == &_objc_empty_cache.header;
  if (is_empty_one || 4 * (cache->count + 1) > 3 * cache_places(cache) ||
      !cache_put(cache, selector, imp)) {
    cache_grow(class, selector, imp);
  }
}

void message_forget(Class class) {
  if (class->cache != &_objc_empty_cache.header) {
    cache_replace(class, cache_create(8, class->cache));
  }
  for (Class each = class->data->first_subclass; each;
       each = each->data->next_sibling) {
    message_forget(each);
  }
}

// --- +initialize -------------------------------------------------------------

// Sends +initialize once, to the classes above first; other threads wait for
// its end; the thread that runs it does not. The lock is held, but not while
// +initialize runs.
static void initialize(Class class) {
  class_data *data = class->data;
  if (data->initialize == INITIALIZE_DONE) {
    return;
  }
  if (class->superclass) {
    initialize(class->superclass);
  }
  while (data->initialize == INITIALIZE_RUNS &&
         !pthread_equal(data->initializer, pthread_self())) {
    runtime_wait();
  }
  if (data->initialize != INITIALIZE_NEEDED) {
    return;
  }
  method *found = class_find_method(class->isa, SELECTOR("initialize"));
  if (found) {
    data->initialize = INITIALIZE_RUNS;
    data->initializer = pthread_self();
    runtime_unlock();
    ((void (*)(id, SEL))found->imp)((id)class, found->name);
    runtime_lock();
  }
  data->initialize = INITIALIZE_DONE;
  runtime_wake();
}

// --- Finding -----------------------------------------------------------------

// Asks the class to add the missing method.
static method *resolve(id receiver, Class class, SEL selector) {
  const bool is_meta = class_is_meta(class);
  // The metaclass' resolver is a method of the class itself.
  const SEL resolver = is_meta ? SELECTOR("resolveClassMethod:")
                               : SELECTOR("resolveInstanceMethod:");
  const id asked = is_meta ? receiver : (id)class;
  if (selector == resolver || selector == SELECTOR("resolveInstanceMethod:") ||
      !class_find_method(asked->isa, resolver)) {
    return NULL;
  }
  ((int (*)(id, SEL, SEL))objc_msgSend)(asked, resolver, selector);
  return class_find_method(class, selector);
}

// Asks the receiver for another object to answer; NULL if it names none.
static id forwarding_target(id receiver, Class class, SEL selector) {
  const SEL question = SELECTOR("forwardingTargetForSelector:");
  if (selector == question || !class_find_method(class, question)) {
    return NULL;
  }
  return ((id(*)(id, SEL, SEL))objc_msgSend)(receiver, question, selector);
}

static message_target find_in(id receiver, Class class, SEL selector) {
  if (!selector_is_interned(selector)) {
    runtime_fail("%p, sent to an object of class %s, is no selector: it is "
                 "not from sel_registerName",
                 (const void *)selector, class_name(class));
  }
  runtime_lock();
  class_realize(class);
  if (class_is_meta(class)) {
    if (class_is_realized((Class)receiver)) {
      initialize((Class)receiver);
    }
  } else {
    initialize(class);
  }
  method *found = class_find_method(class, selector);
  if (!found) {
    found = resolve(receiver, class, selector);
  }
  message_target target = {NULL, receiver};
  if (found) {
    target.imp = found->imp;
    if (!trace_messages()) {
      cache_add(class, selector, found->imp);
    }
  }
  runtime_unlock();
  return target;
}

// True if the receiver has a signature for the message, by which it is handed
// to forwardInvocation:.
static bool is_forwarded(id receiver, SEL selector) {
  const SEL question = SELECTOR("methodSignatureForSelector:");
  return selector != question &&
         class_getMethodImplementation(receiver->isa, question) &&
         ((id(*)(id, SEL, SEL))objc_msgSend)(receiver, question, selector);
}

static message_target find(id receiver, Class class, SEL selector) {
  for (int hops = 0; hops < 100; ++hops) {
    const message_target target = find_in(receiver, class, selector);
    if (target.imp) {
      trace_message(class, selector);
      return target;
    }
    const id other = forwarding_target(receiver, class, selector);
    if (!other || other == receiver) {
      break;
    }
    receiver = other;
    class = other->isa;
  }
  if (is_forwarded(receiver, selector)) {
    return (message_target){(IMP)message_forward, receiver};
  }
  exception_raise_unrecognized(receiver, selector);
}

message_target message_find(id receiver, SEL selector) {
  return find(receiver, receiver->isa, selector);
}

message_target message_find_super(const struct objc_super *super,
                                  SEL selector) {
  const Class class = super->current_class->superclass;
  if (!class) {
    exception_raise_unrecognized(super->receiver, selector);
  }
  return find(super->receiver, class, selector);
}

OBJC_EXPORT IMP class_getMethodImplementation(Class class, SEL selector) {
  if (!class || !selector) {
    return NULL;
  }
  runtime_lock();
  class_realize(class);
  const method *found = class_find_method(class, selector);
  runtime_unlock();
  return found ? found->imp : NULL;
}

