// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// origins.c: tracks the origin of unset values that were stored in private or
// threadgroup memory, by word.
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

typedef struct word {
  uint64_t number;  // address / 4; 0: free
  uint32_t origin;
} word;

static word *words;  // [capacity], a power of two, by open addressing
static size_t word_count, capacity;

void check_origins_clear(void) {
  if (word_count) {
    memset(words, 0, capacity * sizeof *words);
  }
  word_count = 0;
}

static word *place_of(uint64_t number) {
  size_t at = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
  while (words[at].number && words[at].number != number) {
    at = (at + 1) & (capacity - 1);
  }
  return &words[at];
}

static bool make_room(void) {
  if (2 * word_count < capacity) {
    return true;
  }
  const size_t old_capacity = capacity;
  word *old = words;
  const size_t larger = capacity ? 2 * capacity : 256;
  word *grown = calloc(larger, sizeof *grown);
  if (!grown) {
    return false;
  }
  words = grown;
  capacity = larger;
  for (size_t i = 0; i < old_capacity; ++i) {
    if (old[i].number) {
      *place_of(old[i].number) = old[i];
    }
  }
  free(old);
  return true;
}

void check_origins_put(const void *address, uint64_t length, uint32_t origin) {
  const uint64_t first = (uintptr_t)address;
  for (uint64_t number = first / 4; number <= (first + length - 1) / 4;
       ++number) {
    if (!make_room()) {
      return;  // the last read is already reported
    }
    word *place = place_of(number);
    word_count += place->number == 0;
    *place = (word){number, origin};
  }
}

uint32_t check_origins_get(const void *address) {
  return capacity ? place_of((uintptr_t)address / 4)->origin : 0;
}
