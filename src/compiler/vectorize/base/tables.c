// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tables.c: lists, sets and a map for the vectoriser's analyses.
#include "compiler/vectorize/base/tables.h"

#include <stdlib.h>
#include <string.h>

void *lanes_allocate(mtli_arena *arena, size_t count, size_t element_bytes) {
  void *memory = NULL;
  if (!element_bytes || count <= SIZE_MAX / element_bytes) {
    memory = mtli_arena_allocate(arena, count * element_bytes);
  }
  if (!memory) {
    abort();  // the client reports the lost process and starts another
  }
  return memory;
}

void *lanes_make_room(mtli_arena *arena, void *items, uint32_t count,
                      uint32_t *capacity, uint32_t first, size_t item_bytes) {
  if (count < *capacity) {
    return items;
  }
  *capacity = *capacity ? *capacity * 2 : first;
  void *copy = lanes_allocate(arena, *capacity, item_bytes);
  if (count) {
    memcpy(copy, items, count * item_bytes);
  }
  return copy;
}

uint32_t *lanes_allocate_none(mtli_arena *arena, uint32_t count) {
  uint32_t *indices = lanes_allocate(arena, count, sizeof *indices);
  for (uint32_t i = 0; i < count; i++) {
    indices[i] = LANES_NONE;
  }
  return indices;
}

void lanes_list_add(mtli_arena *arena, lanes_list *list, uint32_t item) {
  list->items = lanes_make_room(arena, list->items, list->count,
                                &list->capacity, 4, sizeof *list->items);
  list->items[list->count++] = item;
}

lanes_set lanes_set_make(mtli_arena *arena, uint32_t item_count) {
  const uint32_t word_count = item_count / 64 + 1;
  return (lanes_set){
      .words = lanes_allocate(arena, word_count, sizeof(uint64_t)),
      .word_count = word_count};
}

void lanes_set_add_all(lanes_set set, const lanes_list *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    lanes_set_add(set, list->items[i]);
  }
}

bool lanes_set_unite(lanes_set set, lanes_set other) {
  bool changed = false;
  for (uint32_t i = 0; i < set.word_count; i++) {
    changed |= (other.words[i] & ~set.words[i]) != 0;
    set.words[i] |= other.words[i];
  }
  return changed;
}

uint32_t lanes_set_next(lanes_set set, uint32_t from) {
  uint32_t word = from / 64;
  if (word >= set.word_count) {
    return LANES_NONE;
  }
  uint64_t bits = set.words[word] & ~UINT64_C(0) << from % 64;
  while (!bits) {
    if (++word == set.word_count) {
      return LANES_NONE;
    }
    bits = set.words[word];
  }
  return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

static uint32_t map_slot(const lanes_map *map, const void *key) {
  uint64_t hash = (uintptr_t)key >> 4;
  hash *= UINT64_C(0x9e3779b97f4a7c15);  // Knuth's multiplicative hashing
  uint32_t slot = (uint32_t)(hash >> 32) & (map->capacity - 1);
  while (map->keys[slot] && map->keys[slot] != key) {
    slot = (slot + 1) & (map->capacity - 1);
  }
  return slot;
}

static void map_grow(mtli_arena *arena, lanes_map *map) {
  const lanes_map old = *map;
  map->capacity = old.capacity ? old.capacity * 2 : 64;
  map->keys = lanes_allocate(arena, map->capacity, sizeof *map->keys);
  map->values = lanes_allocate(arena, map->capacity, sizeof *map->values);
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.keys[i]) {
      const uint32_t slot = map_slot(map, old.keys[i]);
      map->keys[slot] = old.keys[i];
      map->values[slot] = old.values[i];
    }
  }
}

void lanes_map_set(mtli_arena *arena, lanes_map *map, const void *key,
                   uint32_t value) {
  if (map->count * 2 >= map->capacity) {
    map_grow(arena, map);
  }
  const uint32_t slot = map_slot(map, key);
  map->count += map->keys[slot] == NULL;
  map->keys[slot] = key;
  map->values[slot] = value;
}

uint32_t lanes_map_get(const lanes_map *map, const void *key) {
  if (!map->capacity) {
    return LANES_NONE;
  }
  const uint32_t slot = map_slot(map, key);
  return map->keys[slot] ? map->values[slot] : LANES_NONE;
}
