// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screening.c: conditions that a screened thread must meet, and the facts of
// the dispatch and of its threadgroup that they compare with.
#include "compiler/check/screen/screening.h"

#include <llvm-c/DebugInfo.h>

_Static_assert(offsetof(mtli_check, views) == 120, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_memory) == 128, "check_abi.h");
_Static_assert(offsetof(mtli_check, stamp) == 164, "check_abi.h");
_Static_assert(offsetof(mtli_check, group_stamp) == 168, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_writes) == 176, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_reads_again) == 200,
               "check_abi.h");

bool mtlc_screen_wants(const mtlc_screening *s, unsigned checks) {
  return (s->kernel->checks & checks) != 0;
}

void mtlc_screen_refuse(mtlc_screening *s, const char *why) {
  if (s->status == MTL_OK) {
    s->status = mtli_fail(MTL_UNSUPPORTED, "not screened: %s", why);
  }
}

LLVMValueRef mtlc_screen_i64(const mtlc_screening *s, uint64_t value) {
  return mtlc_i64(s->kernel->context, value);
}

LLVMValueRef mtlc_screen_i32(const mtlc_screening *s, uint32_t value) {
  return mtlc_i32(s->kernel->context, value);
}

void mtlc_screen_go_before(mtlc_screening *s, LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(s->builder, instruction);
  LLVMSetCurrentDebugLocation2(s->builder,
                               LLVMInstructionGetDebugLoc(instruction));
}

// --- conditions -------------------------------------------------------------

void mtlc_screen_must(mtlc_screening *s, LLVMValueRef holds) {
  if (!LLVMIsAConstantInt(holds) || LLVMIsNull(holds)) {
    LLVMValueRef function =
        LLVMGetNamedFunction(s->kernel->module, "mettle.check.must");
    mtlc_call(s->builder, function, &holds, 1);
  }
}

void mtlc_screen_must_later(mtlc_screening *s, LLVMValueRef holds) {
  s->pending =
      s->pending ? LLVMBuildAnd(s->builder, s->pending, holds, "") : holds;
}

void mtlc_screen_flush(mtlc_screening *s) {
  if (s->pending) {
    mtlc_screen_must(s, s->pending);
  }
  s->pending = NULL;
}

void mtlc_screen_must_be_set(mtlc_screening *s, LLVMValueRef value) {
  if (s->shadows && !mtlc_is_set(s->shadows, value) &&
      mtlc_has_shadow(LLVMTypeOf(value))) {
    mtlc_screen_must_later(
        s, LLVMBuildNot(s->builder, mtlc_any_unset(s->shadows, value), ""));
  }
}

// --- facts ------------------------------------------------------------------

// LLVM's encoding of the attribute memory(none).
enum { NO_MEMORY = 0 };

LLVMValueRef mtlc_screen_declare(mtlc_screening *s, const char *name,
                                 LLVMTypeRef result, LLVMTypeRef *parameters,
                                 unsigned count) {
  return mtlc_declare(s->kernel->module, name,
                      LLVMFunctionType(result, parameters, count, false));
}

LLVMValueRef mtlc_screen_declare_pure(mtlc_screening *s, const char *name,
                                      LLVMTypeRef result,
                                      LLVMTypeRef *parameters, unsigned count) {
  LLVMValueRef function =
      mtlc_screen_declare(s, name, result, parameters, count);
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "willreturn", 0);
  mtlc_set_attribute(function, "memory", NO_MEMORY);
  return function;
}

static LLVMValueRef position(mtlc_screening *s, mtli_builtin builtin,
                             uint32_t dimension) {
  LLVMTypeRef types[] = {s->types.i32, s->types.i32};
  LLVMValueRef arguments[] = {mtlc_screen_i32(s, builtin),
                              mtlc_screen_i32(s, dimension)};
  return mtlc_call(
      s->builder,
      mtlc_screen_declare_pure(s, "mettle.position", s->types.i32, types, 2),
      arguments, 2);
}

