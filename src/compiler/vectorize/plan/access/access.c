// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access.c: a load or store of 32 lanes, and the facts in its address's shape.
#include "compiler/vectorize/plan/access/access.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { MOST_INDICES = 6 };  // of one address, beside its base

lanes_access lanes_access_of(const lanes_values *values,
                             LLVMValueRef instruction, LLVMValueRef pointer,
                             LLVMTypeRef value_type) {
  lanes_access a = {.instruction = instruction,
                    .pointer = pointer,
                    .shape = lanes_shape_of(values, pointer),
                    .type = lanes_component_type(value_type, 0),
                    .count = lanes_component_count(value_type),
                    .alignment = LLVMGetAlignment(instruction)};
  a.size_bytes = LLVMStoreSizeOfType(values->data, a.type);
  a.element = a.type;
  if (LLVMGetTypeKind(a.type) == LLVMIntegerTypeKind &&
      LLVMGetIntTypeWidth(a.type) != a.size_bytes * 8) {
    a.element = LLVMIntTypeInContext(LLVMGetTypeContext(a.type),
                                     (unsigned)a.size_bytes * 8);
  }
  a.pitch_bytes = a.size_bytes;
  return a;
}

bool lanes_is_structure(const lanes_access *a, LLVMTypeRef value_type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(value_type);
  return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind ||
         (kind == LLVMVectorTypeKind && a->element != a->type);
}

// Returns how private memory is interleaved for this access: in units smaller
// than the access, an element is several parts, each 32 times in a row.
uint32_t lanes_private_unit_of(const lanes_values *values,
                               const lanes_access *a) {
  const uint32_t number = lanes_map_get(&values->numbers, a->pointer);
  const uint32_t private =
      number == LANES_NONE ? LANES_NONE : values->private_of[number];
  return private == LANES_NONE ? 0 : values->privates[private].unit_bytes;
}

// Returns the stride between lanes in elements, or 0 if there is none.
uint32_t lanes_stride_elements(const lanes_access *a) {
  const uint64_t span = a->count * a->size_bytes;
  if (a->shape.row != a->shape.lanes || a->shape.stride < (int64_t)span ||
      a->shape.stride > LARGEST_STRIDE_BYTES ||
      a->shape.stride % (int64_t)a->size_bytes ||
      a->pitch_bytes != a->size_bytes) {
    return 0;
  }
  const uint32_t stride = (uint32_t)((uint64_t)a->shape.stride / a->size_bytes);
  // One of eight elements takes 14 shuffles, against 32 gathered elements.
  const bool is_sparse = stride > 4 && stride != 8;
  return a->count == 1 && is_sparse ? 0 : stride;
}

uint32_t lanes_stride_in_rows(const lanes_access *a) {
  enum { LEAST_ROW = 4, LEAST_BYTES = 4 };
  lanes_access whole = *a;
  whole.shape.row = (uint8_t)a->shape.lanes;
  const uint32_t stride = lanes_stride_elements(&whole);
  return a->shape.row >= LEAST_ROW && a->shape.row < a->shape.lanes &&
                 a->count == 1 && stride > 1 && lanes_is_power_of_two(stride) &&
                 a->size_bytes >= LEAST_BYTES
             ? stride
             : 0;
}

bool lanes_lie_in_words(const lanes_access *a, uint32_t stride) {
  return stride > a->count && a->size_bytes < 4 &&
         lanes_is_power_of_two(stride) &&
         stride * a->size_bytes <= sizeof(uint64_t);
}

// True if each segment is one vector, of whole components up to 4.
bool lanes_is_by_segments(const lanes_access *a) {
  return a->shape.row >= 4 && a->shape.row < a->shape.lanes && a->count <= 4 &&
         a->pitch_bytes == a->size_bytes &&
         a->shape.stride == (int64_t)(a->count * a->size_bytes);
}

// Returns the type that an address's last index chooses an element of.
static LLVMTypeRef type_before_last(LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  const unsigned last = (unsigned)LLVMGetNumOperands(address) - 1;
  for (unsigned i = 2; i < last; i++) {
    type =
        LLVMGetTypeKind(type) == LLVMStructTypeKind
            ? LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(
                                                 LLVMGetOperand(address, i)))
            : LLVMGetElementType(type);
  }
  return type;
}

