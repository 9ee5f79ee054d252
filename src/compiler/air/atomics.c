// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.c: air.atomic.SPACE.OP.TYPE(address, values, orders, scope, flag) as
// LLVM's atomic instructions, and accesses that every device sees. Orders and
// scopes change nothing for single objects: threads run on CPUs with one
// coherent memory, and a fence is a fence for all of them.
#include <string.h>

#include "compiler/air/families.h"

// Finds the operation that a name up to `end` spells, for a sign letter and a
// type.
static bool find_operation(const char *name, size_t length, bool is_unsigned,
                           bool is_float, LLVMAtomicRMWBinOp *out) {
  static const struct {
    const char *name;
    LLVMAtomicRMWBinOp plain, of_unsigned, of_float;
  } rows[] = {
      {"xchg", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg,
       LLVMAtomicRMWBinOpXchg},
      {"add", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd,
       LLVMAtomicRMWBinOpFAdd},
      {"sub", LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub,
       LLVMAtomicRMWBinOpFSub},
      {"min", LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin,
       LLVMAtomicRMWBinOpFMin},
      {"max", LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax,
       LLVMAtomicRMWBinOpFMax},
      {"and", LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd,
       LLVMAtomicRMWBinOpAnd},
      {"or", LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
      {"xor", LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor,
       LLVMAtomicRMWBinOpXor},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (strlen(rows[i].name) == length &&
        memcmp(rows[i].name, name, length) == 0) {
      *out = is_float      ? rows[i].of_float
             : is_unsigned ? rows[i].of_unsigned
                           : rows[i].plain;
      return true;
    }
  }
  return false;
}

static unsigned size_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) / 8;
    case LLVMFloatTypeKind: return 4;
    default: return 0;
  }
}

static LLVMValueRef load(air_translation *t, LLVMValueRef call) {
  LLVMTypeRef type = air_type(t, LLVMTypeOf(call));
  LLVMValueRef made =
      LLVMBuildLoad2(t->builder, type, air_operand(t, call, 0), "");
  LLVMSetOrdering(made, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(made, size_of(type));
  return made;
}

static LLVMValueRef store(air_translation *t, LLVMValueRef call) {
  LLVMValueRef value = air_operand(t, call, 1);
  LLVMValueRef made =
      LLVMBuildStore(t->builder, value, air_operand(t, call, 0));
  LLVMSetOrdering(made, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(made, size_of(LLVMTypeOf(value)));
  return made;
}

// Translates a compare-and-exchange (address, address of the expected value,
// value, ...), which also stores the old value as the expected one.
static LLVMValueRef compare_exchange(air_translation *t, LLVMValueRef call) {
  LLVMValueRef value = air_operand(t, call, 2);
  LLVMValueRef place = air_operand(t, call, 1);
  LLVMValueRef expected =
      LLVMBuildLoad2(t->builder, LLVMTypeOf(value), place, "");
  LLVMSetAlignment(expected, size_of(LLVMTypeOf(value)));
  LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
      t->builder, air_operand(t, call, 0), expected, value,
      LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);
  LLVMValueRef old = LLVMBuildExtractValue(t->builder, pair, 0, "");
  LLVMSetAlignment(LLVMBuildStore(t->builder, old, place),
                   size_of(LLVMTypeOf(value)));
  return old;
}

static LLVMValueRef fence(air_translation *t, LLVMValueRef call) {
  enum { ORDER_RELAXED = 0, ORDER_SEQUENTIAL = 5, SCOPE_DEVICE = 2 };
  const unsigned count = LLVMGetNumArgOperands(call);
  const int64_t value = air_integer(
      count > 1 ? LLVMGetOperand(call, 1) : NULL, ORDER_SEQUENTIAL);
  const bool is_of_group =
      count > 2 &&
      air_integer(LLVMGetOperand(call, 2), SCOPE_DEVICE) != SCOPE_DEVICE;
  return value == ORDER_RELAXED
             ? NULL
             : LLVMBuildFence(t->builder,
                              value == ORDER_SEQUENTIAL
                                  ? LLVMAtomicOrderingSequentiallyConsistent
                                  : LLVMAtomicOrderingAcquireRelease,
                              is_of_group, "");
}

static LLVMValueRef modify(air_translation *t, LLVMValueRef call,
                           const char *operation) {
  const size_t length = strcspn(operation, ".");
  LLVMValueRef value = air_operand(t, call, 1);
  LLVMAtomicRMWBinOp op;
  if (!find_operation(operation, length,
                      strncmp(operation + length, ".u.", 3) == 0,
                      LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMFloatTypeKind,
                      &op) ||
      size_of(LLVMTypeOf(value)) == 0) {
    return air_miss_callee(t, call);
  }
  return LLVMBuildAtomicRMW(t->builder, op, air_operand(t, call, 0), value,
                            LLVMAtomicOrderingMonotonic, false);
}

LLVMValueRef air_call_atomic(air_translation *t, LLVMValueRef call,
                             const char *rest) {
  const unsigned count = LLVMGetNumArgOperands(call);
  if (strcmp(rest, "fence") == 0) {
    return fence(t, call);
  }
  const char *operation = strchr(rest, '.');
  operation = operation ? operation + 1 : "";
  if (strncmp(operation, "load.", 5) == 0 && count >= 1 &&
      size_of(LLVMTypeOf(call))) {
    return load(t, call);
  }
  if (strncmp(operation, "store.", 6) == 0 && count >= 2 &&
      size_of(LLVMTypeOf(LLVMGetOperand(call, 1)))) {
    return store(t, call);
  }
  if (strncmp(operation, "cmpxchg.", 8) == 0 && count >= 3 &&
      size_of(LLVMTypeOf(call))) {
    return compare_exchange(t, call);
  }
  return count >= 2 ? modify(t, call, operation) : air_miss_callee(t, call);
}

// air.load.system_coherent.volatile.TYPE(address, ...): of memory that another
// device may write at any time.
LLVMValueRef air_call_load(air_translation *t, LLVMValueRef call,
                           const char *rest) {
  if (strncmp(rest, "system_coherent.volatile.", 25) != 0) {
    return air_miss_callee(t, call);
  }
  LLVMValueRef made = LLVMBuildLoad2(
      t->builder, air_type(t, LLVMTypeOf(call)), air_operand(t, call, 0), "");
  LLVMSetVolatile(made, true);
  LLVMSetAlignment(made, 1);
  return made;
}

LLVMValueRef air_call_store(air_translation *t, LLVMValueRef call,
                            const char *rest) {
  if (strncmp(rest, "system_coherent.volatile.", 25) != 0) {
    return air_miss_callee(t, call);
  }
  LLVMValueRef first = air_operand(t, call, 0), second = air_operand(t, call, 1);
  const bool is_address =
      LLVMGetTypeKind(LLVMTypeOf(first)) == LLVMPointerTypeKind;
  LLVMValueRef made = LLVMBuildStore(t->builder, is_address ? second : first,
                                     is_address ? first : second);
  LLVMSetVolatile(made, true);
  LLVMSetAlignment(made, 1);
  return made;
}
