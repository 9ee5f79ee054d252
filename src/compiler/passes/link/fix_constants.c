// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fix_constants.c: gives the function constants their values, and folds what
// the compilation's options decide.
//
// Requires  select_kernel, so that only constants that the kernel can reach
//           are asked for
// Leaves    no mettle.constant_defined, no mettle.math_mode, no global without
//           a value, no code that runs before the kernel
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// Makes a constant of any type without pointers from its bytes in memory;
// bytes past size_bytes are zero.
static LLVMValueRef constant_from_bytes(LLVMTargetDataRef layout,
                                        LLVMTypeRef type, const uint8_t *bytes,
                                        size_t size_bytes);

static LLVMValueRef scalar_from_bytes(LLVMTargetDataRef layout,
                                      LLVMTypeRef type, const uint8_t *bytes,
                                      size_t size_bytes) {
  const size_t wanted = LLVMStoreSizeOfType(layout, type);
  uint64_t bits = 0;
  if (wanted <= sizeof bits && wanted <= size_bytes) {
    memcpy(&bits, bytes, wanted);  // little-endian, as all our targets
  }
  LLVMTypeRef integer =
      LLVMIntTypeInContext(LLVMGetTypeContext(type), 8 * (unsigned)wanted);
  if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) {
    return LLVMConstInt(type, bits, false);
  }
  return LLVMConstBitCast(LLVMConstInt(integer, bits, false), type);
}

static LLVMValueRef sequence_from_bytes(LLVMTargetDataRef layout,
                                        LLVMTypeRef type, unsigned count,
                                        const uint8_t *bytes,
                                        size_t size_bytes) {
  LLVMTypeRef element = LLVMGetElementType(type);
  const size_t stride = LLVMABISizeOfType(layout, element);
  LLVMValueRef *parts = calloc(count + 1, sizeof parts[0]);
  for (unsigned i = 0; i < count; ++i) {
    const size_t at = i * stride < size_bytes ? i * stride : size_bytes;
    parts[i] =
        constant_from_bytes(layout, element, bytes + at, size_bytes - at);
  }
  LLVMValueRef result = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                            ? LLVMConstVector(parts, count)
                            : LLVMConstArray2(element, parts, count);
  free(parts);
  return result;
}

static LLVMValueRef struct_from_bytes(LLVMTargetDataRef layout,
                                      LLVMTypeRef type, const uint8_t *bytes,
                                      size_t size_bytes) {
  const unsigned count = LLVMCountStructElementTypes(type);
  LLVMValueRef *parts = calloc(count + 1, sizeof parts[0]);
  for (unsigned i = 0; i < count; ++i) {
    const size_t offset = LLVMOffsetOfElement(layout, type, i);
    const size_t at = offset < size_bytes ? offset : size_bytes;
    parts[i] = constant_from_bytes(layout, LLVMStructGetTypeAtIndex(type, i),
                                   bytes + at, size_bytes - at);
  }
  LLVMValueRef result =
      LLVMGetStructName(type)
          ? LLVMConstNamedStruct(type, parts, count)
          : LLVMConstStructInContext(LLVMGetTypeContext(type), parts, count,
                                     LLVMIsPackedStruct(type));
  free(parts);
  return result;
}

static LLVMValueRef constant_from_bytes(LLVMTargetDataRef layout,
                                        LLVMTypeRef type, const uint8_t *bytes,
                                        size_t size_bytes) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMStructTypeKind:
      return struct_from_bytes(layout, type, bytes, size_bytes);
    case LLVMArrayTypeKind:
      return sequence_from_bytes(
          layout, type, (unsigned)LLVMGetArrayLength2(type), bytes, size_bytes);
    case LLVMVectorTypeKind:
      return sequence_from_bytes(layout, type, LLVMGetVectorSize(type), bytes,
                                 size_bytes);
    default: return scalar_from_bytes(layout, type, bytes, size_bytes);
  }
}

static const mtli_constant *find_constant(const mtlc_kernel *kernel,
                                          const char *symbol,
                                          const mtli_constant_value **value) {
  const mtli_code *library = kernel->library;
  for (size_t i = 0; i < library->constant_count; ++i) {
    if (strcmp(library->constants[i].symbol, symbol) == 0) {
      *value = &kernel->constant_values[i];
      return &library->constants[i];
    }
  }
  return NULL;
}

static mtl_status fold_defined(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.constant_defined", &calls);
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < calls.count; ++i) {
    const char *symbol = mtlc_name(LLVMGetOperand(calls.items[i], 0));
    const mtli_constant_value *value = NULL;
    if (!find_constant(kernel, symbol, &value)) {
      status = mtli_fail(MTL_BAD_DATA,
                         "is_function_constant_defined(%s): no such constant",
                         symbol);
      break;
    }
    mtlc_replace(calls.items[i], LLVMConstInt(LLVMTypeOf(calls.items[i]),
                                              value->is_set, false));
  }
  free(calls.items);
  return status;
}

static mtl_status fix_global(mtlc_kernel *kernel, LLVMTargetDataRef layout,
                             LLVMValueRef global) {
  const mtli_constant_value *value = NULL;
  const mtli_constant *constant =
      find_constant(kernel, mtlc_name(global), &value);
  if (!constant) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "the kernel uses %s, which has no definition",
                     mtlc_name(global));
  }
  if (!value->is_set && constant->info.required) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "kernel %s: function constant %s (index %u) has no value",
                     kernel->kernel->name, constant->info.name,
                     constant->info.index);
  }
  // An unset constant is read only behind a test that it is set.
  const size_t bytes = value->is_set ? sizeof value->bytes : 0;
  LLVMTypeRef type = LLVMGlobalGetValueType(global);
  LLVMSetInitializer(global,
                     constant_from_bytes(layout, type, value->bytes, bytes));
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMInternalLinkage);
  return MTL_OK;
}

