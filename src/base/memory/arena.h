// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arena.h: memory that is freed all at once.
#ifndef MTLI_ARENA_H
#define MTLI_ARENA_H

#include <stddef.h>

// Zero is an empty arena. One thread at a time.
typedef struct mtli_arena {
  struct mtli_arena_block *blocks;  // the newest first
  struct mtli_arena_pool *pool;     // arena_pool.h; NULL for none
} mtli_arena;

// Returns size_bytes zeroed bytes, aligned to 16, or NULL.
void *mtli_arena_allocate(mtli_arena *arena, size_t size_bytes);
// Copies a string of the given length and terminates it; NULL when out of
// memory.
char *mtli_arena_copy_text(mtli_arena *arena, const char *text, size_t length);
// Frees everything that came from the arena; it is empty again. Blocks go to
// its pool, while that has room.
void mtli_arena_clear(mtli_arena *arena);
// Keeps the newest block for reuse and frees the rest.
void mtli_arena_reset(mtli_arena *arena);

#endif
