// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// collectives.h: simdgroup operations as shuffles of whole vectors, in the
// order of combination that docs/ir.md fixes.
#ifndef MTLC_COLLECTIVES_H
#define MTLC_COLLECTIVES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Combines the active threads' values in the order of docs/ir.md.
LLVMValueRef lanes_reduce(lanes_emitter *e, LLVMValueRef value,
                          lanes_collective what);
LLVMValueRef lanes_scan(lanes_emitter *e, LLVMValueRef value,
                        lanes_collective what);
void lanes_emit_collective(lanes_emitter *e, LLVMValueRef call);
void lanes_emit_shuffle(lanes_emitter *e, LLVMValueRef call);
void lanes_emit_ballot(lanes_emitter *e, LLVMValueRef call);
// Returns how many words a permutation by indices in a register can select
// from; 0 if the machine has none.
uint32_t lanes_register_words(const lanes_emitter *e);
// Selects that many words, each by the lowest bits of its index, from two
// adjacent registers, or from as many as hold 32.
LLVMValueRef lanes_pick_words(lanes_emitter *e, LLVMValueRef *tables,
                              uint32_t count, LLVMValueRef index);

#endif
