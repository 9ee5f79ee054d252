// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// slots.c: reservations of SLOTS places each, which stay for good. Everything
// is atomic and nothing locked: the child of a fork may go on with it.
#include "base/memory/slots.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/guard.h"
#include "base/machine.h"

enum {
  SLOTS = 1024,
  WORD_BITS = 64,
  WORDS = SLOTS / WORD_BITS,
  LEAST_STRIDE_BYTES = 64 * 1024,  // from slot to slot
  STRIDE_PAGES = 4,                // at least
};

struct mtli_slots {
  mtli_slots *next;
  mtli_slots_kind kind;
  bool has_guards;          // opened and closed with guard.h
  char *first;              // the slots; a stride in front of them is reserved
  _Atomic uint32_t count;   // taken, or being taken
  _Atomic uint32_t cursor;  // the word to look at first
  _Atomic uint64_t taken[WORDS];
};

// A list that grows only at its front.
static _Atomic(mtli_slots *) lists[MTLI_SLOTS_KINDS];

static size_t stride_bytes(void) {
  const size_t bytes = STRIDE_PAGES * mtli_machine_page_bytes();
  return bytes > LEAST_STRIDE_BYTES ? bytes : LEAST_STRIDE_BYTES;
}

size_t mtli_slots_most_bytes(void) {
  return stride_bytes() / 4;
}

// Returns where a slot's piece begins. Addresses vary in their lower bits,
// since the processor's translation caches have few places for equal ones.
static char *place_of(const mtli_slots *slots, size_t slot) {
  enum { COLOURS = 8 };
  const size_t step = stride_bytes() / 2 / COLOURS;
  const size_t page_bytes = mtli_machine_page_bytes();
  const size_t colour = (slot + slot / WORD_BITS) % COLOURS;
  return slots->first + slot * stride_bytes() +
         colour * step / page_bytes * page_bytes;
}

// Reserves the address space. NULL if it cannot be had.
static char *reserve(mtli_slots *slots, size_t size_bytes) {
  slots->has_guards = slots->kind == MTLI_SLOTS_APART && mtli_guard_is_there();
  const bool is_open = slots->kind == MTLI_SLOTS_ASIDE || slots->has_guards;
  char *first =
      mmap(NULL, size_bytes, is_open ? PROT_READ | PROT_WRITE : PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) {
    return NULL;
  }
  if (slots->has_guards && !mtli_guard_install(first, size_bytes)) {
    slots->has_guards = false;
    mprotect(first, size_bytes, PROT_NONE);
  }
  return first;
}

static mtli_slots *add_slots(mtli_slots_kind kind) {
  const size_t stride = stride_bytes();
  mtli_slots *slots = calloc(1, sizeof *slots);
  if (!slots) {
    return NULL;
  }
  slots->kind = kind;
  char *first = reserve(slots, (SLOTS + 1) * stride);
  if (!first) {
    free(slots);
    return NULL;
  }
  slots->first = first + stride;
  slots->next = atomic_load_explicit(&lists[kind], memory_order_relaxed);
  // Release: pairs with the acquire in open.
  while (!atomic_compare_exchange_weak_explicit(&lists[kind], &slots->next,
                                                slots, memory_order_release,
                                                memory_order_relaxed)) {
  }
  return slots;
}

// Takes a slot of those, from a word on; -1 if all are taken.
static int take(mtli_slots *slots) {
  if (atomic_fetch_add(&slots->count, 1) >= SLOTS) {
    atomic_fetch_sub(&slots->count, 1);
    return -1;
  }
  // Searches in a ring: word after word, bit after bit.
  for (;;) {
    const uint32_t word =
        atomic_fetch_add_explicit(&slots->cursor, 1, memory_order_relaxed) %
        WORDS;
    uint64_t taken = atomic_load(&slots->taken[word]);
    while (~taken) {
      const int bit = __builtin_ctzll(~taken);
      if (atomic_compare_exchange_weak(&slots->taken[word], &taken,
                                       taken | (uint64_t)1 << bit)) {
        return (int)word * WORD_BITS + bit;
      }
    }
  }
}

static void give(mtli_slots *slots, size_t slot) {
  atomic_fetch_and(&slots->taken[slot / WORD_BITS],
                   ~((uint64_t)1 << slot % WORD_BITS));
  atomic_fetch_sub(&slots->count, 1);
}

static bool open_slot(const mtli_slots *slots, char *bytes, size_t size_bytes) {
  return slots->kind == MTLI_SLOTS_ASIDE ? true
         : slots->has_guards
             ? mtli_guard_remove(bytes, size_bytes)
             : mprotect(bytes, size_bytes, PROT_READ | PROT_WRITE) == 0;
}

static bool close_slot(const mtli_slots *slots, char *bytes,
                       size_t size_bytes) {
  if (slots->kind == MTLI_SLOTS_ASIDE) {
    // Memory written beside the piece is dropped as well.
    const size_t slot = (size_t)(bytes - slots->first) / stride_bytes();
    return madvise(slots->first + slot * stride_bytes(), stride_bytes(),
                   MADV_DONTNEED) == 0;
  }
  return slots->has_guards
             ? mtli_guard_install(bytes, size_bytes)
             : mmap(bytes, size_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                    0) == bytes;
}

char *mtli_slots_open(mtli_slots_kind kind, size_t size_bytes,
                      mtli_slots **out_home) {
  // Acquire: pairs with the release in add_slots.
  mtli_slots *slots = atomic_load_explicit(&lists[kind], memory_order_acquire);
  int slot = -1;
  while (slots && (slot = take(slots)) < 0) {
    slots = slots->next;
  }
  while (slot < 0) {  // other threads may take all new slots first
    slots = add_slots(kind);
    if (!slots) {
      return NULL;
    }
    slot = take(slots);
  }
  char *bytes = place_of(slots, (size_t)slot);
  if (!open_slot(slots, bytes, size_bytes)) {
    give(slots, (size_t)slot);
    return NULL;
  }
  *out_home = slots;
  return bytes;
}

void mtli_slots_close(mtli_slots *home, char *bytes, size_t size_bytes) {
  const size_t slot = (size_t)(bytes - home->first) / stride_bytes();
  // If that fails the slot holds old contents, and is never used again.
  if (close_slot(home, bytes, size_bytes)) {
    give(home, slot);
  }
}
