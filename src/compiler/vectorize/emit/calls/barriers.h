// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// barriers.h: threadgroup barriers.
#ifndef MTLC_BARRIERS_H
#define MTLC_BARRIERS_H

#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// barriers.c
void lanes_emit_barrier(lanes_emitter *e);
// Gives what is alive at each wait a place in the frame, from offset_bytes on,
// or in the memory that simdgroups share. Returns the bytes of both.
uint64_t lanes_spill_at_barriers(lanes_emitter *e, uint64_t offset_bytes,
                     uint64_t *out_common_bytes);

#endif
