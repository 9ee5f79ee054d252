// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bit_permuted.h: loads and stores of lanes that are neighbours in another
// order than their numbers', as where ggml's matrix products bring tiles into
// threadgroup memory with their columns for rows.
#ifndef MTLC_BIT_PERMUTED_H
#define MTLC_BIT_PERMUTED_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/lane_bits.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Lanes that lie side by side, by the bits of their numbers.
typedef struct lanes_pattern_runs {
  lanes_pattern pattern;      // of the address
  uint8_t order[LANES_BITS];  // the bits of a run's lanes, nearest first
  uint8_t others;             // mask of the rest, by which runs differ
  uint32_t lanes;             // of a run
  uint64_t bytes;             // of a run
} lanes_pattern_runs;
// True if an access is to long enough runs.
bool lanes_find_bit_runs(lanes_emitter *e, const lanes_access *a,
                     lanes_pattern_runs *out_runs);
// True if a load is of few runs, however short, each of which any number
// of lanes may share.
bool lanes_find_shared_bit_runs(lanes_emitter *e, const lanes_access *a,
                       lanes_pattern_runs *out_runs);
void lanes_store_bit_runs(lanes_emitter *e, const lanes_access *a,
                      const lanes_pattern_runs *runs, LLVMValueRef *components);
void lanes_load_bit_runs(lanes_emitter *e, const lanes_access *a,
                     const lanes_pattern_runs *runs,
                     LLVMValueRef *out_components);
// A vector of what all lanes have at a pattern behind lane 0's address.
LLVMValueRef lanes_load_bit_permuted(lanes_emitter *e, const lanes_pattern *pattern,
                                LLVMTypeRef type, uint32_t size_bytes,
                                uint32_t alignment, LLVMValueRef first);

#endif