// Returns a builtin's product over the three dimensions.
static LLVMValueRef product(mtlc_screening *s, mtli_builtin builtin) {
  LLVMValueRef all = position(s, builtin, 0);
  for (uint32_t i = 1; i < 3; ++i) {
    all = LLVMBuildMul(s->builder, all, position(s, builtin, i), "");
  }
  return all;
}

LLVMValueRef mtlc_screen_load(mtlc_screening *s, LLVMTypeRef type,
                              LLVMValueRef base, uint64_t offset,
                              bool is_fixed) {
  LLVMValueRef value = LLVMBuildLoad2(
      s->builder, type, mtlc_offset(s->builder, base, offset), "");
  if (is_fixed) {
    mtlc_mark_invariant(value);
  }
  return value;
}

// Returns the thread's number in the grid, counted threadgroup by threadgroup.
static LLVMValueRef place(mtlc_screening *s) {
  LLVMValueRef group = position(s, MTLI_THREADGROUP_POSITION_IN_GRID, 2);
  for (uint32_t i = 2; i-- > 0;) {
    group = LLVMBuildMul(s->builder, group,
                         position(s, MTLI_THREADGROUPS_PER_GRID, i), "");
    group = LLVMBuildAdd(s->builder, group,
                         position(s, MTLI_THREADGROUP_POSITION_IN_GRID, i), "");
  }
  LLVMValueRef first = LLVMBuildMul(
      s->builder, group, product(s, MTLI_DISPATCH_THREADS_PER_THREADGROUP), "");
  return LLVMBuildAdd(s->builder, first, s->thread, "");
}

bool mtlc_screen_has_stamps(const mtlc_screening *s) {
  return mtlc_screen_wants(s, MTLI_CHECK_RACES | MTLI_CHECK_INIT);
}

bool mtlc_screen_has_barriers(const mtlc_screening *s) {
  return mtlc_screen_has_stamps(s) || mtlc_screen_wants(s, MTLI_CHECK_SYNC);
}

static void load_group(mtlc_screening *s) {
  static const size_t arrays[] = {
      offsetof(mtli_check, threadgroup_writes),
      offsetof(mtli_check, threadgroup_reads),
      offsetof(mtli_check, threadgroup_writes_again),
      offsetof(mtli_check, threadgroup_reads_again)};
  for (int i = 0; i < 4; ++i) {
    s->group_arrays[i] =
        mtlc_screen_load(s, s->types.pointer, s->check, arrays[i], true);
  }
  s->memory = mtlc_screen_load(s, s->types.i64, s->check,
                               offsetof(mtli_check, threadgroup_memory), true);
}

static LLVMValueRef variable(mtlc_screening *s, LLVMValueRef value) {
  LLVMValueRef at = LLVMBuildAlloca(s->builder, s->types.i32, "");
  LLVMBuildStore(s->builder, value, at);
  return at;
}

void mtlc_screen_load_all(mtlc_screening *s) {
  mtlc_position_at_entry(s->builder, s->kernel->thread);
  s->check = mtlc_call(s->builder,
                       mtlc_screen_declare_pure(s, "mettle.check.context",
                                                s->types.pointer, NULL, 0),
                       NULL, 0);
  s->views = mtlc_screen_load(s, s->types.pointer, s->check,
                              offsetof(mtli_check, views), true);
  s->thread = position(s, MTLI_THREAD_INDEX_IN_THREADGROUP, 0);
  if (mtlc_screen_has_stamps(s)) {
    s->stamp = mtlc_screen_load(s, s->types.i32, s->check,
                                offsetof(mtli_check, stamp), true);
    s->own = LLVMBuildAdd(s->builder, s->stamp, place(s), "");
    load_group(s);
  }
  if (!mtlc_screen_has_barriers(s)) {
    return;
  }
  s->group_threads = product(s, MTLI_THREADS_PER_THREADGROUP);
  s->group_stamp = mtlc_screen_load(s, s->types.i32, s->check,
                                    offsetof(mtli_check, group_stamp), false);
  s->epoch = variable(s, s->group_stamp);
  s->passed = variable(s, s->group_stamp);
}
