// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pages.h: zeroed memory in pages of its own, as buffers are, with memory that
// cannot be accessed before and behind it. What goes past an end faults, and
// never reaches other memory of the process.
//
//   pages                    apart from other memory by
//   of up to 16 KiB          20 KiB, at least, in a slot (slots.h)
//   larger                   64 KiB, at least
//   mtli_pages_create_wide   16 MiB
//
// Before Linux 6.13 (guard.h) each takes up to two of the mappings that a
// process may have (vm.max_map_count, 65530). From half of those on, small
// pages have around them memory that nobody uses, and large ones nothing.
#ifndef MTLI_PAGES_H
#define MTLI_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory/slots.h"
#include "base/status.h"

// Zero is no memory.
typedef struct mtli_pages {
  char *bytes;  // page aligned; or the end, rounded up to end_alignment_bytes,
                // is the start of a page that cannot be accessed
  char *first;  // of the mapping, or of the slot's pages
  size_t map_bytes;
  mtli_slots *home;  // NULL for a mapping
  bool is_counted;   // as two mappings
} mtli_pages;

//   end_alignment_bytes  0: the first byte begins a page. A power of two: the
//                        first byte is aligned to that, and the last one as
//                        close to the end of a page as this allows
//
// Errors  MTL_OUT_OF_MEMORY  the text has the length
mtl_status mtli_pages_create(size_t length_bytes, size_t end_alignment_bytes,
                             mtli_pages *out_pages);
// The same; end_alignment_bytes is not 0. An error where mtli_pages_create
// would do without inaccessible memory.
mtl_status mtli_pages_create_wide(size_t length_bytes,
                                  size_t end_alignment_bytes,
                                  mtli_pages *out_pages);
// Discards [bytes, bytes + length_bytes) and all that shares pages with it, and
// gives the memory back; it reads as zeros afterwards.
void mtli_pages_discard(void *bytes, size_t length_bytes);
// Allocates the pages now, instead of one by one at first access. Does nothing
// if that would take most of the free memory.
void mtli_pages_prefault(void *bytes, size_t length_bytes);

// Accepts pages without memory.
void mtli_pages_destroy(mtli_pages *pages);

#endif
