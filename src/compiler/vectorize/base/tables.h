// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tables.h: lists, sets and a map for the vectoriser's analyses.
#ifndef MTLC_TABLES_H
#define MTLC_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

#define LANES_NONE UINT32_MAX  // no such index

// Returns count zeroed elements; ends the compiler process if there is no
// memory for them, as LLVM does.
void *lanes_allocate(mtli_arena *arena, size_t count, size_t element_bytes);

// Returns items, which holds count, if there is room for one more; else a copy
// with room for twice as many, or for `first`.
void *lanes_make_room(mtli_arena *arena, void *items, uint32_t count,
                      uint32_t *capacity, uint32_t first, size_t item_bytes);

// Returns count indices, each LANES_NONE.
uint32_t *lanes_allocate_none(mtli_arena *arena, uint32_t count);

// A growing list of indices.
typedef struct lanes_list {
  uint32_t *items;  // [count]
  uint32_t count;
  uint32_t capacity;
} lanes_list;

void lanes_list_add(mtli_arena *arena, lanes_list *list, uint32_t item);

// A set of small integers.
typedef struct lanes_set {
  uint64_t *words;  // [word_count]
  uint32_t word_count;
} lanes_set;

lanes_set lanes_set_make(mtli_arena *arena, uint32_t item_count);
// Adds an item.
static inline void lanes_set_add(lanes_set set, uint32_t item) {
  set.words[item / 64] |= UINT64_C(1) << item % 64;
}
static inline void lanes_set_remove(lanes_set set, uint32_t item) {
  set.words[item / 64] &= ~(UINT64_C(1) << item % 64);
}
static inline bool lanes_set_has(lanes_set set, uint32_t item) {
  return set.words[item / 64] >> item % 64 & 1;
}
// Adds all items of a list.
void lanes_set_add_all(lanes_set set, const lanes_list *list);
// Adds all items of other; true if any was new.
bool lanes_set_unite(lanes_set set, lanes_set other);
// Returns the smallest item that is at least from, or LANES_NONE.
uint32_t lanes_set_next(lanes_set set, uint32_t from);

// Pointers to indices.
typedef struct lanes_map {
  const void **keys;  // [capacity]
  uint32_t *values;   // [capacity]
  uint32_t capacity;  // a power of two
  uint32_t count;
} lanes_map;

void lanes_map_set(mtli_arena *arena, lanes_map *map, const void *key,
                   uint32_t value);
// Returns the index of a key, or LANES_NONE.
uint32_t lanes_map_get(const lanes_map *map, const void *key);

#endif
