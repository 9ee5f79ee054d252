// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// describe_code.c: emits the table by which the driver finds a kernel's code.
//
// Requires  mettle.group and the sizes that its pass has left in mtlc_kernel
// Leaves    mettle_code of cpu_abi.h
#include <stdbool.h>
#include <stddef.h>

#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/passes/passes.h"

_Static_assert(offsetof(mtli_cpu_code, run_group) == 0, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, begin) == 8, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, finish) == 16, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, kept_bytes) == 24, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, context_bytes) == 32, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, simdgroup_bytes) == 40, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, thread_bytes) == 48, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, sites) == 56, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, groups_at_once) == 64, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_code, groups_apart) == 68, "cpu_abi.h");

static LLVMValueRef function_or_null(const mtlc_kernel *kernel,
                                     const char *name) {
  LLVMValueRef function = LLVMGetNamedFunction(kernel->module, name);
  return function ? function
                  : LLVMConstNull(mtlc_types_of(kernel->context).pointer);
}

static LLVMValueRef sites_or_null(const mtlc_kernel *kernel) {
  LLVMValueRef sites =
      LLVMGetNamedGlobal(kernel->module, MTLC_CHECK_SITES_GLOBAL);
  if (sites) {
    LLVMSetLinkage(sites, LLVMInternalLinkage);
  }
  return sites ? sites : LLVMConstNull(mtlc_types_of(kernel->context).pointer);
}

mtl_status mtlc_describe_code(mtlc_kernel *kernel) {
  LLVMContextRef context = kernel->context;
  LLVMValueRef fields[] = {
      LLVMGetNamedFunction(kernel->module, MTLC_GROUP_FUNCTION),
      function_or_null(kernel, MTLC_BEGIN_FUNCTION),
      function_or_null(kernel, MTLC_FINISH_FUNCTION),
      mtlc_i64(context, kernel->kept_bytes),
      mtlc_i64(context, kernel->context_bytes),
      mtlc_i64(context, kernel->simdgroup_bytes),
      mtlc_i64(context, kernel->thread_bytes),
      sites_or_null(kernel),
      mtlc_i32(context, kernel->groups_at_once),
      mtlc_i32(context, kernel->groups_apart)};
  LLVMValueRef table = LLVMConstStructInContext(
      context, fields, sizeof fields / sizeof fields[0], false);
  LLVMValueRef code =
      LLVMAddGlobal(kernel->module, LLVMTypeOf(table), MTLI_CPU_CODE_SYMBOL);
  LLVMSetInitializer(code, table);
  LLVMSetGlobalConstant(code, true);
  return MTL_OK;
}
