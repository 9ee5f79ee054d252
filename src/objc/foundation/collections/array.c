// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// array.c: NSArray and NSMutableArray, with one concrete class behind both. A
// client's subclass needs only count and objectAtIndex:.
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"

typedef struct concrete_array {
  struct objc_object object;
  size_t count;
  size_t capacity;
  unsigned long mutations;  // fast enumeration watches it
  id *objects;
} concrete_array;

extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSMutableArray;
extern struct objc_class OBJC_CLASS_$_MettleArray;
extern struct objc_class OBJC_CLASS_$_MettleMutableArray;

// --- The concrete array ------------------------------------------------------

static void check_object(id object) {
  if (!object) {
    exception_raise("NSInvalidArgumentException", "an array cannot hold nil");
  }
}

static void check_index(size_t index, size_t count) {
  if (index >= count) {
    exception_raise("NSRangeException",
                    "index %zu is outside an array of %zu objects", index,
                    count);
  }
}

static void insert(concrete_array *array, size_t index, id object) {
  check_object(object);
  if (index > array->count) {
    check_index(index, array->count);
  }
  if (array->count == array->capacity) {
    const size_t wanted = array->capacity ? 2 * array->capacity : 8;
    id *grown = realloc(array->objects, wanted * sizeof *grown);
    if (!grown) {
      runtime_fail("no memory for an array of %zu objects", wanted);
    }
    array->objects = grown;
    array->capacity = wanted;
  }
  memmove(array->objects + index + 1, array->objects + index,
          (array->count - index) * sizeof *array->objects);
  array->objects[index] = objc_retain(object);
  ++array->count;
  ++array->mutations;
}

static void remove_at(concrete_array *array, size_t index) {
  check_index(index, array->count);
  const id object = array->objects[index];
  --array->count;
  memmove(array->objects + index, array->objects + index + 1,
          (array->count - index) * sizeof *array->objects);
  ++array->mutations;
  objc_release(object);
}

static id create(Class class, const id *objects, size_t count) {
  concrete_array *array = (concrete_array *)instance_create(class, 0);
  for (size_t i = 0; i < count; ++i) {
    insert(array, i, objects[i]);
  }
  return &array->object;
}

id array_create(const id *objects, size_t count) {
  return create(&OBJC_CLASS_$_MettleArray, objects, count);
}

id array_make(const id *objects, size_t count) {
  return objc_autorelease(array_create(objects, count));
}

id mutable_array_create(void) {
  return create(&OBJC_CLASS_$_MettleMutableArray, NULL, 0);
}

size_t array_count(id array) {
  return SEND(NSUInteger(*)(id, SEL), array, "count");
}

id array_at(id array, size_t index) {
  return SEND(id(*)(id, SEL, NSUInteger), array, "objectAtIndex:", index);
}

static void concrete_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  concrete_array *array = (concrete_array *)self;
  for (size_t i = 0; i < array->count; ++i) {
    objc_release(array->objects[i]);
  }
  free(array->objects);
  instance_dispose(self);
}

static NSUInteger concrete_count(id self, SEL _cmd) {
  (void)_cmd;
  return ((concrete_array *)self)->count;
}

static id concrete_at(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  const concrete_array *array = (concrete_array *)self;
  check_index(index, array->count);
  return array->objects[index];
}

static NSUInteger concrete_enumerate(id self, SEL _cmd, enumeration *state,
                                     id *room, NSUInteger room_count) {
  (void)_cmd;
  (void)room;
  (void)room_count;
  concrete_array *array = (concrete_array *)self;
  if (state->state) {
    return 0;
  }
  state->state = 1;
  state->items = array->objects;
  state->mutations = &array->mutations;
  return array->count;
}

static id immutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(concrete_methods, METHOD("dealloc", "v16@0:8", concrete_dealloc),
        METHOD("count", "Q16@0:8", concrete_count),
        METHOD("objectAtIndex:", "@24@0:8Q16", concrete_at),
        METHOD("countByEnumeratingWithState:objects:count:",
               "Q40@0:8^v16^@24Q32", concrete_enumerate),
        METHOD("copyWithZone:", "@24@0:8^v16", immutable_copy));
DEFINE_CLASS(MettleArray, NSArray, sizeof(concrete_array), concrete_methods,
             NO_METHODS);

// @[]: the compiler loads this one object rather than making one.
static struct {
  object_header header;
  concrete_array array;
} empty = {{OBJECT_ONE, NULL}, {.object = {&OBJC_CLASS_$_MettleArray}}};
extern OBJC_EXPORT id __NSArray0__;
id __NSArray0__ = &empty.array.object;

