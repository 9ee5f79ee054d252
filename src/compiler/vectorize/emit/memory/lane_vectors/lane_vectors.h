// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.h: loads of the adjacent elements that each lane has somewhere
// in memory, in several loads of a block.
#ifndef MTLC_LANE_VECTORS_H
#define MTLC_LANE_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// Makes the 16-byte units of one half of the lanes, 0 or 1, from four vectors
// <32 x i32> that each have one word of every unit: out_units[MOST_LANES / 2],
// <4 x i32>.
void lanes_make_units(lanes_emitter *e, LLVMValueRef *words, uint32_t half,
                      LLVMValueRef *out_units);

// Loads the members of a lane vector, and sets the results of all.
void lanes_load_lane_vectors(lanes_emitter *e, const lanes_lane_vector *row);

#endif
