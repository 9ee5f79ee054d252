// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bound_private.c: bounds a thread's accesses to its private arrays: an index
// past either end goes to a spare element, never to another thread's memory or
// the host's. A GPU thread has its own private memory, and existing kernels
// write past their arrays there unnoticed: for example threads without elements
// in MLX's layer norm.
//
// Requires  any module; behind LLVM's simplifications, which remove most
//           indices that vary and with them the price of this
// Leaves    addresses inside an array that is a variable, with an index that
//           varies, in the form  array + (index in range ? index : spare) *
//           unit
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// An address as a distance from the variable that it points into:
// bytes + the sum of index[i] * stride[i].
enum { MAX_TERMS = 8 };
typedef struct distance {
  LLVMValueRef variable;
  int64_t bytes;
  LLVMValueRef index[MAX_TERMS];
  int64_t stride[MAX_TERMS];
  unsigned count;
} distance;

typedef struct bounding {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMTargetDataRef data;
  mtlc_values variables, addresses;
} bounding;

// True for an index that LLVM has shifted to count in bytes.
static bool is_shifted(LLVMValueRef index) {
  return mtlc_is_opcode(index, LLVMShl) &&
         LLVMIsAConstantInt(LLVMGetOperand(index, 1)) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(index, 1)) < 32;
}

static bool add_term(distance *d, LLVMValueRef index, uint64_t stride) {
  if (is_shifted(index) && LLVMGetIntTypeWidth(LLVMTypeOf(index)) == 64) {
    stride <<= LLVMConstIntGetZExtValue(LLVMGetOperand(index, 1));
    index = LLVMGetOperand(index, 0);
  }
  if (LLVMIsAConstantInt(index)) {
    d->bytes += LLVMConstIntGetSExtValue(index) * (int64_t)stride;
    return true;
  }
  if (LLVMGetTypeKind(LLVMTypeOf(index)) != LLVMIntegerTypeKind ||
      d->count == MAX_TERMS) {
    return false;
  }
  d->index[d->count] = index;
  d->stride[d->count++] = (int64_t)stride;
  return true;
}

// Adds a getelementptr's offset to its base.
static bool add_terms(const bounding *b, distance *d, LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  const unsigned count = (unsigned)LLVMGetNumOperands(address);
  for (unsigned i = 1; i < count; ++i) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      d->bytes += (int64_t)LLVMOffsetOfElement(b->data, type, field);
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    type = i > 1 ? LLVMGetElementType(type) : type;
    if (!add_term(d, index, LLVMABISizeOfType(b->data, type))) {
      return false;
    }
  }
  return true;
}

// Measures an address; false unless it is within a variable of constant size.
static bool measure(const bounding *b, LLVMValueRef address, distance *d) {
  *d = (distance){0};
  while (LLVMIsAGetElementPtrInst(address)) {
    if (LLVMGetTypeKind(LLVMTypeOf(address)) != LLVMPointerTypeKind ||
        !add_terms(b, d, address)) {
      return false;
    }
    address = LLVMGetOperand(address, 0);
  }
  d->variable = address;
  return LLVMIsAAllocaInst(address) &&
         LLVMIsAConstantInt(LLVMGetOperand(address, 0));
}

static uint64_t variable_bytes(const bounding *b, LLVMValueRef variable) {
  return LLVMABISizeOfType(b->data, LLVMGetAllocatedType(variable)) *
         LLVMConstIntGetZExtValue(LLVMGetOperand(variable, 0));
}

static void collect(LLVMValueRef instruction, void *context) {
  bounding *b = context;
  distance d;
  if (!LLVMIsAGetElementPtrInst(instruction) || !measure(b, instruction, &d) ||
      d.count == 0 || variable_bytes(b, d.variable) == 0) {
    return;
  }
  mtlc_values_add(&b->addresses, instruction);
  for (size_t i = 0; i < b->variables.count; ++i) {
    if (b->variables.items[i] == d.variable) {
      return;
    }
  }
  mtlc_values_add(&b->variables, d.variable);
}

// Returns the unit that all terms of a distance are multiples of: a size of
// machine integers, since an array's copies for 32 threads are laid out in
// units.
static int64_t unit_of(const distance *d) {
  uint64_t unit = mtlc_common_divisor(8, (uint64_t)llabs(d->bytes));
  for (unsigned i = 0; i < d->count; ++i) {
    unit = mtlc_common_divisor(unit, (uint64_t)llabs(d->stride[i]));
  }
  return (int64_t)unit;
}

