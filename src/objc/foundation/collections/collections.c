// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// collections.c: NSNull, NSCache, and the methods of NSDictionary and NSSet
// that are built on others.
#include <pthread.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSMutableDictionary;
extern struct objc_class OBJC_CLASS_$_NSSet;
extern struct objc_class OBJC_CLASS_$_NSMutableSet;

// --- NSNull --------------------------------------------------------------------

static id null_shared(Class self, SEL _cmd) {
  static _Atomic(id) shared;
  (void)_cmd;
  return shared_instance(&shared, self);
}

static id null_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

static id null_description(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return string_make("<null>");
}

METHODS(null_methods, METHOD("copyWithZone:", "@24@0:8^v16", null_copy),
        METHOD("description", "@16@0:8", null_description));
METHODS(null_class_methods, METHOD("null", "@16@0:8", null_shared));
DEFINE_CLASS(NSNull, NSObject, sizeof(struct objc_object), null_methods,
             &null_class_methods);

// --- NSCache -------------------------------------------------------------------

// It forgets the oldest objects when there are more than countLimit.
typedef struct cache {
  struct objc_object object;
  pthread_mutex_t lock;
  id entries;  // +1, keys as they came
  id name;
  NSUInteger count_limit, cost_limit;
} cache;

static id cache_init(id self, SEL _cmd) {
  (void)_cmd;
  cache *made = (cache *)self;
  pthread_mutex_init(&made->lock, NULL);
  made->entries = dictionary_create();
  return self;
}

static void cache_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  cache *of = (cache *)self;
  objc_release(of->entries);
  objc_release(of->name);
  pthread_mutex_destroy(&of->lock);
  instance_dispose(self);
}

static id cache_get(id self, SEL _cmd, id key) {
  (void)_cmd;
  cache *of = (cache *)self;
  pthread_mutex_lock(&of->lock);
  const id found = objc_retain(dictionary_get(of->entries, key));
  pthread_mutex_unlock(&of->lock);
  return objc_autorelease(found);
}

static void cache_set(id self, SEL _cmd, id object, id key) {
  (void)_cmd;
  cache *of = (cache *)self;
  pthread_mutex_lock(&of->lock);
  dictionary_set_uncopied(of->entries, key, object);
  const id keys = SEND(id(*)(id, SEL), of->entries, "allKeys");
  const size_t count = array_count(keys);
  for (size_t i = 0; of->count_limit && i + of->count_limit < count; ++i) {
    SEND(void (*)(id, SEL, id), of->entries, "removeObjectForKey:",
         array_at(keys, i));
  }
  pthread_mutex_unlock(&of->lock);
}

static void cache_set_cost(id self, SEL _cmd, id object, id key,
                           NSUInteger cost) {
  (void)cost;
  cache_set(self, _cmd, object, key);
}

static void cache_remove(id self, SEL _cmd, id key) {
  (void)_cmd;
  cache *of = (cache *)self;
  pthread_mutex_lock(&of->lock);
  SEND(void (*)(id, SEL, id), of->entries, "removeObjectForKey:", key);
  pthread_mutex_unlock(&of->lock);
}

static void cache_clear(id self, SEL _cmd) {
  (void)_cmd;
  cache *of = (cache *)self;
  pthread_mutex_lock(&of->lock);
  SEND(void (*)(id, SEL), of->entries, "removeAllObjects");
  pthread_mutex_unlock(&of->lock);
}

#define LIMIT(field)                                              \
  static NSUInteger cache_##field(id self, SEL _cmd) {            \
    (void)_cmd;                                                   \
    return ((cache *)self)->field;                                \
  }                                                               \
  static void cache_set_##field(id self, SEL _cmd, NSUInteger to) { \
    (void)_cmd;                                                   \
    ((cache *)self)->field = to;                                  \
  }
LIMIT(count_limit)
LIMIT(cost_limit)

static id cache_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((cache *)self)->name;
}

static void cache_set_name(id self, SEL _cmd, id name) {
  (void)_cmd;
  cache *of = (cache *)self;
  objc_release(of->name);
  of->name = SEND(id(*)(id, SEL), name, "copy");
}

METHODS(cache_methods, METHOD("init", "@16@0:8", cache_init),
        METHOD("dealloc", "v16@0:8", cache_dealloc),
        METHOD("objectForKey:", "@24@0:8@16", cache_get),
        METHOD("setObject:forKey:", "v32@0:8@16@24", cache_set),
        METHOD("setObject:forKey:cost:", "v40@0:8@16@24Q32", cache_set_cost),
        METHOD("removeObjectForKey:", "v24@0:8@16", cache_remove),
        METHOD("removeAllObjects", "v16@0:8", cache_clear),
        METHOD("countLimit", "Q16@0:8", cache_count_limit),
        METHOD("setCountLimit:", "v24@0:8Q16", cache_set_count_limit),
        METHOD("totalCostLimit", "Q16@0:8", cache_cost_limit),
        METHOD("setTotalCostLimit:", "v24@0:8Q16", cache_set_cost_limit),
        METHOD("name", "@16@0:8", cache_name),
        METHOD("setName:", "v24@0:8@16", cache_set_name));
DEFINE_CLASS(NSCache, NSObject, sizeof(cache), cache_methods, NO_METHODS);

// --- NSDictionary ----------------------------------------------------------------

