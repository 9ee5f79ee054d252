// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// builtin_calls.c: calls of the functions of docs/ir.md and of LLVM's
// intrinsics. Positions and arguments are computed once, in the entry block.
#include "compiler/vectorize/emit/calls/builtin_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "code/cpu_abi.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/calls/barriers.h"
#include "compiler/vectorize/emit/calls/dot_calls.h"
#include "compiler/vectorize/emit/calls/elementwise_calls.h"
#include "compiler/vectorize/emit/calls/vector_calls.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/runtime_checks.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/prepare/versions/interior_limits.h"

// --- Loads in the entry block ------------------------------------------------

static LLVMValueRef parameter(const lanes_emitter *e, lanes_parameter which) {
  return LLVMGetParam(e->function, which);
}

// Loads from the launch, which nothing writes while it runs.
static LLVMValueRef launch_load(lanes_emitter *e, LLVMTypeRef type,
                                LLVMValueRef at) {
  LLVMValueRef value = LLVMBuildLoad2(e->prologue, type, at, "");
  mtlc_mark_invariant(value);
  return value;
}

static LLVMValueRef launch_u32(lanes_emitter *e, size_t offset,
                               uint32_t dimension) {
  return launch_load(e, e->types.i32,
                     mtlc_offset(e->prologue, parameter(e, LANES_LAUNCH),
                                 offset + 4 * dimension));
}

static LLVMValueRef group_u32(lanes_emitter *e, size_t offset,
                              uint32_t dimension) {
  return LLVMBuildLoad2(e->prologue, e->types.i32,
                        mtlc_offset(e->prologue, parameter(e, LANES_GROUP),
                                    offset + 4 * dimension),
                        "");
}

static LLVMValueRef threadgroup_memory(lanes_emitter *e, LLVMValueRef offset) {
  LLVMValueRef start = mtlc_offset(e->prologue, parameter(e, LANES_SCRATCH),
                                   sizeof(mtli_cpu_position));
  return LLVMBuildGEP2(e->prologue, e->types.i8, start, &offset, 1, "");
}

// True if a threadgroup argument is the only one: its offset, after the
// kernel's own variables, is then constant.
static bool is_only_memory(const mtli_kernel *kernel) {
  uint32_t count = 0;
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    const mtli_parameter *parameter = &kernel->parameters[i];
    count += parameter->builtin == MTLI_BUILTIN_NONE &&
             parameter->argument.kind == MTL_ARGUMENT_THREADGROUP_MEMORY;
  }
  return count == 1;
}

static LLVMValueRef argument(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef operand = LLVMGetOperand(call, 0);
  const mtli_kernel *kernel = e->kernel->kernel;
  const uint64_t slot = LLVMIsAConstantInt(operand)
                            ? LLVMConstIntGetZExtValue(operand)
                            : UINT64_MAX;
  if (slot >= kernel->parameter_count) {
    lanes_refuse(e, "mettle.argument of no parameter");
    return LLVMGetPoison(e->types.pointer);
  }
  LLVMValueRef table =
      launch_load(e, e->types.pointer, parameter(e, LANES_LAUNCH));
  LLVMValueRef at = mtlc_offset(e->prologue, table, slot * sizeof(void *));
  if (kernel->parameters[slot].argument.kind ==
      MTL_ARGUMENT_THREADGROUP_MEMORY) {
    return threadgroup_memory(
        e, is_only_memory(kernel)
               ? mtlc_i64(e->context, e->kernel->static_threadgroup_bytes)
               : launch_load(e, e->types.i64, at));
  }
  return launch_load(e, e->types.pointer, at);
}

static LLVMValueRef log_memory(lanes_emitter *e) {
  return launch_load(e, e->types.pointer,
                     mtlc_offset(e->prologue, parameter(e, LANES_LAUNCH),
                                 offsetof(mtli_cpu_launch, log)));
}

static LLVMValueRef check_memory(lanes_emitter *e) {
  return launch_load(e, e->types.pointer,
                     mtlc_offset(e->prologue, parameter(e, LANES_LAUNCH),
                                 offsetof(mtli_cpu_launch, check)));
}

