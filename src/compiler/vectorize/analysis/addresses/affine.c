// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// affine.c: writes addresses as sums of terms, so that two addresses can be
// compared.
#include "compiler/vectorize/analysis/addresses/affine.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/uniformity.h"

static bool is_sum(LLVMValueRef value) {
  if (!LLVMIsAInstruction(value)) {
    return false;
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  return opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(value));
}

static bool is_extension(LLVMValueRef value) {
  return LLVMIsAZExtInst(value) || LLVMIsASExtInst(value);
}

// Adds a value's terms to a sum. Truncation distributes over addition, so a sum
// may be truncated before or after. An extended value that is truncated again
// is the value itself.
static bool add_terms(lanes_affine *to, LLVMValueRef value) {
  if (LLVMIsATruncInst(value) ||
      (is_extension(value) &&
       LLVMTypeOf(LLVMGetOperand(value, 0)) == to->index_type)) {
    return add_terms(to, LLVMGetOperand(value, 0));
  }
  if (LLVMIsAConstantInt(value)) {
    to->constant += LLVMConstIntGetSExtValue(value);
    return true;
  }
  if (is_sum(value)) {
    return add_terms(to, LLVMGetOperand(value, 0)) &&
           add_terms(to, LLVMGetOperand(value, 1));
  }
  if (to->term_count == LANES_MOST_TERMS) {
    return false;
  }
  to->terms[to->term_count++] = value;
  return true;
}

// Returns the constant of an `or` if its bits are disjoint from the other
// operand's, so that the `or` is an addition; else 0.
static int64_t own_bits(LLVMValueRef sum) {
  int64_t constant = 0;
  while (is_sum(sum) && LLVMGetInstructionOpcode(sum) == LLVMOr &&
         LLVMIsAConstantInt(LLVMGetOperand(sum, 1))) {
    constant += LLVMConstIntGetSExtValue(LLVMGetOperand(sum, 1));
    sum = LLVMGetOperand(sum, 0);
  }
  return constant;
}

// True for zext(t) | c where c has no bit of t's width: it equals zext(t | c),
// and so differs from zext(t) by a constant. The same holds for sext.
static bool is_extended_inside(LLVMValueRef index) {
  if (!LLVMIsAInstruction(index) || LLVMGetInstructionOpcode(index) != LLVMOr ||
      !LLVMGetIsDisjoint(index) || !is_extension(LLVMGetOperand(index, 0)) ||
      !LLVMIsAConstantInt(LLVMGetOperand(index, 1))) {
    return false;
  }
  LLVMTypeRef narrow = LLVMTypeOf(LLVMGetOperand(LLVMGetOperand(index, 0), 0));
  const uint64_t constant = LLVMConstIntGetZExtValue(LLVMGetOperand(index, 1));
  return constant >> (LLVMGetIntTypeWidth(narrow) - 1) == 0;
}

static bool take_index(LLVMValueRef index, lanes_affine *to) {
  if (is_extended_inside(index)) {
    LLVMValueRef narrow = LLVMGetOperand(LLVMGetOperand(index, 0), 0);
    to->is_signed = LLVMIsASExtInst(LLVMGetOperand(index, 0)) != NULL;
    to->is_unwrapped = mtlc_is_marked(LLVMGetOperand(index, 0), MTLC_UNWRAPPED_MARK);
    to->is_extended = true;
    to->sum = index;
    to->index_type = LLVMTypeOf(narrow);
    const int64_t outside = to->constant;
    const bool done =
        add_terms(to, LLVMGetOperand(index, 1)) && add_terms(to, narrow);
    to->is_carryless =
        to->constant - outside == own_bits(index) + own_bits(narrow);
    return done;
  }
  to->is_signed = LLVMIsASExtInst(index) != NULL;
  to->is_extended = to->is_signed || LLVMIsAZExtInst(index);
  to->is_unwrapped = to->is_extended && mtlc_is_marked(index, MTLC_UNWRAPPED_MARK);
  LLVMValueRef sum = to->is_extended ? LLVMGetOperand(index, 0) : index;
  to->sum = sum;
  to->index_type = LLVMTypeOf(sum);
  if (!to->is_extended && LLVMGetIntTypeWidth(to->index_type) != 64) {
    return false;
  }
  const int64_t before = to->constant;
  const bool done = add_terms(to, sum);
  to->is_carryless = to->constant - before == own_bits(sum);
  return done;
}

