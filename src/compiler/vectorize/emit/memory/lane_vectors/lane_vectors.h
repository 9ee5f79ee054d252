// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.h: what lanes that may be anywhere in memory each have side by side
// there, in several loads or stores of a block.
#ifndef MTLC_LANE_VECTORS_H
#define MTLC_LANE_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// The units of one half of the lanes, 0 or 1, of which each of four vectors
// <32 x i32> has a word: out_units[MOST_LANES / 2], <4 x i32>.
void lanes_make_units(lanes_emitter *e, LLVMValueRef *words, uint32_t half,
                      LLVMValueRef *out_units);

// Loads what a row's members load, and sets the results of all.
void lanes_load_lane_vectors(lanes_emitter *e, const lanes_lane_vector *row);

#endif
