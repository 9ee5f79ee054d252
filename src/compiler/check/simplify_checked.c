// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_checked.c: brings a thread into SSA form and leaves all else as it
// was written: an access that LLVM drops, moves or joins would be checked in
// the wrong place, or not at all.
//
// Requires  contract_arithmetic
// Leaves    mettle.thread with everything inlined but what calls itself and
//           mettle.texel.*; no calls of mettle.tile.*; where a variable begins
//           without a value, a store of a call of mettle.unset.*
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/check/check.h"
#include "compiler/passes/passes.h"

enum {
  // larger variables stay in memory, where each byte has its state
  LARGEST_MARKED_BYTES = 512,
};

static void mark_inlined(const mtlc_kernel *kernel) {
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    const bool stays = f == kernel->thread || mtlc_has_attribute(f, "noinline") ||
                       mtlc_starts_with(mtlc_name(f), "mettle.texel.");
    if (!LLVMIsDeclaration(f) && !stays) {
      mtlc_set_attribute(f, "alwaysinline", 0);
    }
  }
}

static void collect_starts(LLVMValueRef instruction, void *context) {
  LLVMValueRef callee = mtlc_callee(instruction);
  if (callee &&
      mtlc_starts_with(mtlc_name(callee), "llvm.lifetime.start")) {
    mtlc_values_add(context, instruction);
  }
}

// Returns a marker function for values of a type.
static LLVMValueRef unset_of(mtlc_kernel *kernel, LLVMTypeRef type) {
  char name[64];
  for (unsigned i = 0;; ++i) {
    snprintf(name, sizeof name, MTLC_UNSET_PREFIX "%u", i);
    LLVMValueRef function = LLVMGetNamedFunction(kernel->module, name);
    if (!function) {
      function = LLVMAddFunction(kernel->module, name,
                                 LLVMFunctionType(type, NULL, 0, false));
      mtlc_set_attribute(function, "nounwind", 0);
      return function;
    }
    if (LLVMGetReturnType(LLVMGlobalGetValueType(function)) == type) {
      return function;
    }
  }
}

// Marks variables as unset where they begin; the mark goes wherever the value
// goes.
static void mark_variables(mtlc_kernel *kernel) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(kernel->module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_values starts = {0};
  mtlc_for_each_in_module(kernel->module, collect_starts, &starts);
  for (size_t i = 0; i < starts.count; ++i) {
    LLVMValueRef start = starts.items[i];
    LLVMValueRef variable = LLVMGetOperand(start, 1);
    if (!LLVMIsAAllocaInst(variable)) {
      continue;
    }
    LLVMTypeRef type = LLVMGetAllocatedType(variable);
    if (LLVMABISizeOfType(layout, type) > LARGEST_MARKED_BYTES) {
      continue;
    }
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(start));
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(start));
    LLVMValueRef function = unset_of(kernel, type);
    char name[256];  // a number behind the point makes it unique
    snprintf(name, sizeof name, "%s.", mtlc_name(variable));
    LLVMValueRef value =
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                       NULL, 0, name);
    LLVMBuildStore(builder, value, variable);
    mtlc_set_padding(builder, layout, variable);
  }
  free(starts.items);
  LLVMDisposeBuilder(builder);
}

// --- copies ------------------------------------------------------------------

enum { PART_BYTES = 64 };

static unsigned alignment_of(LLVMValueRef call, LLVMAttributeIndex parameter) {
  LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(
      call, parameter, LLVMGetEnumAttributeKindForName("align", 5));
  return align ? (unsigned)LLVMGetEnumAttributeValue(align) : 1;
}

// Expands a copy of a structure to loads and stores, so that each word carries
// whether it was set.
static void expand_copy(mtlc_kernel *kernel, LLVMBuilderRef builder,
                        LLVMValueRef copy) {
  const mtlc_types types = mtlc_types_of(kernel->context);
  const uint64_t bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(copy, 2));
  const unsigned to_align = alignment_of(copy, 1);
  const unsigned from_align = alignment_of(copy, 2);
  LLVMPositionBuilderBefore(builder, copy);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(copy));
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t left = bytes - at;
    const uint64_t words = (left < PART_BYTES ? left : PART_BYTES) / 4;
    LLVMTypeRef type = words > 1    ? LLVMVectorType(types.i32, (unsigned)words)
                       : words == 1 ? types.i32
                                    : types.i8;
    LLVMValueRef value =
        LLVMBuildLoad2(builder, type,
                       mtlc_offset(builder, LLVMGetOperand(copy, 1), at), "");
    LLVMSetAlignment(value, at ? 1 : from_align);
    LLVMValueRef store = LLVMBuildStore(
        builder, value, mtlc_offset(builder, LLVMGetOperand(copy, 0), at));
    LLVMSetAlignment(store, at ? 1 : to_align);
    at += words ? words * 4 : 1;
  }
  LLVMInstructionEraseFromParent(copy);
}

