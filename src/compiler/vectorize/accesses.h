// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accesses.h: what loads and stores of all kinds of memory share.
#ifndef MTLC_VECTORIZE_ACCESSES_H
#define MTLC_VECTORIZE_ACCESSES_H

#include "compiler/vectorize/emitter.h"

typedef struct lanes_access {
  LLVMValueRef instruction;
  LLVMValueRef pointer;  // operand, or NULL: only what is given counts
  lanes_shape shape;     // of the pointer
  LLVMTypeRef element;   // as it is in memory: whole bytes
  LLVMTypeRef type;      // of a component of the value
  uint32_t count;        // components
  uint64_t size_bytes;   // of an element
  uint64_t pitch_bytes;  // from one component to the next
  uint32_t alignment;
  LLVMValueRef first;  // lane 0's address if it is not the pointer's
} lanes_access;

static inline uint32_t lanes_common_alignment(uint32_t alignment,
                                              uint64_t offset) {
  while (alignment > 1 && offset % alignment) {
    alignment /= 2;
  }
  return alignment;
}

// Returns pointer, a scalar or a vector, offset bytes further on.
LLVMValueRef lanes_address_at(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t offset);
void lanes_masked_store(lanes_emitter *e, LLVMValueRef value,
                        LLVMValueRef pointer, uint32_t alignment,
                        LLVMValueRef mask);
LLVMValueRef lanes_gather(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef pointers, uint64_t offset);
void lanes_scatter(lanes_emitter *e, const lanes_access *a,
                   LLVMValueRef pointers, uint64_t offset, LLVMValueRef value);

// private_accesses.c: returns the unit of the private memory that an access
// goes to, or 0 if it is not interleaved private memory.
uint32_t lanes_unit_of(const lanes_emitter *e, const lanes_access *a);
void lanes_load_units(lanes_emitter *e, const lanes_access *a, uint32_t unit,
                      LLVMValueRef *out_components);
void lanes_store_units(lanes_emitter *e, const lanes_access *a, uint32_t unit,
                       LLVMValueRef *components);

#endif
