// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// enter_block.c: makes the kernel of code/ptx_abi.h from @mettle.thread: its
// parameters in the place of mettle.argument, special registers in that of
// mettle.position, shared memory in that of mettle.threadgroup_memory.
//
// Threads of a threadgroup that is cut off take their places by its own sides,
// so that simdgroups hold the same threads as on the cpu device; those of the
// block that are too many end at once.
//
// Requires  lower_threadgroup_memory, lower_simdgroups
// Leaves    mettle_kernel, which calls no function of docs/ir.md
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/ptx_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/enter_block.h"
#include "compiler/ptx/ptx.h"

enum { QUAD_WIDTH = 4 };
_Static_assert(offsetof(mtli_ptx_launch, group_count) == 4 * MTLC_PTX_COUNT,
               "ABI");
_Static_assert(offsetof(mtli_ptx_launch, first_group) == 4 * MTLC_PTX_FIRST,
               "ABI");
_Static_assert(offsetof(mtli_ptx_launch, log) == 4 * MTLC_PTX_LOG, "ABI");
_Static_assert(sizeof(mtli_ptx_launch) == 4 * MTLC_PTX_LOG + 24, "ABI");

LLVMValueRef mtlc_ptx_i32(const mtlc_ptx_entry *e, uint32_t value) {
  return mtlc_i32(e->kernel->context, value);
}

static LLVMValueRef special(const mtlc_ptx_entry *e, const char *name,
                            uint32_t dimension) {
  char full[64];
  snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s.%c", name,
           "xyz"[dimension]);
  return mtlc_call_intrinsic(e->builder, full, NULL, 0, NULL, 0);
}

static bool is_turned(const mtlc_ptx_entry *e) {
  return LLVMGetNamedMetadata(e->kernel->module, MTLC_PTX_TURNED,
                              sizeof MTLC_PTX_TURNED - 1) != NULL;
}

static LLVMValueRef lane(const mtlc_ptx_entry *e) {
  if (is_turned(e)) {
    return LLVMBuildAnd(e->builder, e->at.index,
                        mtlc_ptx_i32(e, MTL_SIMD_WIDTH - 1), "");
  }
  return mtlc_call_intrinsic(e->builder, "llvm.nvvm.read.ptx.sreg.laneid", NULL,
                             0, NULL, 0);
}

static LLVMValueRef times(const mtlc_ptx_entry *e, LLVMValueRef a,
                          LLVMValueRef b) {
  return LLVMBuildMul(e->builder, a, b, "");
}

LLVMValueRef mtlc_ptx_add(const mtlc_ptx_entry *e, LLVMValueRef a,
                          LLVMValueRef b) {
  return LLVMBuildAdd(e->builder, a, b, "");
}

static LLVMValueRef product(const mtlc_ptx_entry *e,
                            const LLVMValueRef sides[3]) {
  return times(e, times(e, sides[0], sides[1]), sides[2]);
}

// Makes the kernel's function with its parameters, around the thread's body.
static void make_function(mtlc_ptx_entry *e) {
  const size_t count = e->kernel->kernel->parameter_count;
  LLVMTypeRef *types = calloc(MTLC_PTX_FIXED + count, sizeof *types);
  LLVMTypeRef global =
      LLVMPointerTypeInContext(e->kernel->context, MTLC_PTX_GLOBAL_SPACE);
  for (size_t i = 0; i < MTLC_PTX_FIXED + count; i++) {
    const bool is_offset =
        i >= MTLC_PTX_FIXED &&
        e->kernel->kernel->parameters[i - MTLC_PTX_FIXED].argument.kind ==
            MTL_ARGUMENT_THREADGROUP_MEMORY &&
        e->kernel->kernel->parameters[i - MTLC_PTX_FIXED].builtin ==
            MTLI_BUILTIN_NONE;
    types[i] = i < MTLC_PTX_LOG ? e->types.i32
               : is_offset      ? e->types.i64
                                : global;
  }
  e->function =
      LLVMAddFunction(e->kernel->module, MTLI_PTX_ENTRY,
                      LLVMFunctionType(e->types.nothing, types,
                                       (unsigned)(MTLC_PTX_FIXED + count), 0));
  free(types);
  mtlc_set_attribute(e->function, "nounwind", 0);
  LLVMSetFunctionCallConv(e->function, 71 /* ptx_kernel */);
  mtlc_move_body(e->kernel->thread, e->function);
  LLVMDeleteFunction(e->kernel->thread);
  e->kernel->thread = e->function;
}

