// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// index_set.c: NSIndexSet and NSMutableIndexSet: sorted disjoint ranges.
#include "objc/foundation/collections/index_set.h"

#include <stdlib.h>
#include <string.h>

#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

typedef struct index_set {
  struct objc_object object;
  NSRange *ranges;
  size_t count;
} index_set;

extern struct objc_class OBJC_CLASS_$_NSIndexSet;
extern struct objc_class OBJC_CLASS_$_NSMutableIndexSet;

static NSUInteger end_of(NSRange range) {
  return range.location + range.length;
}

// Inserts a range at a place of the list.
static void insert(index_set *set, size_t at, NSRange range) {
  NSRange *grown = realloc(set->ranges, (set->count + 1) * sizeof *grown);
  if (!grown) {
    runtime_fail("no memory for a set of indexes");
  }
  set->ranges = grown;
  memmove(grown + at + 1, grown + at, (set->count - at) * sizeof *grown);
  grown[at] = range;
  ++set->count;
}

static void drop(index_set *set, size_t at) {
  --set->count;
  memmove(set->ranges + at, set->ranges + at + 1,
          (set->count - at) * sizeof *set->ranges);
}

void index_set_add(id self, NSUInteger first, NSUInteger count) {
  index_set *set = (index_set *)self;
  NSRange added = {first, count};
  if (!count) {
    return;
  }
  size_t at = 0;
  while (at < set->count && end_of(set->ranges[at]) < first) {
    ++at;
  }
  while (at < set->count && set->ranges[at].location <= end_of(added)) {
    const NSRange met = set->ranges[at];
    const NSUInteger start =
        met.location < added.location ? met.location : added.location;
    const NSUInteger end = end_of(met) > end_of(added) ? end_of(met)
                                                       : end_of(added);
    added = (NSRange){start, end - start};
    drop(set, at);
  }
  insert(set, at, added);
}

static void take_away(id self, NSRange gone) {
  index_set *set = (index_set *)self;
  for (size_t at = 0; at < set->count && gone.length; ++at) {
    const NSRange met = set->ranges[at];
    if (end_of(met) <= gone.location || met.location >= end_of(gone)) {
      continue;
    }
    drop(set, at);
    if (end_of(met) > end_of(gone)) {
      insert(set, at, (NSRange){end_of(gone), end_of(met) - end_of(gone)});
    }
    if (met.location < gone.location) {
      insert(set, at, (NSRange){met.location, gone.location - met.location});
    } else {
      --at;
    }
  }
}

bool index_set_has(id self, NSUInteger index) {
  return index_set_from(self, index) == index;
}

NSUInteger index_set_from(id self, NSUInteger index) {
  const index_set *set = (index_set *)self;
  for (size_t i = 0; set && i < set->count; ++i) {
    if (end_of(set->ranges[i]) > index) {
      return set->ranges[i].location > index ? set->ranges[i].location : index;
    }
  }
  return NSNotFound;
}

id index_set_make(void) {
  return objc_autorelease(CREATE(NSMutableIndexSet));
}

// --- Making ------------------------------------------------------------------

static id set_init_range(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  index_set_add(self, range.location, range.length);
  return self;
}

static id set_init_index(id self, SEL _cmd, NSUInteger index) {
  return set_init_range(self, _cmd, (NSRange){index, 1});
}

static id set_init_set(id self, SEL _cmd, id other) {
  (void)_cmd;
  const index_set *from = (index_set *)other;
  for (size_t i = 0; from && i < from->count; ++i) {
    index_set_add(self, from->ranges[i].location, from->ranges[i].length);
  }
  return self;
}

static id make(Class class) {
  return objc_autorelease(instance_create(class, 0));
}

static id set_empty(Class self, SEL _cmd) {
  (void)_cmd;
  return make(self);
}

static id set_with_range(Class self, SEL _cmd, NSRange range) {
  return set_init_range(make(self), _cmd, range);
}

static id set_with_index(Class self, SEL _cmd, NSUInteger index) {
  return set_init_index(make(self), _cmd, index);
}

static void set_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  free(((index_set *)self)->ranges);
  instance_dispose(self);
}

static id set_copy(id self, SEL _cmd, void *zone) {
  (void)zone;
  return set_init_set(CREATE(NSIndexSet), _cmd, self);
}

static id set_mutable_copy(id self, SEL _cmd, void *zone) {
  (void)zone;
  return set_init_set(CREATE(NSMutableIndexSet), _cmd, self);
}

// --- Asking ------------------------------------------------------------------

static NSUInteger set_count(id self, SEL _cmd) {
  (void)_cmd;
  const index_set *set = (index_set *)self;
  NSUInteger count = 0;
  for (size_t i = 0; i < set->count; ++i) {
    count += set->ranges[i].length;
  }
  return count;
}

static NSUInteger set_first(id self, SEL _cmd) {
  (void)_cmd;
  return index_set_from(self, 0);
}

