// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arena_pool.h: blocks that arenas have freed, for other arenas: the memory is
// warm, and malloc has not given its pages back to the system.
#ifndef MTLI_ARENA_POOL_H
#define MTLI_ARENA_POOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/memory/arena.h"

// A pool of free blocks; zero is an empty one. Any thread; the child of a fork
// may continue with it.
typedef struct mtli_arena_pool {
  _Atomic(struct mtli_arena_block *) blocks;
  _Atomic uint32_t count;
} mtli_arena_pool;

// Frees all blocks. No arena uses the pool any more.
void mtli_arena_pool_clear(mtli_arena_pool *pool);

#endif