static void declare_shared(mtlc_ptx_entry *e) {
  LLVMValueRef shared = LLVMAddGlobalInAddressSpace(
      e->kernel->module, LLVMArrayType2(e->types.i8, 0), "mettle_shared",
      MTLC_PTX_SHARED_SPACE);
  LLVMSetAlignment(shared, 64);
  e->shared = LLVMConstAddrSpaceCast(shared, e->types.pointer);
}

// Ends the threads of the block that the threadgroup does not have, and gives
// the others positions by its sides. The builder is at the end of a block.
static void place_by_sides(mtlc_ptx_entry *e, LLVMBasicBlockRef body) {
  mtlc_ptx_positions *at = &e->at;
  LLVMContextRef context = e->kernel->context;
  LLVMBasicBlockRef first = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef cut =
      LLVMInsertBasicBlockInContext(context, body, "cut.off");
  LLVMBasicBlockRef inside =
      LLVMInsertBasicBlockInContext(context, body, "inside");
  LLVMBasicBlockRef outside =
      LLVMInsertBasicBlockInContext(context, body, "outside");
  LLVMBasicBlockRef placed =
      LLVMInsertBasicBlockInContext(context, body, "placed");
  LLVMValueRef own[3], is_full = NULL;
  for (unsigned i = 0; i < 3; i++) {
    LLVMValueRef rest =
        LLVMBuildSub(e->builder, LLVMGetParam(e->function, MTLC_PTX_GRID + i),
                     times(e, at->group[i], at->full[i]), "");
    LLVMTypeRef type = e->types.i32;
    LLVMValueRef both[] = {rest, at->full[i]};
    at->sides[i] =
        mtlc_call_intrinsic(e->builder, "llvm.umin", &type, 1, both, 2);
    LLVMValueRef same =
        LLVMBuildICmp(e->builder, LLVMIntEQ, at->sides[i], at->full[i], "");
    is_full = i ? LLVMBuildAnd(e->builder, is_full, same, "") : same;
  }
  LLVMBuildCondBr(e->builder, is_full, placed, cut);
  LLVMPositionBuilderAtEnd(e->builder, cut);
  LLVMValueRef exists = LLVMBuildICmp(e->builder, LLVMIntULT, at->index,
                                      product(e, at->sides), "");
  LLVMBuildCondBr(e->builder, exists, inside, outside);
  LLVMPositionBuilderAtEnd(e->builder, outside);
  LLVMBuildRetVoid(e->builder);
  LLVMPositionBuilderAtEnd(e->builder, inside);
  LLVMValueRef above = LLVMBuildUDiv(e->builder, at->index, at->sides[0], "");
  own[0] = LLVMBuildURem(e->builder, at->index, at->sides[0], "");
  own[1] = LLVMBuildURem(e->builder, above, at->sides[1], "");
  own[2] = LLVMBuildUDiv(e->builder, above, at->sides[1], "");
  LLVMBuildBr(e->builder, placed);
  LLVMPositionBuilderAtEnd(e->builder, placed);
  for (unsigned i = 0; i < 3; i++) {
    LLVMValueRef phi = LLVMBuildPhi(e->builder, e->types.i32, "");
    LLVMValueRef values[] = {at->thread[i], own[i]};
    LLVMBasicBlockRef blocks[] = {first, inside};
    LLVMAddIncoming(phi, values, blocks, 2);
    at->thread[i] = phi;
  }
}

static LLVMValueRef bits(const mtlc_ptx_entry *e, LLVMValueRef value,
                         uint32_t mask) {
  return LLVMBuildAnd(e->builder, value, mtlc_ptx_i32(e, mask), "");
}

// Renumbers threads: lane (h4 h3 h2 h1 h0) runs thread (h4 h1 h3 h2 h0) of its
// simdgroup.
static void turn(mtlc_ptx_entry *e) {
  LLVMBuilderRef b = e->builder;
  mtlc_ptx_positions *at = &e->at;
  LLVMValueRef kept = bits(e, at->index, ~UINT32_C(14));
  LLVMValueRef up =
      LLVMBuildShl(b, bits(e, at->index, 2), mtlc_ptx_i32(e, 2), "");
  LLVMValueRef down =
      LLVMBuildLShr(b, bits(e, at->index, 12), mtlc_ptx_i32(e, 1), "");
  at->index = LLVMBuildOr(b, kept, LLVMBuildOr(b, up, down, ""), "");
  LLVMValueRef above = LLVMBuildUDiv(b, at->index, at->full[0], "");
  at->thread[0] = LLVMBuildURem(b, at->index, at->full[0], "");
  at->thread[1] = LLVMBuildURem(b, above, at->full[1], "");
  at->thread[2] = LLVMBuildUDiv(b, above, at->full[1], "");
}

void mtlc_ptx_go_to_entry(const mtlc_ptx_entry *e) {
  LLVMPositionBuilderBefore(e->builder, LLVMGetBasicBlockTerminator(e->home));
}

