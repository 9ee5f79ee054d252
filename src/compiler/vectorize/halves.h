// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// halves.h: kernels whose vectors hold half a simdgroup.
#ifndef MTLC_VECTORIZE_HALVES_H
#define MTLC_VECTORIZE_HALVES_H

#include "compiler/vectorize/emitter.h"

// Returns how many threads the vectors of a kernel should hold: MOST_LANES or
// half of them. LANES is MOST_LANES meanwhile.
uint32_t lanes_best_count(const mtlc_kernel *kernel, const lanes_graph *graph,
                          LLVMTargetDataRef data);

#endif