// Returns the distance in units, as an i64 value.
static LLVMValueRef build_index(const bounding *b, LLVMBuilderRef builder,
                                const distance *d, int64_t unit) {
  LLVMTypeRef i64 = b->types.i64;
  LLVMValueRef sum =
      LLVMConstInt(i64, (unsigned long long)(d->bytes / unit), true);
  for (unsigned i = 0; i < d->count; ++i) {
    LLVMValueRef index = LLVMBuildIntCast2(builder, d->index[i], i64, true, "");
    LLVMValueRef factor =
        LLVMConstInt(i64, (unsigned long long)(d->stride[i] / unit), true);
    sum = LLVMBuildAdd(builder, sum, LLVMBuildMul(builder, index, factor, ""),
                       "");
  }
  return sum;
}

static void bound(const bounding *b, LLVMBuilderRef builder,
                  LLVMValueRef address) {
  distance d;
  if (!measure(b, address, &d)) {
    return;
  }
  const int64_t unit = unit_of(&d);
  const uint64_t count =
      (variable_bytes(b, d.variable) + (uint64_t)unit - 1) / (uint64_t)unit;
  LLVMPositionBuilderBefore(builder, address);
  LLVMValueRef index = build_index(b, builder, &d, unit);
  LLVMValueRef limit = LLVMConstInt(b->types.i64, count, false);
  LLVMValueRef inside =
      LLVMBuildICmp(builder, LLVMIntULT, index, limit, "private.inside");
  LLVMValueRef safe = LLVMBuildSelect(builder, inside, index, limit, "");
  LLVMTypeRef type =
      LLVMIntTypeInContext(b->kernel->context, (unsigned)unit * 8);
  mtlc_replace(address, LLVMBuildGEP2(builder, type, d.variable, &safe, 1,
                                      "private.bounded"));
}

// Spare bytes after a variable, for accesses that start at its end: as large as
// the largest access through its addresses.
enum { SPARE_BYTES = 16 };

static uint64_t spare_bytes(const bounding *b, LLVMValueRef variable) {
  uint64_t largest = SPARE_BYTES;
  for (size_t i = 0; i < b->addresses.count; ++i) {
    distance d;
    if (!measure(b, b->addresses.items[i], &d) || d.variable != variable) {
      continue;
    }
    for (LLVMUseRef use = LLVMGetFirstUse(b->addresses.items[i]); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      LLVMTypeRef type = LLVMIsAStoreInst(user)
                             ? LLVMTypeOf(LLVMGetOperand(user, 0))
                             : LLVMTypeOf(user);
      if (LLVMTypeIsSized(type)) {
        const uint64_t size = LLVMABISizeOfType(b->data, type);
        largest = size > largest ? size : largest;
      }
    }
  }
  return largest;
}

// Makes the variable anew with spare bytes after it.
static void grow(const bounding *b, LLVMBuilderRef builder,
                 LLVMValueRef variable, uint64_t spare) {
  const uint64_t size = (variable_bytes(b, variable) + 7) / 8 * 8 + spare;
  LLVMPositionBuilderBefore(builder, variable);
  LLVMValueRef larger = LLVMBuildAlloca(
      builder, LLVMArrayType2(b->types.i8, size), mtlc_name(variable));
  LLVMSetAlignment(larger, LLVMGetAlignment(variable));
  mtlc_replace(variable, larger);
}

mtl_status mtlc_bound_private(mtlc_kernel *kernel) {
  bounding b = {.kernel = kernel,
                .types = mtlc_types_of(kernel->context),
                .data = LLVMGetModuleDataLayout(kernel->module)};
  mtlc_for_each_in_module(kernel->module, collect, &b);
  uint64_t *spare = calloc(b.variables.count + 1, sizeof *spare);
  if (spare == NULL) {
    free(b.variables.items);
    free(b.addresses.items);
    return mtli_fail(MTL_OUT_OF_MEMORY, "bound_private");
  }
  for (size_t i = 0; i < b.variables.count; ++i) {
    spare[i] = spare_bytes(&b, b.variables.items[i]);
  }
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  // The last first: an address may be the base of a later one, whose distance
  // is measured through it.
  for (size_t i = b.addresses.count; i-- > 0;) {
    bound(&b, builder, b.addresses.items[i]);
  }
  for (size_t i = 0; i < b.variables.count; ++i) {
    grow(&b, builder, b.variables.items[i], spare[i]);
  }
  LLVMDisposeBuilder(builder);
  free(spare);
  free(b.variables.items);
  free(b.addresses.items);
  return MTL_OK;
}