// Returns whether two buffers do not overlap.
static LLVMValueRef are_apart(lanes_emitter *e, LLVMValueRef call) {
  LLVMTypeRef types[] = {e->types.pointer, e->types.i64, e->types.i64};
  LLVMValueRef arguments[] = {parameter(e, LANES_LAUNCH), NULL, NULL};
  for (unsigned i = 0; i < 2; i++) {
    arguments[i + 1] =
        mtlc_i64(e->context, LLVMConstIntGetZExtValue(LLVMGetOperand(call, i)));
  }
  return mtlc_call(e->prologue,
                   mtlc_declare(e->kernel->module, "mettle.are_apart",
                                LLVMFunctionType(e->types.i1, types, 3, false)),
                   arguments, 3);
}

static LLVMValueRef first_of(lanes_emitter *e, LLVMValueRef value) {
  return lanes_is_scalar(lanes_shape_of(e->values, value))
             ? lanes_scalar(e, value, 0)
             : LLVMBuildExtractElement(e->builder, lanes_vector(e, value, 0),
                                       mtlc_i32(e->context, 0), "");
}

// Emits whether a condition holds for all threads of a complete simdgroup.
static void emit_all(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef mask = parameter(e, LANES_ENTRY_MASK);
  LLVMValueRef function =
      mtlc_declare(e->kernel->module, "mettle.is_whole",
                   LLVMFunctionType(e->types.i1, &e->types.i32, 1, false));
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "willreturn", 0);
  mtlc_set_attribute(function, "memory", 0);
  LLVMValueRef is_whole = mtlc_call(e->builder, function, &mask, 1);
  LLVMValueRef all = lanes_holds_for_all(e, LLVMGetOperand(call, 0), true);
  lanes_set_result(e, call, 0, LLVMBuildAnd(e->builder, is_whole, all, ""));
}

// Emits the test of mettle.demand: if some thread does not fulfil the
// condition, the function returns LANES_REFUSED. Nothing has been done by then,
// so its caller runs the simdgroups one by one.
static void emit_demand(lanes_emitter *e, LLVMValueRef call) {
  LLVMBasicBlockRef next = lanes_block(e, "demanded");
  LLVMBasicBlockRef refused = lanes_block(e, "refused");
  lanes_mark_check(LLVMBuildCondBr(
      e->builder, lanes_holds_for_all(e, LLVMGetOperand(call, 0), true), next,
      refused));
  LLVMPositionBuilderAtEnd(e->builder, refused);
  LLVMBuildRet(e->builder, mtlc_i32(e->context, LANES_REFUSED));
  LLVMPositionBuilderAtEnd(e->builder, next);
}

// --- Positions ---------------------------------------------------------------

static LLVMValueRef u32(const lanes_emitter *e, uint32_t value) {
  return mtlc_i32(e->context, value);
}

// Returns how many units of width hold count threads.
static LLVMValueRef units(lanes_emitter *e, LLVMValueRef count,
                          uint32_t width) {
  LLVMValueRef up = LLVMBuildAdd(e->prologue, count, u32(e, width - 1), "");
  return LLVMBuildUDiv(e->prologue, up, u32(e, width), "");
}

static LLVMValueRef full_group_threads(lanes_emitter *e) {
  const size_t offset = offsetof(mtli_cpu_launch, group_threads);
  LLVMValueRef plane = LLVMBuildMul(e->prologue, launch_u32(e, offset, 0),
                                    launch_u32(e, offset, 1), "");
  return LLVMBuildMul(e->prologue, plane, launch_u32(e, offset, 2), "");
}

// Returns first + i * step for each of width lanes.
static LLVMValueRef lanes_from(lanes_emitter *e, LLVMValueRef first,
                               uint32_t step, uint32_t width) {
  LLVMValueRef items[MOST_LANES];
  for (uint32_t i = 0; i < width; i++) {
    items[i] = u32(e, i * step);
  }
  return LLVMBuildAdd(e->prologue, lanes_splat_to(e, e->prologue, first, width),
                      LLVMConstVector(items, width), "");
}

