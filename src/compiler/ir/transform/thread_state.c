// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread_state.c: lowers a thread's inputs to loads from the structures of
// cpu_abi.h and arithmetic on its position.
#include "compiler/ir/transform/thread_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"

_Static_assert(offsetof(mtli_cpu_launch, grid_threads) == 8, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, group_threads) == 20, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, group_count) == 32, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, threadgroup_bytes) == 44, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, log) == 48, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, argument_bytes) == 56, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, will_finish) == 64, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, turn) == 68, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_launch, check) == 72, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_position, reserved) == 16, "cpu_abi.h");
_Static_assert(sizeof(mtli_cpu_position) == 64, "cpu_abi.h");
_Static_assert(offsetof(mtli_cpu_group, threads) == 36, "cpu_abi.h");

enum { SIMD_WIDTH = 32, QUAD_WIDTH = 4 };

typedef struct binder {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef body;
  mtl_status status;
} binder;

static LLVMValueRef body_parameter(const binder *b, mtlc_body_parameter which) {
  return LLVMGetParam(b->body, which);
}

static LLVMValueRef load(const binder *b, LLVMTypeRef type,
                         mtlc_body_parameter base, size_t offset) {
  LLVMValueRef at =
      mtlc_offset(b->builder, body_parameter(b, base), (uint64_t)offset);
  return LLVMBuildLoad2(b->builder, type, at, "");
}

// Loads from the launch, which nothing writes while it runs.
static LLVMValueRef load_launch(const binder *b, LLVMTypeRef type,
                                LLVMValueRef at) {
  LLVMValueRef value = LLVMBuildLoad2(b->builder, type, at, "");
  mtlc_mark_invariant(value);
  return value;
}

static LLVMValueRef launch_u32(const binder *b, size_t offset,
                               uint32_t dimension) {
  LLVMValueRef at = mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_LAUNCH),
                                offset + 4 * dimension);
  return load_launch(b, b->types.i32, at);
}

static LLVMValueRef group_u32(const binder *b, size_t offset,
                              uint32_t dimension) {
  return load(b, b->types.i32, MTLC_BODY_GROUP, offset + 4 * dimension);
}

static LLVMValueRef u32(const binder *b, uint32_t value) {
  return mtlc_i32(b->kernel->context, value);
}

// Returns the number of units of width that hold count threads.
static LLVMValueRef units(const binder *b, LLVMValueRef count, uint32_t width) {
  LLVMValueRef up = LLVMBuildAdd(b->builder, count, u32(b, width - 1), "");
  return LLVMBuildUDiv(b->builder, up, u32(b, width), "");
}

static LLVMValueRef full_group_threads(const binder *b) {
  const size_t offset = offsetof(mtli_cpu_launch, group_threads);
  LLVMValueRef plane = LLVMBuildMul(b->builder, launch_u32(b, offset, 0),
                                    launch_u32(b, offset, 1), "");
  return LLVMBuildMul(b->builder, plane, launch_u32(b, offset, 2), "");
}

static LLVMValueRef position_in_grid(const binder *b, uint32_t dimension) {
  LLVMValueRef origin = group_u32(b, offsetof(mtli_cpu_group, origin), dimension);
  return LLVMBuildAdd(b->builder, origin,
                      body_parameter(b, MTLC_BODY_X + dimension), "");
}

