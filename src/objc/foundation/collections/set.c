// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// set.c: NSSet and NSMutableSet: the keys of a dictionary.
#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

typedef struct concrete_set {
  struct objc_object object;
  id members;  // NSMutableDictionary: each member under itself
} concrete_set;

extern struct objc_class OBJC_CLASS_$_NSSet;
extern struct objc_class OBJC_CLASS_$_NSMutableSet;
extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_MettleSet;
extern struct objc_class OBJC_CLASS_$_MettleMutableSet;

// --- The concrete set --------------------------------------------------------

static id create(Class class) {
  concrete_set *made = (concrete_set *)instance_create(class, 0);
  made->members = dictionary_create();
  return &made->object;
}

static void put(id set, id object) {
  if (!object) {
    exception_raise("NSInvalidArgumentException", "a set cannot hold nil");
  }
  const id members = ((concrete_set *)set)->members;
  if (!dictionary_get(members, object)) {  // the first of equals stays
    dictionary_set_uncopied(members, object, object);
  }
}

static void put_array(id set, id array) {
  for (size_t i = 0; i < array_count(array); ++i) {
    put(set, array_at(array, i));
  }
}

static id all_objects(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), self, "allObjects");
}

static void concrete_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((concrete_set *)self)->members);
  instance_dispose(self);
}

static NSUInteger concrete_count(id self, SEL _cmd) {
  (void)_cmd;
  return array_count(((concrete_set *)self)->members);
}

static id concrete_member(id self, SEL _cmd, id object) {
  (void)_cmd;
  return object ? dictionary_get(((concrete_set *)self)->members, object)
                : NULL;
}

static id concrete_objects(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), ((concrete_set *)self)->members, "allValues");
}

static NSUInteger concrete_enumerate(id self, SEL _cmd, enumeration *state,
                                     id *room, NSUInteger room_count) {
  (void)_cmd;
  return SEND(NSUInteger(*)(id, SEL, enumeration *, id *, NSUInteger),
              ((concrete_set *)self)->members,
              "countByEnumeratingWithState:objects:count:", state, room,
              room_count);
}

static id immutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

#define CONCRETE_METHODS                                   \
  METHOD("dealloc", "v16@0:8", concrete_dealloc),          \
      METHOD("count", "Q16@0:8", concrete_count),          \
      METHOD("member:", "@24@0:8@16", concrete_member),    \
      METHOD("allObjects", "@16@0:8", concrete_objects),   \
      METHOD("countByEnumeratingWithState:objects:count:", \
             "Q40@0:8^v16^@24Q32", concrete_enumerate)

METHODS(concrete_methods, CONCRETE_METHODS,
        METHOD("copyWithZone:", "@24@0:8^v16", immutable_copy));
DEFINE_CLASS(MettleSet, NSSet, sizeof(concrete_set), concrete_methods,
             NO_METHODS);

static void mutable_add(id self, SEL _cmd, id object) {
  (void)_cmd;
  put(self, object);
}

static void mutable_remove(id self, SEL _cmd, id object) {
  (void)_cmd;
  SEND(void (*)(id, SEL, id), ((concrete_set *)self)->members,
       "removeObjectForKey:", object);
}

static void mutable_clear(id self, SEL _cmd) {
  (void)_cmd;
  SEND(void (*)(id, SEL), ((concrete_set *)self)->members, "removeAllObjects");
}

METHODS(mutable_concrete_methods, CONCRETE_METHODS,
        METHOD("addObject:", "v24@0:8@16", mutable_add),
        METHOD("removeObject:", "v24@0:8@16", mutable_remove),
        METHOD("removeAllObjects", "v16@0:8", mutable_clear));
DEFINE_CLASS(MettleMutableSet, NSMutableSet, sizeof(concrete_set),
             mutable_concrete_methods, NO_METHODS);

// --- Making ------------------------------------------------------------------

static id set_alloc(Class self, SEL _cmd) {
  (void)_cmd;
  return self == &OBJC_CLASS_$_NSSet ? create(&OBJC_CLASS_$_MettleSet)
         : self == &OBJC_CLASS_$_NSMutableSet
             ? create(&OBJC_CLASS_$_MettleMutableSet)
             : instance_create(self, 0);
}

static id make_empty(Class self, SEL _cmd) {
  return objc_autorelease(set_alloc(self, _cmd));
}

static id make_with(Class self, SEL _cmd, id object) {
  const id made = make_empty(self, _cmd);
  put(made, object);
  return made;
}

static id make_from(Class self, SEL _cmd, const id *objects, NSUInteger count) {
  const id made = make_empty(self, _cmd);
  for (size_t i = 0; i < count; ++i) {
    put(made, objects[i]);
  }
  return made;
}

static id make_list(Class self, SEL _cmd, id first, ...) {
  const id made = make_empty(self, _cmd);
  va_list others;
  va_start(others, first);
  for (id each = first; each; each = va_arg(others, id)) {
    put(made, each);
  }
  va_end(others);
  return made;
}

static id make_array(Class self, SEL _cmd, id array) {
  const id made = make_empty(self, _cmd);
  put_array(made, array);
  return made;
}

static id make_set(Class self, SEL _cmd, id other) {
  return make_array(self, _cmd, all_objects(other, _cmd));
}

static id make_capacity(Class self, SEL _cmd, NSUInteger capacity) {
  (void)capacity;
  return make_empty(self, _cmd);
}

static id init_array(id self, SEL _cmd, id array) {
  (void)_cmd;
  put_array(self, array);
  return self;
}

static id init_set(id self, SEL _cmd, id other) {
  return init_array(self, _cmd, all_objects(other, _cmd));
}

