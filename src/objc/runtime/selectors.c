// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// selectors.c: interns selectors' names in an arena.
#include "objc/runtime/selectors.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/failure.h"
#include "objc/runtime/name_table.h"

char selector_arena[SELECTOR_ARENA_BYTES]
    __attribute__((aligned(4096), visibility("hidden")));

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static size_t used_bytes;
static uint32_t *slots;  // [slot_count] 1 + offset in units of the alignment
static size_t slot_count;  // a power of two
static size_t selector_count;

static char *string_at(uint32_t slot) {
  return selector_arena + (size_t)(slot - 1) * SELECTOR_ALIGNMENT;
}

// Returns name's slot, or the empty one where it belongs.
static uint32_t *slot_of(const char *name) {
  size_t at = name_hash(name) & (slot_count - 1);
  while (slots[at] && strcmp(string_at(slots[at]), name) != 0) {
    at = (at + 1) & (slot_count - 1);
  }
  return &slots[at];
}

static void grow(void) {
  uint32_t *old = slots;
  const size_t old_count = slot_count;
  slot_count = old_count ? 2 * old_count : 4096;
  slots = calloc(slot_count, sizeof *slots);
  if (!slots) {
    runtime_fail("no memory for %zu selectors", slot_count);
  }
  for (size_t i = 0; i < old_count; ++i) {
    if (old[i]) {
      *slot_of(string_at(old[i])) = old[i];
    }
  }
  free(old);
}

SEL selector_find(const char *name) {
  pthread_rwlock_rdlock(&lock);
  const uint32_t slot = slot_count ? *slot_of(name) : 0;
  pthread_rwlock_unlock(&lock);
  return slot ? string_at(slot) : NULL;
}

SEL selector_intern(const char *name) {
  SEL found = selector_find(name);
  if (found) {
    return found;
  }
  pthread_rwlock_wrlock(&lock);
  if (2 * selector_count >= slot_count) {
    grow();
  }
  uint32_t *slot = slot_of(name);
  if (!*slot) {
    const size_t bytes = strlen(name) + 1;
    if (bytes > SELECTOR_ARENA_BYTES - used_bytes) {
      runtime_fail("more than %d bytes of selectors", SELECTOR_ARENA_BYTES);
    }
    memcpy(selector_arena + used_bytes, name, bytes);
    *slot = (uint32_t)(used_bytes / SELECTOR_ALIGNMENT + 1);
    used_bytes +=
        (bytes + SELECTOR_ALIGNMENT - 1) & ~(size_t)(SELECTOR_ALIGNMENT - 1);
    ++selector_count;
  }
  found = string_at(*slot);
  pthread_rwlock_unlock(&lock);
  return found;
}

bool selector_is_interned(const void *address) {
  return (uintptr_t)address - (uintptr_t)selector_arena < SELECTOR_ARENA_BYTES;
}

OBJC_EXPORT SEL sel_registerName(const char *name) {
  return selector_intern(name);
}

OBJC_EXPORT SEL sel_getUid(const char *name) {
  return selector_intern(name);
}

OBJC_EXPORT const char *sel_getName(SEL selector) {
  return selector ? selector : "<null selector>";
}

OBJC_EXPORT int sel_isEqual(SEL one, SEL other) {
  return one == other;
}

OBJC_EXPORT int sel_isMapped(SEL selector) {
  return selector && selector_is_interned(selector);
}