static void expand_copies(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_values copies = {0};
  mtlc_for_each_instruction(kernel->thread, mtlc_collect_copy, &copies);
  for (size_t i = 0; i < copies.count; ++i) {
    expand_copy(kernel, builder, copies.items[i]);
  }
  free(copies.items);
  LLVMDisposeBuilder(builder);
}

// --- what is read in vain ------------------------------------------------------

// True if nothing reads a variable.
static bool is_unread(LLVMValueRef variable) {
  for (LLVMUseRef use = LLVMGetFirstUse(variable); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    const bool is_written =
        (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable) ||
        (mtlc_is_call_of(user, "llvm.memcpy") &&
         LLVMGetOperand(user, 0) == variable);
    if (!is_written && !mtlc_is_call_of(user, "llvm.lifetime.")) {
      return false;
    }
  }
  return true;
}

// A copy into a variable that nothing reads becomes a load, which LLVM does not
// drop together with the variable.
static void keep_copies(mtlc_kernel *kernel) {
  const mtlc_types types = mtlc_types_of(kernel->context);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_values copies = {0};
  mtlc_for_each_in_module(kernel->module, mtlc_collect_copy, &copies);
  for (size_t i = 0; i < copies.count; ++i) {
    LLVMValueRef copy = copies.items[i];
    LLVMValueRef variable = LLVMGetOperand(copy, 0);
    LLVMValueRef from = LLVMGetOperand(copy, 1);
    if (!LLVMIsAAllocaInst(variable) || !is_unread(variable) ||
        LLVMIsAAllocaInst(mtlc_root_of(from))) {
      continue;
    }
    LLVMPositionBuilderBefore(builder, copy);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(copy));
    const uint64_t bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(copy, 2));
    LLVMValueRef load = LLVMBuildLoad2(
        builder, LLVMVectorType(types.i8, (unsigned)bytes), from, "");
    LLVMSetAlignment(load, alignment_of(copy, 2));
    LLVMInstructionEraseFromParent(copy);
  }
  free(copies.items);
  LLVMDisposeBuilder(builder);
}

static void collect_loads(LLVMValueRef instruction, void *context) {
  if (LLVMIsALoadInst(instruction) && !LLVMGetVolatile(instruction) &&
      !LLVMIsAAllocaInst(mtlc_root_of(LLVMGetOperand(instruction, 0)))) {
    mtlc_values_add(context, instruction);
  }
}

// Drops what is not needed but the loads of a list: the source reads there.
static mtl_status drop_unused(mtlc_kernel *kernel, const mtlc_values *loads) {
  for (size_t i = 0; i < loads->count; ++i) {
    LLVMSetVolatile(loads->items[i], true);
  }
  const mtl_status status = mtlc_run_llvm_passes(kernel, "function(dce)");
  for (size_t i = 0; i < loads->count; ++i) {
    LLVMSetVolatile(loads->items[i], false);
  }
  return status;
}

// Drops what is not needed but loads; leaves those without a use in the list.
static mtl_status find_unused(mtlc_kernel *kernel, mtlc_values *loads) {
  mtlc_for_each_instruction(kernel->thread, collect_loads, loads);
  MTL_TRY(drop_unused(kernel, loads));
  size_t count = 0;
  for (size_t i = 0; i < loads->count; ++i) {
    if (!LLVMGetFirstUse(loads->items[i])) {
      loads->items[count++] = loads->items[i];
    }
  }
  loads->count = count;
  return MTL_OK;
}

// --- components ----------------------------------------------------------------

