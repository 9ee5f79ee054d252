// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bit_permuted.h: loads and stores of lanes that are neighbours in a permuted
// order.
#ifndef MTLC_BIT_PERMUTED_H
#define MTLC_BIT_PERMUTED_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/bit_runs.h"

void lanes_store_bit_runs(lanes_emitter *e, const lanes_access *a,
                      const lanes_pattern_runs *runs, LLVMValueRef *components);
void lanes_load_bit_runs(lanes_emitter *e, const lanes_access *a,
                     const lanes_pattern_runs *runs,
                     LLVMValueRef *out_components);
// Returns the vector that all lanes load, at a pattern of offsets from lane 0's
// address.
LLVMValueRef lanes_load_bit_permuted(lanes_emitter *e, const lanes_pattern *pattern,
                                LLVMTypeRef type, uint32_t size_bytes,
                                uint32_t alignment, LLVMValueRef first);

#endif
