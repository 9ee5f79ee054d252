// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch.h: prefetches the memory that later threadgroups will access.
#ifndef MTLC_PREFETCH_H
#define MTLC_PREFETCH_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// The first returns the bytes that each iteration of the surrounding loop with
// barriers adds to a load's address, if that is further than processors
// prefetch by themselves; else NULL. The second prefetches the lines that far
// after an address; none if the step is NULL.
LLVMValueRef lanes_next_iteration(lanes_emitter *e, const lanes_access *a,
                             bool is_by_rows);
// Returns the same, or the distance to the rows of a later tile; NULL if it is
// neither.
LLVMValueRef lanes_next_lines(lanes_emitter *e, const lanes_access *a,
                              bool is_by_rows);
void lanes_prefetch_at(lanes_emitter *e, LLVMValueRef address, LLVMValueRef step,
                    uint64_t bytes);
// Prefetches memory that later threadgroups may access; bytes is the length of
// an access from its first byte on.
void lanes_prefetch_ahead(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef first, uint64_t bytes);
// Prefetches the next threadgroups along x's part of lanes that each load
// adjacent bytes; bytes is the length of all of them from the first on.
void lanes_prefetch_rows_ahead(lanes_emitter *e, const lanes_access *a,
                               LLVMValueRef first, uint64_t bytes);
// True if an address is one of those that jam_simdgroups.c may move further
// ahead: the next lines of a jammed simdgroup.
bool lanes_is_prefetched_ahead(LLVMValueRef address);

#endif
