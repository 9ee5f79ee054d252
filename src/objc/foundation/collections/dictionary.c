// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dictionary.c: NSDictionary and NSMutableDictionary: a hash table that keeps
// the order of insertion.
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"

typedef struct pair {
  id key;  // NULL: removed
  id value;
} pair;

typedef struct concrete_dictionary {
  struct objc_object object;
  size_t count;
  unsigned long mutations;
  pair *pairs;  // [used] in order, with gaps where one was removed
  size_t used;
  size_t capacity;
  uint32_t *slots;  // [slot_count] 1 + index in pairs; 0: free
  size_t slot_count;
} concrete_dictionary;

extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSMutableDictionary;
extern struct objc_class OBJC_CLASS_$_MettleDictionary;
extern struct objc_class OBJC_CLASS_$_MettleMutableDictionary;

// --- The table ---------------------------------------------------------------

static size_t slot_of(const concrete_dictionary *dictionary, id key) {
  const size_t mask = dictionary->slot_count - 1;
  size_t at = SEND(NSUInteger(*)(id, SEL), key, "hash") & mask;
  for (; dictionary->slots[at]; at = (at + 1) & mask) {
    const id other = dictionary->pairs[dictionary->slots[at] - 1].key;
    if (other &&
        (other == key || SEND(int (*)(id, SEL, id), other, "isEqual:", key))) {
      break;
    }
  }
  return at;
}

// Makes room for one more pair; drops the gaps.
static void rebuild(concrete_dictionary *dictionary) {
  const size_t capacity = dictionary->count < 4 ? 8 : 2 * dictionary->count;
  pair *pairs = calloc(capacity, sizeof *pairs);
  uint32_t *slots = calloc(4 * capacity, sizeof *slots);
  if (!pairs || !slots) {
    runtime_fail("no memory for a dictionary of %zu objects", capacity);
  }
  size_t slot_count = 16;
  while (slot_count < 2 * capacity) {
    slot_count *= 2;
  }
  size_t used = 0;
  for (size_t i = 0; i < dictionary->used; ++i) {
    if (dictionary->pairs[i].key) {
      pairs[used++] = dictionary->pairs[i];
    }
  }
  free(dictionary->pairs);
  free(dictionary->slots);
  dictionary->pairs = pairs;
  dictionary->capacity = capacity;
  dictionary->slots = slots;
  dictionary->slot_count = slot_count;
  dictionary->used = 0;
  for (size_t i = 0; i < used; ++i) {
    dictionary->slots[slot_of(dictionary, pairs[i].key)] = (uint32_t)i + 1;
    dictionary->used = i + 1;
  }
}

static void check_pair(id key, id value) {
  if (!key || !value) {
    exception_raise("NSInvalidArgumentException",
                    "a dictionary cannot hold nil");
  }
}

// Takes key over, a reference of the caller's.
static void put_owned(concrete_dictionary *dictionary, id key, id value) {
  if (dictionary->used == dictionary->capacity) {
    rebuild(dictionary);
  }
  const size_t slot = slot_of(dictionary, key);
  objc_retain(value);
  ++dictionary->mutations;
  if (dictionary->slots[slot]) {
    pair *found = &dictionary->pairs[dictionary->slots[slot] - 1];
    const id old = found->value;
    found->value = value;
    objc_release(old);
    objc_release(key);
    return;
  }
  dictionary->pairs[dictionary->used] = (pair){key, value};
  dictionary->slots[slot] = (uint32_t)++dictionary->used;
  ++dictionary->count;
}

static void put(concrete_dictionary *dictionary, id key, id value) {
  check_pair(key, value);
  put_owned(dictionary,
            SEND(id(*)(id, SEL, void *), key, "copyWithZone:", NULL), value);
}

static id get(const concrete_dictionary *dictionary, id key) {
  if (!key || !dictionary->slot_count) {
    return NULL;
  }
  const uint32_t slot = dictionary->slots[slot_of(dictionary, key)];
  return slot ? dictionary->pairs[slot - 1].value : NULL;
}

