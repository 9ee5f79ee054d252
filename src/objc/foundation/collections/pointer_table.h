// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_table.h: a hash table whose keys and values are held strongly, weakly
// or not at all, as NSPointerFunctionsOptions say. An entry is gone once its
// weak key is zeroed.
#ifndef METTLE_OBJC_POINTER_TABLE_H
#define METTLE_OBJC_POINTER_TABLE_H

#include "objc/foundation/foundation.h"

// NSPointerFunctionsOptions, by Apple's documentation.
enum {
  POINTER_STRONG = 0,
  POINTER_UNOWNED = 2,  // "opaque memory"
  POINTER_WEAK = 5,
  POINTER_MEMORY = 0xff,
  POINTER_BY_EQUALITY = 0,
  POINTER_PERSONALITY = 0xff00,
  POINTER_BY_CONTENTS = 3 << 8,  // C strings and structs: not here
  POINTER_STRUCTS = 4 << 8,
  POINTER_COPIES = 1 << 16,
};

// Raises an exception if options has some that are not supported.
void pointer_check(NSUInteger options);
// Initialises a reference with these options, loads it (nil if a weak one was
// zeroed), and releases it.
void pointer_write(id *location, id object, NSUInteger options);
id pointer_read(id *location, NSUInteger options);
void pointer_end(id *location, NSUInteger options);

typedef struct table_entry {
  struct table_entry *next;
  NSUInteger hash;
  id key;
  id value;
} table_entry;

// Zeros but for the options: an empty table.
typedef struct pointer_table {
  NSUInteger key_options, value_options;
  table_entry **buckets;
  size_t bucket_count, entry_count;
  unsigned long mutations;
} pointer_table;

// Returns the entry of a key, NULL if there is none.
table_entry *table_find(const pointer_table *table, id key);
// Inserts an entry, or replaces the value of an equal key, whose object is
// kept.
void table_put(pointer_table *table, id key, id value);
void table_remove(pointer_table *table, id key);
void table_clear(pointer_table *table);
// Returns an NSArray of the keys, or of the values, of all entries whose weak
// references are not zeroed.
id table_keys(const pointer_table *table);
id table_values(const pointer_table *table);

#endif
