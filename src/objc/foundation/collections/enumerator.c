// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// enumerator.c: NSEnumerator, and the methods of collections that return one.
#include "objc/foundation/foundation.h"

extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSSet;
extern struct objc_class OBJC_CLASS_$_MettleEnumerator;

void array_add(id array, id object) {
  SEND(void (*)(id, SEL, id), array, "addObject:", object);
}

id array_make_of(id enumerable) {
  enum { ROOM = 16 };
  const id all = objc_autorelease(mutable_array_create());
  enumeration state = {0};
  id room[ROOM];
  NSUInteger count;
  while (enumerable &&
         (count = SEND(NSUInteger(*)(id, SEL, enumeration *, id *, NSUInteger),
                       enumerable,
                       "countByEnumeratingWithState:objects:count:", &state,
                       room, (NSUInteger)ROOM)) != 0) {
    for (NSUInteger i = 0; i < count; ++i) {
      array_add(all, state.items[i]);
    }
  }
  return all;
}

bool object_is(id object, Class class) {
  return object &&
         SEND(int (*)(id, SEL, Class), object, "isKindOfClass:", class);
}

bool objects_equal(id one, id other) {
  return one == other ||
         (one && SEND(int (*)(id, SEL, id), one, "isEqual:", other));
}

// --- NSEnumerator ------------------------------------------------------------

// Enumerates a copy of the collection.
typedef struct enumerator {
  struct objc_object object;
  id objects;  // +1, an NSArray
  size_t next;
  bool is_reverse;
} enumerator;

static id nothing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return NULL;
}

static id enumerator_rest(id self, SEL _cmd) {
  (void)_cmd;
  const id all = objc_autorelease(mutable_array_create());
  for (id each; (each = SEND(id(*)(id, SEL), self, "nextObject")) != NULL;) {
    array_add(all, each);
  }
  return all;
}

// Enumerates one object at a time; works for clients' subclasses, too.
static NSUInteger enumerator_run(id self, SEL _cmd, enumeration *state,
                                 id *room, NSUInteger room_count) {
  (void)_cmd;
  (void)room_count;
  const id next = SEND(id(*)(id, SEL), self, "nextObject");
  if (!next) {
    return 0;
  }
  state->state = 1;
  state->items = room;
  state->mutations = &state->extra[0];
  room[0] = next;
  return 1;
}

METHODS(abstract_methods, METHOD("nextObject", "@16@0:8", nothing),
        METHOD("allObjects", "@16@0:8", enumerator_rest),
        METHOD("countByEnumeratingWithState:objects:count:",
               "Q40@0:8^{?=Q^@^Q[5Q]}16^@24Q32", enumerator_run));
DEFINE_CLASS(NSEnumerator, NSObject, sizeof(struct objc_object),
             abstract_methods, NO_METHODS);

static id enumerator_next(id self, SEL _cmd) {
  (void)_cmd;
  enumerator *of = (enumerator *)self;
  const size_t count = array_count(of->objects);
  if (of->next >= count) {
    return NULL;
  }
  const size_t at = of->next++;
  return array_at(of->objects, of->is_reverse ? count - 1 - at : at);
}

static void enumerator_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((enumerator *)self)->objects);
  instance_dispose(self);
}

METHODS(enumerator_methods, METHOD("dealloc", "v16@0:8", enumerator_dealloc),
        METHOD("nextObject", "@16@0:8", enumerator_next));
DEFINE_CLASS(MettleEnumerator, NSEnumerator, sizeof(enumerator),
             enumerator_methods, NO_METHODS);

static id make(id objects, bool is_reverse) {
  enumerator *made = (enumerator *)CREATE(MettleEnumerator);
  made->objects = SEND(id(*)(id, SEL), objects, "copy");
  made->is_reverse = is_reverse;
  return objc_autorelease(&made->object);
}

static id array_forth(id self, SEL _cmd) {
  (void)_cmd;
  return make(self, false);
}

static id array_back(id self, SEL _cmd) {
  (void)_cmd;
  return make(self, true);
}

static id dictionary_keys(id self, SEL _cmd) {
  (void)_cmd;
  return make(SEND(id(*)(id, SEL), self, "allKeys"), false);
}

static id dictionary_values(id self, SEL _cmd) {
  (void)_cmd;
  return make(SEND(id(*)(id, SEL), self, "allValues"), false);
}

static id set_objects(id self, SEL _cmd) {
  (void)_cmd;
  return make(SEND(id(*)(id, SEL), self, "allObjects"), false);
}

METHODS(array_methods, METHOD("objectEnumerator", "@16@0:8", array_forth),
        METHOD("reverseObjectEnumerator", "@16@0:8", array_back));
DEFINE_CATEGORY(NSArray, enumerators, array_methods);
METHODS(dictionary_methods, METHOD("keyEnumerator", "@16@0:8", dictionary_keys),
        METHOD("objectEnumerator", "@16@0:8", dictionary_values));
DEFINE_CATEGORY(NSDictionary, enumerators, dictionary_methods);
METHODS(set_methods, METHOD("objectEnumerator", "@16@0:8", set_objects));
DEFINE_CATEGORY(NSSet, enumerators, set_methods);
