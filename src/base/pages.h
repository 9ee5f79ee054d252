// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pages.h: zeroed memory in pages of its own, as buffers are.
#ifndef MTLI_PAGES_H
#define MTLI_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

// Zero is no memory.
typedef struct mtli_pages {
  char *bytes;  // page aligned; guarded: aligned to 16, and its end, rounded
                // up to 16, is the start of a page that cannot be accessed
  char *first;  // of the mapping
  size_t map_bytes;
} mtli_pages;

// Errors  MTL_OUT_OF_MEMORY  the text has the length
mtl_status mtli_pages_create(size_t length_bytes, bool guarded,
                             mtli_pages *out_pages);
// Accepts what has no memory.
void mtli_pages_destroy(mtli_pages *pages);

#endif
