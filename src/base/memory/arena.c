// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arena.c: allocates from a chain of blocks, of which the newest is being
// filled. An arena takes a pool's whole chain and returns the rest, so that no
// two threads see the same block.
#include "base/memory/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/arena_pool.h"

// A sanitizer must notice the use of freed memory.
#ifdef __SANITIZE_ADDRESS__
enum { MOST_POOLED = 0 };
#else
enum { MOST_POOLED = 128 };  // 2 MiB: three thousand dispatches
#endif

enum { BLOCK_BYTES = 16 * 1024, ALIGNMENT = 16 };

struct mtli_arena_block {
  struct mtli_arena_block *next;
  size_t capacity;
  size_t used;
  alignas(16) unsigned char bytes[];
};

// Puts a chain in front of the pool's.
static void pool_push(mtli_arena_pool *pool, struct mtli_arena_block *first,
                      struct mtli_arena_block *last) {
  struct mtli_arena_block *others =
      atomic_load_explicit(&pool->blocks, memory_order_relaxed);
  do {
    last->next = others;
    // Release: pairs with the acquire in pool_take.
  } while (!atomic_compare_exchange_weak_explicit(&pool->blocks, &others, first,
                                                  memory_order_release,
                                                  memory_order_relaxed));
}

// Returns NULL for an empty pool.
static struct mtli_arena_block *pool_take(mtli_arena_pool *pool) {
  if (!pool || !atomic_load_explicit(&pool->blocks, memory_order_relaxed)) {
    return NULL;
  }
  struct mtli_arena_block *first =
      atomic_exchange_explicit(&pool->blocks, NULL, memory_order_acquire);
  if (!first) {
    return NULL;
  }
  atomic_fetch_sub_explicit(&pool->count, 1, memory_order_relaxed);
  struct mtli_arena_block *rest = first->next;
  struct mtli_arena_block *none = NULL;
  // If other threads have put blocks in meanwhile, find the end of the rest.
  if (rest && !atomic_compare_exchange_strong_explicit(&pool->blocks, &none,
                                                       rest,
                                                       memory_order_release,
                                                       memory_order_relaxed)) {
    struct mtli_arena_block *last = rest;
    while (last->next) {
      last = last->next;
    }
    pool_push(pool, rest, last);
  }
  first->used = 0;
  return first;
}

static bool pool_has_room(mtli_arena_pool *pool) {
  if (atomic_fetch_add_explicit(&pool->count, 1, memory_order_relaxed) <
      MOST_POOLED) {
    return true;
  }
  atomic_fetch_sub_explicit(&pool->count, 1, memory_order_relaxed);
  return false;
}

static struct mtli_arena_block *new_block(mtli_arena *arena, size_t size) {
  struct mtli_arena_block *block =
      size <= BLOCK_BYTES ? pool_take(arena->pool) : NULL;
  if (!block) {
    const size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    block = malloc(sizeof *block + capacity);
    if (!block) {
      return NULL;
    }
    *block = (struct mtli_arena_block){.capacity = capacity};
  }
  block->next = arena->blocks;
  arena->blocks = block;
  return block;
}

void *mtli_arena_allocate(mtli_arena *arena, size_t size_bytes) {
  if (size_bytes > SIZE_MAX / 2) {
    return NULL;
  }
  const size_t size = (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  struct mtli_arena_block *block = arena->blocks;
  if (!block || block->capacity - block->used < size) {
    block = new_block(arena, size);
    if (!block) {
      return NULL;
    }
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
  struct mtli_arena_block *kept = NULL;
  struct mtli_arena_block *last = NULL;
  while (arena->blocks) {
    struct mtli_arena_block *block = arena->blocks;
    arena->blocks = block->next;
    if (arena->pool && block->capacity == BLOCK_BYTES &&
        pool_has_room(arena->pool)) {
      block->next = kept;
      last = kept ? last : block;
      kept = block;
    } else {
      free(block);
    }
  }
  if (kept) {
    pool_push(arena->pool, kept, last);
  }
}

void mtli_arena_pool_clear(mtli_arena_pool *pool) {
  mtli_arena all = {.blocks = atomic_exchange_explicit(&pool->blocks, NULL,
                                                       memory_order_acquire)};
  mtli_arena_clear(&all);
  atomic_store_explicit(&pool->count, 0, memory_order_relaxed);
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