static void fold_math_mode(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.math_mode", &calls);
  for (size_t i = 0; i < calls.count; ++i) {
    mtlc_replace(calls.items[i],
                 mtlc_i32(kernel->context, kernel->library->math_mode));
  }
  free(calls.items);
}

// True for `shufflevector <from x T> source, ..., <0, 1, 2>`, with a fourth
// element that is undefined if source has three.
static bool is_resized_triple(LLVMValueRef value, unsigned from) {
  if (!LLVMIsAShuffleVectorInst(value) ||
      LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(value, 0))) != from) {
    return false;
  }
  for (unsigned i = 0; i < 3; ++i) {
    if (LLVMGetMaskValue(value, i) != (int)i) {
      return false;
    }
  }
  return LLVMGetVectorSize(LLVMTypeOf(value)) == 7 - from &&
         (from == 4 || LLVMGetMaskValue(value, 3) == LLVMGetUndefMaskElem());
}

// Clang stores a vector of three as one of four.
static void narrow_store(LLVMBuilderRef builder, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  if (!is_resized_triple(value, 3) || LLVMGetVolatile(store)) {
    return;
  }
  LLVMPositionBuilderBefore(builder, store);
  LLVMValueRef narrow = LLVMBuildStore(builder, LLVMGetOperand(value, 0),
                                       LLVMGetOperand(store, 1));
  LLVMSetAlignment(narrow, LLVMGetAlignment(store));
  LLVMInstructionEraseFromParent(store);
}

// Replaces a load by one of three elements.
static void narrow_load(LLVMBuilderRef builder, LLVMValueRef shuffle) {
  LLVMValueRef load = LLVMGetOperand(shuffle, 0);
  if (!is_resized_triple(shuffle, 4) || !LLVMIsALoadInst(load) ||
      LLVMGetVolatile(load)) {
    return;
  }
  LLVMPositionBuilderBefore(builder, load);
  LLVMValueRef narrow =
      LLVMBuildLoad2(builder, LLVMTypeOf(shuffle), LLVMGetOperand(load, 0), "");
  LLVMSetAlignment(narrow, LLVMGetAlignment(load));
  mtlc_replace(shuffle, narrow);
}

typedef struct wide_triples {
  mtlc_values stores;
  mtlc_values shuffles;
} wide_triples;

static void collect_triple(LLVMValueRef instruction, void *context) {
  wide_triples *found = context;
  if (LLVMIsAStoreInst(instruction)) {
    mtlc_values_add(&found->stores, instruction);
  } else if (LLVMIsAShuffleVectorInst(instruction)) {
    mtlc_values_add(&found->shuffles, instruction);
  }
}

// Makes vectors of three, which clang stores and loads as four elements,
// accesses of three: LLVM's evaluator can store a constant of three elements in
// no other way.
static void narrow_triples(mtlc_kernel *kernel) {
  wide_triples found = {0};
  mtlc_for_each_in_module(kernel->module, collect_triple, &found);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < found.stores.count; ++i) {
    narrow_store(builder, found.stores.items[i]);
  }
  for (size_t i = 0; i < found.shuffles.count; ++i) {
    narrow_load(builder, found.shuffles.items[i]);
  }
  LLVMDisposeBuilder(builder);
  free(found.stores.items);
  free(found.shuffles.items);
}

static bool has_initialisers(const mtlc_kernel *kernel) {
  LLVMValueRef left = LLVMGetNamedGlobal(kernel->module, "llvm.global_ctors");
  LLVMValueRef values = left ? LLVMGetInitializer(left) : NULL;
  return values && LLVMGetArrayLength2(LLVMTypeOf(values)) > 0;
}

// Constants computed from function constants reach us as code to run before
// the kernel. With the values known, LLVM can run it now.
static mtl_status run_initialisers(mtlc_kernel *kernel) {
  const char *list = "llvm.global_ctors";
  if (!LLVMGetNamedGlobal(kernel->module, list)) {
    return MTL_OK;
  }
  narrow_triples(kernel);
  MTL_TRY(mtlc_run_llvm_passes(kernel, "globalopt,globaldce"));
  if (has_initialisers(kernel)) {
    MTL_TRY(mtlc_fold_initialisers(kernel));
  }
  if (has_initialisers(kernel)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "a program-scope constant of the library has a value that "
                     "cannot be computed when the kernel is compiled");
  }
  LLVMValueRef left = LLVMGetNamedGlobal(kernel->module, list);
  if (left) {
    LLVMDeleteGlobal(left);
  }
  return MTL_OK;
}

mtl_status mtlc_fix_constants(mtlc_kernel *kernel) {
  MTL_TRY(fold_defined(kernel));
  fold_math_mode(kernel);
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(kernel->module);
  LLVMValueRef next;
  for (LLVMValueRef global = LLVMGetFirstGlobal(kernel->module); global;
       global = next) {
    next = LLVMGetNextGlobal(global);
    if (!LLVMGetInitializer(global)) {
      if (!LLVMGetFirstUse(global)) {
        LLVMDeleteGlobal(global);
        continue;
      }
      MTL_TRY(fix_global(kernel, layout, global));
    }
  }
  return run_initialisers(kernel);
}
