// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd_functions.c: reductions and scans over 32 threads, in the order that
// docs/ir.md gives them.
#include "compiler/ir/transform/simd_functions.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"

enum { WIDTH = 32 };

// --- names -------------------------------------------------------------------

static bool find_type(LLVMContextRef context, const char *name,
                      mtlc_simd_function *function) {
  mtlc_types types = mtlc_types_of(context);
  const struct {
    const char *name;
    LLVMTypeRef type;
    bool is_unsigned;
  } known[] = {{"i32", types.i32, false}, {"u32", types.i32, true},
               {"i64", types.i64, false}, {"u64", types.i64, true},
               {"f32", types.f32, false}, {"f16", types.f16, false}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (strcmp(name, known[i].name) == 0) {
      function->type = known[i].type;
      function->is_unsigned = known[i].is_unsigned;
      return true;
    }
  }
  return false;
}

static bool find_operation(const char *name, mtlc_simd_function *function) {
  static const char *const names[] = {"add", "mul", "min", "max",
                                      "and", "or",  "xor"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    if (strcmp(name, names[i]) == 0) {
      function->operation = (mtlc_simd_operation)i;
      return true;
    }
  }
  return false;
}

// Parses a name like "add.f32": an operation and a type that it supports.
static bool find_operation_of_type(LLVMContextRef context, const char *rest,
                                   mtlc_simd_function *function) {
  const char *dot = strchr(rest, '.');
  char operation[8];
  if (!dot || (size_t)(dot - rest) >= sizeof operation) {
    return false;
  }
  snprintf(operation, sizeof operation, "%.*s", (int)(dot - rest), rest);
  if (!find_operation(operation, function) ||
      !find_type(context, dot + 1, function)) {
    return false;
  }
  const bool is_integer =
      LLVMGetTypeKind(function->type) == LLVMIntegerTypeKind;
  const bool is_scan = function->kind != MTLC_SIMD_REDUCE;
  return (is_integer || function->operation <= MTLC_SIMD_MAX) &&
         (!is_scan || function->operation <= MTLC_SIMD_MUL);
}

mtl_status mtlc_simd_function_of(LLVMContextRef context, const char *name,
                                 mtlc_simd_function *out_function) {
  static const struct {
    const char *prefix;
    mtlc_simd_kind kind;
  } kinds[] = {{"mettle.simd.reduce.", MTLC_SIMD_REDUCE},
               {"mettle.simd.scan.inclusive.", MTLC_SIMD_SCAN_INCLUSIVE},
               {"mettle.simd.scan.exclusive.", MTLC_SIMD_SCAN_EXCLUSIVE}};
  *out_function = (mtlc_simd_function){.type = LLVMInt32TypeInContext(context)};
  if (strcmp(name, "mettle.barrier.simdgroup") == 0) {
    out_function->kind = MTLC_SIMD_BARRIER;
    return MTL_OK;
  }
  if (strcmp(name, "mettle.simd.ballot") == 0) {
    out_function->kind = MTLC_SIMD_BALLOT;
    return MTL_OK;
  }
  const char *shuffle = "mettle.simd.shuffle.";
  if (mtlc_starts_with(name, shuffle)) {
    out_function->kind = MTLC_SIMD_SHUFFLE;
    if (find_type(context, name + strlen(shuffle), out_function)) {
      return MTL_OK;
    }
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (mtlc_starts_with(name, kinds[i].prefix)) {
      out_function->kind = kinds[i].kind;
      if (find_operation_of_type(context, name + strlen(kinds[i].prefix),
                                 out_function)) {
        return MTL_OK;
      }
    }
  }
  return mtli_fail(MTL_UNSUPPORTED, "there is no simdgroup function %s", name);
}

// --- vectors -----------------------------------------------------------------

static LLVMValueRef splat(LLVMValueRef element, unsigned width) {
  LLVMValueRef elements[WIDTH];
  for (unsigned i = 0; i < width; ++i) {
    elements[i] = element;
  }
  return LLVMConstVector(elements, width);
}

