// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interleaved.h: loads and stores of lanes a small stride apart.
#ifndef MTLC_INTERLEAVED_H
#define MTLC_INTERLEAVED_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"

// Loads lanes that are stride elements apart, within a segment or overall.
void lanes_load_interleaved(lanes_emitter *e, const lanes_access *a,
                        uint32_t stride, LLVMValueRef *out_components);
void lanes_store_interleaved(lanes_emitter *e, const lanes_access *a,
                         uint32_t stride, LLVMValueRef *components);
// Loads bytes or halves that lie a word apart, with the gaps between. A word of
// the first 16 lanes begins with their element, one of the last 16 ends with
// it: so nothing is read before the first element or after the last, where
// memory may end.
void lanes_load_words(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      LLVMValueRef *out_components);
// Loads the same as one vector as it lies in memory, without gaps.
LLVMValueRef lanes_load_packed(lanes_emitter *e, const lanes_access *a);
void lanes_store_packed(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef all);
// Loads an element together with adjacent ones that the same block loads later,
// and sets the results of all.
void lanes_load_interleave_group(lanes_emitter *e, const lanes_access *a,
                                 const lanes_interleave_group *group);
// Prefetches the lines of adjacent loads that are not made one.
void lanes_prefetch_group(lanes_emitter *e, const lanes_access *a,
                          const lanes_interleave_group *group);
// Returns the element that lies offset bytes into each lane's word.
LLVMValueRef lanes_word_part(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef word, uint64_t offset);
// Takes lane i's components from elements i * stride on of one vector, which
// `make` returns. The mask has each lane's bit count times.
void lanes_deinterleave_components(lanes_emitter *e, LLVMValueRef all, uint32_t stride,
                      uint32_t count, LLVMValueRef *out_components);
LLVMValueRef lanes_interleave_components(lanes_emitter *e, LLVMValueRef *components,
                                uint32_t stride, uint32_t count);
LLVMValueRef lanes_repeated_mask(lanes_emitter *e, uint32_t count);
// Deinterleaves vectors without gaps, a power of two of components a lane, by
// the shuffles that the machine does best.
void lanes_deinterleave_packed(lanes_emitter *e, LLVMValueRef whole, uint32_t count,
                      LLVMValueRef *out_components);
// Returns a power of two of lanes, from the first on, if no others run here;
// else all.
uint32_t lanes_narrow_count(const lanes_emitter *e);
// Returns a vector of all lanes whose first lanes are given.
LLVMValueRef lanes_widened(lanes_emitter *e, LLVMValueRef first,
                           uint32_t count);

#endif
