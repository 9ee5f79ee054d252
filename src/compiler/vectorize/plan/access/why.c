// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// why.c: finds the reason why an access is a gather: the part of its address
// that no form accepts.
#include "compiler/vectorize/plan/access/why.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { MOST_STEPS = 16, MOST_LOOKS = 64 };

// What an index depends on, the gravest last.
typedef enum part {
  PLAIN,     // positions, uniform numbers, sums of these
  FACTOR,    // a product with a uniform number
  BITS,      // a division, or a selection or exchange of bits
  CHOSEN,    // a select
  CARRIED,   // a phi of a divergent loop
  COMPUTED,  // floating point, a call, an atomic
  LOADED,    // memory
} part;

static part worse(part a, part b) {
  return a > b ? a : b;
}

static part own_part(const lanes_values *values, LLVMValueRef value) {
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMLoad: return LOADED;
    case LLVMPHI:
      return values->graph
                         ->nodes[values->nodes[lanes_map_get(&values->numbers,
                                                             value)]]
                         .loop == LANES_NONE
                 ? CHOSEN
                 : CARRIED;
    case LLVMSelect: return CHOSEN;
    case LLVMMul:
      return LLVMIsAConstantInt(LLVMGetOperand(value, 0)) ||
                     LLVMIsAConstantInt(LLVMGetOperand(value, 1))
                 ? PLAIN
                 : FACTOR;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return BITS;
    case LLVMICmp:
    case LLVMFCmp:  // of a select, which is named already
    case LLVMAdd:
    case LLVMSub:
    case LLVMShl:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMGetElementPtr: return PLAIN;
    case LLVMCall:
      return lanes_callee_of(value) == LANES_CALLEE_POSITION ? PLAIN : COMPUTED;
    default: return COMPUTED;
  }
}

// Only a part that differs between lanes counts.
static part part_of(const lanes_values *values, LLVMValueRef value,
                    uint32_t steps, uint32_t *looks) {
  if (!LLVMIsAInstruction(value) || steps == 0 || *looks == 0 ||
      lanes_is_uniform(lanes_shape_of(values, value))) {
    return PLAIN;
  }
  (*looks)--;
  part found = own_part(values, value);
  if (found >= CARRIED || LLVMIsACmpInst(value)) {
    return found;
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    LLVMValueRef operand = LLVMGetOperand(value, (unsigned)k);
    if (!LLVMIsABasicBlock(operand) && !LLVMIsAFunction(operand)) {
      found = worse(found, part_of(values, operand, steps - 1, looks));
    }
  }
  return found;
}

const char *lanes_why_apart(const lanes_planning *p, const lanes_access *a) {
  static const char *const texts[] = {
      [PLAIN] = "a sum that no form fits",
      [FACTOR] = "its stride is a number of the program",
      [BITS] = "its index is divided, or bits of it are taken",
      [CHOSEN] = "its index is one of two",
      [CARRIED] = "a loop goes on with its index",
      [COMPUTED] = "its index is computed otherwise",
      [LOADED] = "its index comes from memory",
  };
  if (a->shape.conditional) {
    return "more than one index may wrap or be cut off";
  }
  if (a->shape.row >= p->values->lanes / 2 && a->shape.stride) {
    return a->shape.stride < 0 ? "lanes lie in the reverse order"
                               : "lanes lie too far apart";
  }
  if (a->shape.row > 1 && a->shape.stride) {
    return "the lanes of each row lie too far apart";
  }
  uint32_t looks = MOST_LOOKS;
  return texts[part_of(p->values, a->pointer, MOST_STEPS, &looks)];
}
