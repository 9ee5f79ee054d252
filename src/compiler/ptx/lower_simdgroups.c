// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_simdgroups.c: barriers and the simdgroup functions of docs/ir.md as
// shuffles, votes and reductions of a warp.
//
// Each function gets a body for the threads that are active together, whom the
// machine names; a second one, shorter, serves where control flow and the class
// of threadgroups say that all 32 are. Sums and scans take the order of
// docs/ir.md, so that they agree with other targets to the bit:
//
//   reductions  a butterfly; where threads are missing, each takes the value of
//               any active thread of the group beside its own, if there is one
//   scans       a step for each distance; where threads are missing, each
//               gathers what is before it and combines it as the steps would
//
// Requires  mettle.thread in SSA form; group_class
// Leaves    no calls of mettle.simd.* or mettle.barrier.*; depends_on_whole
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ir/transform/simd_functions.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/ptx.h"

enum {
  WIDTH = 32,
  REDUX_CAPABILITY = 80,  // the first with reductions of integers
};

typedef struct lowering {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  mtlc_simd_function function;
  LLVMValueRef body;  // the function being made
  LLVMValueRef mask;  // who is active
  LLVMValueRef lane;
} lowering;

static LLVMValueRef number(const lowering *l, uint32_t value) {
  return mtlc_i32(l->kernel->context, value);
}

static LLVMValueRef call(const lowering *l, const char *name,
                         LLVMValueRef *arguments, size_t count) {
  return mtlc_call_intrinsic(l->builder, name, NULL, 0, arguments, count);
}

// --- shuffles ----------------------------------------------------------------

static LLVMValueRef shuffle_word(const lowering *l, LLVMValueRef word,
                                 LLVMValueRef lane) {
  LLVMValueRef arguments[] = {l->mask, word, lane, number(l, WIDTH - 1)};
  return call(l, "llvm.nvvm.shfl.sync.idx.i32", arguments, 4);
}

static LLVMValueRef shuffle_long(const lowering *l, LLVMValueRef value,
                                 LLVMValueRef lane) {
  LLVMTypeRef pair = LLVMVectorType(l->types.i32, 2);
  LLVMValueRef words = LLVMBuildBitCast(l->builder, value, pair, "");
  LLVMValueRef result = LLVMGetPoison(pair);
  for (uint32_t i = 0; i < 2; i++) {
    LLVMValueRef word =
        LLVMBuildExtractElement(l->builder, words, number(l, i), "");
    result = LLVMBuildInsertElement(l->builder, result,
                                    shuffle_word(l, word, lane), number(l, i),
                                    "");
  }
  return LLVMBuildBitCast(l->builder, result, LLVMTypeOf(value), "");
}

// Returns the value that the thread of a lane, which is active, has.
static LLVMValueRef shuffle(const lowering *l, LLVMValueRef value,
                            LLVMValueRef lane) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (type == l->types.i64) {
    return shuffle_long(l, value, lane);
  }
  if (type == l->types.i32) {
    return shuffle_word(l, value, lane);
  }
  LLVMTypeRef bits = type == l->types.f16 ? l->types.i16 : l->types.i32;
  LLVMValueRef word = LLVMBuildZExt(
      l->builder, LLVMBuildBitCast(l->builder, value, bits, ""), l->types.i32,
      "");
  LLVMValueRef moved = LLVMBuildTrunc(l->builder, shuffle_word(l, word, lane),
                                      bits, "");
  return LLVMBuildBitCast(l->builder, moved, type, "");
}

// --- reductions --------------------------------------------------------------

static LLVMValueRef combine(const lowering *l, LLVMValueRef a,
                            LLVMValueRef b) {
  return mtlc_build_simd_operation(l->builder, &l->function, a, b);
}

// Returns, a bit each, the lanes whose values lane 0 has combined before the
// step of a distance; shifted by a lane's number they are that lane's.
static uint32_t combined_before(uint32_t distance, bool rises) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < WIDTH; i++) {
    const bool is_one = rises ? i < distance : i % (2 * distance) == 0;
    lanes |= is_one ? 1u << i : 0;
  }
  return lanes;
}

