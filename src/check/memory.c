// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: the shadows of device memory, by address.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/state.h"

enum { MOST_STAMPS = 32 };  // of one access, and some

static check_memory *memories;  // [memory_count] by rising address
static size_t memory_count, memory_capacity;
static size_t untracked_count;

// Returns how many begin at or below an address.
static size_t count_below(uint64_t address) {
  size_t low = 0, high = memory_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (memories[middle].first <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

check_memory *check_memory_find(uint64_t address) {
  const size_t below = count_below(address);
  check_memory *memory = below ? &memories[below - 1] : NULL;
  return memory && address - memory->first < memory->bytes ? memory : NULL;
}

check_memory *check_memory_at(size_t place) {
  return place < memory_count ? &memories[place] : NULL;
}

static void *reserve(uint64_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t cells_bytes(const check_memory *memory) {
  return (memory->bytes / 4 + 2) * sizeof(check_cell);
}

static uint64_t quarters_bytes(const check_memory *memory) {
  return (memory->bytes / 4 + 2) * 4 * sizeof(check_cell);
}

// Fast paths look at as many bytes as are accessed.
static uint64_t set_bytes(const check_memory *memory) {
  return memory->bytes + 16;
}

static void drop_cells(check_memory *memory) {
  if (memory->cells) {
    munmap(memory->cells, cells_bytes(memory));
  }
  if (memory->quarters) {
    munmap(memory->quarters, quarters_bytes(memory));
  }
  memory->cells = memory->quarters = NULL;
  check_further_drop(memory);
}

bool check_memory_prepare(check_memory *memory) {
  if (!memory->cells) {
    memory->cells = reserve(cells_bytes(memory));
    memory->quarters = reserve(quarters_bytes(memory));
  }
  if (!memory->cells || !memory->quarters) {
    drop_cells(memory);
  }
  return memory->cells != NULL;
}

static uint64_t stamps_bytes(const check_memory *memory) {
  return (memory->bytes / 4 + MOST_STAMPS) * sizeof(uint32_t);
}

static void drop_stamps(check_memory *memory) {
  if (memory->writes) {
    munmap(memory->writes, stamps_bytes(memory));
  }
  if (memory->reads) {
    munmap(memory->reads, stamps_bytes(memory));
  }
  memory->writes = memory->reads = NULL;
}

bool check_memory_prepare_stamps(check_memory *memory) {
  if (!memory->writes) {
    memory->writes = reserve(stamps_bytes(memory));
    memory->reads = reserve(stamps_bytes(memory));
  }
  if (!memory->writes || !memory->reads) {
    drop_stamps(memory);
  }
  return memory->writes != NULL;
}

void check_memory_forget_stamps(void) {
  for (size_t i = 0; i < memory_count; ++i) {
    drop_stamps(&memories[i]);
  }
}

void check_memory_is_set(check_memory *memory) {
  munmap(memory->set, set_bytes(memory));
  memory->set = NULL;
}

void check_memory_forget(void) {
  for (size_t i = 0; i < memory_count; ++i) {
    drop_cells(&memories[i]);
    memories[i].barrier = 0;
  }
}

static void remove_at(size_t at) {
  check_memory *memory = &memories[at];
  drop_cells(memory);
  drop_stamps(memory);
  if (memory->set) {
    munmap(memory->set, set_bytes(memory));
  }
  free(memory->label);
  untracked_count -= memory->is_untracked;
  --memory_count;
  memmove(memory, memory + 1, (memory_count - at) * sizeof *memory);
}

static bool contains(const check_memory *outer, const check_memory *inner) {
  return outer->first <= inner->first &&
         outer->first + outer->bytes >= inner->first + inner->bytes;
}

// Takes overlapping pieces into memory: buffers over a program's own memory may
// overlap, and share one shadow.
static void absorb(check_memory *memory) {
  for (size_t at; (at = count_below(memory->first + memory->bytes - 1)) > 0;) {
    const check_memory other = memories[at - 1];
    if (other.first + other.bytes <= memory->first) {
      return;
    }
    const uint64_t end = memory->first + memory->bytes;
    const uint64_t other_end = other.first + other.bytes;
    const bool is_part = contains(memory, &other);
    memory->is_union |= !is_part || other.is_union;
    memory->is_untracked |= other.is_untracked;
    memory->first = other.first < memory->first ? other.first : memory->first;
    memory->bytes = (other_end > end ? other_end : end) - memory->first;
    remove_at(at - 1);
  }
}

static bool make_room(void) {
  if (memory_count < memory_capacity) {
    return true;
  }
  const size_t capacity = memory_capacity ? 2 * memory_capacity : 64;
  check_memory *grown = realloc(memories, capacity * sizeof *memories);
  memories = grown ? grown : memories;
  memory_capacity = grown ? capacity : memory_capacity;
  return grown != NULL;
}

static bool add(check_memory memory, bool is_unset, const char *label) {
  if (!make_room()) {
    return false;
  }
  absorb(&memory);
  if (is_unset && !memory.is_union) {
    memory.set = reserve(set_bytes(&memory));
  }
  memory.label = label ? strdup(label) : NULL;
  const size_t at = count_below(memory.first);
  memmove(&memories[at + 1], &memories[at],
          (memory_count - at) * sizeof *memories);
  ++memory_count;
  untracked_count += memory.is_untracked;
  memories[at] = memory;
  return true;
}

bool check_memory_has_untracked(void) {
  return untracked_count != 0;
}

void mtli_check_memory_add(uint64_t first, uint64_t bytes, bool is_unset,
                           bool is_untracked, const char *label) {
  const check_memory memory = {
      .first = first, .bytes = bytes, .is_untracked = is_untracked};
  pthread_mutex_lock(&check_lock);
  const check_memory *known = check_memory_find(first);
  const bool is_added = (!is_unset && known && contains(known, &memory)) ||
                        add(memory, is_unset, label);
  pthread_mutex_unlock(&check_lock);
  if (!is_added) {
    mtli_check_note_unchecked("no memory for the shadows of buffers");
  }
}

// A shadow of several buffers is removed with the first of them: the others are
// added again before the next dispatch.
void mtli_check_memory_remove(uint64_t first, uint64_t bytes) {
  pthread_mutex_lock(&check_lock);
  const size_t below = count_below(first);
  const check_memory *memory = check_memory_find(first);
  if (memory && (memory->is_union || memory->bytes <= bytes)) {
    remove_at(below - 1);
  }
  pthread_mutex_unlock(&check_lock);
}

static bool is_set(const check_memory *memory, uint64_t at) {
  return !memory || !memory->set || memory->set[at] == 0xff;
}

void mtli_check_memory_copy(uint64_t first, uint64_t source, uint64_t bytes) {
  pthread_mutex_lock(&check_lock);
  check_memory *to = check_memory_find(first);
  const check_memory *from = source ? check_memory_find(source) : NULL;
  for (uint64_t i = 0; to && to->set && i < bytes; ++i) {
    const uint64_t at = first + i - to->first;
    if (at >= to->bytes) {
      break;
    }
    to->set[at] = is_set(from, from ? source + i - from->first : 0) ? 0xff : 0;
  }
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_memory_set(uint64_t first, uint64_t bytes) {
  mtli_check_memory_copy(first, 0, bytes);
}
