// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// raise_alignment.c: raises the alignment of accesses to what the arithmetic of
// their addresses tells. LLVM looks six steps back, threads' places in tiles
// are computed in more: their neighbouring elements would be loaded one by one.
//
// Requires  addresses in their final form
// Leaves    alignments of up to MOST_BYTES
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ptx/ptx.h"

enum {
  MOST_BYTES = 16,
  ALL_ZERO = 64,     // trailing zero bits of 0
  MOST_DEPTH = 24,   // steps back
  MOST_STEPS = 200,  // of all ways back together
  MOST_NESTED = 4,   // phis inside each other
};

typedef struct search {
  LLVMTargetDataRef layout;
  unsigned steps;
  // Phis that are being looked at, and what is taken for granted of them.
  LLVMValueRef phis[MOST_NESTED];
  unsigned zeros[MOST_NESTED];
  unsigned phi_count;
} search;

static unsigned zeros_of(search *s, LLVMValueRef value, unsigned depth);

static unsigned least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

static unsigned zeros_of_number(uint64_t number) {
  return number ? (unsigned)__builtin_ctzll(number) : ALL_ZERO;
}

// Trailing zeros of a GEP's address.
static unsigned zeros_of_address(search *s, LLVMValueRef gep, unsigned depth) {
  unsigned zeros = zeros_of(s, LLVMGetOperand(gep, 0), depth);
  LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
  const unsigned count = LLVMGetNumIndices(gep);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef index = LLVMGetOperand(gep, i + 1);
    if (i > 0 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      zeros = least(
          zeros, zeros_of_number(LLVMOffsetOfElement(s->layout, type, field)));
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    type = i > 0 ? LLVMGetElementType(type) : type;
    const unsigned of_size =
        zeros_of_number(LLVMABISizeOfType(s->layout, type));
    const unsigned of_index = zeros_of(s, index, depth);
    zeros = least(zeros, of_index == ALL_ZERO ? ALL_ZERO : of_index + of_size);
  }
  return zeros;
}

// Returns the fewest trailing zeros of a phi's incoming values, under the
// assumption that the phi itself has so many.
static unsigned zeros_coming(search *s, LLVMValueRef phi, unsigned assumed,
                             unsigned depth) {
  s->phis[s->phi_count] = phi;
  s->zeros[s->phi_count++] = assumed;
  unsigned zeros = assumed;
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    zeros = least(zeros, zeros_of(s, LLVMGetIncomingValue(phi, i), depth));
  }
  s->phi_count--;
  return zeros;
}

// Returns the trailing zeros of a phi: as many as its incoming values have, if
// they keep them under that assumption.
static unsigned zeros_of_phi(search *s, LLVMValueRef phi, unsigned depth) {
  for (unsigned i = 0; i < s->phi_count; i++) {
    if (s->phis[i] == phi) {
      return s->zeros[i];
    }
  }
  if (s->phi_count == MOST_NESTED) {
    return 0;
  }
  const unsigned zeros = zeros_coming(s, phi, ALL_ZERO, depth);
  return zeros == 0 || zeros_coming(s, phi, zeros, depth) < zeros ? 0 : zeros;
}

static unsigned zeros_of_shift(search *s, LLVMValueRef shift, unsigned depth) {
  LLVMValueRef by = LLVMGetOperand(shift, 1);
  const unsigned zeros = zeros_of(s, LLVMGetOperand(shift, 0), depth);
  if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) >= ALL_ZERO) {
    return 0;
  }
  const unsigned count = (unsigned)LLVMConstIntGetZExtValue(by);
  return zeros == ALL_ZERO                ? ALL_ZERO
         : mtlc_is_opcode(shift, LLVMShl) ? zeros + count
         : zeros > count                  ? zeros - count
                                          : 0;
}

static unsigned zeros_of_two(search *s, LLVMValueRef value, unsigned first,
                             unsigned depth) {
  const unsigned zeros = zeros_of(s, LLVMGetOperand(value, first), depth);
  return zeros == 0 ? 0
                    : least(zeros, zeros_of(s, LLVMGetOperand(value, first + 1),
                                            depth));
}

static unsigned zeros_of_product(search *s, LLVMValueRef value,
                                 unsigned depth) {
  return zeros_of(s, LLVMGetOperand(value, 0), depth) +
         zeros_of(s, LLVMGetOperand(value, 1), depth);
}

static unsigned zeros_of_mask(search *s, LLVMValueRef value, unsigned depth) {
  const unsigned a = zeros_of(s, LLVMGetOperand(value, 0), depth);
  const unsigned b = zeros_of(s, LLVMGetOperand(value, 1), depth);
  return a > b ? a : b;
}

static unsigned zeros_of_operation(search *s, LLVMValueRef value,
                                   unsigned depth) {
  const LLVMOpcode opcode = LLVMIsAConstantExpr(value)
                                ? LLVMGetConstOpcode(value)
                                : LLVMGetInstructionOpcode(value);
  switch (opcode) {
    case LLVMGetElementPtr: return zeros_of_address(s, value, depth);
    case LLVMPHI: return zeros_of_phi(s, value, depth);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMXor: return zeros_of_two(s, value, 0, depth);
    case LLVMSelect: return zeros_of_two(s, value, 1, depth);
    case LLVMMul: return zeros_of_product(s, value, depth);
    case LLVMAnd: return zeros_of_mask(s, value, depth);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: return zeros_of_shift(s, value, depth);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
    case LLVMAddrSpaceCast: return zeros_of(s, LLVMGetOperand(value, 0), depth);
    default: return 0;
  }
}

// Returns how many bits at the end of an integer or an address are known to be
// zero.
static unsigned zeros_of(search *s, LLVMValueRef value, unsigned depth) {
  if (LLVMIsAConstantInt(value)) {
    return zeros_of_number(LLVMConstIntGetZExtValue(value));
  }
  if (LLVMIsAGlobalVariable(value) || LLVMIsAAllocaInst(value)) {
    return zeros_of_number(LLVMGetAlignment(value));
  }
  const bool is_operation =
      LLVMIsAInstruction(value) || LLVMIsAConstantExpr(value);
  if (!is_operation || depth == MOST_DEPTH || s->steps++ > MOST_STEPS) {
    return 0;
  }
  return least(zeros_of_operation(s, value, depth + 1), ALL_ZERO);
}

static void raise(LLVMValueRef i, void *context) {
  const bool is_load = mtlc_is_opcode(i, LLVMLoad);
  if (!is_load && !mtlc_is_opcode(i, LLVMStore)) {
    return;
  }
  search s = {.layout = context};
  const unsigned zeros = zeros_of(&s, LLVMGetOperand(i, is_load ? 0 : 1), 0);
  const unsigned bytes = zeros < 4 ? 1U << zeros : MOST_BYTES;
  if (bytes > LLVMGetAlignment(i)) {
    LLVMSetAlignment(i, bytes);
  }
}

mtl_status mtlc_ptx_raise_alignment(mtlc_kernel *kernel) {
  mtlc_for_each_in_module(kernel->module, raise,
                          LLVMGetModuleDataLayout(kernel->module));
  return MTL_OK;
}
