// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hazards.c: a small open-addressed set of buffers.
#include "runtime/record/hazards.h"

#include <string.h>

// Returns the slot of buffer, or the empty one where it belongs. One slot
// always stays empty, so the search ends.
static uint32_t slot_of(const mtli_hazards *hazards, const mtl_buffer *buffer) {
  const uintptr_t address = (uintptr_t)buffer;
  uint32_t slot =
      (uint32_t)(address >> 5 ^ address >> 12) & (MTLI_HAZARD_SLOTS - 1);
  while (hazards->slots[slot].buffer && hazards->slots[slot].buffer != buffer) {
    slot = (slot + 1) & (MTLI_HAZARD_SLOTS - 1);
  }
  return slot;
}

// What is tracked of buffer: all of the heap that it lies in.
static const mtl_buffer *tracked(const mtl_buffer *buffer) {
  return buffer->parent ? buffer->parent : buffer;
}

bool mtli_hazards_conflict(const mtli_hazards *hazards,
                           const mtl_buffer *buffer, bool is_written) {
  if (buffer->hazard_tracking == MTL_HAZARD_UNTRACKED || !hazards->count) {
    return false;
  }
  const uint32_t slot = slot_of(hazards, tracked(buffer));
  return hazards->slots[slot].buffer &&
         (is_written || hazards->slots[slot].is_written);
}

bool mtli_hazards_add(mtli_hazards *hazards, const mtl_buffer *buffer,
                      bool is_written) {
  if (buffer->hazard_tracking == MTL_HAZARD_UNTRACKED) {
    return true;
  }
  const uint32_t slot = slot_of(hazards, tracked(buffer));
  if (!hazards->slots[slot].buffer) {
    if (hazards->count == MTLI_HAZARD_SLOTS - 1) {
      return false;
    }
    hazards->count++;
    hazards->slots[slot].buffer = tracked(buffer);
  }
  hazards->slots[slot].is_written |= is_written;
  return true;
}

void mtli_hazards_clear(mtli_hazards *hazards) {
  if (hazards->count) {
    memset(hazards, 0, sizeof *hazards);
  }
}