static NSUInteger set_last(id self, SEL _cmd) {
  (void)_cmd;
  const index_set *set = (index_set *)self;
  return set->count ? end_of(set->ranges[set->count - 1]) - 1 : NSNotFound;
}

static NSUInteger set_after(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  return index_set_from(self, index + 1);
}

static NSUInteger set_before(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  const index_set *set = (index_set *)self;
  for (size_t i = set->count; i-- > 0;) {
    if (set->ranges[i].location < index) {
      const NSUInteger last = end_of(set->ranges[i]) - 1;
      return last < index ? last : index - 1;
    }
  }
  return NSNotFound;
}

static int set_contains(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  return index_set_has(self, index);
}

static int set_contains_range(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  const index_set *set = (index_set *)self;
  for (size_t i = 0; i < set->count; ++i) {
    if (set->ranges[i].location <= range.location &&
        end_of(set->ranges[i]) >= end_of(range)) {
      return 1;
    }
  }
  return !range.length;
}

static int set_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  const index_set *one = (index_set *)self, *two = (index_set *)other;
  return object_is(other, &OBJC_CLASS_$_NSIndexSet) &&
         one->count == two->count &&
         !memcmp(one->ranges ? one->ranges : &(NSRange){0, 0},
                 two->ranges ? two->ranges : &(NSRange){0, 0},
                 one->count * sizeof *one->ranges);
}

static void set_each(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  for (NSUInteger i = index_set_from(self, 0); i != NSNotFound && !stop;
       i = index_set_from(self, i + 1)) {
    BLOCK_CALL(void (*)(id, NSUInteger, signed char *), literal, i, &stop);
  }
}

static void set_each_range(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  const index_set *set = (index_set *)self;
  for (size_t i = 0; i < set->count && !stop; ++i) {
    BLOCK_CALL(void (*)(id, NSRange, signed char *), literal, set->ranges[i],
               &stop);
  }
}

METHODS(set_methods, METHOD("dealloc", "v16@0:8", set_dealloc),
        METHOD("initWithIndex:", "@24@0:8Q16", set_init_index),
        METHOD("initWithIndexesInRange:", "@32@0:8{_NSRange=QQ}16",
               set_init_range),
        METHOD("initWithIndexSet:", "@24@0:8@16", set_init_set),
        METHOD("count", "Q16@0:8", set_count),
        METHOD("firstIndex", "Q16@0:8", set_first),
        METHOD("lastIndex", "Q16@0:8", set_last),
        METHOD("indexGreaterThanIndex:", "Q24@0:8Q16", set_after),
        METHOD("indexLessThanIndex:", "Q24@0:8Q16", set_before),
        METHOD("containsIndex:", "B24@0:8Q16", set_contains),
        METHOD("containsIndexesInRange:", "B32@0:8{_NSRange=QQ}16",
               set_contains_range),
        METHOD("isEqual:", "B24@0:8@16", set_is_equal),
        METHOD("isEqualToIndexSet:", "B24@0:8@16", set_is_equal),
        METHOD("hash", "Q16@0:8", set_count),
        METHOD("enumerateIndexesUsingBlock:", "v24@0:8@?16", set_each),
        METHOD("enumerateRangesUsingBlock:", "v24@0:8@?16", set_each_range),
        METHOD("copyWithZone:", "@24@0:8^v16", set_copy),
        METHOD("mutableCopyWithZone:", "@24@0:8^v16", set_mutable_copy));
METHODS(set_class_methods, METHOD("indexSet", "@16@0:8", set_empty),
        METHOD("indexSetWithIndex:", "@24@0:8Q16", set_with_index),
        METHOD("indexSetWithIndexesInRange:", "@32@0:8{_NSRange=QQ}16",
               set_with_range));
DEFINE_CLASS(NSIndexSet, NSObject, sizeof(index_set), set_methods,
             &set_class_methods);

// --- Changing ----------------------------------------------------------------

static void set_add_range(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  index_set_add(self, range.location, range.length);
}

static void set_add(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  index_set_add(self, index, 1);
}

static void set_add_set(id self, SEL _cmd, id other) {
  set_init_set(self, _cmd, other);
}

static void set_remove_range(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  take_away(self, range);
}

static void set_remove(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  take_away(self, (NSRange){index, 1});
}

static void set_clear(id self, SEL _cmd) {
  (void)_cmd;
  ((index_set *)self)->count = 0;
}

METHODS(mutable_methods, METHOD("addIndex:", "v24@0:8Q16", set_add),
        METHOD("addIndexesInRange:", "v32@0:8{_NSRange=QQ}16", set_add_range),
        METHOD("addIndexes:", "v24@0:8@16", set_add_set),
        METHOD("removeIndex:", "v24@0:8Q16", set_remove),
        METHOD("removeIndexesInRange:", "v32@0:8{_NSRange=QQ}16",
               set_remove_range),
        METHOD("removeAllIndexes", "v16@0:8", set_clear));
DEFINE_CLASS(NSMutableIndexSet, NSIndexSet, sizeof(index_set), mutable_methods,
             NO_METHODS);