static void find_places(mtlc_ptx_entry *e) {
  mtlc_ptx_positions *at = &e->at;
  LLVMBasicBlockRef body = LLVMGetEntryBasicBlock(e->function);
  LLVMBasicBlockRef start =
      LLVMInsertBasicBlockInContext(e->kernel->context, body, "enter");
  LLVMPositionBuilderAtEnd(e->builder, start);
  for (unsigned i = 0; i < 3; i++) {
    at->full[i] = at->sides[i] = special(e, "ntid", i);
    at->thread[i] = special(e, "tid", i);
    at->group[i] = special(e, "ctaid", i);
    if (i > 0) {
      at->group[i] = mtlc_ptx_add(
          e, at->group[i], LLVMGetParam(e->function, MTLC_PTX_FIRST + i - 1));
    }
  }
  LLVMValueRef row =
      mtlc_ptx_add(e, at->thread[1], times(e, at->full[1], at->thread[2]));
  at->index = mtlc_ptx_add(e, at->thread[0], times(e, at->full[0], row));
  if (is_turned(e)) {
    turn(e);
  }
  if (e->kernel->group_class.is_uneven) {
    place_by_sides(e, body);
  }
  LLVMBuildBr(e->builder, body);
  e->home = LLVMGetInsertBlock(e->builder);
  mtlc_ptx_go_to_entry(e);
}

static LLVMValueRef units(const mtlc_ptx_entry *e, const LLVMValueRef sides[3],
                          uint32_t width) {
  return LLVMBuildUDiv(
      e->builder,
      mtlc_ptx_add(e, product(e, sides), mtlc_ptx_i32(e, width - 1)),
      mtlc_ptx_i32(e, width), "");
}

static LLVMValueRef position(const mtlc_ptx_entry *e, mtli_builtin builtin,
                             uint32_t d) {
  const mtlc_ptx_positions *at = &e->at;
  LLVMBuilderRef b = e->builder;
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID:
      return mtlc_ptx_add(e, times(e, at->group[d], at->full[d]),
                          at->thread[d]);
    case MTLI_THREAD_POSITION_IN_THREADGROUP: return at->thread[d];
    case MTLI_THREADGROUP_POSITION_IN_GRID: return at->group[d];
    case MTLI_THREADS_PER_THREADGROUP: return at->sides[d];
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP: return at->full[d];
    case MTLI_THREADS_PER_GRID:
    case MTLI_GRID_SIZE: return LLVMGetParam(e->function, MTLC_PTX_GRID + d);
    case MTLI_THREADGROUPS_PER_GRID:
      return LLVMGetParam(e->function, MTLC_PTX_COUNT + d);
    case MTLI_GRID_ORIGIN: return mtlc_ptx_i32(e, 0);
    case MTLI_THREAD_INDEX_IN_THREADGROUP: return at->index;
    case MTLI_THREAD_INDEX_IN_SIMDGROUP: return lane(e);
    case MTLI_THREAD_INDEX_IN_QUADGROUP:
      return LLVMBuildAnd(b, lane(e), mtlc_ptx_i32(e, QUAD_WIDTH - 1), "");
    case MTLI_SIMDGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(b, at->index, mtlc_ptx_i32(e, MTL_SIMD_WIDTH), "");
    case MTLI_QUADGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(b, at->index, mtlc_ptx_i32(e, QUAD_WIDTH), "");
    case MTLI_SIMDGROUPS_PER_THREADGROUP:
      return units(e, at->sides, MTL_SIMD_WIDTH);
    case MTLI_QUADGROUPS_PER_THREADGROUP:
      return units(e, at->sides, QUAD_WIDTH);
    case MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
      return units(e, at->full, MTL_SIMD_WIDTH);
    case MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP:
      return units(e, at->full, QUAD_WIDTH);
    case MTLI_THREADS_PER_SIMDGROUP: return mtlc_ptx_i32(e, MTL_SIMD_WIDTH);
    case MTLI_THREADGROUPS_AT_ONCE: return mtlc_ptx_i32(e, 1);
    case MTLI_BUILTIN_NONE:
    case MTLI_BUILTIN_COUNT: break;
  }
  return NULL;
}

