// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// array_order.c: sorts, filters, searches and exchanges elements of NSArray and
// NSMutableArray by their primitive methods.
#include <stdlib.h>

#include "objc/foundation/collections/index_set.h"
#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSMutableArray;

enum { ENUMERATION_REVERSE = 2 };  // NSEnumerationReverse

// --- Sorting: stable, by merging ----------------------------------------------

typedef NSInteger order_fn(id one, id other, void *context);

static void merge_sort(id *objects, id *room, size_t count, order_fn *order,
                       void *context) {
  if (count < 2) {
    return;
  }
  const size_t half = count / 2;
  merge_sort(objects, room, half, order, context);
  merge_sort(objects + half, room, count - half, order, context);
  size_t left = 0, right = half, at = 0;
  while (left < half && right < count) {
    const bool takes_left = order(objects[left], objects[right], context) <= 0;
    room[at++] = takes_left ? objects[left++] : objects[right++];
  }
  while (left < half) {
    room[at++] = objects[left++];
  }
  for (size_t i = 0; i < at; ++i) {  // the remaining objects of the right half
                                     // are in place
    objects[i] = room[i];
  }
}

static id sorted(id self, order_fn *order, void *context) {
  const size_t count = array_count(self);
  id *objects = calloc(2 * count + 1, sizeof *objects);
  if (!objects) {
    runtime_fail("no memory to sort an array of %zu objects", count);
  }
  for (size_t i = 0; i < count; ++i) {
    objects[i] = array_at(self, i);
  }
  merge_sort(objects, objects + count, count, order, context);
  const id made = array_make(objects, count);
  free(objects);
  return made;
}

static NSInteger order_by_selector(id one, id other, void *context) {
  return ((NSInteger(*)(id, SEL, id))objc_msgSend)(one, (SEL)context, other);
}

static NSInteger order_by_block(id one, id other, void *context) {
  return BLOCK_CALL(NSInteger(*)(id, id, id), context, one, other);
}

typedef struct order_function {
  NSInteger (*function)(id, id, void *);
  void *context;
} order_function;

static NSInteger order_by_function(id one, id other, void *context) {
  const order_function *of = context;
  return of->function(one, other, of->context);
}

static id sorted_by_selector(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return sorted(self, order_by_selector, (void *)selector);
}

static id sorted_by_function(id self, SEL _cmd,
                             NSInteger (*function)(id, id, void *),
                             void *context) {
  (void)_cmd;
  order_function of = {function, context};
  return sorted(self, order_by_function, &of);
}

static id sorted_with(id self, SEL _cmd, NSUInteger options, id literal) {
  (void)_cmd;
  (void)options;  // concurrent, stable: it is stable
  return sorted(self, order_by_block, literal);
}

static void set_array(id self, SEL _cmd, id other) {
  (void)_cmd;
  const id kept = SEND(id(*)(id, SEL), other, "copy");
  SEND(void (*)(id, SEL), self, "removeAllObjects");
  SEND(void (*)(id, SEL, id), self, "addObjectsFromArray:", kept);
  objc_release(kept);
}

static void sort_by_selector(id self, SEL _cmd, SEL selector) {
  set_array(self, _cmd, sorted_by_selector(self, _cmd, selector));
}

static void sort_by_block(id self, SEL _cmd, id literal) {
  set_array(self, _cmd, sorted(self, order_by_block, literal));
}

static void sort_with(id self, SEL _cmd, NSUInteger options, id literal) {
  (void)options;
  sort_by_block(self, _cmd, literal);
}

// --- Searching ------------------------------------------------------------------

static NSUInteger index_passing(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count && !stop; ++i) {
    if (BLOCK_CALL(signed char (*)(id, id, NSUInteger, signed char *), literal,
                   array_at(self, i), i, &stop)) {
      return i;
    }
  }
  return NSNotFound;
}

static id indexes_passing(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  const id found = index_set_make();
  const size_t count = array_count(self);
  for (size_t i = 0; i < count && !stop; ++i) {
    if (BLOCK_CALL(signed char (*)(id, id, NSUInteger, signed char *), literal,
                   array_at(self, i), i, &stop)) {
      index_set_add(found, i, 1);
    }
  }
  return found;
}

static NSUInteger index_in_range(id self, SEL _cmd, id wanted, NSRange range) {
  (void)_cmd;
  for (NSUInteger i = 0; i < range.length; ++i) {
    if (objects_equal(array_at(self, range.location + i), wanted)) {
      return range.location + i;
    }
  }
  return NSNotFound;
}

static id first_common(id self, SEL _cmd, id other) {
  (void)_cmd;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    const id each = array_at(self, i);
    if (SEND(int (*)(id, SEL, id), other, "containsObject:", each)) {
      return each;
    }
  }
  return NULL;
}

static id objects_at(id self, SEL _cmd, id indexes) {
  (void)_cmd;
  const id found = objc_autorelease(mutable_array_create());
  for (NSUInteger i = index_set_from(indexes, 0); i != NSNotFound;
       i = index_set_from(indexes, i + 1)) {
    array_add(found, array_at(self, i));
  }
  return found;
}

