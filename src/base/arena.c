// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arena.c: a chain of blocks, the newest one being filled.
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 * 1024, ALIGNMENT = 16 };

struct mtli_arena_block {
  struct mtli_arena_block *next;
  size_t capacity;
  size_t used;
  alignas(16) unsigned char bytes[];
};

void *mtli_arena_allocate(mtli_arena *arena, size_t size_bytes) {
  if (size_bytes > SIZE_MAX / 2) {
    return NULL;
  }
  const size_t size = (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  struct mtli_arena_block *block = arena->blocks;
  if (!block || block->capacity - block->used < size) {
    const size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    block = malloc(sizeof *block + capacity);
    if (!block) {
      return NULL;
    }
    *block = (struct mtli_arena_block){.next = arena->blocks,
                                       .capacity = capacity};
    arena->blocks = block;
  }
  void *result = block->bytes + block->used;
  block->used += size;
  return memset(result, 0, size);
}

char *mtli_arena_copy_text(mtli_arena *arena, const char *text, size_t length) {
  char *copy = mtli_arena_allocate(arena, length + 1);
  if (copy) {
    memcpy(copy, text, length);
  }
  return copy;
}

void mtli_arena_clear(mtli_arena *arena) {
  while (arena->blocks) {
    struct mtli_arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}

void mtli_arena_reset(mtli_arena *arena) {
  struct mtli_arena_block *newest = arena->blocks;
  if (!newest) {
    return;
  }
  mtli_arena rest = {.blocks = newest->next};
  mtli_arena_clear(&rest);
  newest->next = NULL;
  newest->used = 0;
}