bool lanes_affine_find_number(LLVMValueRef number, lanes_affine *out_affine) {
  *out_affine = (lanes_affine){
      .scale = 1, .sum = number, .index_type = LLVMTypeOf(number)};
  return add_terms(out_affine, number);
}

// Adds one step of a getelementptr to the address: a constant in bytes, or the
// index.
static bool take_step(LLVMValueRef index, uint64_t scale, lanes_affine *to) {
  if (LLVMIsAConstantInt(index)) {
    to->bytes += LLVMConstIntGetSExtValue(index) * (int64_t)scale;
    return true;
  }
  if (to->index_type) {
    return false;
  }
  to->scale = scale;
  return take_index(index, to);
}

static bool take_steps(const lanes_values *values, LLVMValueRef address,
                       lanes_affine *to) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); i++) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      to->bytes += (int64_t)LLVMOffsetOfElement(values->data, type, field);
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    type = i > 1 ? LLVMGetElementType(type) : type;
    if (!take_step(index, LLVMABISizeOfType(values->data, type), to)) {
      return false;
    }
  }
  to->base = LLVMGetOperand(address, 0);
  return true;
}

bool lanes_is_plain_step(const lanes_values *values, LLVMValueRef address) {
  return LLVMIsAGetElementPtrInst(address) &&
         lanes_offset_scale(values, address) == 1;
}

// Walks up while each getelementptr adds a constant distance.
void lanes_affine_find(const lanes_values *values, LLVMValueRef pointer,
                       lanes_affine *out_linear) {
  *out_linear = (lanes_affine){.base = pointer};
  while (lanes_is_plain_step(values, out_linear->base)) {
    lanes_affine next = *out_linear;
    if (!take_steps(values, out_linear->base, &next)) {
      return;
    }
    *out_linear = next;
  }
}

static uint32_t count_of(const lanes_affine *linear, LLVMValueRef term) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < linear->term_count; i++) {
    count += linear->terms[i] == term;
  }
  return count;
}

bool lanes_affine_like(const lanes_affine *a, const lanes_affine *b) {
  bool same =
      a->base == b->base && a->scale == b->scale &&
      a->index_type == b->index_type && a->is_extended == b->is_extended &&
      a->is_signed == b->is_signed && a->is_unwrapped == b->is_unwrapped &&
      a->term_count == b->term_count;
  for (uint32_t i = 0; same && i < a->term_count; i++) {
    same = count_of(a, a->terms[i]) == count_of(b, a->terms[i]);
  }
  return same;
}

int64_t lanes_affine_distance(const lanes_affine *a, const lanes_affine *b) {
  return (b->constant - a->constant) * (int64_t)a->scale + b->bytes - a->bytes;
}

// True if an integer is known to be below half of its type's range.
static bool is_small(const lanes_values *values, LLVMValueRef number,
                     LLVMTypeRef type) {
  return LLVMIsAInstruction(number) &&
         lanes_shape_of(values, number).bits < LLVMGetIntTypeWidth(type);
}

bool lanes_affine_may_wrap(const lanes_values *values, const lanes_affine *a,
                           const lanes_affine *b) {
  return a->is_extended && !a->is_unwrapped && a->constant != b->constant &&
         !(a->is_carryless && b->is_carryless) &&
         !(is_small(values, a->sum, a->index_type) &&
           is_small(values, b->sum, b->index_type));
}