// Finds an active thread of the group of lanes that a step combines with this
// one. Sets whether there is any.
static LLVMValueRef find_other(const lowering *l, uint32_t distance, bool rises,
                               LLVMValueRef *out_exists) {
  LLVMBuilderRef b = l->builder;
  const uint32_t kept =
      rises ? (WIDTH - 1) & ~(distance - 1) : 2 * distance - 1;
  LLVMValueRef base = LLVMBuildAnd(
      b, LLVMBuildXor(b, l->lane, number(l, distance), ""), number(l, kept),
      "");
  LLVMValueRef others = LLVMBuildAnd(
      b, l->mask,
      LLVMBuildShl(b, number(l, combined_before(distance, rises)), base, ""),
      "");
  *out_exists = LLVMBuildICmp(b, LLVMIntNE, others, number(l, 0), "");
  LLVMTypeRef type = l->types.i32;
  LLVMValueRef arguments[] = {
      others, LLVMConstInt(l->types.i1, 0, false)};
  LLVMValueRef first =
      mtlc_call_intrinsic(b, "llvm.cttz", &type, 1, arguments, 2);
  return LLVMBuildSelect(b, *out_exists, first, l->lane, "");
}

static LLVMValueRef reduce(const lowering *l, LLVMValueRef value, bool is_all) {
  const bool rises = mtlc_simd_starts_with_neighbours(&l->function);
  for (uint32_t i = 0; i < 5; i++) {
    const uint32_t distance = rises ? 1u << i : 16u >> i;
    LLVMValueRef exists = NULL;
    LLVMValueRef lane =
        is_all ? LLVMBuildXor(l->builder, l->lane, number(l, distance), "")
               : find_other(l, distance, rises, &exists);
    LLVMValueRef sum = combine(l, value, shuffle(l, value, lane));
    value = is_all ? sum : LLVMBuildSelect(l->builder, exists, sum, value, "");
  }
  return value;
}

// Returns the machine's own reduction, or NULL: integers of 32 bits, whose
// order does not matter.
static LLVMValueRef reduce_at_once(const lowering *l, LLVMValueRef value) {
  static const char *const names[] = {"add", NULL, "min", "max",
                                      "and", "or", "xor"};
  const char *name = names[l->function.operation];
  if (!name || l->function.type != l->types.i32 ||
      mtlc_ptx_capability(l->kernel->target) < REDUX_CAPABILITY) {
    return NULL;
  }
  const bool is_extreme = l->function.operation == MTLC_SIMD_MIN ||
                          l->function.operation == MTLC_SIMD_MAX;
  char full[48];
  snprintf(full, sizeof full, "llvm.nvvm.redux.sync.%s%s",
           is_extreme && l->function.is_unsigned ? "u" : "", name);
  LLVMValueRef arguments[] = {value, l->mask};
  return call(l, full, arguments, 2);
}

// --- scans -------------------------------------------------------------------

static LLVMValueRef is_at_least(const lowering *l, uint32_t lane) {
  return LLVMBuildICmp(l->builder, LLVMIntUGE, l->lane, number(l, lane), "");
}

// Returns the value of the thread that is `distance` lanes lower; `other` if
// there is no such lane. All threads are active.
static LLVMValueRef from_before(const lowering *l, LLVMValueRef value,
                                uint32_t distance, LLVMValueRef other) {
  LLVMValueRef lane =
      LLVMBuildSub(l->builder, l->lane, number(l, distance), "");
  return LLVMBuildSelect(l->builder, is_at_least(l, distance),
                         shuffle(l, value, lane), other, "");
}

static LLVMValueRef scan_all(const lowering *l, LLVMValueRef value) {
  if (l->function.kind == MTLC_SIMD_SCAN_EXCLUSIVE) {
    value = from_before(l, value, 1, mtlc_simd_start(&l->function));
  }
  for (uint32_t distance = 1; distance < WIDTH; distance *= 2) {
    LLVMValueRef lane =
        LLVMBuildSub(l->builder, l->lane, number(l, distance), "");
    LLVMValueRef sum = combine(l, shuffle(l, value, lane), value);
    value = LLVMBuildSelect(l->builder, is_at_least(l, distance), sum, value,
                            "");
  }
  return value;
}

