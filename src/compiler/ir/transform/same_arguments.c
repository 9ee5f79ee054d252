// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// same_arguments.c: specialises functions for calls that pass the same value
// twice. A square is a product with half the work, which inlining would have
// found. A product with constants, many of them 0, is inlined instead.
#include "compiler/ir/transform/same_arguments.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"

enum {
  MOST_PARAMETERS = 256,
  MOST_VARIANTS = 2,  // each variant is one more function to compile
};

// For each parameter, the first one with the same value.
typedef struct sameness {
  unsigned leader[MOST_PARAMETERS];
  LLVMValueRef function;
} sameness;

static void inline_call(mtlc_kernel *kernel, LLVMValueRef call) {
  const unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
  LLVMAddCallSiteAttribute(
      call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(kernel->context, kind, 0));
}

// Finds equal arguments. False if they are too few to be worth a function.
static bool find_same(LLVMValueRef call, unsigned count, sameness *out) {
  unsigned same = 0;
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef value = LLVMGetOperand(call, i);
    out->leader[i] = i;
    for (unsigned k = 0; k < i && !LLVMIsConstant(value); ++k) {
      if (LLVMGetOperand(call, k) == value) {
        out->leader[i] = k;
        same++;
        break;
      }
    }
  }
  return same > 0 && same * 4 >= count;
}

// Inlines a call that gives many constants: most of the function may be folded.
static bool inline_folded(mtlc_kernel *kernel, LLVMValueRef call,
                          unsigned count) {
  unsigned constants = 0;
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef value = LLVMGetOperand(call, i);
    constants += LLVMIsConstant(value) && !LLVMIsUndef(value);
  }
  if (constants == 0 || constants * 4 < count) {
    return false;
  }
  inline_call(kernel, call);
  return true;
}

static bool is_alike(const sameness *a, const sameness *b, unsigned count) {
  return memcmp(a->leader, b->leader, count * sizeof *a->leader) == 0;
}

static LLVMValueRef make_function(mtlc_kernel *kernel, LLVMValueRef function,
                                  unsigned count, const sameness *same) {
  LLVMTypeRef types[MOST_PARAMETERS];
  unsigned own = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (same->leader[i] == i) {
      types[own++] = LLVMTypeOf(LLVMGetParam(function, i));
    }
  }
  char name[512];
  snprintf(name, sizeof name, "%s.same", mtlc_name(function));
  LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  LLVMValueRef made = LLVMAddFunction(
      kernel->module, name, LLVMFunctionType(result, types, own, false));
  LLVMSetLinkage(made, LLVMInternalLinkage);
  mtlc_set_attribute(made, "nounwind", 0);
  mtlc_set_attribute(made, "noinline", 0);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  LLVMPositionBuilderAtEnd(
      builder, LLVMAppendBasicBlockInContext(kernel->context, made, ""));
  LLVMValueRef arguments[MOST_PARAMETERS];
  own = 0;
  for (unsigned i = 0; i < count; ++i) {
    arguments[i] = same->leader[i] == i ? LLVMGetParam(made, own++)
                                        : arguments[same->leader[i]];
  }
  LLVMValueRef call = mtlc_call(builder, function, arguments, count);
  inline_call(kernel, call);
  LLVMBuildRet(builder, call);
  LLVMDisposeBuilder(builder);
  return made;
}

static void call_instead(LLVMBuilderRef builder, LLVMValueRef call,
                         unsigned count, const sameness *same) {
  LLVMValueRef arguments[MOST_PARAMETERS];
  unsigned own = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (same->leader[i] == i) {
      arguments[own++] = LLVMGetOperand(call, i);
    }
  }
  LLVMPositionBuilderBefore(builder, call);
  LLVMValueRef made = mtlc_call(builder, same->function, arguments, own);
  LLVMInstructionSetDebugLoc(made, LLVMInstructionGetDebugLoc(call));
  mtlc_replace(call, made);
}

void mtlc_share_arguments(mtlc_kernel *kernel, LLVMValueRef function) {
  const unsigned count = LLVMCountParams(function);
  sameness variants[MOST_VARIANTS];
  unsigned variant_count = 0;
  if (count > MOST_PARAMETERS) {
    return;
  }
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, mtlc_name(function), &calls);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < calls.count; ++i) {
    sameness same;
    if (mtlc_callee(calls.items[i]) != function ||
        inline_folded(kernel, calls.items[i], count) ||
        !find_same(calls.items[i], count, &same)) {
      continue;
    }
    unsigned v = 0;
    while (v < variant_count && !is_alike(&variants[v], &same, count)) {
      ++v;
    }
    if (v == MOST_VARIANTS) {
      continue;
    }
    if (v == variant_count) {
      same.function = make_function(kernel, function, count, &same);
      variants[variant_count++] = same;
    }
    call_instead(builder, calls.items[i], count, &variants[v]);
  }
  LLVMDisposeBuilder(builder);
  free(calls.items);
}