// Returns the value of one component of a built-in input; the MSL
// specification's section on attributes for kernel function input arguments
// defines each.
static LLVMValueRef position_value(const binder *b, mtli_builtin builtin,
                                   uint32_t dimension) {
  LLVMValueRef index = body_parameter(b, MTLC_BODY_INDEX);
  LLVMBuilderRef builder = b->builder;
  const size_t launch_grid = offsetof(mtli_cpu_launch, grid_threads);
  const size_t launch_group = offsetof(mtli_cpu_launch, group_threads);
  const size_t launch_count = offsetof(mtli_cpu_launch, group_count);
  const size_t group_threads = offsetof(mtli_cpu_group, threads);
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID: return position_in_grid(b, dimension);
    case MTLI_THREAD_POSITION_IN_THREADGROUP:
      return body_parameter(b, MTLC_BODY_X + dimension);
    case MTLI_THREADGROUP_POSITION_IN_GRID:
      return group_u32(b, offsetof(mtli_cpu_group, position), dimension);
    case MTLI_THREADS_PER_THREADGROUP:
      return group_u32(b, offsetof(mtli_cpu_group, size), dimension);
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
      return launch_u32(b, launch_group, dimension);
    case MTLI_THREADS_PER_GRID:
    case MTLI_GRID_SIZE: return launch_u32(b, launch_grid, dimension);
    case MTLI_THREADGROUPS_PER_GRID:
      return launch_u32(b, launch_count, dimension);
    case MTLI_GRID_ORIGIN: return u32(b, 0);
    case MTLI_THREAD_INDEX_IN_THREADGROUP: return index;
    case MTLI_THREAD_INDEX_IN_SIMDGROUP:
      return LLVMBuildAnd(builder, index, u32(b, SIMD_WIDTH - 1), "");
    case MTLI_THREAD_INDEX_IN_QUADGROUP:
      return LLVMBuildAnd(builder, index, u32(b, QUAD_WIDTH - 1), "");
    case MTLI_SIMDGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(builder, index, u32(b, SIMD_WIDTH), "");
    case MTLI_QUADGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(builder, index, u32(b, QUAD_WIDTH), "");
    case MTLI_SIMDGROUPS_PER_THREADGROUP:
      return units(b, group_u32(b, group_threads, 0), SIMD_WIDTH);
    case MTLI_QUADGROUPS_PER_THREADGROUP:
      return units(b, group_u32(b, group_threads, 0), QUAD_WIDTH);
    case MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
      return units(b, full_group_threads(b), SIMD_WIDTH);
    case MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP:
      return units(b, full_group_threads(b), QUAD_WIDTH);
    case MTLI_THREADS_PER_SIMDGROUP: return u32(b, SIMD_WIDTH);
    case MTLI_THREADGROUPS_AT_ONCE: return u32(b, 1);
    case MTLI_BUILTIN_NONE:
    case MTLI_BUILTIN_COUNT: break;
  }
  return NULL;
}

static bool constant_operand(LLVMValueRef call, unsigned index,
                             uint64_t *out_value) {
  LLVMValueRef operand = LLVMGetOperand(call, index);
  if (!LLVMIsAConstantInt(operand)) {
    return false;
  }
  *out_value = LLVMConstIntGetZExtValue(operand);
  return true;
}

static mtl_status bind_position(binder *b, LLVMValueRef call) {
  uint64_t builtin;
  uint64_t dimension;
  LLVMValueRef value = NULL;
  if (constant_operand(call, 0, &builtin) &&
      constant_operand(call, 1, &dimension) && dimension < 3) {
    value = position_value(b, (mtli_builtin)builtin, (uint32_t)dimension);
  }
  if (!value) {
    return mtli_fail(MTL_BAD_DATA,
                     "mettle.position without a built-in input "
                     "and a dimension that are constants");
  }
  mtlc_replace(call, value);
  return MTL_OK;
}

static LLVMValueRef threadgroup_memory(const binder *b) {
  return mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_SCRATCH),
                     sizeof(mtli_cpu_position));
}

static mtl_status bind_argument(binder *b, LLVMValueRef call) {
  uint64_t slot;
  const mtli_kernel *kernel = b->kernel->kernel;
  if (!constant_operand(call, 0, &slot) || slot >= kernel->parameter_count) {
    return mtli_fail(MTL_BAD_DATA, "mettle.argument of no parameter");
  }
  LLVMValueRef table =
      load_launch(b, b->types.pointer, body_parameter(b, MTLC_BODY_LAUNCH));
  LLVMValueRef at = mtlc_offset(b->builder, table, slot * sizeof(void *));
  const mtl_argument_kind kind = kernel->parameters[slot].argument.kind;
  if (kind != MTL_ARGUMENT_THREADGROUP_MEMORY) {
    mtlc_replace(call, load_launch(b, b->types.pointer, at));
    return MTL_OK;
  }
  LLVMValueRef offset = load_launch(b, b->types.i64, at);
  mtlc_replace(call, LLVMBuildGEP2(b->builder, b->types.i8,
                                   threadgroup_memory(b), &offset, 1, ""));
  return MTL_OK;
}

