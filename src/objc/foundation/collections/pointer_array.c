// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_array.c: NSPointerArray: an array that may hold nil, and whose
// members may die.
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/collections/pointer_table.h"
#include "objc/runtime/failure.h"

// Each member lies in a place of its own: a weak reference knows its place.
typedef struct pointer_array {
  struct objc_object object;
  NSUInteger options;
  id **members;
  size_t count;
  unsigned long mutations;
} pointer_array;

extern struct objc_class OBJC_CLASS_$_NSPointerArray;

static id init_options(id self, SEL _cmd, NSUInteger options) {
  (void)_cmd;
  pointer_check(options);
  ((pointer_array *)self)->options = options;
  return self;
}

static id with_options(Class self, SEL _cmd, NSUInteger options) {
  return objc_autorelease(
      init_options(SEND(id(*)(id, SEL), self, "alloc"), _cmd, options));
}

static id with_strong(Class self, SEL _cmd) {
  return with_options(self, _cmd, POINTER_STRONG);
}

static id with_weak(Class self, SEL _cmd) {
  return with_options(self, _cmd, POINTER_WEAK);
}

static void check_index(const pointer_array *of, NSUInteger index,
                        NSUInteger end) {
  if (index >= end) {
    exception_raise("NSRangeException",
                    "NSPointerArray: index %lu beyond the end of %zu", index,
                    of->count);
  }
}

static id read_at(const pointer_array *of, size_t index) {
  return pointer_read(of->members[index], of->options);
}

static void insert(id self, SEL _cmd, id pointer, NSUInteger index) {
  (void)_cmd;
  pointer_array *of = (pointer_array *)self;
  check_index(of, index, of->count + 1);
  id **members = realloc(of->members, (of->count + 1) * sizeof *members);
  id *place = calloc(1, sizeof *place);
  if (!members || !place) {
    runtime_fail("no memory for %zu pointers", of->count + 1);
  }
  memmove(members + index + 1, members + index,
          (of->count - index) * sizeof *members);
  members[index] = place;
  of->members = members;
  ++of->count;
  ++of->mutations;
  pointer_write(place, pointer, of->options);
}

static void drop(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  pointer_array *of = (pointer_array *)self;
  check_index(of, index, of->count);
  id *place = of->members[index];
  --of->count;
  ++of->mutations;
  memmove(of->members + index, of->members + index + 1,
          (of->count - index) * sizeof *of->members);
  pointer_end(place, of->options);
  free(place);
}

static void add(id self, SEL _cmd, id pointer) {
  insert(self, _cmd, pointer, ((pointer_array *)self)->count);
}

static void replace(id self, SEL _cmd, NSUInteger index, id pointer) {
  check_index((pointer_array *)self, index, ((pointer_array *)self)->count);
  insert(self, _cmd, pointer, index);
  drop(self, _cmd, index + 1);
}

static id get(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  const pointer_array *of = (pointer_array *)self;
  check_index(of, index, of->count);
  return read_at(of, index);
}

static NSUInteger get_count(id self, SEL _cmd) {
  (void)_cmd;
  return ((pointer_array *)self)->count;
}

static void set_count(id self, SEL _cmd, NSUInteger count) {
  while (get_count(self, _cmd) > count) {
    drop(self, _cmd, get_count(self, _cmd) - 1);
  }
  while (get_count(self, _cmd) < count) {
    add(self, _cmd, NULL);
  }
}

static void compact(id self, SEL _cmd) {
  for (size_t i = get_count(self, _cmd); i-- > 0;) {
    if (!read_at((pointer_array *)self, i)) {
      drop(self, _cmd, i);
    }
  }
}

static id all_objects(id self, SEL _cmd) {
  (void)_cmd;
  const id all = objc_autorelease(mutable_array_create());
  for (size_t i = 0; i < get_count(self, _cmd); ++i) {
    const id each = read_at((pointer_array *)self, i);
    if (each) {
      array_add(all, each);
    }
  }
  return all;
}

static NSUInteger enumerate(id self, SEL _cmd, enumeration *state, id *room,
                            NSUInteger room_count) {
  (void)_cmd;
  pointer_array *of = (pointer_array *)self;
  NSUInteger given = 0;
  state->items = room;
  state->mutations = &of->mutations;
  while (given < room_count && state->state < of->count) {
    room[given++] = read_at(of, state->state++);
  }
  return given;
}

static id copy(id self, SEL _cmd, void *zone) {
  (void)zone;
  const pointer_array *of = (pointer_array *)self;
  const id copied =
      init_options(instance_create(self->isa, 0), _cmd, of->options);
  for (size_t i = 0; i < of->count; ++i) {
    add(copied, _cmd, read_at(of, i));
  }
  return copied;
}

static void dealloc(id self, SEL _cmd) {
  set_count(self, _cmd, 0);
  free(((pointer_array *)self)->members);
  instance_dispose(self);
}

METHODS(methods, METHOD("initWithOptions:", "@24@0:8Q16", init_options),
        METHOD("dealloc", "v16@0:8", dealloc),
        METHOD("count", "Q16@0:8", get_count),
        METHOD("setCount:", "v24@0:8Q16", set_count),
        METHOD("pointerAtIndex:", "^v24@0:8Q16", get),
        METHOD("addPointer:", "v24@0:8^v16", add),
        METHOD("insertPointer:atIndex:", "v32@0:8^v16Q24", insert),
        METHOD("replacePointerAtIndex:withPointer:", "v32@0:8Q16^v24", replace),
        METHOD("removePointerAtIndex:", "v24@0:8Q16", drop),
        METHOD("compact", "v16@0:8", compact),
        METHOD("allObjects", "@16@0:8", all_objects),
        METHOD("countByEnumeratingWithState:objects:count:",
               "Q40@0:8^v16^@24Q32", enumerate),
        METHOD("copyWithZone:", "@24@0:8^v16", copy));
METHODS(class_methods,
        METHOD("pointerArrayWithOptions:", "@24@0:8Q16", with_options),
        METHOD("strongObjectsPointerArray", "@16@0:8", with_strong),
        METHOD("weakObjectsPointerArray", "@16@0:8", with_weak));
DEFINE_CLASS(NSPointerArray, NSObject, sizeof(pointer_array), methods,
             &class_methods);
