// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_numbers.c: scalarises a thread's integer vectors, which are mostly
// positions:
//
//   const uint2 q = min(gid * 2 + offset, size - 1);
//   ... in[q.y * size.x + q.x] ...
//
// A vector has a single shape (vectorize/shape.h): if one component varies, all
// of it does. Vectors of bytes are data and stay.
#include "compiler/ir/transform/split_numbers.h"

#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"

enum { MOST_COMPONENTS = 4, LEAST_BITS = 16 };

typedef struct splitter {
  LLVMContextRef context;
  LLVMBuilderRef builder;
  mtlc_values found;
} splitter;

static bool is_vector(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
         LLVMGetVectorSize(type) <= MOST_COMPONENTS;
}

static bool is_numbers(LLVMTypeRef type) {
  if (!is_vector(type) ||
      LLVMGetTypeKind(LLVMGetElementType(type)) != LLVMIntegerTypeKind) {
    return false;
  }
  const unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(type));
  return bits == 1 || bits >= LEAST_BITS;
}

// True if an intrinsic does the same to each component.
static bool is_elementwise(LLVMValueRef call) {
  static const char *const names[] = {
      "llvm.umin.", "llvm.umax.",  "llvm.smin.",     "llvm.smax.",
      "llvm.abs.",  "llvm.ctpop.", "llvm.uadd.sat.", "llvm.usub.sat.",
      "llvm.fshl.", "llvm.fshr.",  "llvm.sadd.sat.", "llvm.ssub.sat."};
  LLVMValueRef callee = mtlc_callee(call);
  for (size_t i = 0; callee && i < sizeof names / sizeof names[0]; i++) {
    if (mtlc_starts_with(mtlc_name(callee), names[i])) {
      return true;
    }
  }
  return false;
}

static bool is_split(LLVMValueRef i) {
  if (!is_numbers(LLVMTypeOf(i))) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMICmp:
    case LLVMFreeze:
    case LLVMSelect: return true;
    case LLVMCall: return is_elementwise(i);
    default: return LLVMIsABinaryOperator(i);
  }
}

static void find(LLVMValueRef instruction, void *context) {
  splitter *s = context;
  if (is_split(instruction)) {
    mtlc_values_add(&s->found, instruction);
  }
}

// --- Components --------------------------------------------------------------

// Returns a component of a value, which may be known by how the value was put
// together; of a scalar the scalar itself.
static LLVMValueRef component(splitter *s, LLVMValueRef value, unsigned c) {
  if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind) {
    return value;
  }
  while (LLVMIsAInsertElementInst(value) &&
         LLVMIsAConstantInt(LLVMGetOperand(value, 2))) {
    if (LLVMConstIntGetZExtValue(LLVMGetOperand(value, 2)) == c) {
      return LLVMGetOperand(value, 1);
    }
    value = LLVMGetOperand(value, 0);
  }
  return LLVMBuildExtractElement(s->builder, value, mtlc_i32(s->context, c),
                                 "");
}

static LLVMValueRef one_component(splitter *s, LLVMValueRef i, unsigned c) {
  enum { MOST_OPERANDS = 3 };
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(i));
  LLVMValueRef operands[MOST_OPERANDS] = {0};
  const int count = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i)
                                       : LLVMGetNumOperands(i);
  for (int k = 0; k < count; k++) {
    operands[k] = component(s, LLVMGetOperand(i, (unsigned)k), c);
  }
  return mtlc_build_like(s->builder, i, type, operands);
}

static LLVMValueRef put_together(splitter *s, LLVMValueRef instruction,
                                 LLVMValueRef *components) {
  LLVMValueRef all = LLVMGetPoison(LLVMTypeOf(instruction));
  for (unsigned c = 0; c < LLVMGetVectorSize(LLVMTypeOf(all)); c++) {
    all = LLVMBuildInsertElement(s->builder, all, components[c],
                                 mtlc_i32(s->context, c), "");
  }
  return all;
}

// --- Instructions ------------------------------------------------------------

static void split_phi(splitter *s, LLVMValueRef phi) {
  LLVMValueRef components[MOST_COMPONENTS];
  LLVMTypeRef type = LLVMTypeOf(phi);
  const unsigned from_count = LLVMCountIncoming(phi);
  LLVMPositionBuilderBefore(s->builder, phi);
  for (unsigned c = 0; c < LLVMGetVectorSize(type); c++) {
    components[c] = LLVMBuildPhi(s->builder, LLVMGetElementType(type), "");
  }
  for (unsigned c = 0; c < LLVMGetVectorSize(type); c++) {
    for (unsigned k = 0; k < from_count; k++) {
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
      unsigned same = 0;  // a switch may be an edge from one block several
                          // times
      while (same < k && LLVMGetIncomingBlock(phi, same) != from) {
        same++;
      }
      LLVMPositionBuilderBefore(s->builder, LLVMGetBasicBlockTerminator(from));
      LLVMValueRef value = same < k
                               ? LLVMGetIncomingValue(components[c], same)
                               : component(s, LLVMGetIncomingValue(phi, k), c);
      LLVMAddIncoming(components[c], &value, &from, 1);
    }
  }
  mtlc_position_behind_phis(s->builder, phi);
  mtlc_replace(phi, put_together(s, phi, components));
}

static void split(splitter *s, LLVMValueRef i) {
  LLVMValueRef components[MOST_COMPONENTS];
  LLVMPositionBuilderBefore(s->builder, i);
  for (unsigned c = 0; c < LLVMGetVectorSize(LLVMTypeOf(i)); c++) {
    components[c] = one_component(s, i, c);
    mtlc_keep_flags(i, components[c]);
  }
  mtlc_replace(i, put_together(s, i, components));
}

bool mtlc_split_numbers(mtlc_kernel *kernel, LLVMValueRef function) {
  splitter s = {.context = kernel->context,
                .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_for_each_instruction(function, find, &s);
  const bool any = s.found.count > 0;
  for (size_t i = 0; i < s.found.count; i++) {
    (mtlc_is_opcode(s.found.items[i], LLVMPHI) ? split_phi : split)(
        &s, s.found.items[i]);
  }
  LLVMDisposeBuilder(s.builder);
  free(s.found.items);
  return any;
}
