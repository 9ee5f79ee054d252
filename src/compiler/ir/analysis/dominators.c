// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dominators.c: dominators by Cooper, Harvey and Kennedy, "A simple, fast
// dominance algorithm", over the order of cycles.h, in which a block that
// dominates another comes first.
#include "compiler/ir/analysis/dominators.h"

#include <stdlib.h>

enum { NO_BLOCK = UINT32_MAX };

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory) {
    abort();  // as mtlc_values_add
  }
  return memory;
}

// NO_BLOCK for a block that is not reached.
static uint32_t place_of(const mtlc_dominators *d, LLVMBasicBlockRef block) {
  return mtlc_flow_find(d->flow, block)->order - 1;
}

uint32_t mtlc_nearest_common(const uint32_t *dominator, uint32_t a,
                             uint32_t b) {
  while (a != b) {
    if (a > b) {
      a = dominator[a];
    } else {
      b = dominator[b];
    }
  }
  return a;
}

static void find(mtlc_dominators *d) {
  d->above[0] = 0;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (uint32_t i = 0; i < d->count; ++i) {
      if (d->above[i] == NO_BLOCK) {
        continue;  // comes in the next round
      }
      LLVMValueRef last = LLVMGetBasicBlockTerminator(d->blocks[i]);
      const unsigned count = LLVMGetNumSuccessors(last);
      for (unsigned k = 0; k < count; ++k) {
        const uint32_t to = place_of(d, LLVMGetSuccessor(last, k));
        const uint32_t found =
            d->above[to] == NO_BLOCK
                ? i
                : mtlc_nearest_common(d->above, d->above[to], i);
        is_done &= found == d->above[to];
        d->above[to] = found;
      }
    }
  }
}

mtlc_dominators mtlc_dominators_of(const mtlc_flow *flow) {
  mtlc_dominators d = {
      .flow = flow,
      .blocks = allocate(flow->block_count, sizeof d.blocks[0]),
      .above = allocate(flow->block_count, sizeof d.above[0])};
  for (size_t i = 0; i < flow->block_count; ++i) {
    const mtlc_flow_block *block = &flow->blocks[i];
    if (block->order != 0) {
      d.blocks[block->order - 1] = block->block;
      d.above[block->order - 1] = NO_BLOCK;
      d.count++;
    }
  }
  find(&d);
  return d;
}

void mtlc_dominators_clear(mtlc_dominators *d) {
  free(d->blocks);
  free(d->above);
  *d = (mtlc_dominators){0};
}

LLVMBasicBlockRef mtlc_dominator(const mtlc_dominators *d,
                                 LLVMBasicBlockRef block) {
  const uint32_t place = place_of(d, block);
  return place == 0 || place == NO_BLOCK ? NULL : d->blocks[d->above[place]];
}

bool mtlc_dominates(const mtlc_dominators *d, LLVMBasicBlockRef above,
                    LLVMBasicBlockRef below) {
  const uint32_t wanted = place_of(d, above);
  uint32_t at = place_of(d, below);
  while (at > wanted && at != NO_BLOCK) {
    at = d->above[at];
  }
  return at == wanted && at != NO_BLOCK;
}
