// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// map.c: a hash map of addresses, and the translation's memory and failures.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/air/air.h"

// Addresses differ in their middle bits most.
static size_t place_of(const air_map *map, const void *key) {
  const uint64_t bits = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
  size_t place = (size_t)(bits >> 32) & (map->capacity - 1);
  while (map->keys[place] && map->keys[place] != key) {
    place = (place + 1) & (map->capacity - 1);
  }
  return place;
}

static void grow(air_map *map) {
  air_map larger = {.capacity = map->capacity ? 2 * map->capacity : 64};
  larger.keys = calloc(larger.capacity, sizeof *larger.keys);
  larger.values = calloc(larger.capacity, sizeof *larger.values);
  if (!larger.keys || !larger.values) {
    abort();  // the compiler's process ends, and the runtime says so
  }
  for (size_t i = 0; i < map->capacity; ++i) {
    if (map->keys[i]) {
      air_map_set(&larger, map->keys[i], map->values[i]);
    }
  }
  air_map_clear(map);
  *map = larger;
}

void air_map_set(air_map *map, const void *key, void *value) {
  if (2 * (map->count + 1) > map->capacity) {
    grow(map);
  }
  const size_t place = place_of(map, key);
  map->count += !map->keys[place];
  map->keys[place] = key;
  map->values[place] = value;
}

void *air_map_get(const air_map *map, const void *key) {
  return map->capacity && key ? map->values[place_of(map, key)] : NULL;
}

void air_map_clear(air_map *map) {
  free(map->keys);
  free(map->values);
  *map = (air_map){0};
}

void air_fail(air_translation *t, mtl_status status, const char *format, ...) {
  if (t->status != MTL_OK) {
    return;
  }
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  t->status = mtli_fail_text(status, text);
}

void air_miss(air_translation *t, const char *name) {
  const size_t length = strlen(t->missing);
  const size_t room = sizeof t->missing - length;
  if (strlen(name) + 3 < room) {
    snprintf(t->missing + length, room, "%s%s", length ? ", " : "", name);
  }
  t->missing_count++;
}

void *air_allocate(air_translation *t, size_t size_bytes) {
  void *memory = mtli_arena_allocate(t->arena, size_bytes ? size_bytes : 1);
  if (!memory) {
    abort();
  }
  return memset(memory, 0, size_bytes);
}

char *air_copy_text(air_translation *t, const char *text, size_t length) {
  char *copy = mtli_arena_copy_text(t->arena, text, length);
  if (!copy) {
    abort();
  }
  return copy;
}
