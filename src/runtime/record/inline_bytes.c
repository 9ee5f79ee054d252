// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inline_bytes.c: the memory of values that kernels reach by address and that
// no buffer holds: set_bytes, and arrays of handles. The first ones of a
// command buffer have a page each, a cell, at whose end they end: behind it
// nothing may be accessed. Further ones share pages that are apart from all
// others: a thousand pages for a thousand values would be 4 MiB. A command
// buffer's memory, a tray, is used again while it is warm.
#include "runtime/record/inline_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "runtime/record/recording.h"

enum { ALIGNMENT = 16, SHARED_BYTES = 32 * 1024, FURTHER_BYTES = 256 * 1024 };

static size_t round_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static mtli_tray *tray_create(void) {
  mtli_tray *tray = calloc(1, sizeof *tray);
  if (tray) {
    tray->most_cells = MTLI_TRAY_CELLS;
  }
  return tray;
}

static void further_destroy(mtli_tray *tray) {
  while (tray->further) {
    mtli_shared_pages *next = tray->further->next;
    mtli_pages_destroy(&tray->further->pages);
    free(tray->further);
    tray->further = next;
  }
}

static void tray_destroy(mtli_tray *tray) {
  for (uint32_t i = 0; i < tray->cell_count; i++) {
    mtli_slots_close(tray->cells[i].home, tray->cells[i].page,
                     mtli_machine_page_bytes());
  }
  further_destroy(tray);
  mtli_pages_destroy(&tray->shared.pages);
  free(tray);
}

// Takes a warm tray of the device's, or makes one.
static mtli_tray *tray_take(mtl_device *device) {
  for (int i = 0; i < MTLI_WARM_TRAYS; i++) {
    // Acquire: pairs with the release in tray_give.
    mtli_tray *tray =
        atomic_load_explicit(&device->trays[i], memory_order_relaxed)
            ? atomic_exchange_explicit(&device->trays[i], NULL,
                                       memory_order_acquire)
            : NULL;
    if (tray) {
      return tray;
    }
  }
  return tray_create();
}

static void tray_give(mtl_device *device, mtli_tray *tray) {
  further_destroy(tray);
  tray->cells_used = 0;
  tray->shared.used_bytes = 0;
  for (int i = 0; i < MTLI_WARM_TRAYS; i++) {
    mtli_tray *none = NULL;
    // Release: pairs with the acquire in tray_take.
    if (atomic_compare_exchange_strong_explicit(&device->trays[i], &none, tray,
                                                memory_order_release,
                                                memory_order_relaxed)) {
      return;
    }
  }
  tray_destroy(tray);
}

// Opens one cell more; false if it cannot be had.
static bool open_cell(mtli_tray *tray) {
  mtli_cell *cell = &tray->cells[tray->cell_count];
  cell->page = mtli_slots_open(MTLI_SLOTS_APART, mtli_machine_page_bytes(),
                               &cell->home);
  if (!cell->page) {
    tray->most_cells = tray->cell_count;
    return false;
  }
  tray->cell_count++;
  return true;
}

static char *place_in_cell(mtli_tray *tray, size_t size_bytes) {
  const size_t page_bytes = mtli_machine_page_bytes();
  if (size_bytes > page_bytes || tray->cells_used == tray->most_cells ||
      (tray->cells_used == tray->cell_count && !open_cell(tray))) {
    return NULL;
  }
  return tray->cells[tray->cells_used++].page + page_bytes - size_bytes;
}

static bool has_room(const mtli_shared_pages *shared, size_t size_bytes) {
  return shared->size_bytes - shared->used_bytes >= size_bytes;
}

static bool shared_create(mtli_shared_pages *shared, size_t size_bytes) {
  if (mtli_pages_create(size_bytes, 0, &shared->pages) != MTL_OK) {
    return false;
  }
  shared->size_bytes = size_bytes;
  return true;
}

// Finds pages with room, or makes some. NULL when out of memory.
static mtli_shared_pages *find_shared(mtli_tray *tray, size_t size_bytes) {
  if (!tray->shared.size_bytes && size_bytes <= SHARED_BYTES &&
      !shared_create(&tray->shared, SHARED_BYTES)) {
    return NULL;
  }
  if (has_room(&tray->shared, size_bytes)) {
    return &tray->shared;
  }
  if (tray->further && has_room(tray->further, size_bytes)) {
    return tray->further;
  }
  mtli_shared_pages *further = calloc(1, sizeof *further);
  if (!further ||
      !shared_create(further,
                     size_bytes > FURTHER_BYTES ? size_bytes : FURTHER_BYTES)) {
    free(further);
    return NULL;
  }
  further->next = tray->further;
  tray->further = further;
  return further;
}

static char *place_in_shared(mtli_tray *tray, size_t size_bytes) {
  mtli_shared_pages *shared = find_shared(tray, size_bytes);
  if (!shared) {
    return NULL;
  }
  char *bytes = shared->pages.bytes + shared->used_bytes;
  shared->used_bytes += size_bytes;
  return bytes;
}

void *mtli_inline_bytes_place(mtli_recording *recording, size_t size_bytes) {
  const size_t rounded_bytes = round_up(size_bytes);
  if (!recording->tray) {
    recording->tray = tray_take(recording->command_buffer.queue->device);
  }
  char *place = NULL;
  if (recording->tray) {
    place = place_in_cell(recording->tray, rounded_bytes);
    place = place ? place : place_in_shared(recording->tray, rounded_bytes);
  }
  if (!place) {
    mtli_recording_fail(recording, MTL_OUT_OF_MEMORY,
                        "no memory to record %zu bytes", size_bytes);
    return NULL;
  }
  // Clears the rest of the last 16 bytes. Not with memset: it uses masked
  // stores, which are slow next to an inaccessible page.
  memcpy(place + rounded_bytes - ALIGNMENT, (const char[ALIGNMENT]){0},
         ALIGNMENT);
  return place;
}

void mtli_inline_bytes_clear(mtli_recording *recording) {
  if (recording->tray) {
    tray_give(recording->command_buffer.queue->device, recording->tray);
    recording->tray = NULL;
  }
}

void mtli_inline_bytes_close(mtl_device *device) {
  for (int i = 0; i < MTLI_WARM_TRAYS; i++) {
    mtli_tray *tray =
        atomic_load_explicit(&device->trays[i], memory_order_acquire);
    if (tray) {
      tray_destroy(tray);
    }
  }
}
