// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// divide.c: the program's divisions of floats in fast math by the machine's
// div.full and rcp.approx, which take a third of the instructions. NVIDIA's PTX
// ISA has their errors; Metal's bounds are those of its specification, "ULP
// values of fast math functions".
//
//   division  by          largest error  Metal allows
//   1 / x     rcp.approx  1 ulp          1 ulp
//   x / y     div.full    2 ulp          2.5 ulp
//   x / C     x * (1/C)   1.5 ulp        2.5 ulp; LLVM does it
//
// Requires  approximate, which gives the program's divisions the flag arcp: a
//           function of the library has its own needs. After optimise
// Leaves    no division with that flag
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/ptx.h"

typedef struct dividing {
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef f32;
  mtlc_values found;
} dividing;

static bool is_one(LLVMValueRef value) {
  LLVMBool loses = false;
  return LLVMIsAConstantFP(value) && LLVMConstRealGetDouble(value, &loses) == 1;
}

static LLVMValueRef machine(const dividing *d, const char *text,
                            const char *constraints, LLVMValueRef *arguments,
                            unsigned count) {
  LLVMTypeRef types[] = {d->f32, d->f32};
  LLVMTypeRef type = LLVMFunctionType(d->f32, types, count, false);
  LLVMValueRef code = LLVMGetInlineAsm(
      type, (char *)text, strlen(text), (char *)constraints,
      strlen(constraints), false, false, LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(d->builder, type, code, arguments, count, "");
}

static LLVMValueRef quotient(const dividing *d, LLVMValueRef x,
                             LLVMValueRef y) {
  LLVMValueRef both[] = {x, y};
  return is_one(x) ? machine(d, "rcp.approx.f32 $0, $1;", "=f,f", &y, 1)
                   : machine(d, "div.full.f32 $0, $1, $2;", "=f,f,f", both, 2);
}

static void replace(const dividing *d, LLVMValueRef division) {
  LLVMBuilderRef b = d->builder;
  LLVMValueRef x = LLVMGetOperand(division, 0), y = LLVMGetOperand(division, 1);
  LLVMTypeRef type = LLVMTypeOf(division);
  LLVMPositionBuilderBefore(b, division);
  if (type == d->f32) {
    mtlc_replace(division, quotient(d, x, y));
    return;
  }
  LLVMValueRef all = LLVMGetPoison(type);
  for (uint32_t i = 0; i < LLVMGetVectorSize(type); i++) {
    LLVMValueRef at = mtlc_i32(d->context, i);
    LLVMValueRef one = quotient(d, LLVMBuildExtractElement(b, x, at, ""),
                                LLVMBuildExtractElement(b, y, at, ""));
    all = LLVMBuildInsertElement(b, all, one, at, "");
  }
  mtlc_replace(division, all);
}

static void collect(LLVMValueRef i, void *context) {
  dividing *d = context;
  if (!mtlc_is_opcode(i, LLVMFDiv) ||
      !(LLVMGetFastMathFlags(i) & LLVMFastMathAllowReciprocal)) {
    return;
  }
  LLVMTypeRef type = LLVMTypeOf(i);
  if (type == d->f32 || (LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
                         LLVMGetElementType(type) == d->f32)) {
    mtlc_values_add(&d->found, i);
  }
}

mtl_status mtlc_ptx_divide(mtlc_kernel *kernel) {
  dividing d = {.context = kernel->context,
                .builder = LLVMCreateBuilderInContext(kernel->context),
                .f32 = LLVMFloatTypeInContext(kernel->context)};
  mtlc_for_each_in_module(kernel->module, collect, &d);
  for (size_t i = 0; i < d.found.count; i++) {
    replace(&d, d.found.items[i]);
  }
  free(d.found.items);
  LLVMDisposeBuilder(d.builder);
  return MTL_OK;
}