static id init_from(id self, SEL _cmd, const id *objects, NSUInteger count) {
  (void)_cmd;
  for (size_t i = 0; i < count; ++i) {
    put(self, objects[i]);
  }
  return self;
}

static id init_capacity(id self, SEL _cmd, NSUInteger capacity) {
  (void)_cmd;
  (void)capacity;
  return self;
}

METHODS(set_class_methods, METHOD("alloc", "@16@0:8", set_alloc),
        METHOD("set", "@16@0:8", make_empty),
        METHOD("setWithObject:", "@24@0:8@16", make_with),
        METHOD("setWithObjects:count:", "@32@0:8^@16Q24", make_from),
        METHOD("setWithObjects:", "@24@0:8@16", make_list),
        METHOD("setWithArray:", "@24@0:8@16", make_array),
        METHOD("setWithSet:", "@24@0:8@16", make_set),
        METHOD("setWithCapacity:", "@24@0:8Q16", make_capacity));

// --- What all sets can do ----------------------------------------------------

static bool contains(id set, id object) {
  return SEND(id(*)(id, SEL, id), set, "member:", object) != NULL;
}

static int set_contains(id self, SEL _cmd, id object) {
  (void)_cmd;
  return contains(self, object);
}

static id set_any(id self, SEL _cmd) {
  const id objects = all_objects(self, _cmd);
  return array_count(objects) ? array_at(objects, 0) : NULL;
}

static int set_is_subset(id self, SEL _cmd, id other) {
  const id objects = all_objects(self, _cmd);
  for (size_t i = 0; i < array_count(objects); ++i) {
    if (!contains(other, array_at(objects, i))) {
      return 0;
    }
  }
  return 1;
}

static int set_intersects(id self, SEL _cmd, id other) {
  const id objects = all_objects(self, _cmd);
  for (size_t i = 0; i < array_count(objects); ++i) {
    if (contains(other, array_at(objects, i))) {
      return 1;
    }
  }
  return 0;
}

static int set_is_equal(id self, SEL _cmd, id other) {
  return other &&
         SEND(int (*)(id, SEL, Class), other,
              "isKindOfClass:", &OBJC_CLASS_$_NSSet) &&
         array_count(other) == array_count(self) &&
         set_is_subset(self, _cmd, other);
}

static NSUInteger set_hash(id self, SEL _cmd) {
  (void)_cmd;
  return array_count(self);
}

static void set_each(id self, SEL _cmd, id literal) {
  signed char stop = 0;
  const id objects = all_objects(self, _cmd);
  for (size_t i = 0; i < array_count(objects) && !stop; ++i) {
    BLOCK_CALL(void (*)(id, id, signed char *), literal, array_at(objects, i),
               &stop);
  }
}

static id copied(id self, Class class) {
  const id made = create(class);
  put_array(made, all_objects(self, NULL));
  return made;
}

static id set_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return copied(self, &OBJC_CLASS_$_MettleSet);
}

static id set_mutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return copied(self, &OBJC_CLASS_$_MettleMutableSet);
}

METHODS(set_methods, METHOD("initWithArray:", "@24@0:8@16", init_array),
        METHOD("initWithSet:", "@24@0:8@16", init_set),
        METHOD("initWithObjects:count:", "@32@0:8^@16Q24", init_from),
        METHOD("initWithCapacity:", "@24@0:8Q16", init_capacity),
        METHOD("containsObject:", "B24@0:8@16", set_contains),
        METHOD("anyObject", "@16@0:8", set_any),
        METHOD("isSubsetOfSet:", "B24@0:8@16", set_is_subset),
        METHOD("intersectsSet:", "B24@0:8@16", set_intersects),
        METHOD("isEqual:", "B24@0:8@16", set_is_equal),
        METHOD("isEqualToSet:", "B24@0:8@16", set_is_equal),
        METHOD("hash", "Q16@0:8", set_hash),
        METHOD("enumerateObjectsUsingBlock:", "v24@0:8@?16", set_each),
        METHOD("copyWithZone:", "@24@0:8^v16", set_copy),
        METHOD("mutableCopyWithZone:", "@24@0:8^v16", set_mutable_copy));
DEFINE_CLASS(NSSet, NSObject, sizeof(struct objc_object), set_methods,
             &set_class_methods);

static void add_array(id self, SEL _cmd, id array) {
  (void)_cmd;
  for (size_t i = 0; i < array_count(array); ++i) {
    SEND(void (*)(id, SEL, id), self, "addObject:", array_at(array, i));
  }
}

static void add_set(id self, SEL _cmd, id other) {
  add_array(self, _cmd, all_objects(other, _cmd));
}

// Removes the members that other has, or those that it lacks.
static void remove_where(id self, id other, bool has) {
  const id objects = all_objects(self, NULL);
  for (size_t i = 0; i < array_count(objects); ++i) {
    if (contains(other, array_at(objects, i)) == has) {
      SEND(void (*)(id, SEL, id), self, "removeObject:", array_at(objects, i));
    }
  }
}

static void remove_set(id self, SEL _cmd, id other) {
  (void)_cmd;
  remove_where(self, other, true);
}

static void intersect_set(id self, SEL _cmd, id other) {
  (void)_cmd;
  remove_where(self, other, false);
}

METHODS(mutable_set_methods,
        METHOD("addObjectsFromArray:", "v24@0:8@16", add_array),
        METHOD("unionSet:", "v24@0:8@16", add_set),
        METHOD("minusSet:", "v24@0:8@16", remove_set),
        METHOD("intersectSet:", "v24@0:8@16", intersect_set));
DEFINE_CLASS(NSMutableSet, NSSet, sizeof(struct objc_object),
             mutable_set_methods, NO_METHODS);
