// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_table.c: the table under NSMapTable and NSHashTable: chains of
// entries, which stay where they are, since weak references know their place.
#include "objc/foundation/collections/pointer_table.h"

#include <stdlib.h>

#include "objc/runtime/failure.h"

extern id objc_initWeak(id *location, id object);
extern void objc_destroyWeak(id *location);
extern id objc_loadWeak(id *location);

// --- References --------------------------------------------------------------

void pointer_check(NSUInteger options) {
  const NSUInteger memory = options & POINTER_MEMORY;
  const NSUInteger personality = options & POINTER_PERSONALITY;
  if ((memory != POINTER_STRONG && memory != POINTER_UNOWNED &&
       memory != POINTER_WEAK) ||
      personality == POINTER_BY_CONTENTS || personality == POINTER_STRUCTS) {
    exception_raise("NSInvalidArgumentException",
                    "NSPointerFunctionsOptions 0x%lx: memory is strong, weak "
                    "or opaque here, and holds objects or pointers",
                    options);
  }
}

void pointer_write(id *location, id object, NSUInteger options) {
  switch (options & POINTER_MEMORY) {
    case POINTER_WEAK: objc_initWeak(location, object); break;
    case POINTER_UNOWNED: *location = object; break;
    default:
      *location = options & POINTER_COPIES
                      ? SEND(id(*)(id, SEL), object, "copy")
                      : objc_retain(object);
  }
}

id pointer_read(id *location, NSUInteger options) {
  return (options & POINTER_MEMORY) == POINTER_WEAK ? objc_loadWeak(location)
                                                    : *location;
}

void pointer_end(id *location, NSUInteger options) {
  switch (options & POINTER_MEMORY) {
    case POINTER_WEAK: objc_destroyWeak(location); break;
    case POINTER_UNOWNED: break;
    default: objc_release(*location);
  }
  *location = NULL;
}

// --- The table ---------------------------------------------------------------

static NSUInteger hash_of(id key, NSUInteger options) {
  return (options & POINTER_PERSONALITY) == POINTER_BY_EQUALITY
             ? SEND(NSUInteger(*)(id, SEL), key, "hash")
             : (NSUInteger)(uintptr_t)key / 16;
}

static bool is_key(id one, id other, NSUInteger options) {
  return one == other ||
         ((options & POINTER_PERSONALITY) == POINTER_BY_EQUALITY &&
          objects_equal(one, other));
}

table_entry *table_find(const pointer_table *table, id key) {
  if (!table->bucket_count || !key) {
    return NULL;
  }
  const NSUInteger hash = hash_of(key, table->key_options);
  for (table_entry *at = table->buckets[hash % table->bucket_count]; at;
       at = at->next) {
    if (at->hash != hash) {
      continue;
    }
    const id found = pointer_read(&at->key, table->key_options);
    if (found && is_key(found, key, table->key_options)) {
      return at;
    }
  }
  return NULL;
}

static void free_entry(pointer_table *table, table_entry *entry) {
  pointer_end(&entry->key, table->key_options);
  pointer_end(&entry->value, table->value_options);
  free(entry);
  --table->entry_count;
}

// Drops entries whose key died, and moves the others to twice the buckets if
// they are still as many as these.
static void make_room(pointer_table *table) {
  table_entry *all = NULL;
  for (size_t i = 0; i < table->bucket_count; ++i) {
    for (table_entry *at = table->buckets[i], *next; at; at = next) {
      next = at->next;
      if (pointer_read(&at->key, table->key_options)) {
        at->next = all;
        all = at;
      } else {
        free_entry(table, at);
      }
    }
  }
  const size_t count = table->entry_count < table->bucket_count
                           ? table->bucket_count
                           : 2 * table->bucket_count + 16;
  free(table->buckets);
  table->buckets = calloc(count, sizeof *table->buckets);
  table->bucket_count = count;
  if (!table->buckets) {
    runtime_fail("no memory for a table of %zu", count);
  }
  for (table_entry *next; all; all = next) {
    next = all->next;
    all->next = table->buckets[all->hash % count];
    table->buckets[all->hash % count] = all;
  }
}

void table_put(pointer_table *table, id key, id value) {
  table_entry *entry = table_find(table, key);
  ++table->mutations;
  if (entry) {
    table_entry old = *entry;
    id held = (table->value_options & POINTER_MEMORY) == POINTER_STRONG
                  ? old.value
                  : NULL;
    if (!held) {
      pointer_end(&entry->value, table->value_options);
    }
    pointer_write(&entry->value, value, table->value_options);
    objc_release(held);  // behind the new one, which may be the same
    return;
  }
  if (table->entry_count == table->bucket_count) {
    make_room(table);
  }
  entry = calloc(1, sizeof *entry);
  if (!entry) {
    runtime_fail("no memory for an entry of a table");
  }
  entry->hash = hash_of(key, table->key_options);
  pointer_write(&entry->key, key, table->key_options);
  pointer_write(&entry->value, value, table->value_options);
  table_entry **bucket = &table->buckets[entry->hash % table->bucket_count];
  entry->next = *bucket;
  *bucket = entry;
  ++table->entry_count;
}

void table_remove(pointer_table *table, id key) {
  table_entry *entry = table_find(table, key);
  if (!entry) {
    return;
  }
  table_entry **at = &table->buckets[entry->hash % table->bucket_count];
  while (*at != entry) {
    at = &(*at)->next;
  }
  *at = entry->next;
  ++table->mutations;
  free_entry(table, entry);
}

void table_clear(pointer_table *table) {
  table_entry **buckets = table->buckets;
  const size_t count = table->bucket_count;
  table->buckets = NULL;
  table->bucket_count = 0;
  ++table->mutations;
  for (size_t i = 0; i < count; ++i) {
    for (table_entry *at = buckets[i], *next; at; at = next) {
      next = at->next;
      free_entry(table, at);
    }
  }
  free(buckets);
}

static id collect(const pointer_table *table, bool wants_values) {
  const id all = objc_autorelease(mutable_array_create());
  for (size_t i = 0; i < table->bucket_count; ++i) {
    for (table_entry *at = table->buckets[i]; at; at = at->next) {
      const id key = pointer_read(&at->key, table->key_options);
      const id value = pointer_read(&at->value, table->value_options);
      const id wanted = wants_values ? value : key;
      if (key && wanted) {
        array_add(all, wanted);
      }
    }
  }
  return all;
}

id table_keys(const pointer_table *table) {
  return collect(table, false);
}

id table_values(const pointer_table *table) {
  return collect(table, true);
}
