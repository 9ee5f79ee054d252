// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// barriers.h: threadgroup barriers.
#ifndef MTLC_BARRIERS_H
#define MTLC_BARRIERS_H

#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits a barrier.
void lanes_emit_barrier(lanes_emitter *e);
// Gives each value that is live at a barrier a place in the frame, from
// offset_bytes on, or in the memory of group-uniform values. Returns the bytes
// of both.
uint64_t lanes_spill_at_barriers(lanes_emitter *e, uint64_t offset_bytes,
                     uint64_t *out_common_bytes);

#endif
