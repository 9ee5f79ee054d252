// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reversed.c: loads and stores of lanes in reverse order, as of x[n - 1 - i]: a
// contiguous access whose masks and components are reversed within each
// segment.
#include "compiler/vectorize/emit/memory/reversed.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/memory/access_addresses.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/values/builder.h"

static LLVMValueRef turned(lanes_emitter *e, LLVMValueRef lanes, uint32_t row) {
  int places[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    places[i] = (int)(i / row * row + (row - 1 - i % row));
  }
  return lanes_shuffle(e, lanes, NULL, places, e->lanes);
}

// Finds the address of each segment's last lane, which is the lowest.
static void find_firsts(lanes_emitter *e, const lanes_access *a,
                        lanes_access *mirrored, LLVMValueRef *firsts) {
  const uint32_t row = a->shape.row;
  const uint64_t to_last = (uint64_t)a->shape.stride * (row - 1);
  if (row == e->lanes) {
    mirrored->first = lanes_address_at(e, lanes_access_begin(e, a), to_last);
    return;
  }
  for (uint32_t r = 0; r < e->lanes / row; r++) {
    firsts[r] =
        lanes_address_at(e, lanes_access_segment_address(e, a, r), to_last);
  }
  mirrored->firsts = firsts;
}

void lanes_access_reversed(lanes_emitter *e, const lanes_choice *choice,
                           const lanes_access *a, bool store,
                           LLVMValueRef *components) {
  const uint32_t row = a->shape.row, coming = e->coming;
  LLVMValueRef mask = e->mask;
  LLVMValueRef firsts[MOST_LANES], parts[MOST_LANES];
  lanes_access mirrored = lanes_reversed(a);
  find_firsts(e, a, &mirrored, firsts);
  for (uint32_t c = 0; store && c < a->count; c++) {
    parts[c] = turned(e, components[c], row);
  }
  e->mask = turned(e, mask, row);
  e->coming = e->lanes;
  lanes_emit_choice(e, choice->then, &mirrored, store, parts);
  e->mask = mask;
  e->coming = coming;
  for (uint32_t c = 0; !store && c < a->count; c++) {
    components[c] = turned(e, parts[c], row);
  }
}
