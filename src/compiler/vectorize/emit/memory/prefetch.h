// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch.h: asks for the memory that threadgroups to come will load and
// store.
#ifndef MTLC_PREFETCH_H
#define MTLC_PREFETCH_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// By how many bytes a load's address rises with each turn of the
// loop with barriers around it, if that is further than processors guess, who
// do not follow many rows at a time; NULL otherwise. And asks for what is so
// far behind an address; not if step is NULL.
LLVMValueRef lanes_next_iteration(lanes_emitter *e, const lanes_access *a,
                             bool is_by_rows);
// That, or else by how much to be ahead of the rows of a tile; NULL if it is
// none.
LLVMValueRef lanes_next_lines(lanes_emitter *e, const lanes_access *a,
                              bool is_by_rows);
void lanes_prefetch_at(lanes_emitter *e, LLVMValueRef address, LLVMValueRef step,
                    uint64_t bytes);
// Asks for what later threadgroups may access, given the bytes
// of an access from the first on.
void lanes_prefetch_ahead(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef first, uint64_t bytes);
// True if an address is where such a simdgroup's next lines are asked for
// that jam_simdgroups.c may put further: what the next simdgroups will load.
bool lanes_is_prefetched_ahead(LLVMValueRef address);

#endif