// Divides thread indices, which floats hold exactly.
static LLVMValueRef divide(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef number =
      LLVMVectorType(e->types.f32, LLVMGetVectorSize(LLVMTypeOf(a)));
  LLVMValueRef quotient =
      LLVMBuildFDiv(e->prologue, LLVMBuildUIToFP(e->prologue, a, number, ""),
                    LLVMBuildUIToFP(e->prologue, b, number, ""), "");
  return LLVMBuildFPToUI(e->prologue, quotient, LLVMTypeOf(a), "");
}

// Returns thread_position_in_threadgroup of each segment's first thread.
static LLVMValueRef position_in_group(lanes_emitter *e, uint32_t dimension) {
  const uint32_t row = e->values->row;
  if (row == e->lanes) {
    return parameter(e, (lanes_parameter)(LANES_X + dimension));
  }
  if (e->values->is_exact) {
    LLVMValueRef zero = u32(e, 0);
    LLVMValueRef first_row =
        LLVMBuildUDiv(e->prologue, parameter(e, LANES_FIRST), u32(e, row), "");
    return dimension == 1 ? lanes_from(e, first_row, 1, e->lanes / row)
                          : lanes_splat_to(e, e->prologue, zero, e->lanes / row);
  }
  LLVMValueRef rest =
      lanes_from(e, parameter(e, LANES_FIRST), row, e->lanes / row);
  for (uint32_t d = 0;; d++) {
    LLVMValueRef size = lanes_splat_to(
        e, e->prologue, group_u32(e, offsetof(mtli_cpu_group, size), d),
        e->lanes / row);
    LLVMValueRef above = divide(e, rest, size);
    if (d == dimension) {
      return LLVMBuildSub(e->prologue, rest,
                          LLVMBuildMul(e->prologue, above, size, ""), "");
    }
    rest = above;
  }
}

static LLVMValueRef cached_position(lanes_emitter *e, mtli_builtin builtin,
                                    uint32_t dimension);

static LLVMValueRef position_in_grid(lanes_emitter *e, uint32_t dimension) {
  LLVMValueRef origin = group_u32(e, offsetof(mtli_cpu_group, origin), dimension);
  LLVMValueRef at =
      cached_position(e, MTLI_THREAD_POSITION_IN_THREADGROUP, dimension);
  origin = lanes_splat_to(e, e->prologue, origin, e->lanes / e->values->row);
  return LLVMBuildAdd(e->prologue, origin, at, "");
}

static LLVMValueRef position(lanes_emitter *e, mtli_builtin builtin,
                             uint32_t dimension) {
  LLVMValueRef first = parameter(e, LANES_FIRST);
  const size_t launch_grid = offsetof(mtli_cpu_launch, grid_threads);
  const size_t launch_group = offsetof(mtli_cpu_launch, group_threads);
  const size_t launch_count = offsetof(mtli_cpu_launch, group_count);
  const size_t group_threads = offsetof(mtli_cpu_group, threads);
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID: return position_in_grid(e, dimension);
    case MTLI_THREAD_POSITION_IN_THREADGROUP:
      return position_in_group(e, dimension);
    case MTLI_THREADGROUP_POSITION_IN_GRID:
      return group_u32(e, offsetof(mtli_cpu_group, position), dimension);
    case MTLI_THREADS_PER_THREADGROUP:
      return group_u32(e, offsetof(mtli_cpu_group, size), dimension);
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
      return launch_u32(e, launch_group, dimension);
    case MTLI_THREADS_PER_GRID:
    case MTLI_GRID_SIZE: return launch_u32(e, launch_grid, dimension);
    case MTLI_THREADGROUPS_PER_GRID:
      return launch_u32(e, launch_count, dimension);
    case MTLI_GRID_ORIGIN: return u32(e, 0);
    case MTLI_THREAD_INDEX_IN_THREADGROUP: return first;
    case MTLI_THREAD_INDEX_IN_SIMDGROUP: return u32(e, 0);
    case MTLI_THREAD_INDEX_IN_QUADGROUP:
      return lanes_splat_to(e, e->prologue, u32(e, 0), e->lanes / 4);
    case MTLI_SIMDGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(e->prologue, first, u32(e, e->lanes), "");
    case MTLI_QUADGROUP_INDEX_IN_THREADGROUP:
      return lanes_from(e, LLVMBuildUDiv(e->prologue, first, u32(e, 4), ""), 1,
                        e->lanes / 4);
    case MTLI_SIMDGROUPS_PER_THREADGROUP:
      return units(e, group_u32(e, group_threads, 0), e->lanes);
    case MTLI_QUADGROUPS_PER_THREADGROUP:
      return units(e, group_u32(e, group_threads, 0), 4);
    case MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
      return units(e, full_group_threads(e), e->lanes);
    case MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP:
      return units(e, full_group_threads(e), 4);
    case MTLI_THREADS_PER_SIMDGROUP: return u32(e, e->lanes);
    case MTLI_THREADGROUPS_AT_ONCE:
      return group_u32(e, offsetof(mtli_cpu_group, count), 0);
    case MTLI_BUILTIN_NONE:
    case MTLI_BUILTIN_COUNT: break;
  }
  lanes_refuse(e, "an unknown built-in input");
  return LLVMGetPoison(e->types.i32);
}