static void mutable_insert(id self, SEL _cmd, id object, NSUInteger index) {
  (void)_cmd;
  insert((concrete_array *)self, index, object);
}

static void mutable_add(id self, SEL _cmd, id object) {
  (void)_cmd;
  insert((concrete_array *)self, ((concrete_array *)self)->count, object);
}

static void mutable_remove_at(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  remove_at((concrete_array *)self, index);
}

static void mutable_replace(id self, SEL _cmd, NSUInteger index, id object) {
  (void)_cmd;
  concrete_array *array = (concrete_array *)self;
  if (index == array->count) {  // array[count] = x appends
    insert(array, index, object);
    return;
  }
  check_object(object);
  check_index(index, array->count);
  const id old = array->objects[index];
  array->objects[index] = objc_retain(object);
  ++array->mutations;
  objc_release(old);
}

static void mutable_set(id self, SEL _cmd, id object, NSUInteger index) {
  mutable_replace(self, _cmd, index, object);
}

METHODS(mutable_methods, METHOD("dealloc", "v16@0:8", concrete_dealloc),
        METHOD("count", "Q16@0:8", concrete_count),
        METHOD("objectAtIndex:", "@24@0:8Q16", concrete_at),
        METHOD("countByEnumeratingWithState:objects:count:",
               "Q40@0:8^v16^@24Q32", concrete_enumerate),
        METHOD("addObject:", "v24@0:8@16", mutable_add),
        METHOD("insertObject:atIndex:", "v32@0:8@16Q24", mutable_insert),
        METHOD("removeObjectAtIndex:", "v24@0:8Q16", mutable_remove_at),
        METHOD("replaceObjectAtIndex:withObject:", "v32@0:8Q16@24",
               mutable_replace),
        METHOD("setObject:atIndexedSubscript:", "v32@0:8@16Q24", mutable_set));
DEFINE_CLASS(MettleMutableArray, NSMutableArray, sizeof(concrete_array),
             mutable_methods, NO_METHODS);

// --- Making ------------------------------------------------------------------

static Class concrete_of(Class class) {
  return class == &OBJC_CLASS_$_NSArray ? &OBJC_CLASS_$_MettleArray
         : class == &OBJC_CLASS_$_NSMutableArray
             ? &OBJC_CLASS_$_MettleMutableArray
             : class;
}

static id array_alloc(Class self, SEL _cmd) {
  (void)_cmd;
  return instance_create(concrete_of(self), 0);
}

static id make_empty(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(create(concrete_of(self), NULL, 0));
}

static id make_from(Class self, SEL _cmd, const id *objects, NSUInteger count) {
  (void)_cmd;
  return objc_autorelease(create(concrete_of(self), objects, count));
}

static id make_with(Class self, SEL _cmd, id object) {
  return make_from(self, _cmd, &object, 1);
}

static void fill(id array, id first, va_list others) {
  for (id each = first; each; each = va_arg(others, id)) {
    insert((concrete_array *)array, ((concrete_array *)array)->count, each);
  }
}

static id make_list(Class self, SEL _cmd, id first, ...) {
  const id made = make_empty(self, _cmd);
  va_list others;
  va_start(others, first);
  fill(made, first, others);
  va_end(others);
  return made;
}

static void append_array(id self, id other) {
  const size_t count = array_count(other);
  for (size_t i = 0; i < count; ++i) {
    insert((concrete_array *)self, ((concrete_array *)self)->count,
           array_at(other, i));
  }
}

static id make_array(Class self, SEL _cmd, id other) {
  const id made = make_empty(self, _cmd);
  append_array(made, other);
  return made;
}

static id make_capacity(Class self, SEL _cmd, NSUInteger capacity) {
  (void)capacity;
  return make_empty(self, _cmd);
}

static id init_from(id self, SEL _cmd, const id *objects, NSUInteger count) {
  (void)_cmd;
  for (size_t i = 0; i < count; ++i) {
    insert((concrete_array *)self, i, objects[i]);
  }
  return self;
}

static id init_list(id self, SEL _cmd, id first, ...) {
  (void)_cmd;
  va_list others;
  va_start(others, first);
  fill(self, first, others);
  va_end(others);
  return self;
}

static id init_array(id self, SEL _cmd, id other) {
  (void)_cmd;
  append_array(self, other);
  return self;
}

static id init_capacity(id self, SEL _cmd, NSUInteger capacity) {
  (void)_cmd;
  (void)capacity;
  return self;
}