// Computes each built-in position once, at the entry.
static mtl_status replace_positions(mtlc_ptx_entry *e) {
  LLVMValueRef made[MTLI_BUILTIN_COUNT][3] = {0};
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.position", &calls);
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < calls.count && status == MTL_OK; i++) {
    LLVMValueRef builtin = LLVMGetOperand(calls.items[i], 0);
    LLVMValueRef dimension = LLVMGetOperand(calls.items[i], 1);
    const uint64_t b = LLVMIsAConstantInt(builtin)
                           ? LLVMConstIntGetZExtValue(builtin)
                           : MTLI_BUILTIN_COUNT;
    const uint64_t d =
        LLVMIsAConstantInt(dimension) ? LLVMConstIntGetZExtValue(dimension) : 3;
    if (b == MTLI_BUILTIN_NONE || b >= MTLI_BUILTIN_COUNT || d >= 3) {
      status = mtli_fail(MTL_BAD_DATA,
                         "mettle.position without a built-in input and a "
                         "dimension that are constants");
      break;
    }
    if (!made[b][d]) {
      made[b][d] = position(e, (mtli_builtin)b, (uint32_t)d);
    }
    mtlc_replace(calls.items[i], made[b][d]);
  }
  free(calls.items);
  return status;
}

LLVMValueRef mtlc_ptx_generic(const mtlc_ptx_entry *e, unsigned parameter) {
  return LLVMBuildAddrSpaceCast(
      e->builder, LLVMGetParam(e->function, parameter), e->types.pointer, "");
}

static mtl_status replace_arguments(mtlc_ptx_entry *e) {
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.argument", &calls);
  const mtli_kernel *kernel = e->kernel->kernel;
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < calls.count && status == MTL_OK; i++) {
    LLVMValueRef slot = LLVMGetOperand(calls.items[i], 0);
    const uint64_t n =
        LLVMIsAConstantInt(slot) ? LLVMConstIntGetZExtValue(slot) : UINT64_MAX;
    if (n >= kernel->parameter_count) {
      status = mtli_fail(MTL_BAD_DATA, "mettle.argument of no parameter");
      break;
    }
    const unsigned parameter = (unsigned)(MTLC_PTX_FIXED + n);
    LLVMValueRef value;
    if (kernel->parameters[n].argument.kind ==
        MTL_ARGUMENT_THREADGROUP_MEMORY) {
      LLVMValueRef offset = LLVMGetParam(e->function, parameter);
      value = LLVMBuildGEP2(e->builder, e->types.i8, e->shared, &offset, 1, "");
    } else {
      value = mtlc_ptx_generic(e, parameter);
    }
    mtlc_replace(calls.items[i], value);
  }
  free(calls.items);
  return status;
}

static void replace_threadgroup_memory(mtlc_ptx_entry *e) {
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, MTLC_THREADGROUP_MEMORY_FUNCTION,
                     &calls);
  for (size_t i = 0; i < calls.count; i++) {
    LLVMValueRef offset = LLVMGetOperand(calls.items[i], 0);
    LLVMPositionBuilderBefore(e->builder, calls.items[i]);
    mtlc_replace(calls.items[i], LLVMBuildGEP2(e->builder, e->types.i8,
                                               e->shared, &offset, 1, ""));
  }
  free(calls.items);
}

static void replace_log_memory(mtlc_ptx_entry *e) {
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.log_memory", &calls);
  LLVMValueRef log = calls.count ? mtlc_ptx_generic(e, MTLC_PTX_LOG) : NULL;
  for (size_t i = 0; i < calls.count; i++) {
    mtlc_replace(calls.items[i], log);
  }
  free(calls.items);
}

// States the count of threads that the code must leave registers for.
static void limit_threads(const mtlc_ptx_entry *e) {
  const uint32_t threads = e->kernel->kernel->max_total_threads_per_threadgroup;
  if (threads) {
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    LLVMContextRef context = e->kernel->context;
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(e->function),
                               LLVMMDStringInContext2(context, "maxntidx", 8),
                               LLVMValueAsMetadata(mtlc_ptx_i32(e, threads))};
    LLVMAddNamedMetadataOperand(
        e->kernel->module, "nvvm.annotations",
        LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
  }
}

mtl_status mtlc_ptx_enter_block(mtlc_kernel *kernel) {
  mtlc_ptx_entry e = {.kernel = kernel,
                      .types = mtlc_types_of(kernel->context),
                      .builder = LLVMCreateBuilderInContext(kernel->context)};
  make_function(&e);
  declare_shared(&e);
  find_places(&e);
  mtl_status status = replace_positions(&e);
  if (status == MTL_OK) {
    status = replace_arguments(&e);
  }
  if (status == MTL_OK) {
    replace_log_memory(&e);
    replace_threadgroup_memory(&e);
    // Positions that fault records name are computed at the entry, before any
    // trap.
    status = mtlc_ptx_replace_traps(&e);
    limit_threads(&e);
  }
  // The places of traps are taken from it; PTX has none.
  LLVMStripModuleDebugInfo(kernel->module);
  kernel->facts.depends_on_uneven = true;
  LLVMDisposeBuilder(e.builder);
  return status;
}