static LLVMValueRef cached_position(lanes_emitter *e, mtli_builtin builtin,
                                    uint32_t dimension) {
  if (builtin >= MTLI_BUILTIN_COUNT || dimension > 2) {
    lanes_refuse(e, "an unknown built-in input");
    return LLVMGetPoison(e->types.i32);
  }
  LLVMValueRef *cached = &e->positions[builtin][dimension];
  if (!*cached) {
    *cached = position(e, builtin, dimension);
  }
  return *cached;
}

static void emit_position(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef builtin = LLVMGetOperand(call, 0);
  LLVMValueRef dimension = LLVMGetOperand(call, 1);
  if (!LLVMIsAConstantInt(builtin) || !LLVMIsAConstantInt(dimension)) {
    lanes_refuse(e, "mettle.position of something that is not constant");
    return;
  }
  lanes_set_everywhere(
      e, call,
      cached_position(e, (mtli_builtin)LLVMConstIntGetZExtValue(builtin),
                      (uint32_t)LLVMConstIntGetZExtValue(dimension)));
}

// --- Barriers and traps ------------------------------------------------------

// Keeps LLVM from moving memory accesses across. A simdgroup's lanes run in
// lockstep and need no more.
static void emit_fence(lanes_emitter *e) {
  LLVMBuildFence(e->builder, LLVMAtomicOrderingSequentiallyConsistent, true,
                 "");
}

// Returns an operand's value in one lane.
static LLVMValueRef of_lane(lanes_emitter *e, LLVMValueRef operand,
                            LLVMValueRef lane) {
  return lanes_width(e, operand) == 1
             ? lanes_scalar(e, operand, 0)
             : LLVMBuildExtractElement(e->builder, lanes_vector(e, operand, 0),
                                       lane, "");
}

// Records the reason and the line of a trap, then stops the worker (cpu_abi.h).
static void emit_trap(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef arguments[] = {lanes_mask_bits(e, e->mask),
                              LLVMConstInt(e->types.i1, 0, false)};
  LLVMValueRef lane =
      lanes_intrinsic(e, "llvm.cttz", &e->types.i32, 1, arguments, 2);
  LLVMValueRef thread =
      LLVMBuildAdd(e->builder, parameter(e, LANES_FIRST), lane, "");
  LLVMValueRef scratch = parameter(e, LANES_SCRATCH);
  LLVMSetVolatile(
      LLVMBuildStore(e->builder, thread,
                     mtlc_offset(e->builder, scratch,
                                 offsetof(mtli_cpu_position, thread_in_group))),
      true);
  LLVMSetVolatile(
      LLVMBuildStore(
          e->builder, of_lane(e, LLVMGetOperand(call, 1), lane),
          mtlc_offset(e->builder, scratch, MTLI_CPU_TRAP_TEXT_OFFSET)),
      true);
  LLVMValueRef reason = LLVMBuildAdd(
      e->builder, of_lane(e, LLVMGetOperand(call, 0), lane), u32(e, 1), "");
  LLVMSetVolatile(
      LLVMBuildStore(e->builder, reason,
                     mtlc_offset(e->builder, scratch,
                                 offsetof(mtli_cpu_position, reserved))),
      true);
  lanes_intrinsic(e, "llvm.trap", NULL, 0, NULL, 0);
}