LLVMTypeRef lanes_type_indexed(const lanes_values *values,
                               LLVMValueRef address) {
  if (!lanes_is_plain_step(values, address)) {
    return NULL;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(address) - 1;
  if (last > MOST_INDICES) {
    return NULL;
  }
  for (unsigned i = 0; i < last; i++) {
    if (!lanes_is_uniform(lanes_shape_of(values, LLVMGetOperand(address, i)))) {
      return NULL;
    }
  }
  if (last == 1) {
    return LLVMGetGEPSourceElementType(address);
  }
  LLVMTypeRef type = type_before_last(address);
  return LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetElementType(type)
                                                    : NULL;
}

LLVMValueRef lanes_index_of(LLVMValueRef address) {
  return LLVMGetOperand(address, (unsigned)LLVMGetNumOperands(address) - 1);
}

static bool has_width(const lanes_values *values, LLVMValueRef value,
                      uint32_t width) {
  return width % lanes_width_of(lanes_shape_of(values, value)) == 0;
}

bool lanes_is_sum_of_segments(const lanes_values *values,
                              const lanes_affine *at, uint32_t width) {
  bool fits = at->index_type && has_width(values, at->base, width);
  for (uint32_t i = 0; i < at->term_count; i++) {
    fits &= has_width(values, at->terms[i], width);
  }
  return fits;
}

bool lanes_is_same_in(const lanes_values *values, LLVMValueRef value,
                      uint32_t row) {
  const lanes_shape shape = lanes_shape_of(values, value);
  return shape.row >= row && shape.stride == 0 && !shape.conditional;
}

bool lanes_is_same_in_segments(const lanes_values *values, LLVMValueRef value) {
  return lanes_is_same_in(values, value, values->row);
}

bool lanes_is_row_of_words(const lanes_access *a) {
  enum { MOST_BYTES = 32 };
  const uint64_t bytes = a->count * a->size_bytes;
  return a->count > 1 && a->pitch_bytes == a->size_bytes &&
         a->size_bytes <= 8 && bytes % 4 == 0 && bytes <= MOST_BYTES &&
         LLVMGetTypeKind(a->element) != LLVMPointerTypeKind;
}

// --- What the machine makes of it --------------------------------------------

bool lanes_is_shaped(const lanes_access *a) {
  return lanes_stride_elements(a) || lanes_is_by_segments(a);
}

lanes_access lanes_reversed(const lanes_access *a) {
  lanes_access mirrored = *a;
  mirrored.shape.stride = -a->shape.stride;
  mirrored.first = NULL;
  mirrored.firsts = NULL;
  return mirrored;
}

bool lanes_is_reversed(const lanes_access *a) {
  const lanes_access mirrored = lanes_reversed(a);
  return a->shape.stride < 0 && lanes_is_shaped(&mirrored);
}

bool lanes_is_own_memory(const lanes_planning *p, const lanes_access *a) {
  return a->pointer && !p->is_at_once &&
         (lanes_is_in_threadgroup(p->kernel, a->pointer) ||
          lanes_private_unit_of(p->values, a));
}

bool lanes_is_workers_own(const lanes_planning *p, const lanes_access *a) {
  return !p->machine.has_masks && lanes_is_own_memory(p, a);
}

bool lanes_has_masks_for(const lanes_planning *p, LLVMTypeRef element) {
  return p->machine.has_masks ||
         (p->machine.has_gathers &&
          LLVMSizeOfTypeInBits(p->values->data, element) >= 32);
}

// A masked store of AVX2 takes 12 cycles on some machines, however few elements
// it stores.
bool lanes_is_gapped(const lanes_planning *p, const lanes_access *a,
                     bool store) {
  const bool stores_slowly =
      store && !p->machine.has_masks && !lanes_is_workers_own(p, a);
  return lanes_stride_elements(a) > a->count &&
         (stores_slowly || !lanes_has_masks_for(p, a->element));
}
