// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// map_table.c: NSMapTable and NSHashTable over pointer_table.h.
#include "objc/foundation/collections/pointer_table.h"

typedef struct map_table {
  struct objc_object object;
  pointer_table table;
} map_table;

extern struct objc_class OBJC_CLASS_$_NSMapTable;
extern struct objc_class OBJC_CLASS_$_NSHashTable;
extern struct objc_class OBJC_CLASS_$_NSSet;

static pointer_table *table_of(id self) {
  return &((map_table *)self)->table;
}

static id init_table(id self, NSUInteger key_options,
                     NSUInteger value_options) {
  pointer_check(key_options);
  pointer_check(value_options);
  table_of(self)->key_options = key_options;
  table_of(self)->value_options = value_options;
  return self;
}

static id made(Class class, NSUInteger key_options, NSUInteger value_options) {
  return objc_autorelease(init_table(SEND(id(*)(id, SEL), class, "alloc"),
                                     key_options, value_options));
}

// --- What both can do --------------------------------------------------------

static void dealloc(id self, SEL _cmd) {
  (void)_cmd;
  table_clear(table_of(self));
  instance_dispose(self);
}

static void clear(id self, SEL _cmd) {
  (void)_cmd;
  table_clear(table_of(self));
}

static void remove_key(id self, SEL _cmd, id key) {
  (void)_cmd;
  table_remove(table_of(self), key);
}

static NSUInteger enumerate(id self, SEL _cmd, enumeration *state, id *room,
                            NSUInteger room_count) {
  (void)_cmd;
  if (!state->state) {
    state->extra[0] = (unsigned long)table_keys(table_of(self));
  }
  const NSUInteger given =
      array_enumerate((id)state->extra[0], state, room, room_count);
  state->mutations = &table_of(self)->mutations;
  return given;
}

static id enumerator(id objects) {
  return SEND(id(*)(id, SEL), objects, "objectEnumerator");
}

static id copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  pointer_table *from = table_of(self);
  const id copied = init_table(instance_create(self->isa, 0), from->key_options,
                               from->value_options);
  const id keys = table_keys(from);
  for (size_t i = 0; i < array_count(keys); ++i) {
    table_entry *entry = table_find(from, array_at(keys, i));
    table_put(table_of(copied), array_at(keys, i),
              pointer_read(&entry->value, from->value_options));
  }
  return copied;
}

#define TABLE_METHODS                                      \
  METHOD("dealloc", "v16@0:8", dealloc),                   \
      METHOD("removeAllObjects", "v16@0:8", clear),        \
      METHOD("countByEnumeratingWithState:objects:count:", \
             "Q40@0:8^v16^@24Q32", enumerate),             \
      METHOD("copyWithZone:", "@24@0:8^v16", copy)

// --- NSMapTable --------------------------------------------------------------

static id map_init(id self, SEL _cmd, NSUInteger key_options,
                   NSUInteger value_options, NSUInteger capacity) {
  (void)_cmd;
  (void)capacity;
  return init_table(self, key_options, value_options);
}

static id map_with(Class self, SEL _cmd, NSUInteger key_options,
                   NSUInteger value_options) {
  (void)_cmd;
  return made(self, key_options, value_options);
}

static id map_strong_strong(Class self, SEL _cmd) {
  (void)_cmd;
  return made(self, POINTER_STRONG, POINTER_STRONG);
}

static id map_weak_strong(Class self, SEL _cmd) {
  (void)_cmd;
  return made(self, POINTER_WEAK, POINTER_STRONG);
}

static id map_strong_weak(Class self, SEL _cmd) {
  (void)_cmd;
  return made(self, POINTER_STRONG, POINTER_WEAK);
}

static id map_weak_weak(Class self, SEL _cmd) {
  (void)_cmd;
  return made(self, POINTER_WEAK, POINTER_WEAK);
}

static id map_get(id self, SEL _cmd, id key) {
  (void)_cmd;
  table_entry *entry = table_find(table_of(self), key);
  return entry ? pointer_read(&entry->value, table_of(self)->value_options)
               : NULL;
}

static void map_set(id self, SEL _cmd, id value, id key) {
  (void)_cmd;
  if (!key) {
    exception_raise("NSInvalidArgumentException",
                    "-[NSMapTable setObject:forKey:]: the key is nil");
  }
  table_put(table_of(self), key, value);
}

static NSUInteger map_count(id self, SEL _cmd) {
  (void)_cmd;
  return array_count(table_values(table_of(self)));
}

static id map_keys(id self, SEL _cmd) {
  (void)_cmd;
  return enumerator(table_keys(table_of(self)));
}

static id map_values(id self, SEL _cmd) {
  (void)_cmd;
  return enumerator(table_values(table_of(self)));
}

static id map_dictionary(id self, SEL _cmd) {
  const id all = objc_autorelease(dictionary_create());
  const id keys = table_keys(table_of(self));
  for (size_t i = 0; i < array_count(keys); ++i) {
    const id value = map_get(self, _cmd, array_at(keys, i));
    if (value) {
      dictionary_set_uncopied(all, array_at(keys, i), value);
    }
  }
  return all;
}

static id map_description(id self, SEL _cmd) {
  return string_make_printf(
      "NSMapTable %s",
      string_utf8(
          SEND(id(*)(id, SEL), map_dictionary(self, _cmd), "description")));
}

