// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// execute_functions.c: what a simdgroup's functions do with the values that its
// waiting threads have left in the tables of schedule.ll.
#include "compiler/passes/lower/execute_functions.h"

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/transform/simd_functions.h"

enum { SIMD_WIDTH = 32 };

// The state of mettle.execute while it is built.
typedef struct executor {
  mtlc_kernel *kernel;
  mtlc_types types;
  const mtlc_values *functions;
  LLVMBuilderRef builder;
  LLVMValueRef mask_bits;  // i32
  LLVMValueRef mask;       // <32 x i1>
  LLVMValueRef values_at;
  LLVMValueRef operands_at;
  LLVMTypeRef wide;  // <32 x i64>
} executor;

static LLVMTypeRef simd_vector(LLVMTypeRef element) {
  return LLVMVectorType(element, SIMD_WIDTH);
}

static LLVMValueRef build_ballot(executor *e, LLVMValueRef bits) {
  LLVMValueRef is_true =
      LLVMBuildICmp(e->builder, LLVMIntNE, bits, LLVMConstNull(e->wide), "");
  LLVMValueRef active = LLVMBuildAnd(e->builder, is_true, e->mask, "");
  LLVMValueRef result = LLVMBuildBitCast(e->builder, active, e->types.i32, "");
  LLVMValueRef wide = LLVMBuildZExt(e->builder, result, e->types.i64, "");
  LLVMValueRef first =
      LLVMBuildInsertElement(e->builder, LLVMGetPoison(e->wide), wide,
                             mtlc_i32(e->kernel->context, 0), "");
  return LLVMBuildShuffleVector(e->builder, first, LLVMGetPoison(e->wide),
                                LLVMConstNull(simd_vector(e->types.i32)), "");
}

static LLVMValueRef build_combination(executor *e,
                                      const mtlc_simd_function *function,
                                      LLVMValueRef bits) {
  LLVMTypeRef type = function->type;
  const unsigned width = type == e->types.i64   ? 64
                         : type == e->types.f16 ? 16
                                                : 32;
  LLVMTypeRef narrow =
      simd_vector(LLVMIntTypeInContext(e->kernel->context, width));
  LLVMValueRef values = LLVMBuildTruncOrBitCast(e->builder, bits, narrow, "");
  values = LLVMBuildBitCast(e->builder, values, simd_vector(type), "");
  LLVMValueRef result =
      mtlc_build_simd_function(e->builder, function, values, e->mask);
  result = LLVMBuildBitCast(e->builder, result, narrow, "");
  return LLVMBuildZExtOrBitCast(e->builder, result, e->wide, "");
}

static void build_case(executor *e, const mtlc_simd_function *function) {
  if (function->kind == MTLC_SIMD_BARRIER) {
    return;
  }
  if (function->kind == MTLC_SIMD_SHUFFLE) {
    LLVMValueRef arguments[] = {e->mask_bits, e->values_at, e->operands_at};
    mtlc_call(e->builder,
              LLVMGetNamedFunction(e->kernel->module, "mettle.execute_shuffle"),
              arguments, 3);
    return;
  }
  LLVMValueRef bits = LLVMBuildLoad2(e->builder, e->wide, e->values_at, "");
  LLVMSetAlignment(bits, sizeof(uint64_t));
  LLVMValueRef result = function->kind == MTLC_SIMD_BALLOT
                            ? build_ballot(e, bits)
                            : build_combination(e, function, bits);
  // Values of other threads exist only in functions of their own.
  result = LLVMBuildSelect(e->builder, e->mask, result, bits, "");
  LLVMSetAlignment(LLVMBuildStore(e->builder, result, e->values_at),
                   sizeof(uint64_t));
}

static mtl_status build_cases(executor *e, LLVMValueRef execute,
                              LLVMValueRef choice, LLVMBasicBlockRef done) {
  for (size_t i = 0; i < e->functions->count; ++i) {
    mtlc_simd_function function;
    MTL_TRY(mtlc_simd_function_of(
        e->kernel->context, mtlc_name(e->functions->items[i]), &function));
    function.starts_with_neighbours =
        e->kernel->library->math_mode != MTL_MATH_FAST;
    LLVMBasicBlockRef block =
        LLVMAppendBasicBlockInContext(e->kernel->context, execute, "");
    LLVMAddCase(choice, mtlc_i32(e->kernel->context, (uint32_t)i), block);
    LLVMPositionBuilderAtEnd(e->builder, block);
    build_case(e, &function);
    LLVMBuildBr(e->builder, done);
  }
  return MTL_OK;
}

mtl_status mtlc_define_execute(mtlc_kernel *kernel,
                               const mtlc_values *functions) {
  LLVMContextRef context = kernel->context;
  LLVMValueRef execute = LLVMGetNamedFunction(kernel->module, "mettle.execute");
  const mtlc_types types = mtlc_types_of(context);
  executor e = {.kernel = kernel,
                .types = types,
                .functions = functions,
                .builder = LLVMCreateBuilderInContext(context),
                .mask_bits = LLVMGetParam(execute, 1),
                .values_at = LLVMGetParam(execute, 2),
                .operands_at = LLVMGetParam(execute, 3),
                .wide = simd_vector(types.i64)};
  LLVMBasicBlockRef entry =
      LLVMAppendBasicBlockInContext(context, execute, "enter");
  LLVMBasicBlockRef done =
      LLVMAppendBasicBlockInContext(context, execute, "done");
  LLVMPositionBuilderAtEnd(e.builder, entry);
  e.mask = LLVMBuildBitCast(e.builder, e.mask_bits, simd_vector(types.i1), "");
  LLVMValueRef choice = LLVMBuildSwitch(e.builder, LLVMGetParam(execute, 0),
                                        done, (unsigned)functions->count);
  LLVMPositionBuilderAtEnd(e.builder, done);
  LLVMBuildRetVoid(e.builder);
  const mtl_status status = build_cases(&e, execute, choice, done);
  LLVMDisposeBuilder(e.builder);
  return status;
}
