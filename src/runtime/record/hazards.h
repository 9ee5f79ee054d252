// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hazards.h: finds which commands of a concurrent encoder must wait for
// earlier ones because they touch the same tracked buffer.
#ifndef MTLI_HAZARDS_H
#define MTLI_HAZARDS_H

#include "runtime/driver.h"

enum { MTLI_HAZARD_SLOTS = 64 };  // a power of two

// Buffers touched since the last command that was ordered. Zero is empty.
typedef struct mtli_hazards {
  struct {
    const mtl_buffer *buffer;
    bool is_written;
  } slots[MTLI_HAZARD_SLOTS];
  uint32_t count;
} mtli_hazards;

// True if an access to buffer conflicts with one in the set: one of the two
// writes. Untracked buffers never conflict.
bool mtli_hazards_conflict(const mtli_hazards *hazards,
                           const mtl_buffer *buffer, bool is_written);

// Adds a touch. False if the set is full: order the command instead.
bool mtli_hazards_add(mtli_hazards *hazards, const mtl_buffer *buffer,
                      bool is_written);

void mtli_hazards_clear(mtli_hazards *hazards);

#endif
