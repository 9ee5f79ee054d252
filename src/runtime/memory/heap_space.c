// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heap_space.c: a sorted list of taken ranges; the gaps are free, so that
// neighbouring free ranges join automatically.
#include "runtime/memory/heap_space.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void mtli_heap_space_clear(mtli_heap_space *space) {
  free(space->ranges);
  *space = (mtli_heap_space){0};
}

// A free range, as next_gap goes through them.
typedef struct gap {
  size_t index;  // of the range behind it
  size_t first;
  size_t end;
} gap;

// Goes to the next free range, perhaps an empty one; zero is before the first.
// False behind the last.
static bool next_gap(const mtli_heap_space *space, gap *it) {
  if (it->index > space->count) {
    return false;
  }
  size_t first = it->end;
  if (it->index > 0) {
    const mtli_heap_range *before = &space->ranges[it->index - 1];
    const size_t end = before->first + before->length;
    first = end > first ? end : first;
  }
  const bool is_last = it->index == space->count;
  const size_t end = is_last ? space->length : space->ranges[it->index].first;
  it->index++;
  it->first = first;
  it->end = end > first ? end : first;
  return true;
}

static size_t round_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// Counts the bytes of a gap behind the first that is aligned.
static size_t room(const gap *it, size_t alignment, size_t *out_first) {
  const size_t first = round_up(it->first, alignment);
  *out_first = first;
  return first >= it->first && first < it->end ? it->end - first : 0;
}

size_t mtli_heap_space_largest(const mtli_heap_space *space, size_t alignment) {
  size_t largest = 0;
  size_t first;
  for (gap it = {0}; next_gap(space, &it);) {
    const size_t bytes = room(&it, alignment, &first);
    largest = bytes > largest ? bytes : largest;
  }
  return largest;
}

size_t mtli_heap_space_used(const mtli_heap_space *space) {
  size_t unused = 0;
  for (gap it = {0}; next_gap(space, &it);) {
    unused += it.end - it.first;
  }
  return space->length - unused;
}

bool mtli_heap_space_find(const mtli_heap_space *space, size_t length,
                          size_t alignment, size_t *out_first) {
  size_t best = SIZE_MAX;
  size_t first;
  for (gap it = {0}; next_gap(space, &it);) {
    const size_t bytes = room(&it, alignment, &first);
    if (bytes >= length && bytes < best) {
      best = bytes;
      *out_first = first;
    }
  }
  return best != SIZE_MAX;
}

// Returns the place of the first range that does not begin before first.
static size_t place_of(const mtli_heap_space *space, size_t first) {
  size_t low = 0;
  size_t high = space->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (space->ranges[middle].first < first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool mtli_heap_space_take(mtli_heap_space *space, mtli_heap_range range) {
  if (space->count == space->capacity) {
    const size_t capacity = space->capacity ? 2 * space->capacity : 16;
    mtli_heap_range *grown =
        realloc(space->ranges, capacity * sizeof *space->ranges);
    if (!grown) {
      return false;
    }
    space->ranges = grown;
    space->capacity = capacity;
  }
  mtli_heap_range *place = space->ranges + place_of(space, range.first);
  const size_t behind = (size_t)(space->ranges + space->count - place);
  memmove(place + 1, place, behind * sizeof *place);
  *place = range;
  space->count++;
  return true;
}

void mtli_heap_space_give(mtli_heap_space *space, mtli_heap_range range) {
  for (size_t i = place_of(space, range.first);
       i < space->count && space->ranges[i].first == range.first; i++) {
    if (space->ranges[i].length == range.length) {
      space->count--;
      memmove(&space->ranges[i], &space->ranges[i + 1],
              (space->count - i) * sizeof *space->ranges);
      return;
    }
  }
}
