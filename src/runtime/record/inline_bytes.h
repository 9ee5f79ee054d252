// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inline_bytes.h: bytes that a command buffer has copied for its kernels.
#ifndef MTLI_INLINE_BYTES_H
#define MTLI_INLINE_BYTES_H

#include "base/memory/pages.h"
#include "runtime/driver.h"

struct mtli_recording;

// Pages that several values share.
typedef struct mtli_shared_pages {
  struct mtli_shared_pages *next;
  mtli_pages pages;
  size_t size_bytes;
  size_t used_bytes;
} mtli_shared_pages;

// A page for one value.
typedef struct mtli_cell {
  char *page;
  mtli_slots *home;
} mtli_cell;

// The memory of one command buffer's values, or free.
enum { MTLI_TRAY_CELLS = 32 };
struct mtli_tray {
  mtli_cell cells[MTLI_TRAY_CELLS];  // [cell_count], opened as they are needed
  uint32_t cell_count;
  uint32_t most_cells;  // fewer than there are places where one cannot be had
  uint32_t cells_used;
  mtli_shared_pages shared;
  mtli_shared_pages *further;  // malloc'ed
};

// Returns a place for size_bytes, aligned to 16, which are there as long as the
// command buffer's list. Fails the recording and returns NULL if there is no
// memory. Contents are unspecified.
void *mtli_inline_bytes_place(struct mtli_recording *recording,
                              size_t size_bytes);
void mtli_inline_bytes_clear(struct mtli_recording *recording);
// When a device closes.
void mtli_inline_bytes_close(mtl_device *device);

#endif