static void drop(concrete_dictionary *dictionary, id key) {
  if (!get(dictionary, key)) {
    return;
  }
  pair *found =
      &dictionary->pairs[dictionary->slots[slot_of(dictionary, key)] - 1];
  const pair old = *found;
  *found = (pair){NULL, NULL};  // its slot stays taken until the next rebuild
  --dictionary->count;
  ++dictionary->mutations;
  objc_release(old.key);
  objc_release(old.value);
}

static void clear(concrete_dictionary *dictionary) {
  for (size_t i = 0; i < dictionary->used; ++i) {
    objc_release(dictionary->pairs[i].key);
    objc_release(dictionary->pairs[i].value);
  }
  free(dictionary->pairs);
  free(dictionary->slots);
  dictionary->pairs = NULL;
  dictionary->slots = NULL;
  dictionary->count = dictionary->used = 0;
  dictionary->capacity = dictionary->slot_count = 0;
  ++dictionary->mutations;
}

// --- For C -------------------------------------------------------------------

id dictionary_create(void) {
  return CREATE(MettleMutableDictionary);
}

void dictionary_set(id dictionary, id key, id value) {
  SEND(void (*)(id, SEL, id, id), dictionary, "setObject:forKey:", value, key);
}

void dictionary_set_uncopied(id dictionary, id key, id value) {
  check_pair(key, value);
  put_owned((concrete_dictionary *)dictionary, objc_retain(key), value);
}

id dictionary_get(id dictionary, id key) {
  return SEND(id(*)(id, SEL, id), dictionary, "objectForKey:", key);
}

// --- The concrete classes ----------------------------------------------------

static void concrete_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  clear((concrete_dictionary *)self);
  instance_dispose(self);
}

static NSUInteger concrete_count(id self, SEL _cmd) {
  (void)_cmd;
  return ((concrete_dictionary *)self)->count;
}

static id concrete_get(id self, SEL _cmd, id key) {
  (void)_cmd;
  return get((concrete_dictionary *)self, key);
}

static id listed(id self, bool wants_keys) {
  const concrete_dictionary *dictionary = (concrete_dictionary *)self;
  const id list = mutable_array_create();
  for (size_t i = 0; i < dictionary->used; ++i) {
    const pair each = dictionary->pairs[i];
    if (each.key) {
      SEND(void (*)(id, SEL, id), list,
           "addObject:", wants_keys ? each.key : each.value);
    }
  }
  return objc_autorelease(list);
}

static id concrete_keys(id self, SEL _cmd) {
  (void)_cmd;
  return listed(self, true);
}

static id concrete_values(id self, SEL _cmd) {
  (void)_cmd;
  return listed(self, false);
}

static id immutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

static void mutable_put(id self, SEL _cmd, id value, id key) {
  (void)_cmd;
  put((concrete_dictionary *)self, key, value);
}

// Implements dictionary[key] = nil, which removes the key.
static void mutable_subscript(id self, SEL _cmd, id value, id key) {
  (void)_cmd;
  if (value) {
    put((concrete_dictionary *)self, key, value);
  } else {
    drop((concrete_dictionary *)self, key);
  }
}

static void mutable_drop(id self, SEL _cmd, id key) {
  (void)_cmd;
  drop((concrete_dictionary *)self, key);
}

static void mutable_clear(id self, SEL _cmd) {
  (void)_cmd;
  clear((concrete_dictionary *)self);
}

#define CONCRETE_METHODS                                   \
  METHOD("dealloc", "v16@0:8", concrete_dealloc),          \
      METHOD("count", "Q16@0:8", concrete_count),          \
      METHOD("objectForKey:", "@24@0:8@16", concrete_get), \
      METHOD("allKeys", "@16@0:8", concrete_keys),         \
      METHOD("allValues", "@16@0:8", concrete_values)

METHODS(concrete_methods, CONCRETE_METHODS,
        METHOD("copyWithZone:", "@24@0:8^v16", immutable_copy));