static mtl_status bind_threadgroup_memory(binder *b, LLVMValueRef call) {
  LLVMValueRef offset = LLVMGetOperand(call, 0);
  mtlc_replace(call, LLVMBuildGEP2(b->builder, b->types.i8,
                                   threadgroup_memory(b), &offset, 1, ""));
  return MTL_OK;
}

static mtl_status bind_log_memory(binder *b, LLVMValueRef call) {
  LLVMValueRef at = mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_LAUNCH),
                                offsetof(mtli_cpu_launch, log));
  mtlc_replace(call, load_launch(b, b->types.pointer, at));
  return MTL_OK;
}

static mtl_status bind_check(binder *b, LLVMValueRef call) {
  LLVMValueRef at = mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_LAUNCH),
                                offsetof(mtli_cpu_launch, check));
  mtlc_replace(call, load_launch(b, b->types.pointer, at));
  return MTL_OK;
}

// Notes why, then stops the worker; the driver catches the signal and reads
// the note (cpu_abi.h).
static mtl_status bind_trap(binder *b, LLVMValueRef call) {
  LLVMValueRef reason =
      LLVMBuildAdd(b->builder, LLVMGetOperand(call, 0), u32(b, 1), "");
  LLVMValueRef thread_at =
      mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_SCRATCH),
                  offsetof(mtli_cpu_position, thread_in_group));
  LLVMSetVolatile(
      LLVMBuildStore(b->builder, body_parameter(b, MTLC_BODY_INDEX), thread_at),
      true);
  LLVMValueRef fault_at =
      mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_SCRATCH),
                  offsetof(mtli_cpu_position, reserved));
  LLVMSetVolatile(LLVMBuildStore(b->builder, reason, fault_at), true);
  LLVMValueRef text_at =
      mtlc_offset(b->builder, body_parameter(b, MTLC_BODY_SCRATCH),
                  MTLI_CPU_TRAP_TEXT_OFFSET);
  LLVMSetVolatile(LLVMBuildStore(b->builder, LLVMGetOperand(call, 1), text_at),
                  true);
  mtlc_call_intrinsic(b->builder, "llvm.trap", NULL, 0, NULL, 0);
  LLVMInstructionEraseFromParent(call);
  return MTL_OK;
}

typedef mtl_status bind_call(binder *b, LLVMValueRef call);

static void bind_all(binder *b, const char *name, bind_call *bind) {
  mtlc_values calls = {0};
  mtlc_collect_calls(b->kernel->module, name, &calls);
  for (size_t i = 0; i < calls.count && b->status == MTL_OK; ++i) {
    LLVMPositionBuilderBefore(b->builder, calls.items[i]);
    b->status = bind(b, calls.items[i]);
  }
  free(calls.items);
}

mtl_status mtlc_bind_thread(mtlc_kernel *kernel, LLVMValueRef body) {
  binder b = {.kernel = kernel,
              .types = mtlc_types_of(kernel->context),
              .builder = LLVMCreateBuilderInContext(kernel->context),
              .body = body,
              .status = MTL_OK};
  mtlc_move_body(kernel->thread, body);
  LLVMDeleteFunction(kernel->thread);
  kernel->thread = body;
  bind_all(&b, "mettle.position", bind_position);
  bind_all(&b, "mettle.argument", bind_argument);
  bind_all(&b, MTLC_THREADGROUP_MEMORY_FUNCTION, bind_threadgroup_memory);
  bind_all(&b, "mettle.trap", bind_trap);
  bind_all(&b, "mettle.log_memory", bind_log_memory);
  bind_all(&b, "mettle.check.context", bind_check);
  LLVMDisposeBuilder(b.builder);
  return b.status;
}
