// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: the shadows of device memory, by address.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/state.h"

static check_memory *memories;  // [memory_count] by rising address
static size_t memory_count, memory_capacity;

// How many begin at or below address.
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

// Fast paths look at as many as are accessed.
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

void check_memory_forget(void) {
  for (size_t i = 0; i < memory_count; ++i) {
    drop_cells(&memories[i]);
  }
}

static void remove_at(size_t at) {
  check_memory *memory = &memories[at];
  drop_cells(memory);
  if (memory->set) {
    munmap(memory->set, set_bytes(memory));
  }
  free(memory->label);
  --memory_count;
  memmove(memory, memory + 1, (memory_count - at) * sizeof *memory);
}

void mtli_check_memory_add(uint64_t first, uint64_t bytes, bool is_unset,
                           const char *label) {
  pthread_mutex_lock(&check_lock);
  size_t at;
  while ((at = count_below(first)) > 0 && memories[at - 1].first == first) {
    remove_at(at - 1);
  }
  if (memory_count == memory_capacity) {
    memory_capacity = memory_capacity ? 2 * memory_capacity : 64;
    check_memory *grown =
        realloc(memories, memory_capacity * sizeof *memories);
    if (!grown) {
      memory_capacity = memory_count;
      pthread_mutex_unlock(&check_lock);
      mtli_check_note_unchecked("no memory for the shadows of buffers");
      return;
    }
    memories = grown;
  }
  memmove(&memories[at + 1], &memories[at],
          (memory_count - at) * sizeof *memories);
  ++memory_count;
  memories[at] = (check_memory){.first = first,
                                .bytes = bytes,
                                .label = label ? strdup(label) : NULL};
  if (is_unset) {
    memories[at].set = reserve(set_bytes(&memories[at]));
  }
  pthread_mutex_unlock(&check_lock);
}

bool mtli_check_memory_has(uint64_t address) {
  pthread_mutex_lock(&check_lock);
  const bool has = check_memory_find(address) != NULL;
  pthread_mutex_unlock(&check_lock);
  return has;
}

void mtli_check_memory_remove(uint64_t first) {
  pthread_mutex_lock(&check_lock);
  const size_t at = count_below(first);
  if (at && memories[at - 1].first == first) {
    remove_at(at - 1);
  }
  pthread_mutex_unlock(&check_lock);
}

static bool is_set(const check_memory *memory, uint64_t at) {
  return !memory || !memory->set || memory->set[at];
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
