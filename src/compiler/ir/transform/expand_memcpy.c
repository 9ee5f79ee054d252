// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expand_memcpy.c: expands short memory copies and fills to loads and stores,
// so that private memory that is filled or copied as a whole can still be
// interleaved, and PTX has accesses of 16 bytes.
#include "compiler/ir/transform/expand_memcpy.h"

#include <stdbool.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"

typedef struct expansion {
  LLVMContextRef context;
  LLVMBuilderRef builder;
  uint64_t most_bytes;
  uint32_t most_alignment;
} expansion;

static uint32_t alignment_of_argument(LLVMValueRef call, unsigned argument) {
  const unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAttributeRef attribute =
      LLVMGetCallSiteEnumAttribute(call, argument + 1, kind);
  return attribute ? (uint32_t)LLVMGetEnumAttributeValue(attribute) : 1;
}

// Returns the alignment that an access at an offset may assume in memory of
// that alignment.
static uint32_t claimed(const expansion *x, uint32_t alignment, uint64_t offset,
                        uint32_t unit) {
  uint32_t most = unit;
  while (most < x->most_alignment && alignment % (2 * most) == 0 &&
         offset % (2 * most) == 0) {
    most *= 2;
  }
  return most;
}

// Returns the widest of 4, 2, 1 bytes that divides length and addresses.
static uint32_t unit_for(uint64_t length, uint32_t alignment) {
  uint32_t unit = 4;
  while (unit > 1 && (length % unit || alignment % unit)) {
    unit /= 2;
  }
  return unit;
}

static LLVMTypeRef unit_type(const expansion *x, uint32_t unit) {
  return LLVMIntTypeInContext(x->context, unit * 8);
}

static void store_unit(const expansion *x, LLVMValueRef value, LLVMValueRef to,
                       uint64_t offset, uint32_t alignment) {
  LLVMValueRef store =
      LLVMBuildStore(x->builder, value, mtlc_offset(x->builder, to, offset));
  LLVMSetAlignment(store, alignment);
}

static void expand_fill(const expansion *x, LLVMValueRef call,
                        uint64_t length) {
  LLVMValueRef to = LLVMGetOperand(call, 0);
  const uint32_t alignment = alignment_of_argument(call, 0);
  const uint32_t unit = unit_for(length, alignment);
  LLVMTypeRef type = unit_type(x, unit);
  LLVMValueRef byte =
      LLVMBuildIntCast2(x->builder, LLVMGetOperand(call, 1), type, false, "");
  LLVMValueRef ones = LLVMConstInt(type,
                                   unit == 4   ? 0x01010101
                                   : unit == 2 ? 0x0101
                                               : 1,
                                   0);
  LLVMValueRef value = LLVMBuildMul(x->builder, byte, ones, "");
  for (uint64_t at = 0; at < length; at += unit) {
    store_unit(x, value, to, at, claimed(x, alignment, at, unit));
  }
}

// Returns the bytes copied as one vector: neighbouring threads' vectors are
// then contiguous.
static uint64_t part_bytes(uint32_t unit, uint64_t left) {
  uint64_t count = 4;
  while (count > 1 && count * unit > left) {
    count /= 2;
  }
  return count * unit;
}

// Loads everything first: a memmove's memories may overlap.
static void expand_copy(const expansion *x, LLVMValueRef call,
                        uint64_t length) {
  LLVMValueRef to = LLVMGetOperand(call, 0);
  LLVMValueRef from = LLVMGetOperand(call, 1);
  const uint32_t a = alignment_of_argument(call, 0);
  const uint32_t b = alignment_of_argument(call, 1);
  const uint32_t unit = unit_for(length, a < b ? a : b);
  LLVMValueRef values[MTLC_MOST_COPIED_BYTES];
  for (uint64_t at = 0; at < length; at += part_bytes(unit, length - at)) {
    const uint32_t count = (uint32_t)part_bytes(unit, length - at) / unit;
    LLVMTypeRef type = unit_type(x, unit);
    values[at] = LLVMBuildLoad2(x->builder,
                                count == 1 ? type : LLVMVectorType(type, count),
                                mtlc_offset(x->builder, from, at), "");
    LLVMSetAlignment(values[at], claimed(x, b, at, unit));
  }
  for (uint64_t at = 0; at < length; at += part_bytes(unit, length - at)) {
    store_unit(x, values[at], to, at, claimed(x, a, at, unit));
  }
}

static void expand(LLVMValueRef instruction, void *context) {
  const expansion *x = context;
  LLVMValueRef callee = mtlc_callee(instruction);
  const char *name = callee ? mtlc_name(callee) : "";
  const bool fill = mtlc_starts_with(name, "llvm.memset.");
  if (!fill && !mtlc_starts_with(name, "llvm.memcpy.") &&
      !mtlc_starts_with(name, "llvm.memmove.")) {
    return;
  }
  LLVMValueRef length = LLVMGetOperand(instruction, 2);
  LLVMValueRef is_volatile = LLVMGetOperand(instruction, 3);
  if (!LLVMIsAConstantInt(length) ||
      LLVMConstIntGetZExtValue(length) > x->most_bytes ||
      LLVMConstIntGetZExtValue(is_volatile)) {
    return;  // it is run lane by lane
  }
  LLVMPositionBuilderBefore(x->builder, instruction);
  if (fill) {
    expand_fill(x, instruction, LLVMConstIntGetZExtValue(length));
  } else {
    expand_copy(x, instruction, LLVMConstIntGetZExtValue(length));
  }
  LLVMInstructionEraseFromParent(instruction);
}

void mtlc_expand_memcpy(LLVMContextRef context, LLVMValueRef function,
                        uint64_t most_bytes, uint32_t most_alignment) {
  expansion x = {.context = context,
                 .builder = LLVMCreateBuilderInContext(context),
                 .most_bytes = most_bytes,
                 .most_alignment = most_alignment};
  mtlc_for_each_instruction(function, expand, &x);
  LLVMDisposeBuilder(x.builder);
}
