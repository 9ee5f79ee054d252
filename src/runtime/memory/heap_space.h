// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heap_space.h: which ranges of a heap are taken. Ranges may overlap, where the
// client places them.
#ifndef MTLI_HEAP_SPACE_H
#define MTLI_HEAP_SPACE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mtli_heap_range {
  size_t first;
  size_t length;  // never 0
} mtli_heap_range;

// Zero but for length is all free. One thread at a time.
typedef struct mtli_heap_space {
  size_t length;
  mtli_heap_range *ranges;  // [count] taken, by their first bytes
  size_t count;
  size_t capacity;
} mtli_heap_space;

void mtli_heap_space_clear(mtli_heap_space *space);

// Returns the longest free range that starts at a multiple of alignment, a
// power of two.
size_t mtli_heap_space_largest(const mtli_heap_space *space, size_t alignment);
// Counts the taken bytes, once where ranges overlap.
size_t mtli_heap_space_used(const mtli_heap_space *space);

// Finds the free range that length fits best. False if there is none.
bool mtli_heap_space_find(const mtli_heap_space *space, size_t length,
                          size_t alignment, size_t *out_first);
// Takes a range, be it taken or not. False when out of memory.
bool mtli_heap_space_take(mtli_heap_space *space, mtli_heap_range range);
// Gives a range back that was taken so.
void mtli_heap_space_give(mtli_heap_space *space, mtli_heap_range range);

#endif