DEFINE_CLASS(MettleDictionary, NSDictionary, sizeof(concrete_dictionary),
             concrete_methods, NO_METHODS);

// @{}: the compiler loads this one object rather than making one.
static struct {
  object_header header;
  concrete_dictionary dictionary;
} empty = {{OBJECT_ONE, NULL}, {.object = {&OBJC_CLASS_$_MettleDictionary}}};
extern OBJC_EXPORT id __NSDictionary0__;
id __NSDictionary0__ = &empty.dictionary.object;

METHODS(mutable_methods, CONCRETE_METHODS,
        METHOD("setObject:forKey:", "v32@0:8@16@24", mutable_put),
        METHOD("setObject:forKeyedSubscript:", "v32@0:8@16@24",
               mutable_subscript),
        METHOD("removeObjectForKey:", "v24@0:8@16", mutable_drop),
        METHOD("removeAllObjects", "v16@0:8", mutable_clear));
DEFINE_CLASS(MettleMutableDictionary, NSMutableDictionary,
             sizeof(concrete_dictionary), mutable_methods, NO_METHODS);

// --- Making ------------------------------------------------------------------

static id dictionary_alloc(Class self, SEL _cmd) {
  (void)_cmd;
  return instance_create(self == &OBJC_CLASS_$_NSDictionary
                             ? &OBJC_CLASS_$_MettleDictionary
                         : self == &OBJC_CLASS_$_NSMutableDictionary
                             ? &OBJC_CLASS_$_MettleMutableDictionary
                             : self,
                         0);
}

static id make_empty(Class self, SEL _cmd) {
  return objc_autorelease(dictionary_alloc(self, _cmd));
}

static id make_from(Class self, SEL _cmd, const id *values, const id *keys,
                    NSUInteger count) {
  const id made = make_empty(self, _cmd);
  for (size_t i = 0; i < count; ++i) {
    put((concrete_dictionary *)made, keys[i], values[i]);
  }
  return made;
}

static id make_with(Class self, SEL _cmd, id value, id key) {
  return make_from(self, _cmd, &value, &key, 1);
}

static id make_list(Class self, SEL _cmd, id first, ...) {
  const id made = make_empty(self, _cmd);
  va_list others;
  va_start(others, first);
  for (id value = first; value; value = va_arg(others, id)) {
    put((concrete_dictionary *)made, va_arg(others, id), value);
  }
  va_end(others);
  return made;
}

static void append_dictionary(id self, id other) {
  const id keys = SEND(id(*)(id, SEL), other, "allKeys");
  for (size_t i = 0; i < array_count(keys); ++i) {
    const id key = array_at(keys, i);
    put((concrete_dictionary *)self, key, dictionary_get(other, key));
  }
}

static id make_dictionary(Class self, SEL _cmd, id other) {
  const id made = make_empty(self, _cmd);
  append_dictionary(made, other);
  return made;
}

static id make_capacity(Class self, SEL _cmd, NSUInteger capacity) {
  (void)capacity;
  return make_empty(self, _cmd);
}

static id init_from(id self, SEL _cmd, const id *values, const id *keys,
                    NSUInteger count) {
  (void)_cmd;
  for (size_t i = 0; i < count; ++i) {
    put((concrete_dictionary *)self, keys[i], values[i]);
  }
  return self;
}

static id init_dictionary(id self, SEL _cmd, id other) {
  (void)_cmd;
  append_dictionary(self, other);
  return self;
}

static id init_capacity(id self, SEL _cmd, NSUInteger capacity) {
  (void)_cmd;
  (void)capacity;
  return self;
}

METHODS(dictionary_class_methods, METHOD("alloc", "@16@0:8", dictionary_alloc),
        METHOD("dictionary", "@16@0:8", make_empty),
        METHOD("dictionaryWithObjects:forKeys:count:", "@40@0:8^@16^@24Q32",
               make_from),
        METHOD("dictionaryWithObject:forKey:", "@32@0:8@16@24", make_with),
        METHOD("dictionaryWithObjectsAndKeys:", "@24@0:8@16", make_list),
        METHOD("dictionaryWithDictionary:", "@24@0:8@16", make_dictionary),
        METHOD("dictionaryWithCapacity:", "@24@0:8Q16", make_capacity));

