// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// name_table.c: open addressing, at most half full.
#include "objc/runtime/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "objc/runtime/failure.h"

// FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
uint64_t name_hash(const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name; ++name) {
    hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  }
  return hash;
}

static name_entry *entry_of(const name_table *table, const char *name) {
  size_t at = name_hash(name) & (table->capacity - 1);
  while (table->entries[at].name &&
         strcmp(table->entries[at].name, name) != 0) {
    at = (at + 1) & (table->capacity - 1);
  }
  return &table->entries[at];
}

void *name_table_find(const name_table *table, const char *name) {
  return table->capacity ? entry_of(table, name)->value : NULL;
}

static void grow(name_table *table) {
  const name_table old = *table;
  table->capacity = old.capacity ? 2 * old.capacity : 256;
  table->entries = calloc(table->capacity, sizeof *table->entries);
  if (!table->entries) {
    runtime_fail("no memory for %zu names", table->capacity);
  }
  for (size_t i = 0; i < old.capacity; ++i) {
    if (old.entries[i].name) {
      *entry_of(table, old.entries[i].name) = old.entries[i];
    }
  }
  free(old.entries);
}

void name_table_add(name_table *table, const char *name, void *value) {
  if (2 * table->count >= table->capacity) {
    grow(table);
  }
  name_entry *entry = entry_of(table, name);
  table->count += !entry->name;
  *entry = (name_entry){name, value};
}

size_t name_table_list(const name_table *table, void **values,
                       size_t capacity) {
  size_t count = 0;
  for (size_t i = 0; i < table->capacity && count < capacity; ++i) {
    if (table->entries[i].name) {
      values[count++] = table->entries[i].value;
    }
  }
  return table->count;
}