METHODS(array_class_methods, METHOD("alloc", "@16@0:8", array_alloc),
        METHOD("array", "@16@0:8", make_empty),
        METHOD("arrayWithObjects:count:", "@32@0:8^@16Q24", make_from),
        METHOD("arrayWithObject:", "@24@0:8@16", make_with),
        METHOD("arrayWithObjects:", "@24@0:8@16", make_list),
        METHOD("arrayWithArray:", "@24@0:8@16", make_array),
        METHOD("arrayWithCapacity:", "@24@0:8Q16", make_capacity));

// --- What all arrays can do --------------------------------------------------

static id array_subscript(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  return array_at(self, index);
}

static id array_first(id self, SEL _cmd) {
  (void)_cmd;
  return array_count(self) ? array_at(self, 0) : NULL;
}

static id array_last(id self, SEL _cmd) {
  (void)_cmd;
  const size_t count = array_count(self);
  return count ? array_at(self, count - 1) : NULL;
}

static NSUInteger array_index_of(id self, SEL _cmd, id object) {
  (void)_cmd;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    if (SEND(int (*)(id, SEL, id), array_at(self, i), "isEqual:", object)) {
      return i;
    }
  }
  return NSNotFound;
}

static NSUInteger array_index_of_same(id self, SEL _cmd, id object) {
  (void)_cmd;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    if (array_at(self, i) == object) {
      return i;
    }
  }
  return NSNotFound;
}

static int array_contains(id self, SEL _cmd, id object) {
  return array_index_of(self, _cmd, object) != NSNotFound;
}

static int array_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  const size_t count = array_count(self);
  if (!other ||
      !SEND(int (*)(id, SEL, Class), other,
            "isKindOfClass:", &OBJC_CLASS_$_NSArray) ||
      array_count(other) != count) {
    return 0;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!SEND(int (*)(id, SEL, id), array_at(self, i),
              "isEqual:", array_at(other, i))) {
      return 0;
    }
  }
  return 1;
}

static NSUInteger array_hash(id self, SEL _cmd) {
  (void)_cmd;
  return array_count(self);
}

static id array_adding(id self, SEL _cmd, id object) {
  (void)_cmd;
  const id made = create(&OBJC_CLASS_$_MettleArray, NULL, 0);
  append_array(made, self);
  insert((concrete_array *)made, array_count(self), object);
  return objc_autorelease(made);
}

static id array_join(id self, SEL _cmd, id separator) {
  (void)_cmd;
  id joined = string_make("");
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    joined = string_make_printf(
        "%s%s%s", string_utf8(joined), i ? string_utf8(separator) : "",
        string_utf8(SEND(id(*)(id, SEL), array_at(self, i), "description")));
  }
  return joined;
}

NSUInteger array_enumerate(id array, enumeration *state, id *room,
                           NSUInteger room_count) {
  const size_t count = array_count(array);
  static unsigned long never;
  state->items = room;
  state->mutations = &never;
  NSUInteger given = 0;
  while (state->state < count && given < room_count) {
    room[given++] = array_at(array, state->state++);
  }
  return given;
}

static NSUInteger enumerate(id self, SEL _cmd, enumeration *state, id *room,
                            NSUInteger room_count) {
  (void)_cmd;
  return array_enumerate(self, state, room, room_count);
}

static void array_enumerate_block(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  for (size_t i = 0; i < array_count(self) && !stop; ++i) {
    BLOCK_CALL(void (*)(id, id, NSUInteger, signed char *), literal,
               array_at(self, i), i, &stop);
  }
}

static void array_get(id self, SEL _cmd, id *objects, NSRange range) {
  (void)_cmd;
  for (size_t i = 0; i < range.length; ++i) {
    objects[i] = array_at(self, range.location + i);
  }
}

static id array_sub(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  const id made = create(&OBJC_CLASS_$_MettleArray, NULL, 0);
  for (size_t i = 0; i < range.length; ++i) {
    insert((concrete_array *)made, i, array_at(self, range.location + i));
  }
  return objc_autorelease(made);
}

// A merge sort, which keeps equal objects in order.
static void sort(id *objects, id *room, size_t count, id literal) {
  if (count < 2) {
    return;
  }
  const size_t half = count / 2;
  sort(objects, room, half, literal);
  sort(objects + half, room, count - half, literal);
  size_t a = 0, b = half, out = 0;
  while (a < half && b < count) {
    const bool first = BLOCK_CALL(NSInteger(*)(id, id, id), literal, objects[a],
                                  objects[b]) <= 0;
    room[out++] = first ? objects[a++] : objects[b++];
  }
  while (a < half) {
    room[out++] = objects[a++];
  }
  while (b < count) {
    room[out++] = objects[b++];
  }
  memcpy(objects, room, count * sizeof *objects);
}

