// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// selectors.h: interns selectors: each name has one address.
#ifndef METTLE_OBJC_SELECTORS_H
#define METTLE_OBJC_SELECTORS_H

// The size of the arena that holds all selectors. Its address range identifies
// them: x86-64 calls objc_msgSend with the selector in the second register or,
// where a struct is returned, in the third (message_x86_64.S). Untouched pages
// cost nothing; metal-cpp's 1,790 selectors take 60 kB.
#define SELECTOR_ARENA_BYTES (16 << 20)
#define SELECTOR_ALIGNMENT 8  // the caches hash addresses, by this unit

#ifndef __ASSEMBLER__
#include <stdbool.h>

#include "objc/runtime/abi.h"

extern char selector_arena[SELECTOR_ARENA_BYTES];

// Returns the selector called name, made at its first use.
//
// Threads    Any.
SEL selector_intern(const char *name);

// Returns the selector called name; NULL if it was never interned.
SEL selector_find(const char *name);

bool selector_is_interned(const void *address);
#endif

#endif
