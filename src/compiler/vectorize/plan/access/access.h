// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access.h: a load or store of 32 lanes, and what its address's shape tells.
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
  LLVMValueRef pointer;  // operand, or NULL: only what is given counts
  lanes_shape shape;     // of the pointer
  LLVMTypeRef element;   // as it is in memory: whole bytes
  LLVMTypeRef type;      // of a component of the value
  uint32_t count;        // components
  uint64_t size_bytes;   // of an element
  uint64_t pitch_bytes;  // from one component to the next
  uint32_t alignment;
  // While it is emitted:
  LLVMValueRef first;    // lane 0's address if it is not the pointer's
  LLVMValueRef *firsts;  // [shape.lanes / shape.row] each row's, or NULL
  const struct lanes_stride_factors *factors;  // of its index, or NULL
  LLVMValueRef places;    // in windows: each lane's, in elements from its first
  LLVMValueRef lanes[2];  // the lane at each place of a window's halves
} lanes_access;

enum { LARGEST_STRIDE_BYTES = 32 };  // of lanes that one vector is loaded for

// Describes a load or store of a value of that type.
lanes_access lanes_access_of(const lanes_values *values,
                             LLVMValueRef instruction, LLVMValueRef pointer,
                             LLVMTypeRef value_type);
// True if it is no scalar nor vector of whole bytes, which no form takes.
bool lanes_is_structure(const lanes_access *a, LLVMTypeRef value_type);

static inline bool lanes_is_power_of_two(uint32_t value) {
  return (value & (value - 1)) == 0;
}
// The set of the first count elements.
static inline uint32_t lanes_first_elements(uint32_t count) {
  return (uint32_t)((UINT64_C(1) << count) - 1);
}

// Returns how many elements lanes are apart, or 0 if they
// are not, or too far.
uint32_t lanes_stride_elements(const lanes_access *a);
// The same of one component of the lanes of rows shorter than a simdgroup, of
// words.
uint32_t lanes_stride_in_rows(const lanes_access *a);
// True if elements of bytes or halves lie a word apart, with gaps between them.
bool lanes_lie_in_words(const lanes_access *a, uint32_t stride);
// True if each row of lanes is one vector.
bool lanes_is_by_segments(const lanes_access *a);
// True if the components of a lane are a few whole words.
bool lanes_is_row_of_words(const lanes_access *a);
// True if lanes_stride_elements or lanes_is_by_segments holds.
bool lanes_is_shaped(const lanes_access *a);
// True if it would hold of the lanes of each row in the reverse order, which
// lanes_reversed describes: its first address is not set.
bool lanes_is_reversed(const lanes_access *a);
lanes_access lanes_reversed(const lanes_access *a);

// The unit that private memory is interleaved in, or 0 if an access is to none.
uint32_t lanes_private_unit_of(const lanes_values *values,
                               const lanes_access *a);
// True if an access is to a worker's own memory, around which there is
// enough of it.
bool lanes_is_own_memory(const lanes_planning *p, const lanes_access *a);
// True if what is around an element that is wanted may be written as well,
// as it is: no other worker has a part in it. Machines' masked stores of 32
// bytes take as long as several whole ones.
bool lanes_is_workers_own(const lanes_planning *p, const lanes_access *a);
// True if the machine loads and stores vectors of such elements under a
// mask; LLVM makes a branch of each element otherwise.
bool lanes_has_masks_for(const lanes_planning *p, LLVMTypeRef element);
// True if elements have gaps between them that cost masks the machine lacks.
bool lanes_is_gapped(const lanes_planning *p, const lanes_access *a,
                     bool store);

// The type that an address's last index counts, if only that differs from lane
// to lane; or NULL. And the index.
LLVMTypeRef lanes_type_indexed(const lanes_values *values,
                               LLVMValueRef address);
LLVMValueRef lanes_index_of(LLVMValueRef address);
// True if a sum's parts are the same over runs of lanes, width of them.
bool lanes_is_sum_of_segments(const lanes_values *values,
                              const lanes_affine *at, uint32_t width);
// True if a value is the same for the lanes of each row that long; of those
// that the values are for.
bool lanes_is_same_in(const lanes_values *values, LLVMValueRef value,
                      uint32_t row);
bool lanes_is_same_in_segments(const lanes_values *values, LLVMValueRef value);

#endif