// Stops the worker if a condition fails for a running lane. The checker then
// runs screened code again (check/screen_accesses.c), so the lane and the
// reason do not matter.
static void emit_must(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef condition = LLVMGetOperand(call, 0);
  LLVMBasicBlockRef some = lanes_block(e, "maybe");
  LLVMBasicBlockRef stop = lanes_block(e, "suspect");
  LLVMBasicBlockRef next = lanes_block(e, "clean");
  lanes_mark_check(LLVMBuildCondBr(
      e->builder, lanes_holds_for_all(e, condition, true), next, some));
  LLVMPositionBuilderAtEnd(e->builder, some);
  LLVMValueRef fails = LLVMBuildAnd(
      e->builder, e->mask,
      LLVMBuildNot(e->builder, lanes_vector(e, condition, 0), ""), "");
  lanes_mark_check(
      LLVMBuildCondBr(e->builder, lanes_any(e, fails), stop, next));
  LLVMPositionBuilderAtEnd(e->builder, stop);
  lanes_intrinsic(e, "llvm.trap", NULL, 0, NULL, 0);
  LLVMBuildUnreachable(e->builder);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

// Emits an i1: a value is the same in each segment, so that a lane shares it
// with its neighbour, and all lanes run.
static void emit_shared(lanes_emitter *e, LLVMValueRef call) {
  const lanes_shape shape =
      lanes_shape_of(e->values, LLVMGetOperand(call, 0));
  const bool is_same = shape.row > 1 && shape.stride == 0 &&
                       !shape.conditional;
  lanes_set_result(e, call, 0,
                   is_same ? lanes_all(e, e->mask)
                           : LLVMConstNull(e->types.i1));
}

// True if threads on other paths meet no barrier before they end. Only then may
// the threads here wait in diverged control flow.
static bool others_are_leaving(const lanes_emitter *e) {
  const uint32_t count = e->graph->node_count;
  lanes_set reached = lanes_set_make(e->arena, count);
  lanes_set_add_all(reached, &e->plan->steps[e->node].deferred);
  for (uint32_t n = lanes_set_next(reached, 0); n != LANES_NONE;
       n = lanes_set_next(reached, n + 1)) {
    const lanes_node *node = &e->graph->nodes[n];
    if ((node->block && lanes_has_barrier(node->block)) ||
        (node->loop != LANES_NONE &&
         lanes_in_loop(e->graph, e->node, node->loop))) {
      return false;
    }
    for (uint32_t k = 0; k < node->successors.count; k++) {
      lanes_set_add(reached, node->successors.items[k]);
    }
  }
  return true;
}

// True if threads that diverge at a branch may be at a node before they meet.
static bool parts_before(const lanes_emitter *e, uint32_t branch,
                         uint32_t node) {
  const lanes_graph *graph = e->graph;
  lanes_set reached = lanes_set_make(e->arena, graph->node_count);
  lanes_set_add(reached, branch);
  for (uint32_t n = branch; n != LANES_NONE && n < node;
       n = lanes_set_next(reached, n + 1)) {
    const lanes_list *next = &graph->nodes[n].successors;
    for (uint32_t k = 0; k < next->count; k++) {
      if (next->items[k] != graph->nodes[branch].postdominator) {
        lanes_set_add(reached, next->items[k]);
      }
    }
  }
  return lanes_set_has(reached, node);
}

// Returns the line of the last divergent branch before a barrier, or 0.
static uint32_t parting_line(const lanes_emitter *e) {
  for (uint32_t n = e->node; n-- > 0;) {
    if (e->values->divergent_branch[n] && parts_before(e, n, e->node)) {
      return LLVMGetDebugLocLine(
          LLVMGetBasicBlockTerminator(e->graph->nodes[n].block));
    }
  }
  return 0;
}

static void emit_threadgroup_barrier(lanes_emitter *e, LLVMValueRef barrier) {
  if (e->single_simdgroup) {
    emit_fence(e);
    return;
  }
  if (e->plan->steps[e->node].mask != LANES_NONE && !others_are_leaving(e)) {
    lanes_refuse(e,
                 "a threadgroup barrier (line %u) that not all threads reach "
                 "together (they part at line %u)",
                 LLVMGetDebugLocLine(barrier), parting_line(e));
    return;
  }
  lanes_emit_barrier(e);
}

// Emits an offer as its operand: the register of a vector holds what inactive
// lanes have, too.
static void emit_offer(lanes_emitter *e, LLVMValueRef call) {
  const uint32_t width = lanes_width(e, call);
  lanes_set_result(e, call, 0,
                   lanes_at_width(e, LLVMGetOperand(call, 0), 0, width));
}

// --- All calls ---------------------------------------------------------------

void lanes_emit_call(lanes_emitter *e, LLVMValueRef call) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_NOTHING: return;
    case LANES_CALLEE_ARGUMENT:
      lanes_set_everywhere(e, call, argument(e, call));
      return;
    case LANES_CALLEE_THREADGROUP_MEMORY:
      lanes_set_everywhere(e, call,
                           threadgroup_memory(e, LLVMGetOperand(call, 0)));
      return;
    case LANES_CALLEE_LOG_MEMORY:
      lanes_set_everywhere(e, call, log_memory(e));
      return;
    case LANES_CALLEE_CHECK_MEMORY:
      lanes_set_everywhere(e, call, check_memory(e));
      return;
    case LANES_CALLEE_APART:
      lanes_set_everywhere(e, call, are_apart(e, call));
      return;
    case LANES_CALLEE_ALL: emit_all(e, call); return;
    case LANES_CALLEE_FIRST:
      lanes_set_result(e, call, 0, first_of(e, LLVMGetOperand(call, 0)));
      return;
    case LANES_CALLEE_DEMAND: emit_demand(e, call); return;
    case LANES_CALLEE_POSITION: emit_position(e, call); return;
    case LANES_CALLEE_THREADGROUP_BARRIER:
      emit_threadgroup_barrier(e, call);
      return;
    case LANES_CALLEE_SIMDGROUP_BARRIER: emit_fence(e); return;
    case LANES_CALLEE_SHUFFLE: lanes_emit_shuffle(e, call); return;
    case LANES_CALLEE_BALLOT: lanes_emit_ballot(e, call); return;
    case LANES_CALLEE_REDUCE:
    case LANES_CALLEE_SCAN: lanes_emit_collective(e, call); return;
    case LANES_CALLEE_TILE: lanes_emit_tile(e, call); return;
    case LANES_CALLEE_TRAP: emit_trap(e, call); return;
    case LANES_CALLEE_MUST: emit_must(e, call); return;
    case LANES_CALLEE_SHARED: emit_shared(e, call); return;
    case LANES_CALLEE_PARAMETER: lanes_emit_vector_parameter(e, call); return;
    case LANES_CALLEE_CALLED: lanes_emit_wide_call(e, call); return;
    case LANES_CALLEE_ELEMENTWISE:
      (lanes_is_dot(call) ? lanes_emit_dot
       : mtlc_is_call_of(call, MTLC_OFFER_PREFIX)
           ? emit_offer
           : lanes_emit_elementwise)(e, call);
      return;
    case LANES_CALLEE_UNKNOWN:
      lanes_refuse(e, "unknown function %s", mtlc_callee_name(call));
      return;
    case LANES_CALLEE_OTHER: lanes_scalarise(e, call); return;
  }
}