static id array_sorted(id self, SEL _cmd, id literal) {
  (void)_cmd;
  const id made = create(&OBJC_CLASS_$_MettleArray, NULL, 0);
  append_array(made, self);
  concrete_array *array = (concrete_array *)made;
  id *room = calloc(array->count + 1, sizeof *room);
  if (room) {
    sort(array->objects, room, array->count, literal);
  }
  free(room);
  return objc_autorelease(made);
}

static id array_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  const id made = create(&OBJC_CLASS_$_MettleArray, NULL, 0);
  append_array(made, self);
  return made;
}

static id array_mutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  const id made = mutable_array_create();
  append_array(made, self);
  return made;
}

METHODS(array_methods,
        METHOD("initWithObjects:count:", "@32@0:8^@16Q24", init_from),
        METHOD("initWithObjects:", "@24@0:8@16", init_list),
        METHOD("initWithArray:", "@24@0:8@16", init_array),
        METHOD("initWithCapacity:", "@24@0:8Q16", init_capacity),
        METHOD("objectAtIndexedSubscript:", "@24@0:8Q16", array_subscript),
        METHOD("firstObject", "@16@0:8", array_first),
        METHOD("lastObject", "@16@0:8", array_last),
        METHOD("indexOfObject:", "Q24@0:8@16", array_index_of),
        METHOD("indexOfObjectIdenticalTo:", "Q24@0:8@16", array_index_of_same),
        METHOD("containsObject:", "B24@0:8@16", array_contains),
        METHOD("isEqual:", "B24@0:8@16", array_is_equal),
        METHOD("isEqualToArray:", "B24@0:8@16", array_is_equal),
        METHOD("hash", "Q16@0:8", array_hash),
        METHOD("arrayByAddingObject:", "@24@0:8@16", array_adding),
        METHOD("componentsJoinedByString:", "@24@0:8@16", array_join),
        METHOD("countByEnumeratingWithState:objects:count:",
               "Q40@0:8^v16^@24Q32", enumerate),
        METHOD("enumerateObjectsUsingBlock:", "v24@0:8@?16",
               array_enumerate_block),
        METHOD("getObjects:range:", "v40@0:8^@16{_NSRange=QQ}24", array_get),
        METHOD("subarrayWithRange:", "@32@0:8{_NSRange=QQ}16", array_sub),
        METHOD("sortedArrayUsingComparator:", "@24@0:8@?16", array_sorted),
        METHOD("copyWithZone:", "@24@0:8^v16", array_copy),
        METHOD("mutableCopyWithZone:", "@24@0:8^v16", array_mutable_copy));
DEFINE_CLASS(NSArray, NSObject, sizeof(struct objc_object), array_methods,
             &array_class_methods);

// --- What all mutable arrays can do ------------------------------------------

static void add_all(id self, SEL _cmd, id other) {
  (void)_cmd;
  for (size_t i = 0; i < array_count(other); ++i) {
    SEND(void (*)(id, SEL, id), self, "addObject:", array_at(other, i));
  }
}

static void drop_at(id self, size_t index) {
  SEND(void (*)(id, SEL, NSUInteger), self, "removeObjectAtIndex:", index);
}

static void drop_last(id self, SEL _cmd) {
  (void)_cmd;
  const size_t count = array_count(self);
  if (count) {
    drop_at(self, count - 1);
  }
}

static void drop_all(id self, SEL _cmd) {
  while (array_count(self)) {
    drop_last(self, _cmd);
  }
}

static void drop_object(id self, SEL _cmd, id object) {
  (void)_cmd;
  for (size_t i = array_count(self); i-- > 0;) {
    if (SEND(int (*)(id, SEL, id), array_at(self, i), "isEqual:", object)) {
      drop_at(self, i);
    }
  }
}

METHODS(mutable_array_methods,
        METHOD("addObjectsFromArray:", "v24@0:8@16", add_all),
        METHOD("removeLastObject", "v16@0:8", drop_last),
        METHOD("removeAllObjects", "v16@0:8", drop_all),
        METHOD("removeObject:", "v24@0:8@16", drop_object));
DEFINE_CLASS(NSMutableArray, NSArray, sizeof(struct objc_object),
             mutable_array_methods, NO_METHODS);
