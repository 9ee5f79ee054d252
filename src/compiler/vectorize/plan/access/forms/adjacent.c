// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adjacent.c: finds addresses that analysis cannot describe but that are
// probably adjacent at run time: positions clamped to an image's edge, wrapped
// around it, chosen between two.
#include "compiler/vectorize/plan/access/forms/adjacent.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { MOST_STEPS = 12, MOST_LOOKS = 100, MOST_PHIS = 8 };

// Strides of an index: those worth a run-time check, NO_RUN for the others, and
// ANY for a phi on the way to itself.
enum { NO_RUN = -1, MOST_STRIDE = 4, ANY_RUN = 100 };

// A search through an index's operands. In a loop, an index with a factor is
// seldom adjacent: each thread walks through a row of its own. Elsewhere it is
// the position of a tensor's element, by strides and sizes that are known at
// run time.
typedef struct run_finder {
  const lanes_planning *p;
  bool is_tensor;   // factors are allowed
  bool has_factor;  // there is one, so lanes may have the same index
  uint32_t looks;
  LLVMValueRef phis[MOST_PHIS];  // those being visited
  uint32_t phi_count;
} run_finder;

static int stride_of(run_finder *f, LLVMValueRef value, uint32_t steps);

static int operand_stride(run_finder *f, LLVMValueRef value, unsigned k,
                          uint32_t steps) {
  return stride_of(f, LLVMGetOperand(value, k), steps);
}

// Returns the stride of a value that is one of two, as a condition chooses.
static int either(int a, int b) {
  if (a == NO_RUN || b == NO_RUN) {
    return NO_RUN;
  }
  if (a == b || b == 0 || b == ANY_RUN) {
    return a == ANY_RUN && b == 0 ? b : a;
  }
  return a == 0 || a == ANY_RUN ? b : NO_RUN;
}

static int sum_of(const run_finder *f, int a, int b) {
  if (a == NO_RUN || b == NO_RUN) {
    return NO_RUN;
  }
  if (a == ANY_RUN || b == ANY_RUN) {
    const int other = a == ANY_RUN ? b : a;
    return other == 0 || other == ANY_RUN ? ANY_RUN
           : f->is_tensor                 ? other
                                          : NO_RUN;
  }
  return a + b <= MOST_STRIDE ? a + b : NO_RUN;
}

static int multiple_of(int stride, uint64_t by) {
  const bool stays = stride == NO_RUN || stride == ANY_RUN || stride == 0;
  return stays ? stride
         : by > 0 && by <= MOST_STRIDE && (int)by * stride <= MOST_STRIDE
             ? (int)by * stride
             : NO_RUN;
}

// True for a minimum or maximum.
static bool is_bound(LLVMValueRef call) {
  size_t length = 0;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
  return !strncmp(name, "llvm.smin.", 10) || !strncmp(name, "llvm.smax.", 10) ||
         !strncmp(name, "llvm.umin.", 10) || !strncmp(name, "llvm.umax.", 10);
}

static int product_of(run_finder *f, LLVMValueRef value, uint32_t steps) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef factor = LLVMGetOperand(value, 1 - k);
    if (LLVMIsAConstantInt(factor)) {
      return multiple_of(operand_stride(f, value, k, steps),
                         LLVMConstIntGetZExtValue(factor));
    }
    if (f->is_tensor && lanes_is_same_in_segments(f->p->values, factor)) {
      f->has_factor = true;
      return operand_stride(f, value, k, steps);
    }
  }
  return NO_RUN;
}

static int phi_stride(run_finder *f, LLVMValueRef phi, uint32_t steps) {
  for (uint32_t i = 0; i < f->phi_count; i++) {
    if (f->phis[i] == phi) {
      return ANY_RUN;
    }
  }
  if (f->phi_count == MOST_PHIS) {
    return NO_RUN;
  }
  f->phis[f->phi_count++] = phi;
  int stride = ANY_RUN;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    stride = either(stride, stride_of(f, LLVMGetIncomingValue(phi, k), steps));
  }
  return stride;
}

// Returns by how much a value may rise from lane to lane, as long as no
// condition that it depends on changes; NO_RUN if it depends on memory.
static int stride_of(run_finder *f, LLVMValueRef value, uint32_t steps) {
  const lanes_shape shape = lanes_shape_of(f->p->values, value);
  if (shape.row >= f->p->values->row && shape.row > 1) {
    return shape.stride >= 0 && shape.stride <= MOST_STRIDE ? (int)shape.stride
                                                            : NO_RUN;
  }
  if (!LLVMIsAInstruction(value) || steps == 0 || f->looks == 0) {
    return NO_RUN;
  }
  f->looks--;
  steps--;
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMOr:
      return sum_of(f, operand_stride(f, value, 0, steps),
                    operand_stride(f, value, 1, steps));
    case LLVMSub:
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
      return lanes_is_same_in_segments(f->p->values, LLVMGetOperand(value, 1))
                 ? operand_stride(f, value, 0, steps)
                 : NO_RUN;
    case LLVMMul: return product_of(f, value, steps);
    case LLVMShl: {
      LLVMValueRef by = LLVMGetOperand(value, 1);
      return LLVMIsAConstantInt(by) && LLVMConstIntGetZExtValue(by) < 8
                 ? multiple_of(operand_stride(f, value, 0, steps),
                               UINT64_C(1) << LLVMConstIntGetZExtValue(by))
                 : NO_RUN;
    }
    case LLVMUDiv:
    case LLVMSDiv:
      return lanes_is_same_in_segments(f->p->values,
                                       LLVMGetOperand(value, 1)) &&
                     operand_stride(f, value, 0, steps) != NO_RUN
                 ? 0
                 : NO_RUN;
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze: return operand_stride(f, value, 0, steps);
    case LLVMSelect:
      return either(operand_stride(f, value, 1, steps),
                    operand_stride(f, value, 2, steps));
    case LLVMPHI: return phi_stride(f, value, steps);
    case LLVMCall:
      return is_bound(value) ? either(operand_stride(f, value, 0, steps),
                                      operand_stride(f, value, 1, steps))
                             : NO_RUN;
    case LLVMLoad:  // of a thread's own variable
      return f->is_tensor &&
                     LLVMIsAAllocaInst(mtlc_root_of(LLVMGetOperand(value, 0)))
                 ? 1
                 : NO_RUN;
    default: return NO_RUN;
  }
}

bool lanes_may_be_adjacent(const lanes_planning *p, const lanes_access *a,
                           lanes_shape *out_shape, bool *out_may_be_same) {
  LLVMTypeRef type =
      a->pointer ? lanes_type_indexed(p->values, a->pointer) : NULL;
  const uint8_t row = p->values->row;
  if (type == NULL || row < 8) {
    return false;
  }
  LLVMValueRef index = lanes_index_of(a->pointer);
  run_finder f = {.p = p,
                  .is_tensor = p->graph->nodes[p->node].loop == LANES_NONE,
                  .looks = MOST_LOOKS};
  int stride = lanes_shape_of(p->values, index).row == 1
                   ? stride_of(&f, index, MOST_STEPS)
                   : NO_RUN;
  if (stride == NO_RUN) {
    return false;
  }
  stride = stride == ANY_RUN ? 1 : stride;
  *out_shape = lanes_shape_strided(
      p->values->lanes, row,
      stride * (int64_t)LLVMABISizeOfType(p->values->data, type));
  *out_may_be_same = f.has_factor;
  return true;
}