// Returns the operation's identity, the value that inactive threads contribute.
static LLVMValueRef identity_of(const mtlc_simd_function *function) {
  LLVMTypeRef type = function->type;
  const bool is_integer = LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
  const unsigned bits = is_integer ? LLVMGetIntTypeWidth(type) : 0;
  const uint64_t sign = is_integer ? UINT64_C(1) << (bits - 1) : 0;
  switch (function->operation) {
    case MTLC_SIMD_ADD:
      return is_integer ? LLVMConstInt(type, 0, false)
                        : LLVMConstReal(type, -0.0);
    case MTLC_SIMD_MUL:
      return is_integer ? LLVMConstInt(type, 1, false)
                        : LLVMConstReal(type, 1.0);
    case MTLC_SIMD_MIN:
      if (!is_integer) {
        return LLVMConstReal(type, NAN);
      }
      return function->is_unsigned ? LLVMConstAllOnes(type)
                                   : LLVMConstInt(type, sign - 1, false);
    case MTLC_SIMD_MAX:
      if (!is_integer) {
        return LLVMConstReal(type, NAN);
      }
      return LLVMConstInt(type, function->is_unsigned ? 0 : sign, false);
    case MTLC_SIMD_AND: return LLVMConstAllOnes(type);
    case MTLC_SIMD_OR:
    case MTLC_SIMD_XOR: break;
  }
  return LLVMConstInt(type, 0, false);
}

static LLVMValueRef build_extreme(LLVMBuilderRef builder,
                                  const mtlc_simd_function *function,
                                  LLVMValueRef left, LLVMValueRef right) {
  const bool is_integer =
      LLVMGetTypeKind(function->type) == LLVMIntegerTypeKind;
  const bool is_minimum = function->operation == MTLC_SIMD_MIN;
  const char *name;
  if (!is_integer) {
    name = is_minimum ? "llvm.minnum" : "llvm.maxnum";
  } else if (function->is_unsigned) {
    name = is_minimum ? "llvm.umin" : "llvm.umax";
  } else {
    name = is_minimum ? "llvm.smin" : "llvm.smax";
  }
  LLVMTypeRef type = LLVMTypeOf(left);
  LLVMValueRef arguments[] = {left, right};
  return mtlc_call_intrinsic(builder, name, &type, 1, arguments, 2);
}

static LLVMValueRef build_operation(LLVMBuilderRef builder,
                                    const mtlc_simd_function *function,
                                    LLVMValueRef left, LLVMValueRef right) {
  const bool is_integer =
      LLVMGetTypeKind(function->type) == LLVMIntegerTypeKind;
  switch (function->operation) {
    case MTLC_SIMD_ADD:
      return is_integer ? LLVMBuildAdd(builder, left, right, "")
                        : LLVMBuildFAdd(builder, left, right, "");
    case MTLC_SIMD_MUL:
      return is_integer ? LLVMBuildMul(builder, left, right, "")
                        : LLVMBuildFMul(builder, left, right, "");
    case MTLC_SIMD_MIN:
    case MTLC_SIMD_MAX: return build_extreme(builder, function, left, right);
    case MTLC_SIMD_AND: return LLVMBuildAnd(builder, left, right, "");
    case MTLC_SIMD_OR: return LLVMBuildOr(builder, left, right, "");
    case MTLC_SIMD_XOR: break;
  }
  return LLVMBuildXor(builder, left, right, "");
}

// Returns `count` elements of values, from first on, `step` apart.
static LLVMValueRef build_part(LLVMBuilderRef builder, LLVMValueRef values,
                               unsigned first, unsigned step, unsigned count) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(values));
  LLVMValueRef picks[WIDTH];
  for (unsigned i = 0; i < count; ++i) {
    picks[i] = mtlc_i32(context, first + i * step);
  }
  return LLVMBuildShuffleVector(builder, values,
                                LLVMGetPoison(LLVMTypeOf(values)),
                                LLVMConstVector(picks, count), "");
}