// Returns the value of the thread that is `distance` lanes lower; the
// operation's identity if that thread is inactive or missing.
static LLVMValueRef gather(const lowering *l, LLVMValueRef value,
                           uint32_t distance) {
  LLVMBuilderRef b = l->builder;
  LLVMValueRef lane = LLVMBuildSub(b, l->lane, number(l, distance), "");
  LLVMValueRef bit = LLVMBuildAnd(
      b, LLVMBuildLShr(b, l->mask, LLVMBuildAnd(b, lane, number(l, 31), ""), ""),
      number(l, 1), "");
  LLVMValueRef is_active =
      LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, bit, number(l, 0), ""),
                   is_at_least(l, distance), "");
  LLVMValueRef source = LLVMBuildSelect(b, is_active, lane, l->lane, "");
  return LLVMBuildSelect(b, is_active, shuffle(l, value, source),
                         mtlc_simd_identity(&l->function), "");
}

// An exclusive scan's values are those of the thread before; thread 0 starts
// it.
static LLVMValueRef scan_some(const lowering *l, LLVMValueRef value) {
  const bool is_exclusive = l->function.kind == MTLC_SIMD_SCAN_EXCLUSIVE;
  LLVMValueRef values[WIDTH];
  for (uint32_t i = 0; i < WIDTH; i++) {
    values[i] = is_exclusive && i == WIDTH - 1
                    ? mtlc_simd_identity(&l->function)
                    : gather(l, value, is_exclusive ? i + 1 : i);
    if (is_exclusive) {
      LLVMValueRef starts =
          LLVMBuildICmp(l->builder, LLVMIntEQ, l->lane, number(l, i), "");
      values[i] = LLVMBuildSelect(l->builder, starts,
                                  mtlc_simd_start(&l->function), values[i], "");
    }
  }
  for (uint32_t count = WIDTH / 2; count > 0; count /= 2) {
    for (uint32_t i = 0; i < count; i++) {
      values[i] = combine(l, values[2 * i + 1], values[2 * i]);
    }
  }
  return values[0];
}

// --- bodies ------------------------------------------------------------------

static LLVMValueRef build_result(const lowering *l, LLVMValueRef value,
                                 bool is_all) {
  return l->function.kind == MTLC_SIMD_REDUCE ? reduce(l, value, is_all)
         : is_all                             ? scan_all(l, value)
                                              : scan_some(l, value);
}

// Builds both bodies and a run-time test whether all threads are active.
static void build_both(lowering *l, LLVMValueRef value) {
  LLVMContextRef context = l->kernel->context;
  LLVMBasicBlockRef all = LLVMAppendBasicBlockInContext(context, l->body, "");
  LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(context, l->body, "");
  LLVMValueRef mask = l->mask;
  LLVMValueRef is_all = LLVMBuildICmp(l->builder, LLVMIntEQ, mask,
                                      number(l, UINT32_MAX), "");
  LLVMBuildCondBr(l->builder, is_all, all, some);
  LLVMPositionBuilderAtEnd(l->builder, all);
  l->mask = number(l, UINT32_MAX);
  LLVMBuildRet(l->builder, build_result(l, value, true));
  LLVMPositionBuilderAtEnd(l->builder, some);
  l->mask = mask;
  LLVMBuildRet(l->builder, build_result(l, value, false));
}

static void build_combination(lowering *l, bool is_all) {
  LLVMValueRef value = LLVMGetParam(l->body, 0);
  LLVMValueRef at_once =
      l->function.kind == MTLC_SIMD_REDUCE ? reduce_at_once(l, value) : NULL;
  if (at_once) {
    LLVMBuildRet(l->builder, at_once);
  } else if (is_all) {
    LLVMBuildRet(l->builder, build_result(l, value, true));
  } else {
    build_both(l, value);
  }
}

