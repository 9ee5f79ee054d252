// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// name_table.h: a hash table from names to pointers. The caller locks.
#ifndef METTLE_OBJC_NAME_TABLE_H
#define METTLE_OBJC_NAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct name_entry {
  const char *name;  // borrowed; NULL: free
  void *value;
} name_entry;

// All zeros is an empty table.
typedef struct name_table {
  name_entry *entries;  // [capacity] a power of two
  size_t capacity;
  size_t count;
} name_table;

// Hashes a string: equal ones give the same number.
uint64_t name_hash(const char *name);

// Returns the value under name, NULL if there is none.
void *name_table_find(const name_table *table, const char *name);

// Puts value under name, in place of an earlier one.
void name_table_add(name_table *table, const char *name, void *value);

// Writes up to capacity values in no order, and returns the total count.
size_t name_table_list(const name_table *table, void **values, size_t capacity);

#endif
