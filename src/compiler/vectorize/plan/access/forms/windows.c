// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// windows.c: finds accesses whose lanes are in an unknown order but probably
// near each other, and loads from tables small enough that they are.
#include "compiler/vectorize/plan/access/forms/windows.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/target/machine.h"

enum { WORDS = 8 };  // of a register of AVX2

enum { MOST_STEPS = 12 };

static bool is_near(const lanes_planning *p, LLVMValueRef value,
                    uint32_t steps);

static bool are_near(const lanes_planning *p, LLVMValueRef value, unsigned from,
                     unsigned count, uint32_t steps) {
  for (unsigned i = from; i < count; i++) {
    if (!is_near(p, LLVMGetOperand(value, i), steps)) {
      return false;
    }
  }
  return true;
}

static bool is_at_most(LLVMValueRef value, uint64_t most) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) <= most;
}

// True if all lanes' values are probably close together: not if they depend on
// memory or are multiples of an unknown number.
static bool is_near(const lanes_planning *p, LLVMValueRef value,
                    uint32_t steps) {
  const lanes_shape shape = lanes_shape_of(p->values, value);
  if (shape.row == p->values->lanes) {
    return shape.stride >= -2 && shape.stride <= 2;
  }
  if (!LLVMIsAInstruction(value) || steps == 0) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return are_near(p, value, 0, 2, steps - 1);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return are_near(p, value, 0, 1, steps - 1);
    case LLVMShl:
      return is_at_most(LLVMGetOperand(value, 1), 1) &&
             are_near(p, value, 0, 1, steps - 1);
    case LLVMMul:
      return is_at_most(LLVMGetOperand(value, 1), 2) &&
             are_near(p, value, 0, 1, steps - 1);
    case LLVMSelect: return are_near(p, value, 1, 3, steps - 1);
    default: return false;
  }
}

bool lanes_may_be_near(const lanes_planning *p, const lanes_access *a) {
  LLVMTypeRef type =
      a->pointer ? lanes_type_indexed(p->values, a->pointer) : NULL;
  if (type == NULL || a->count != 1 || a->size_bytes != 4 ||
      LLVMABISizeOfType(p->values->data, type) != 4 ||
      !lanes_shuffled_words(&p->machine) ||
      p->values->lanes == lanes_shuffled_words(&p->machine)) {
    return false;
  }
  LLVMValueRef index = lanes_index_of(a->pointer);
  return (LLVMIsAZExtInst(index) || LLVMIsASExtInst(index)) &&
         LLVMTypeOf(LLVMGetOperand(index, 0)) ==
             LLVMInt32TypeInContext(LLVMGetTypeContext(type)) &&
         is_near(p, index, MOST_STEPS);
}

// Returns an index of few bits that counts from one address for all lanes.
static LLVMValueRef table_index(const lanes_planning *p,
                                const lanes_access *a) {
  LLVMTypeRef type =
      a->pointer ? lanes_type_indexed(p->values, a->pointer) : NULL;
  const uint32_t each = lanes_shuffled_words(&p->machine);
  if (type == NULL || a->count != 1 || a->size_bytes != 4 ||
      LLVMABISizeOfType(p->values->data, type) != 4 || !each) {
    return NULL;
  }
  LLVMValueRef index = lanes_index_of(a->pointer);
  const lanes_shape shape = lanes_shape_of(p->values, index);
  return shape.row < p->values->lanes && shape.bits < 32 &&
                 UINT32_C(1) << shape.bits <= 2 * each
             ? index
             : NULL;
}

bool lanes_may_be_table(const lanes_planning *p, const lanes_access *a) {
  return table_index(p, a) != NULL;
}

bool lanes_may_store_near(const lanes_planning *p, const lanes_access *a) {
  return (p->machine.has_masks ||
          (lanes_is_workers_own(p, a) &&
           lanes_shuffled_words(&p->machine) == WORDS)) &&
         lanes_may_be_near(p, a);
}
