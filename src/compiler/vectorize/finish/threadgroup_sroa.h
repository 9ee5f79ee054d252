// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threadgroup_sroa.h: replaces threadgroup memory by vectors, where all
// accesses touch known elements.
#ifndef MTLC_THREADGROUP_SROA_H
#define MTLC_THREADGROUP_SROA_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/finish/evaluate.h"

// An access to memory, element by element.
typedef struct lanes_touch {
  LLVMValueRef instruction;
  LLVMValueRef address;  // of the first element, or a vector of all addresses
  LLVMValueRef mask;     // NULL: all elements
  LLVMValueRef value;    // the stored value, or the load; NULL for the memset
  LLVMTypeRef type;      // of the loaded or stored value
  uint32_t count;        // elements
  uint32_t element_bytes;
  bool stores;
} lanes_touch;

// Describes an access that may become one of registers. False for any other.
bool lanes_touch_of(LLVMTargetDataRef data, LLVMValueRef instruction,
                    lanes_touch *out);

typedef enum lanes_whereabouts {
  LANES_NOWHERE,  // the element is not touched
  LANES_SOMEWHERE,
  LANES_KNOWN,
} lanes_whereabouts;

// Finds how many bytes after root an element of an access is.
lanes_whereabouts lanes_touches_at(const lanes_known_place *place,
                                   const lanes_touch *touch, uint32_t element,
                                   LLVMValueRef root, int64_t *out);

// Finds all accesses to root's memory. False if it is used in any other way.
bool lanes_find_touches(LLVMTargetDataRef data, LLVMValueRef root,
                        mtlc_values *accesses);

// Replaces a zero-initialised variable by vectors, if all accesses to it are to
// known, nearby elements of one size.
void lanes_split_threadgroup_memory(mtlc_kernel *kernel, LLVMValueRef variable);

#endif