static void build_body(lowering *l, bool is_all) {
  LLVMContextRef context = l->kernel->context;
  LLVMPositionBuilderAtEnd(
      l->builder, LLVMAppendBasicBlockInContext(context, l->body, ""));
  l->mask = is_all ? number(l, UINT32_MAX)
                   : call(l, "llvm.nvvm.activemask", NULL, 0);
  l->lane = call(l, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0);
  switch (l->function.kind) {
    case MTLC_SIMD_BARRIER:
      call(l, "llvm.nvvm.bar.warp.sync", &l->mask, 1);
      LLVMBuildRetVoid(l->builder);
      return;
    case MTLC_SIMD_SHUFFLE:
      LLVMBuildRet(l->builder, shuffle(l, LLVMGetParam(l->body, 0),
                                       LLVMGetParam(l->body, 1)));
      return;
    case MTLC_SIMD_BALLOT: {
      LLVMValueRef arguments[] = {l->mask, LLVMGetParam(l->body, 0)};
      LLVMBuildRet(l->builder,
                   call(l, "llvm.nvvm.vote.ballot.sync", arguments, 2));
      return;
    }
    case MTLC_SIMD_REDUCE:
    case MTLC_SIMD_SCAN_INCLUSIVE:
    case MTLC_SIMD_SCAN_EXCLUSIVE: build_combination(l, is_all); return;
  }
}

static void hide(LLVMValueRef function) {
  LLVMSetLinkage(function, LLVMInternalLinkage);
  mtlc_set_attribute(function, "alwaysinline", 0);
  mtlc_set_attribute(function, "convergent", 0);
  // The declaration's attribute does not hold for the body.
  mtlc_remove_attribute(function, "memory");
}

// Returns the version for 32 active threads, beside the general one.
static LLVMValueRef all_of(lowering *l, LLVMValueRef function) {
  char name[96];
  snprintf(name, sizeof name, "%s.all", mtlc_name(function));
  LLVMValueRef made = LLVMGetNamedFunction(l->kernel->module, name);
  if (!made) {
    made = LLVMAddFunction(l->kernel->module, name,
                           LLVMGlobalGetValueType(function));
    l->body = made;
    build_body(l, true);
    hide(made);
  }
  return made;
}

// --- who calls ---------------------------------------------------------------

static void redirect(lowering *l, LLVMValueRef function, const mtlc_ptx_flow *f) {
  mtlc_values calls = {0};
  mtlc_collect_calls(l->kernel->module, mtlc_name(function), &calls);
  for (size_t i = 0; i < calls.count; i++) {
    const bool is_other = mtlc_callee(calls.items[i]) != function;
    if (!is_other && mtlc_ptx_is_for_all(f, calls.items[i])) {
      LLVMSetOperand(calls.items[i],
                     (unsigned)LLVMGetNumOperands(calls.items[i]) - 1,
                     all_of(l, function));
    }
  }
  free(calls.items);
}

static mtl_status lower_function(lowering *l, LLVMValueRef function,
                                 const mtlc_ptx_flow *f) {
  const char *name = mtlc_name(function);
  if (strcmp(name, "mettle.barrier.threadgroup") == 0) {
    l->body = function;
    LLVMPositionBuilderAtEnd(
        l->builder,
        LLVMAppendBasicBlockInContext(l->kernel->context, function, ""));
    call(l, "llvm.nvvm.barrier0", NULL, 0);
    LLVMBuildRetVoid(l->builder);
    hide(function);
    return MTL_OK;
  }
  MTL_TRY(mtlc_simd_function_of(l->kernel->context, name, &l->function));
  l->function.starts_with_neighbours =
      l->kernel->library->math_mode != MTL_MATH_FAST;
  l->kernel->facts.depends_on_whole = true;
  redirect(l, function, f);
  l->body = function;
  build_body(l, false);
  hide(function);
  return MTL_OK;
}

mtl_status mtlc_ptx_lower_simdgroups(mtlc_kernel *kernel) {
  if (!mtlc_is_convergent(kernel->module)) {
    return MTL_OK;
  }
  mtlc_ptx_flow f;
  mtlc_ptx_find_flow(kernel, &f);
  lowering l = {.kernel = kernel,
                .types = mtlc_types_of(kernel->context),
                .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_values functions = {0};
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    const char *name = mtlc_name(function);
    if (LLVMIsDeclaration(function) && (mtlc_starts_with(name, "mettle.simd.") ||
                                        mtlc_starts_with(name, "mettle.barrier."))) {
      mtlc_values_add(&functions, function);
    }
  }
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < functions.count && status == MTL_OK; i++) {
    status = lower_function(&l, functions.items[i], &f);
  }
  free(functions.items);
  LLVMDisposeBuilder(l.builder);
  mtli_arena_clear(&f.arena);
  return status == MTL_OK ? mtlc_run_llvm_passes(kernel,
                                                 "always-inline,globaldce")
                          : status;
}