// Element i is element i - distance of values; the first ones are fill.
static LLVMValueRef build_moved_up(LLVMBuilderRef builder, LLVMValueRef values,
                                   unsigned distance, LLVMValueRef fill) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(values));
  LLVMValueRef picks[WIDTH];
  for (unsigned i = 0; i < WIDTH; ++i) {
    picks[i] = mtlc_i32(context, i < distance ? WIDTH + i : i - distance);
  }
  return LLVMBuildShuffleVector(builder, values, fill,
                                LLVMConstVector(picks, WIDTH), "");
}

// True if the order of combination matters.
static bool starts_with_neighbours(const mtlc_simd_function *function) {
  return function->starts_with_neighbours &&
         LLVMGetTypeKind(function->type) != LLVMIntegerTypeKind &&
         (function->operation == MTLC_SIMD_ADD ||
          function->operation == MTLC_SIMD_MUL);
}

static LLVMValueRef build_reduction(LLVMBuilderRef builder,
                                    const mtlc_simd_function *function,
                                    LLVMValueRef values) {
  const bool by_neighbours = starts_with_neighbours(function);
  for (unsigned half = WIDTH / 2; half > 0; half /= 2) {
    const unsigned step = by_neighbours ? 2 : 1;
    LLVMValueRef low = build_part(builder, values, 0, step, half);
    LLVMValueRef high =
        build_part(builder, values, by_neighbours ? 1 : half, step, half);
    values = build_operation(builder, function, low, high);
  }
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(values));
  return LLVMBuildShuffleVector(builder, values,
                                LLVMGetPoison(LLVMTypeOf(values)),
                                splat(mtlc_i32(context, 0), WIDTH), "");
}

static LLVMValueRef build_scan(LLVMBuilderRef builder,
                               const mtlc_simd_function *function,
                               LLVMValueRef values) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(values));
  for (unsigned distance = 1; distance < WIDTH; distance *= 2) {
    LLVMValueRef earlier = build_moved_up(builder, values, distance, values);
    LLVMValueRef combined = build_operation(builder, function, earlier, values);
    // Threads without another that far before them keep their value.
    LLVMValueRef picks[WIDTH];
    for (unsigned i = 0; i < WIDTH; ++i) {
      picks[i] = mtlc_i32(context, i < distance ? WIDTH + i : i);
    }
    values = LLVMBuildShuffleVector(builder, combined, values,
                                    LLVMConstVector(picks, WIDTH), "");
  }
  return values;
}

// Returns what thread 0 of an exclusive scan starts with: 0 and not -0.0, as an
// empty sum prints.
static LLVMValueRef start_of(const mtlc_simd_function *function) {
  LLVMValueRef identity = identity_of(function);
  return function->operation == MTLC_SIMD_ADD ? LLVMConstNull(function->type)
                                              : identity;
}

LLVMValueRef mtlc_build_simd_function(LLVMBuilderRef builder,
                                      const mtlc_simd_function *function,
                                      LLVMValueRef values, LLVMValueRef mask) {
  LLVMValueRef identity = splat(identity_of(function), WIDTH);
  values = LLVMBuildSelect(builder, mask, values, identity, "");
  if (function->kind == MTLC_SIMD_REDUCE) {
    return build_reduction(builder, function, values);
  }
  if (function->kind == MTLC_SIMD_SCAN_EXCLUSIVE) {
    values =
        build_moved_up(builder, values, 1, splat(start_of(function), WIDTH));
  }
  return build_scan(builder, function, values);
}

LLVMValueRef mtlc_build_simd_operation(LLVMBuilderRef builder,
                                       const mtlc_simd_function *function,
                                       LLVMValueRef left, LLVMValueRef right) {
  return build_operation(builder, function, left, right);
}

LLVMValueRef mtlc_simd_identity(const mtlc_simd_function *function) {
  return identity_of(function);
}

LLVMValueRef mtlc_simd_start(const mtlc_simd_function *function) {
  return start_of(function);
}

bool mtlc_simd_starts_with_neighbours(const mtlc_simd_function *function) {
  return starts_with_neighbours(function);
}
