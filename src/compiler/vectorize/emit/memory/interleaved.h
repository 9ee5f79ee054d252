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

// Lanes stride elements apart, over rows or all of them.
void lanes_load_interleaved(lanes_emitter *e, const lanes_access *a,
                        uint32_t stride, LLVMValueRef *out_components);
void lanes_store_interleaved(lanes_emitter *e, const lanes_access *a,
                         uint32_t stride, LLVMValueRef *components);
// Loads elements of bytes or halves that lie a word apart, and the gaps. A word of the first 16
// lanes begins with their elements and one of the last ends with them, so that
// nothing is read in front of the first element or behind the last, where no
// memory need be.
void lanes_load_words(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      LLVMValueRef *out_components);
// The same of one vector in which all is as it lies in memory, without gaps.
LLVMValueRef lanes_load_packed(lanes_emitter *e, const lanes_access *a);
void lanes_store_packed(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef all);
// Loads an element together with those beside it that the same block loads
// later, and sets the results of all.
void lanes_load_interleave_group(lanes_emitter *e, const lanes_access *a,
                                 const lanes_interleave_group *group);
// Asks for the lines of loads beside each other that are not done as one.
void lanes_prefetch_group(lanes_emitter *e, const lanes_access *a,
                          const lanes_interleave_group *group);
// Extracts the element that lies offset bytes into each lane's word.
LLVMValueRef lanes_word_part(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef word, uint64_t offset);
// Lane i's components are the elements from i * stride on of one vector, which
// the second makes; the mask has each lane's bit count times.
void lanes_deinterleave_components(lanes_emitter *e, LLVMValueRef all, uint32_t stride,
                      uint32_t count, LLVMValueRef *out_components);
LLVMValueRef lanes_interleave_components(lanes_emitter *e, LLVMValueRef *components,
                                uint32_t stride, uint32_t count);
LLVMValueRef lanes_repeated_mask(lanes_emitter *e, uint32_t count);
// Takes apart what has no gaps, a power of two of components each, in the way
// that machines do best.
void lanes_deinterleave_packed(lanes_emitter *e, LLVMValueRef whole, uint32_t count,
                      LLVMValueRef *out_components);
// So many lanes, from the first on, are all that come to
// where the emitter is, or more of them, a power of two.
uint32_t lanes_narrow_count(const lanes_emitter *e);
// All lanes, of which the first are given.
LLVMValueRef lanes_widened(lanes_emitter *e, LLVMValueRef first,
                           uint32_t count);

#endif