// Component k of a vector; *out_is_kept: it is the one that was loaded. NULL:
// any value.
static LLVMValueRef component_of(LLVMBuilderRef builder, LLVMValueRef vector,
                                 unsigned k, LLVMValueRef load,
                                 bool *out_is_kept) {
  const unsigned place = k;
  *out_is_kept = false;
  for (;;) {
    if (vector == load) {
      *out_is_kept = k == place;
      break;
    }
    if (LLVMIsAInsertElementInst(vector)) {
      LLVMValueRef index = LLVMGetOperand(vector, 2);
      if (!LLVMIsAConstantInt(index)) {
        break;
      }
      if (LLVMConstIntGetZExtValue(index) == k) {
        return LLVMGetOperand(vector, 1);
      }
      vector = LLVMGetOperand(vector, 0);
      continue;
    }
    if (LLVMIsAShuffleVectorInst(vector)) {
      const int from = LLVMGetMaskValue(vector, k);
      const unsigned count =
          LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(vector, 0)));
      if (from < 0) {
        return NULL;
      }
      vector = LLVMGetOperand(vector, (unsigned)from < count ? 0 : 1);
      k = (unsigned)from % count;
      continue;
    }
    break;
  }
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(vector));
  return LLVMBuildExtractElement(builder, vector, mtlc_i32(context, k), "");
}

// Returns the load, in the same block, whose value a store changes a part of.
static LLVMValueRef load_before(LLVMValueRef store) {
  LLVMValueRef address = LLVMGetOperand(store, 1);
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(store, 0));
  for (LLVMValueRef i = LLVMGetPreviousInstruction(store); i;
       i = LLVMGetPreviousInstruction(i)) {
    if (LLVMIsALoadInst(i) && LLVMGetOperand(i, 0) == address &&
        LLVMTypeOf(i) == type) {
      return i;
    }
    if (LLVMIsAStoreInst(i) ||
        (LLVMIsACallInst(i) && !LLVMIsADbgInfoIntrinsic(i))) {
      return NULL;
    }
  }
  return NULL;
}

// w.xz = ... is written as a change of all of w; threads that change different
// components do not race.
static void narrow_store(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                         LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  LLVMValueRef load = load_before(store);
  if (!load || value == load) {
    return;
  }
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(value));
  const uint64_t bytes = LLVMABISizeOfType(layout, element);
  const unsigned count = LLVMGetVectorSize(LLVMTypeOf(value));
  LLVMValueRef parts[64] = {0};
  bool is_kept[64] = {0}, any = false;
  if (count > 64) {
    return;
  }
  LLVMPositionBuilderBefore(builder, store);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(store));
  for (unsigned k = 0; k < count; ++k) {
    parts[k] = component_of(builder, value, k, load, &is_kept[k]);
    any |= is_kept[k];
  }
  for (unsigned k = 0; any && k < count; ++k) {
    if (parts[k] && !is_kept[k]) {
      LLVMValueRef part = LLVMBuildStore(
          builder, parts[k],
          mtlc_offset(builder, LLVMGetOperand(store, 1), k * bytes));
      LLVMSetAlignment(part, (unsigned)bytes);
    }
  }
  if (any) {
    LLVMInstructionEraseFromParent(store);
  }
}

static void collect_stores(LLVMValueRef instruction, void *context) {
  if (LLVMIsAStoreInst(instruction) && !LLVMGetVolatile(instruction) &&
      LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(instruction, 0))) ==
          LLVMVectorTypeKind) {
    mtlc_values_add(context, instruction);
  }
}

static void narrow_stores(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_values stores = {0};
  mtlc_for_each_instruction(kernel->thread, collect_stores, &stores);
  for (size_t i = 0; i < stores.count; ++i) {
    narrow_store(builder, LLVMGetModuleDataLayout(kernel->module),
                 stores.items[i]);
  }
  free(stores.items);
  LLVMDisposeBuilder(builder);
}

mtl_status mtlc_simplify_checked(mtlc_kernel *kernel) {
  MTL_TRY(mtlc_lower_tiles(kernel));
  if (kernel->checks & MTLI_CHECK_INIT) {
    mark_variables(kernel);
    mtlc_split_padded_copies(kernel);
  }
  keep_copies(kernel);
  mark_inlined(kernel);
  mtlc_split_between_calls(kernel);
  MTL_TRY(mtlc_run_llvm_passes(
      kernel,
      "function(mem2reg,sroa<preserve-cfg>),always-inline,globaldce,"
      "function(sroa<preserve-cfg>,mem2reg)"));
  expand_copies(kernel);
  mtlc_values unused = {0};
  mtl_status status = find_unused(kernel, &unused);
  if (status == MTL_OK) {
    narrow_stores(kernel);
    status = drop_unused(kernel, &unused);
  }
  free(unused.items);
  return status;
}