static void enumerate_with(id self, SEL _cmd, NSUInteger options, id literal) {
  (void)_cmd;
  signed char stop = 0;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count && !stop; ++i) {
    const size_t at = options & ENUMERATION_REVERSE ? count - 1 - i : i;
    BLOCK_CALL(void (*)(id, id, NSUInteger, signed char *), literal,
               array_at(self, at), at, &stop);
  }
}

static void perform_all(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    ((void (*)(id, SEL))objc_msgSend)(array_at(self, i), selector);
  }
}

static void perform_all_with(id self, SEL _cmd, SEL selector, id argument) {
  (void)_cmd;
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    ((void (*)(id, SEL, id))objc_msgSend)(array_at(self, i), selector,
                                          argument);
  }
}

static id adding_array(id self, SEL _cmd, id other) {
  (void)_cmd;
  const id all = SEND(id(*)(id, SEL), self, "mutableCopy");
  SEND(void (*)(id, SEL, id), all, "addObjectsFromArray:", other);
  return objc_autorelease(all);
}

METHODS(array_methods,
        METHOD("sortedArrayUsingSelector:", "@24@0:8:16", sorted_by_selector),
        METHOD("sortedArrayUsingFunction:context:", "@32@0:8^?16^v24",
               sorted_by_function),
        METHOD("sortedArrayWithOptions:usingComparator:", "@32@0:8Q16@?24",
               sorted_with),
        METHOD("indexOfObjectPassingTest:", "Q24@0:8@?16", index_passing),
        METHOD("indexesOfObjectsPassingTest:", "@24@0:8@?16", indexes_passing),
        METHOD("indexOfObject:inRange:", "Q40@0:8@16{_NSRange=QQ}24",
               index_in_range),
        METHOD("firstObjectCommonWithArray:", "@24@0:8@16", first_common),
        METHOD("objectsAtIndexes:", "@24@0:8@16", objects_at),
        METHOD("enumerateObjectsWithOptions:usingBlock:", "v32@0:8Q16@?24",
               enumerate_with),
        METHOD("makeObjectsPerformSelector:", "v24@0:8:16", perform_all),
        METHOD("makeObjectsPerformSelector:withObject:", "v32@0:8:16@24",
               perform_all_with),
        METHOD("arrayByAddingObjectsFromArray:", "@24@0:8@16", adding_array));
DEFINE_CATEGORY(NSArray, order, array_methods);

// --- Changing ---------------------------------------------------------------------

static void exchange(id self, SEL _cmd, NSUInteger one, NSUInteger other) {
  (void)_cmd;
  const id kept = objc_retain(array_at(self, one));
  SEND(void (*)(id, SEL, NSUInteger, id), self,
       "replaceObjectAtIndex:withObject:", one, array_at(self, other));
  SEND(void (*)(id, SEL, NSUInteger, id), self,
       "replaceObjectAtIndex:withObject:", other, kept);
  objc_release(kept);
}

static void remove_at(id self, NSUInteger index) {
  SEND(void (*)(id, SEL, NSUInteger), self, "removeObjectAtIndex:", index);
}

static void remove_range(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  for (NSUInteger i = 0; i < range.length; ++i) {
    remove_at(self, range.location + range.length - 1 - i);
  }
}

static void remove_all_of(id self, SEL _cmd, id others) {
  (void)_cmd;
  const size_t count = array_count(others);
  for (size_t i = 0; i < count; ++i) {
    SEND(void (*)(id, SEL, id), self, "removeObject:", array_at(others, i));
  }
}

static void remove_identical(id self, SEL _cmd, id object) {
  (void)_cmd;
  for (size_t i = array_count(self); i-- > 0;) {
    if (array_at(self, i) == object) {
      remove_at(self, i);
    }
  }
}

static void remove_indexes(id self, SEL _cmd, id indexes) {
  (void)_cmd;
  for (size_t i = array_count(self); i-- > 0;) {
    if (index_set_has(indexes, i)) {
      remove_at(self, i);
    }
  }
}

METHODS(mutable_methods, METHOD("setArray:", "v24@0:8@16", set_array),
        METHOD("sortUsingSelector:", "v24@0:8:16", sort_by_selector),
        METHOD("sortUsingComparator:", "v24@0:8@?16", sort_by_block),
        METHOD("sortWithOptions:usingComparator:", "v32@0:8Q16@?24", sort_with),
        METHOD("exchangeObjectAtIndex:withObjectAtIndex:", "v32@0:8Q16Q24",
               exchange),
        METHOD("removeObjectsInRange:", "v32@0:8{_NSRange=QQ}16", remove_range),
        METHOD("removeObjectsInArray:", "v24@0:8@16", remove_all_of),
        METHOD("removeObjectIdenticalTo:", "v24@0:8@16", remove_identical),
        METHOD("removeObjectsAtIndexes:", "v24@0:8@16", remove_indexes));
DEFINE_CATEGORY(NSMutableArray, order, mutable_methods);
