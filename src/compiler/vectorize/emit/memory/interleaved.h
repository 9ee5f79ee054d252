// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interleaved.h: loads and stores of lanes a small stride apart.
#ifndef MTLC_INTERLEAVED_H
#define MTLC_INTERLEAVED_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns how many elements lanes are apart, or 0 if they
// are not, or too far.
uint32_t lanes_stride_elements(const lanes_access *a);
void lanes_load_interleaved(lanes_emitter *e, const lanes_access *a,
                        uint32_t stride, LLVMValueRef *out_components);
// The same of one component of the lanes of rows shorter than a simdgroup, of
// words.
uint32_t lanes_stride_in_rows(const lanes_access *a);
void lanes_store_interleaved(lanes_emitter *e, const lanes_access *a,
                         uint32_t stride, LLVMValueRef *components);
// True if elements of bytes or halves lie a word apart, with gaps between
// them; then loads those of all lanes, and the gaps. A word of the first 16
// lanes begins with their elements and one of the last ends with them, so that
// nothing is read in front of the first element or behind the last, where no
// memory need be.
bool lanes_lie_in_words(const lanes_access *a, uint32_t stride);
void lanes_load_words(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      LLVMValueRef *out_components);
// The same of one vector in which all is as it lies in memory, without gaps.
LLVMValueRef lanes_load_packed(lanes_emitter *e, const lanes_access *a);
void lanes_store_packed(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef all);
// Loads an element together with those beside it that the same block loads
// later, and sets the results of all. Returns false if there are none.
bool lanes_load_interleave_group(lanes_emitter *e, const lanes_access *a);
// Extracts the element that lies offset bytes into each lane's word.
LLVMValueRef lanes_word_part(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef word, uint64_t offset);
// True if the load was emitted earlier, as part of such words.
bool lanes_is_loaded_ahead(const lanes_emitter *e, LLVMValueRef load);
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