// --- What all dictionaries can do --------------------------------------------

static id dictionary_subscript(id self, SEL _cmd, id key) {
  (void)_cmd;
  return dictionary_get(self, key);
}

static id dictionary_value(id self, SEL _cmd, id key) {
  (void)_cmd;
  return dictionary_get(self, key);
}

static int dictionary_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  if (!other ||
      !SEND(int (*)(id, SEL, Class), other,
            "isKindOfClass:", &OBJC_CLASS_$_NSDictionary) ||
      array_count(other) != array_count(self)) {
    return 0;
  }
  const id keys = SEND(id(*)(id, SEL), self, "allKeys");
  for (size_t i = 0; i < array_count(keys); ++i) {
    const id key = array_at(keys, i);
    if (!SEND(int (*)(id, SEL, id), dictionary_get(self, key),
              "isEqual:", dictionary_get(other, key))) {
      return 0;
    }
  }
  return 1;
}

static NSUInteger dictionary_hash(id self, SEL _cmd) {
  (void)_cmd;
  return array_count(self);
}

static NSUInteger dictionary_enumerate(id self, SEL _cmd, enumeration *state,
                                       id *room, NSUInteger room_count) {
  (void)_cmd;
  return array_enumerate(SEND(id(*)(id, SEL), self, "allKeys"), state, room,
                         room_count);
}

static void dictionary_enumerate_block(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  const id keys = SEND(id(*)(id, SEL), self, "allKeys");
  for (size_t i = 0; i < array_count(keys) && !stop; ++i) {
    const id key = array_at(keys, i);
    BLOCK_CALL(void (*)(id, id, id, signed char *), literal, key,
               dictionary_get(self, key), &stop);
  }
}

static id copied(id self, Class class) {
  const id made = instance_create(class, 0);
  append_dictionary(made, self);
  return made;
}

static id dictionary_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return copied(self, &OBJC_CLASS_$_MettleDictionary);
}

static id dictionary_mutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return copied(self, &OBJC_CLASS_$_MettleMutableDictionary);
}

METHODS(dictionary_methods,
        METHOD("initWithObjects:forKeys:count:", "@40@0:8^@16^@24Q32",
               init_from),
        METHOD("initWithDictionary:", "@24@0:8@16", init_dictionary),
        METHOD("initWithCapacity:", "@24@0:8Q16", init_capacity),
        METHOD("objectForKeyedSubscript:", "@24@0:8@16", dictionary_subscript),
        METHOD("valueForKey:", "@24@0:8@16", dictionary_value),
        METHOD("isEqual:", "B24@0:8@16", dictionary_is_equal),
        METHOD("isEqualToDictionary:", "B24@0:8@16", dictionary_is_equal),
        METHOD("hash", "Q16@0:8", dictionary_hash),
        METHOD("countByEnumeratingWithState:objects:count:",
               "Q40@0:8^v16^@24Q32", dictionary_enumerate),
        METHOD("enumerateKeysAndObjectsUsingBlock:", "v24@0:8@?16",
               dictionary_enumerate_block),
        METHOD("copyWithZone:", "@24@0:8^v16", dictionary_copy),
        METHOD("mutableCopyWithZone:", "@24@0:8^v16", dictionary_mutable_copy));
DEFINE_CLASS(NSDictionary, NSObject, sizeof(struct objc_object),
             dictionary_methods, &dictionary_class_methods);

static void add_entries(id self, SEL _cmd, id other) {
  (void)_cmd;
  append_dictionary(self, other);
}

METHODS(mutable_dictionary_methods,
        METHOD("addEntriesFromDictionary:", "v24@0:8@16", add_entries));
DEFINE_CLASS(NSMutableDictionary, NSDictionary, sizeof(struct objc_object),
             mutable_dictionary_methods, NO_METHODS);