METHODS(map_methods, TABLE_METHODS,
        METHOD("initWithKeyOptions:valueOptions:capacity:", "@40@0:8Q16Q24Q32",
               map_init),
        METHOD("objectForKey:", "@24@0:8@16", map_get),
        METHOD("setObject:forKey:", "v32@0:8@16@24", map_set),
        METHOD("removeObjectForKey:", "v24@0:8@16", remove_key),
        METHOD("count", "Q16@0:8", map_count),
        METHOD("keyEnumerator", "@16@0:8", map_keys),
        METHOD("objectEnumerator", "@16@0:8", map_values),
        METHOD("dictionaryRepresentation", "@16@0:8", map_dictionary),
        METHOD("description", "@16@0:8", map_description));
METHODS(map_class_methods,
        METHOD("mapTableWithKeyOptions:valueOptions:", "@32@0:8Q16Q24",
               map_with),
        METHOD("strongToStrongObjectsMapTable", "@16@0:8", map_strong_strong),
        METHOD("weakToStrongObjectsMapTable", "@16@0:8", map_weak_strong),
        METHOD("strongToWeakObjectsMapTable", "@16@0:8", map_strong_weak),
        METHOD("weakToWeakObjectsMapTable", "@16@0:8", map_weak_weak));
DEFINE_CLASS(NSMapTable, NSObject, sizeof(map_table), map_methods,
             &map_class_methods);

// --- NSHashTable -------------------------------------------------------------

static id hash_init(id self, SEL _cmd, NSUInteger options,
                    NSUInteger capacity) {
  (void)_cmd;
  (void)capacity;
  return init_table(self, options, POINTER_UNOWNED);
}

static id hash_with(Class self, SEL _cmd, NSUInteger options) {
  (void)_cmd;
  return made(self, options, POINTER_UNOWNED);
}

static id hash_weak(Class self, SEL _cmd) {
  return hash_with(self, _cmd, POINTER_WEAK);
}

static id hash_member(id self, SEL _cmd, id object) {
  (void)_cmd;
  table_entry *entry = table_find(table_of(self), object);
  return entry ? pointer_read(&entry->key, table_of(self)->key_options) : NULL;
}

static int hash_contains(id self, SEL _cmd, id object) {
  return hash_member(self, _cmd, object) != NULL;
}

// Adds an object; one that is equal stays.
static void hash_add(id self, SEL _cmd, id object) {
  if (object && !hash_contains(self, _cmd, object)) {
    table_put(table_of(self), object, NULL);
  }
}

static id hash_objects(id self, SEL _cmd) {
  (void)_cmd;
  return table_keys(table_of(self));
}

static NSUInteger hash_count(id self, SEL _cmd) {
  return array_count(hash_objects(self, _cmd));
}

static id hash_any(id self, SEL _cmd) {
  const id objects = hash_objects(self, _cmd);
  return array_count(objects) ? array_at(objects, 0) : NULL;
}

static id hash_enumerator(id self, SEL _cmd) {
  return enumerator(hash_objects(self, _cmd));
}

static id hash_set(id self, SEL _cmd) {
  return SEND(id(*)(id, SEL, id), CLASS_OF(NSSet),
              "setWithArray:", hash_objects(self, _cmd));
}

static void hash_union(id self, SEL _cmd, id other) {
  const id objects = hash_objects(other, _cmd);
  for (size_t i = 0; i < array_count(objects); ++i) {
    hash_add(self, _cmd, array_at(objects, i));
  }
}

// Removes what other has, or what it lacks.
static void remove_where(id self, id other, bool has) {
  const id objects = hash_objects(self, NULL);
  for (size_t i = 0; i < array_count(objects); ++i) {
    if (hash_contains(other, NULL, array_at(objects, i)) == has) {
      table_remove(table_of(self), array_at(objects, i));
    }
  }
}

static void hash_minus(id self, SEL _cmd, id other) {
  (void)_cmd;
  remove_where(self, other, true);
}

static void hash_intersect(id self, SEL _cmd, id other) {
  (void)_cmd;
  remove_where(self, other, false);
}

static id hash_description(id self, SEL _cmd) {
  return string_make_printf(
      "NSHashTable %s",
      string_utf8(SEND(id(*)(id, SEL), hash_set(self, _cmd), "description")));
}

METHODS(hash_methods, TABLE_METHODS,
        METHOD("initWithOptions:capacity:", "@32@0:8Q16Q24", hash_init),
        METHOD("member:", "@24@0:8@16", hash_member),
        METHOD("containsObject:", "B24@0:8@16", hash_contains),
        METHOD("addObject:", "v24@0:8@16", hash_add),
        METHOD("removeObject:", "v24@0:8@16", remove_key),
        METHOD("allObjects", "@16@0:8", hash_objects),
        METHOD("anyObject", "@16@0:8", hash_any),
        METHOD("count", "Q16@0:8", hash_count),
        METHOD("objectEnumerator", "@16@0:8", hash_enumerator),
        METHOD("setRepresentation", "@16@0:8", hash_set),
        METHOD("unionHashTable:", "v24@0:8@16", hash_union),
        METHOD("minusHashTable:", "v24@0:8@16", hash_minus),
        METHOD("intersectHashTable:", "v24@0:8@16", hash_intersect),
        METHOD("description", "@16@0:8", hash_description));
METHODS(hash_class_methods,
        METHOD("hashTableWithOptions:", "@24@0:8Q16", hash_with),
        METHOD("weakObjectsHashTable", "@16@0:8", hash_weak));
DEFINE_CLASS(NSHashTable, NSObject, sizeof(map_table), hash_methods,
             &hash_class_methods);
