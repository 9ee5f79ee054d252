// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access.h: a load or store of 32 lanes, and the facts in its address's shape.
#ifndef MTLC_ACCESS_H
#define MTLC_ACCESS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/access/planning.h"

typedef struct lanes_access {
  LLVMValueRef instruction;
  LLVMValueRef pointer;  // the operand; NULL if the other members describe it
  lanes_shape shape;     // of the pointer
  LLVMTypeRef element;   // as in memory: whole bytes
  LLVMTypeRef type;      // of a component of the value
  uint32_t count;        // components
  uint64_t size_bytes;   // of an element
  uint64_t pitch_bytes;  // from one component to the next
  uint32_t alignment;
  // Set during emission:
  LLVMValueRef first;    // lane 0's address, if it differs from the pointer's
  LLVMValueRef *firsts;  // [shape.lanes / shape.row] each segment's, or NULL
  const struct lanes_stride_factors *factors;  // of its index, or NULL
  LLVMValueRef places;    // in windows: each lane's position, in elements from
                          // its first
  LLVMValueRef lanes[2];  // the lane at each element of a window's halves
} lanes_access;

enum {
  LARGEST_STRIDE_BYTES = 32
};  // the widest lane stride that one vector
    // is loaded for

// Describes a load or store of a value of that type.
lanes_access lanes_access_of(const lanes_values *values,
                             LLVMValueRef instruction, LLVMValueRef pointer,
                             LLVMTypeRef value_type);
// True if the value is neither a scalar nor a vector of whole bytes: no form
// takes it.
bool lanes_is_structure(const lanes_access *a, LLVMTypeRef value_type);

static inline bool lanes_is_power_of_two(uint32_t value) {
  return (value & (value - 1)) == 0;
}
// Returns the set of the first count elements.
static inline uint32_t lanes_first_elements(uint32_t count) {
  return (uint32_t)((UINT64_C(1) << count) - 1);
}

// Returns the stride between lanes in elements, or 0 if there is none or it is
// too large.
uint32_t lanes_stride_elements(const lanes_access *a);
// Returns the same for one component in words, within segments shorter than a
// simdgroup.
uint32_t lanes_stride_in_rows(const lanes_access *a);
// True if byte or half elements lie a word apart, with gaps between.
bool lanes_lie_in_words(const lanes_access *a, uint32_t stride);
// True if each segment of lanes is one vector.
bool lanes_is_by_segments(const lanes_access *a);
// True if the components of a lane are a few whole words.
bool lanes_is_row_of_words(const lanes_access *a);
// True if lanes_stride_elements or lanes_is_by_segments holds.
bool lanes_is_shaped(const lanes_access *a);
// True if lanes_is_shaped holds of each segment's lanes in reverse order.
// lanes_reversed describes that access, without its first address.
bool lanes_is_reversed(const lanes_access *a);
lanes_access lanes_reversed(const lanes_access *a);

// Returns the unit that private memory is interleaved in; 0 for any other
// memory.
uint32_t lanes_private_unit_of(const lanes_values *values,
                               const lanes_access *a);
// True if an access is to a worker's own memory, which has padding around it.
bool lanes_is_own_memory(const lanes_planning *p, const lanes_access *a);
// True if elements around a wanted one may be rewritten with their own values,
// since no other worker shares them. A masked store of 32 bytes takes as long
// as several whole ones.
bool lanes_is_workers_own(const lanes_planning *p, const lanes_access *a);
// True if the machine loads and stores vectors of such elements under a mask;
// otherwise LLVM makes a branch for each element.
bool lanes_has_masks_for(const lanes_planning *p, LLVMTypeRef element);
// True if there are gaps between elements that need masks which the machine
// lacks.
bool lanes_is_gapped(const lanes_planning *p, const lanes_access *a,
                     bool store);

// Returns the element type that a getelementptr's last index steps over; NULL
// unless the last index alone may differ between lanes.
LLVMTypeRef lanes_type_indexed(const lanes_values *values,
                               LLVMValueRef address);
// Returns the last index of a getelementptr.
LLVMValueRef lanes_index_of(LLVMValueRef address);
// True if a sum's terms are the same over segments of lanes, `width` segments.
bool lanes_is_sum_of_segments(const lanes_values *values,
                              const lanes_affine *at, uint32_t width);
// True if a value is the same for the lanes of each segment of that length.
bool lanes_is_same_in(const lanes_values *values, LLVMValueRef value,
                      uint32_t row);
bool lanes_is_same_in_segments(const lanes_values *values, LLVMValueRef value);

#endif
