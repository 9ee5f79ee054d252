// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// names.c: a hash table of texts that only grows. Its lists are extended by
// compare and swap, so that a child of fork finds none locked.
#include "base/memory/names.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct name {
  struct name *next;
  char text[];
} name;

enum { LISTS = 1024 };
static _Atomic(name *) lists[LISTS];

static uint32_t hash(const char *text) {
  uint32_t value = 2166136261;  // FNV-1a
  for (; *text; ++text) {
    value = (value ^ (unsigned char)*text) * 16777619;
  }
  return value;
}

static const char *find(const name *from, const name *until, const char *text) {
  for (; from != until; from = from->next) {
    if (strcmp(from->text, text) == 0) {
      return from->text;
    }
  }
  return NULL;
}

const char *mtli_name_keep(const char *text) {
  _Atomic(name *) *list = &lists[hash(text) % LISTS];
  // Acquire, here and below: pairs with the release of who added the name.
  name *first = atomic_load_explicit(list, memory_order_acquire);
  const char *kept = find(first, NULL, text);
  if (kept) {
    return kept;
  }
  const size_t size = strlen(text) + 1;
  name *made = malloc(sizeof *made + size);
  if (!made) {
    return "";
  }
  memcpy(made->text, text, size);
  made->next = first;
  while (!atomic_compare_exchange_weak_explicit(
      list, &made->next, made, memory_order_acq_rel, memory_order_acquire)) {
    kept = find(made->next, first, text);  // what others have added since
    if (kept) {
      free(made);
      return kept;
    }
  }
  return made->text;
}