static id pairs(id values, id keys) {
  const size_t count = array_count(keys);
  if (count != array_count(values)) {
    exception_raise("NSInvalidArgumentException",
                    "%zu objects for %zu keys of a dictionary",
                    array_count(values), count);
  }
  const id made = dictionary_create();
  for (size_t i = 0; i < count; ++i) {
    dictionary_set(made, array_at(keys, i), array_at(values, i));
  }
  return made;
}

static id dictionary_with_pairs(Class self, SEL _cmd, id values, id keys) {
  (void)_cmd;
  const id made = objc_autorelease(pairs(values, keys));
  return SEND(id(*)(id, SEL, id), self, "dictionaryWithDictionary:", made);
}

static id keys_for(id self, SEL _cmd, id object) {
  (void)_cmd;
  const id found = objc_autorelease(mutable_array_create());
  const id keys = SEND(id(*)(id, SEL), self, "allKeys");
  const size_t count = array_count(keys);
  for (size_t i = 0; i < count; ++i) {
    if (objects_equal(dictionary_get(self, array_at(keys, i)), object)) {
      array_add(found, array_at(keys, i));
    }
  }
  return found;
}

// A stable sort: equal elements keep their order.
static id keys_sorted(id self, bool (*is_before)(id, id, void *),
                      void *context) {
  const id keys = SEND(id(*)(id, SEL), self, "allKeys");
  const id made = objc_autorelease(mutable_array_create());
  const size_t count = array_count(keys);
  for (size_t i = 0; i < count; ++i) {
    const id key = array_at(keys, i);
    NSUInteger at = i;
    while (at && is_before(dictionary_get(self, key),
                           dictionary_get(self, array_at(made, at - 1)),
                           context)) {
      --at;
    }
    SEND(void (*)(id, SEL, id, NSUInteger), made, "insertObject:atIndex:", key,
         at);
  }
  return made;
}

static bool before_by_selector(id one, id other, void *context) {
  return ((NSInteger(*)(id, SEL, id))objc_msgSend)(one, (SEL)context, other) <
         0;
}

static bool before_by_block(id one, id other, void *context) {
  return BLOCK_CALL(NSInteger(*)(id, id, id), context, one, other) < 0;
}

static id keys_sorted_by_selector(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return keys_sorted(self, before_by_selector, (void *)selector);
}

static id keys_sorted_by_block(id self, SEL _cmd, id literal) {
  (void)_cmd;
  return keys_sorted(self, before_by_block, literal);
}

static id objects_for(id self, SEL _cmd, id keys, id missing) {
  (void)_cmd;
  const id made = objc_autorelease(mutable_array_create());
  const size_t count = array_count(keys);
  for (size_t i = 0; i < count; ++i) {
    const id found = dictionary_get(self, array_at(keys, i));
    array_add(made, found ? found : missing);
  }
  return made;
}

METHODS(dictionary_methods,
        METHOD("allKeysForObject:", "@24@0:8@16", keys_for),
        METHOD("keysSortedByValueUsingSelector:", "@24@0:8:16",
               keys_sorted_by_selector),
        METHOD("keysSortedByValueUsingComparator:", "@24@0:8@?16",
               keys_sorted_by_block),
        METHOD("objectsForKeys:notFoundMarker:", "@32@0:8@16@24",
               objects_for));
METHODS(dictionary_class_methods,
        METHOD("dictionaryWithObjects:forKeys:", "@32@0:8@16@24",
               dictionary_with_pairs));
static category dictionary_category = {
    .name = "collections",
    .class = &OBJC_CLASS_$_NSDictionary,
    .instance_methods = (method_list *)&dictionary_methods,
    .class_methods = (method_list *)&dictionary_class_methods};
static category *dictionary_listed
    __attribute__((section("objc_catlist"), used)) = &dictionary_category;

static void remove_keys(id self, SEL _cmd, id keys) {
  (void)_cmd;
  const size_t count = array_count(keys);
  for (size_t i = 0; i < count; ++i) {
    SEND(void (*)(id, SEL, id), self, "removeObjectForKey:",
         array_at(keys, i));
  }
}

static void set_dictionary(id self, SEL _cmd, id other) {
  (void)_cmd;
  const id kept = SEND(id(*)(id, SEL), other, "copy");
  SEND(void (*)(id, SEL), self, "removeAllObjects");
  SEND(void (*)(id, SEL, id), self, "addEntriesFromDictionary:", kept);
  objc_release(kept);
}

METHODS(mutable_dictionary_methods,
        METHOD("removeObjectsForKeys:", "v24@0:8@16", remove_keys),
        METHOD("setDictionary:", "v24@0:8@16", set_dictionary));
DEFINE_CATEGORY(NSMutableDictionary, collections, mutable_dictionary_methods);

// --- NSSet -----------------------------------------------------------------------

static id set_adding(id self, SEL _cmd, id object) {
  (void)_cmd;
  const id made = SEND(id(*)(id, SEL), self, "mutableCopy");
  SEND(void (*)(id, SEL, id), made, "addObject:", object);
  return objc_autorelease(made);
}

static id set_adding_set(id self, SEL _cmd, id other) {
  (void)_cmd;
  const id made = SEND(id(*)(id, SEL), self, "mutableCopy");
  SEND(void (*)(id, SEL, id), made, "unionSet:", other);
  return objc_autorelease(made);
}

METHODS(set_methods, METHOD("setByAddingObject:", "@24@0:8@16", set_adding),
        METHOD("setByAddingObjectsFromSet:", "@24@0:8@16", set_adding_set));
DEFINE_CATEGORY(NSSet, collections, set_methods);
