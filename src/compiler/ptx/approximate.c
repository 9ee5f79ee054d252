// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// approximate.c: in fast math the machine's own approximations in the place of
// the library's functions, where they are within what Metal allows of fast
// functions. NVIDIA's PTX ISA states their errors; Metal's bounds are those of
// its specification, "ULP values of fast math functions".
//
//   function  by                      largest error      Metal allows
//   exp       ex2.approx(x * log2 e)  2 + 0.5 |x| ulp    2 + floor(2 |x|) ulp
//   exp2      ex2.approx              2 ulp              2 + floor(2 |x|) ulp
//   exp10     ex2.approx(x * log2 10) 2 + 1.2 |x| ulp    2 + floor(2 |x|) ulp
//   rsqrt     rsqrt.approx            2^-22.9            2 ulp
//
// The program's own divisions of floats, and those of the library's operators on
// vectors, are marked for divide.c.
//
// Requires  link_functions: before library functions are inlined
// Leaves    those functions with other bodies; the flag arcp on the program's
//           divisions; nothing unless the library is
//           for fast math and the target says "+approximate"
#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ptx/ptx.h"

typedef struct approximation {
  const char *function;   // of metal_math, mangled
  const char *intrinsic;
  double factor;  // on the argument; 0 for none
} approximation;

static const approximation approximations[] = {
    {"_ZN8__mettle8exp_fastEf", "llvm.nvvm.ex2.approx.ftz.f",
     1.44269504088896340736},
    {"_ZN8__mettle9exp2_fastEf", "llvm.nvvm.ex2.approx.ftz.f", 0},
    {"_ZN8__mettle10exp10_fastEf", "llvm.nvvm.ex2.approx.ftz.f",
     3.32192809488736234787},
    {"_ZN8__mettle10rsqrt_fastEf", "llvm.nvvm.rsqrt.approx.ftz.f", 0},
};

static void replace(mtlc_kernel *kernel, LLVMBuilderRef builder,
                    const approximation *a) {
  LLVMValueRef old = LLVMGetNamedFunction(kernel->module, a->function);
  if (!old || LLVMIsDeclaration(old)) {
    return;
  }
  LLVMTypeRef type = LLVMGlobalGetValueType(old);
  LLVMValueRef made =
      LLVMAddFunction(kernel->module, "mettle.approximation", type);
  LLVMPositionBuilderAtEnd(
      builder, LLVMAppendBasicBlockInContext(kernel->context, made, ""));
  LLVMValueRef value = LLVMGetParam(made, 0);
  if (a->factor != 0) {
    value = LLVMBuildFMul(builder, value,
                          LLVMConstReal(LLVMTypeOf(value), a->factor), "");
  }
  LLVMBuildRet(builder,
               mtlc_call_intrinsic(builder, a->intrinsic, NULL, 0, &value, 1));
  LLVMSetLinkage(made, LLVMInternalLinkage);
  mtlc_set_attribute(made, "alwaysinline", 0);
  mtlc_set_attribute(made, "nounwind", 0);
  LLVMReplaceAllUsesWith(old, made);
  LLVMSetLinkage(old, LLVMInternalLinkage);  // it is no longer called
}

// True if a function is the program's, or the library's operator / or /=.
static bool is_programs(const char *function) {
  static const char library[] = "_ZN5metal", inner[] = "_ZN8__mettle";
  if (mtlc_starts_with(function, inner)) {
    return false;
  }
  const char *rest = function + sizeof library - 1;
  return !mtlc_starts_with(function, library) ||
         mtlc_starts_with(rest, "dv") || mtlc_starts_with(rest, "dV");
}

static void mark_division(LLVMValueRef i, void *context) {
  (void)context;
  if (mtlc_is_opcode(i, LLVMFDiv) &&
      is_programs(mtlc_name(
          LLVMGetBasicBlockParent(LLVMGetInstructionParent(i))))) {
    LLVMSetFastMathFlags(
        i, LLVMGetFastMathFlags(i) | LLVMFastMathAllowReciprocal);
  }
}

mtl_status mtlc_ptx_approximate(mtlc_kernel *kernel) {
  if (!kernel->may_approximate ||
      kernel->library->math_mode != MTL_MATH_FAST) {
    return MTL_OK;
  }
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < sizeof approximations / sizeof *approximations; i++) {
    replace(kernel, builder, &approximations[i]);
  }
  mtlc_for_each_in_module(kernel->module, mark_division, NULL);
  LLVMDisposeBuilder(builder);
  return MTL_OK;
}
