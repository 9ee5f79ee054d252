// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// deferred_atomics.c: defers atomic additions. A worker sums up what a kernel
// adds to device memory and adds the sums when it has run its threadgroups
// (ir/text/counters.ll): relaxed additions of integers have no order, and
// nobody in the kernel sees the difference if
//
//   - no addition's result is used, and
//   - nothing that a thread does behind one of them touches device memory, but
//     for other such additions, and plain accesses to arguments that are not
//     added to: no barrier can then lead from it to a reader. That arguments
//     lie apart is found out when the worker begins.
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"

#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/base_index.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

enum {
  PAIRS_LIMIT = 32,  // pairs of arguments compared
  SLOTS_LIMIT = 64,
  WINDOW_BYTES = 34880,  // counters.ll: %window with its sums and their words
  SUMS_OFFSET = 64,
  SECOND_SUMS_OFFSET = 18496,
  WINDOW_WORDS = 4096,
  PAGE_BYTES = 4096,  // a window grows by this
  TURN_LANES = 8,
};

static bool is_addition(LLVMValueRef i) {
  if (LLVMGetInstructionOpcode(i) != LLVMAtomicRMW || LLVMGetFirstUse(i) ||
      LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingMonotonic ||
      LLVMGetAlignment(i) < 4) {
    return false;
  }
  const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(i);
  return (operation == LLVMAtomicRMWBinOpAdd ||
          operation == LLVMAtomicRMWBinOpSub) &&
         LLVMGetIntTypeWidth(LLVMTypeOf(i)) == 32;
}

static bool is_own(const lanes_emitter *e, LLVMValueRef address) {
  return lanes_is_in_threadgroup(e->kernel, address) ||
         LLVMIsAAllocaInst(mtlc_root_of(address));
}

static bool call_touches_device(LLVMValueRef call) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_NOTHING:
    case LANES_CALLEE_ARGUMENT:
    case LANES_CALLEE_APART:
    case LANES_CALLEE_ALL:
    case LANES_CALLEE_FIRST:
    case LANES_CALLEE_POSITION:
    case LANES_CALLEE_THREADGROUP_MEMORY:
    case LANES_CALLEE_THREADGROUP_BARRIER:
    case LANES_CALLEE_SIMDGROUP_BARRIER:
    case LANES_CALLEE_SHUFFLE:
    case LANES_CALLEE_BALLOT:
    case LANES_CALLEE_REDUCE:
    case LANES_CALLEE_SCAN:
    case LANES_CALLEE_ELEMENTWISE: return false;
    default: return true;
  }
}

// True if a plain access is to an argument's memory; notes the argument.
static bool is_to_argument(LLVMValueRef access, unsigned pointer,
                           uint64_t *slots) {
  LLVMValueRef root = mtlc_root_of(LLVMGetOperand(access, pointer));
  if (!lanes_is_plain(access) || !LLVMIsACallInst(root) ||
      lanes_callee_of(root) != LANES_CALLEE_ARGUMENT) {
    return false;
  }
  const uint64_t slot = LLVMConstIntGetZExtValue(LLVMGetOperand(root, 0));
  if (slot >= SLOTS_LIMIT) {
    return false;
  }
  *slots |= UINT64_C(1) << slot;
  return true;
}

static bool touches_device(lanes_emitter *e, LLVMValueRef i) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  const unsigned pointer = opcode == LLVMStore ? 1 : 0;
  switch (opcode) {
    case LLVMLoad:
    case LLVMStore:
      return !is_own(e, LLVMGetOperand(i, pointer)) &&
             !is_to_argument(i, pointer, &e->counting.touched_slots);
    case LLVMAtomicRMW:
      return !is_own(e, LLVMGetOperand(i, 0)) && !is_addition(i);
    case LLVMAtomicCmpXchg: return !is_own(e, LLVMGetOperand(i, 0));
    case LLVMFence: return true;
    case LLVMCall: return call_touches_device(i);
    default: return false;
  }
}

static bool any_touches(lanes_emitter *e, LLVMValueRef from) {
  for (LLVMValueRef i = from; i; i = LLVMGetNextInstruction(i)) {
    if (touches_device(e, i)) {
      return true;
    }
  }
  return false;
}

// True if code that may run after a block touches device memory; the block
// itself counts if it is in a loop.
static bool touches_behind(lanes_emitter *e, LLVMBasicBlockRef block) {
  lanes_map seen = {0};
  LLVMBasicBlockRef *work =
      lanes_allocate(e->arena, e->graph->node_count + 1, sizeof *work);
  uint32_t count = 0;
  work[count++] = block;
  while (count) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(work[--count]);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
      if (lanes_map_get(&seen, to) != LANES_NONE) {
        continue;
      }
      lanes_map_set(e->arena, &seen, to, 1);
      if (any_touches(e, LLVMGetFirstInstruction(to))) {
        return true;
      }
      work[count++] = to;
    }
  }
  return false;
}

static void add_root(lanes_deferral *counting, LLVMValueRef root) {
  for (uint32_t i = 0; i < counting->window_count; i++) {
    if (counting->roots[i] == root) {
      return;
    }
  }
  if (counting->window_count < LANES_WINDOWS) {
    counting->roots[counting->window_count++] = root;
  }
}

// True if a run-time test can tell whether memory accessed later overlaps the
// counters.
static bool can_tell_apart(const lanes_deferral *counting, bool knows_added) {
  if (!counting->touched_slots) {
    return true;
  }
  const int pairs = __builtin_popcountll(counting->touched_slots) *
                    __builtin_popcountll(counting->added_slots);
  return knows_added && !(counting->touched_slots & counting->added_slots) &&
         pairs <= PAIRS_LIMIT;
}

void lanes_deferred_find(lanes_emitter *e) {
  lanes_deferral *counting = &e->counting;
  bool knows_added = true;
  for (uint32_t n = 0; n < e->values->count; n++) {
    LLVMValueRef i = e->values->items[n];
    if (!is_addition(i) || is_own(e, LLVMGetOperand(i, 0))) {
      continue;
    }
    if (any_touches(e, LLVMGetNextInstruction(i)) ||
        touches_behind(e, LLVMGetInstructionParent(i))) {
      return;
    }
    LLVMValueRef root = mtlc_root_of(LLVMGetOperand(i, 0));
    uint64_t slot = SLOTS_LIMIT;
    if (LLVMIsACallInst(root) &&
        lanes_callee_of(root) == LANES_CALLEE_ARGUMENT) {
      slot = LLVMConstIntGetZExtValue(LLVMGetOperand(root, 0));
    }
    if (slot < SLOTS_LIMIT) {
      counting->added_slots |= UINT64_C(1) << slot;
    } else {
      knows_added = false;
    }
    add_root(counting, root);
  }
  counting->is_on =
      counting->window_count > 0 && can_tell_apart(counting, knows_added);
}

// --- What counters.ll asks for -----------------------------------------------

static LLVMBuilderRef begin_function(mtlc_kernel *kernel, const char *name,
                                     LLVMTypeRef type,
                                     LLVMValueRef *out_function) {
  *out_function = mtlc_declare(kernel->module, name, type);
  mtlc_set_attribute(*out_function, "alwaysinline", 0);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  LLVMPositionBuilderAtEnd(
      builder,
      LLVMAppendBasicBlockInContext(kernel->context, *out_function, "entry"));
  return builder;
}

static void define_windows(mtlc_kernel *kernel, uint32_t count) {
  LLVMValueRef function = NULL;
  LLVMTypeRef i64 = mtlc_types_of(kernel->context).i64;
  LLVMBuilderRef builder =
      begin_function(kernel, "mettle.counters.windows",
                     LLVMFunctionType(i64, NULL, 0, false), &function);
  LLVMBuildRet(builder, mtlc_i64(kernel->context, count));
  LLVMDisposeBuilder(builder);
}

void lanes_deferred_define(mtlc_kernel *kernel,
                           const lanes_deferral *counting) {
  define_windows(kernel, counting->window_count);
  kernel->kept_bytes = counting->window_count * WINDOW_BYTES;
  const mtlc_types types = mtlc_types_of(kernel->context);
  LLVMTypeRef parts[] = {types.pointer, types.i64, types.i64};
  LLVMValueRef are_apart =
      mtlc_declare(kernel->module, "mettle.are_apart",
                   LLVMFunctionType(types.i1, parts, 3, false));
  LLVMValueRef function = NULL;
  LLVMBuilderRef builder =
      begin_function(kernel, "mettle.counters.apart",
                     LLVMFunctionType(types.i1, parts, 1, false), &function);
  LLVMValueRef all = LLVMConstInt(types.i1, 1, false);
  for (uint64_t added = counting->added_slots; added; added &= added - 1) {
    for (uint64_t touched = counting->touched_slots; touched;
         touched &= touched - 1) {
      LLVMValueRef arguments[] = {
          LLVMGetParam(function, 0),
          mtlc_i64(kernel->context, (uint64_t)__builtin_ctzll(added)),
          mtlc_i64(kernel->context, (uint64_t)__builtin_ctzll(touched))};
      all = LLVMBuildAnd(builder, all,
                         mtlc_call(builder, are_apart, arguments, 3), "");
    }
  }
  LLVMBuildRet(builder, all);
  LLVMDisposeBuilder(builder);
}

// --- One addition ------------------------------------------------------------

static LLVMValueRef call(lanes_emitter *e, const char *name, LLVMTypeRef result,
                         LLVMValueRef *arguments, uint32_t count) {
  LLVMTypeRef types[3];
  for (uint32_t i = 0; i < count; i++) {
    types[i] = LLVMTypeOf(arguments[i]);
  }
  LLVMValueRef function = mtlc_declare(
      e->kernel->module, name, LLVMFunctionType(result, types, count, false));
  return mtlc_call(e->builder, function, arguments, count);
}

// Returns the address of the window for an addition.
static LLVMValueRef window_of(lanes_emitter *e, LLVMValueRef atomic) {
  if (!e->counters) {
    e->counters = LLVMBuildLoad2(
        e->prologue, e->types.pointer,
        mtlc_offset(e->prologue, LLVMGetParam(e->function, LANES_SCRATCH), 32),
        "counters");
  }
  LLVMValueRef root = mtlc_root_of(LLVMGetOperand(atomic, 0));
  uint32_t window = 0;
  for (uint32_t i = 0; i < e->counting.window_count; i++) {
    window = e->counting.roots[i] == root ? i : window;
  }
  return lanes_address_at(e, e->counters, (uint64_t)window * WINDOW_BYTES);
}

static LLVMValueRef window_word(lanes_emitter *e, LLVMValueRef window,
                                uint32_t index) {
  return LLVMBuildLoad2(e->builder, e->types.i64,
                        lanes_address_at(e, window, index * 8), "");
}

LLVMValueRef lanes_defer(lanes_emitter *e, LLVMValueRef atomic,
                         LLVMValueRef address, LLVMValueRef operand) {
  const bool adds = LLVMGetAtomicRMWBinOp(atomic) == LLVMAtomicRMWBinOpAdd;
  LLVMValueRef value = adds ? operand : LLVMBuildNeg(e->builder, operand, "");
  LLVMValueRef arguments[] = {window_of(e, atomic), address, value};
  return call(e, "mettle.counters.add", e->types.nothing, arguments, 3);
}

// The words of a counter window that lanes add to: each lane's word number, and
// whether it is inside the window.
typedef struct window_words {
  LLVMValueRef numbers;  // <32 x i32>
  LLVMValueRef inside;   // <32 x i1>
} window_words;

static LLVMValueRef clamp(lanes_emitter *e, const char *name,
                          LLVMValueRef value, uint64_t limit) {
  LLVMValueRef operands[] = {value, mtlc_i64(e->context, limit)};
  return lanes_intrinsic(e, name, &e->types.i64, 1, operands, 2);
}

// Returns the first index whose address is at or after a given one.
static LLVMValueRef index_from(lanes_emitter *e, const lanes_base_index *place,
                               LLVMValueRef base, LLVMValueRef address) {
  const uint64_t size = place->size_bytes;
  LLVMValueRef bytes =
      LLVMBuildAdd(e->builder, LLVMBuildSub(e->builder, address, base, ""),
                   mtlc_i64(e->context, size - 1), "");
  return LLVMBuildAShr(e->builder, bytes,
                       mtlc_i64(e->context, (uint64_t)__builtin_ctzll(size)),
                       "");
}

// Compares 32-bit indices of all lanes at once. Elements have a power of two of
// bytes.
static window_words words_by_index(lanes_emitter *e, const lanes_base_index *place,
                                   LLVMValueRef window) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef base = LLVMBuildPtrToInt(b, place->base, e->types.i64, "");
  LLVMValueRef first = window_word(e, window, 1);
  LLVMValueRef end = LLVMBuildAdd(b, first, window_word(e, window, 2), "");
  const uint64_t least = place->is_signed ? (uint64_t)INT32_MIN : 0;
  LLVMValueRef from =
      clamp(e, "llvm.smax", index_from(e, place, base, first), least);
  LLVMValueRef to = clamp(e, "llvm.smin", index_from(e, place, base, end),
                          least + (UINT64_C(1) << 32));
  LLVMValueRef count = clamp(e, "llvm.smax", LLVMBuildSub(b, to, from, ""), 0);
  LLVMValueRef from_all =
      lanes_splat(e, b, LLVMBuildTrunc(b, from, e->types.i32, ""));
  LLVMValueRef count_all =
      lanes_splat(e, b, LLVMBuildTrunc(b, count, e->types.i32, ""));
  LLVMValueRef word = LLVMBuildTrunc(
      b, LLVMBuildLShr(b, base, mtlc_i64(e->context, 2), ""), e->types.i32, "");
  const uint64_t words = place->size_bytes / 4;
  LLVMValueRef numbers = LLVMBuildAdd(
      b, lanes_splat(e, b, word),
      LLVMBuildMul(b, place->index, lanes_steps(e->lanes, e->types.i32, words, 0), ""),
      "");
  return (window_words){
      .numbers = LLVMBuildAnd(
          b, numbers, lanes_steps(e->lanes, e->types.i32, WINDOW_WORDS - 1, 0), ""),
      .inside = LLVMBuildICmp(b, LLVMIntULT,
                              LLVMBuildSub(b, place->index, from_all, ""),
                              count_all, "")};
}

static window_words words_by_address(lanes_emitter *e, LLVMValueRef address,
                                     LLVMValueRef window) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef all = LLVMBuildPtrToInt(b, lanes_vector(e, address, 0),
                                       lanes_vector_of(e->lanes, e->types.i64), "");
  LLVMValueRef first = lanes_splat(e, b, window_word(e, window, 1));
  LLVMValueRef bytes = lanes_splat(e, b, window_word(e, window, 2));
  LLVMValueRef words =
      LLVMBuildLShr(b, all, lanes_steps(e->lanes, e->types.i64, 2, 0), "");
  return (window_words){
      .numbers = LLVMBuildAnd(
          b, LLVMBuildTrunc(b, words, lanes_vector_of(e->lanes, e->types.i32), ""),
          lanes_steps(e->lanes, e->types.i32, WINDOW_WORDS - 1, 0), ""),
      .inside = LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, all, first, ""),
                              bytes, "")};
}

static window_words find_words(lanes_emitter *e, const lanes_base_index *place,
                               LLVMValueRef address, LLVMValueRef window) {
  const bool is_simple = place && place->size_bytes >= 4 &&
                         (place->size_bytes & (place->size_bytes - 1)) == 0;
  return is_simple ? words_by_index(e, place, window)
                   : words_by_address(e, address, window);
}

// Adds to each lane's element: even lanes in the first array of sums, odd ones
// in the second.
static void add_one(lanes_emitter *e, LLVMValueRef atomic, LLVMValueRef sums,
                    uint64_t size_bytes, LLVMValueRef number,
                    LLVMValueRef value) {
  const LLVMOpcode opcode =
      LLVMGetAtomicRMWBinOp(atomic) == LLVMAtomicRMWBinOpAdd ? LLVMAdd
                                                             : LLVMSub;
  LLVMValueRef wide = LLVMBuildZExt(e->builder, number, e->types.i64, "");
  LLVMTypeRef element = LLVMArrayType2(e->types.i8, size_bytes);
  LLVMValueRef at = LLVMBuildGEP2(e->builder, element, sums, &wide, 1, "");
  LLVMValueRef sum = LLVMBuildLoad2(e->builder, e->types.i32, at, "");
  LLVMBuildStore(e->builder, LLVMBuildBinOp(e->builder, opcode, sum, value, ""),
                 at);
}

static LLVMValueRef sums_of_lane(lanes_emitter *e, LLVMValueRef window,
                                 uint32_t lane) {
  return lanes_address_at(e, window,
                          lane % 2 ? SECOND_SUMS_OFFSET : SUMS_OFFSET);
}

static void add_all(lanes_emitter *e, LLVMValueRef atomic, LLVMValueRef window,
                    LLVMValueRef numbers) {
  LLVMValueRef values[MOST_LANES];
  LLVMValueRef places[MOST_LANES];
  lanes_take_all(e, numbers, places);
  lanes_take_operand(e, LLVMGetOperand(atomic, 1), values);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    add_one(e, atomic, sums_of_lane(e, window, lane), 4, places[lane],
            values[lane]);
  }
}

// Returns the size of the elements that an index of so few bits can reach; 0
// for more than a page, which need not all be in the window.
static uint64_t reach_of(const lanes_emitter *e, const lanes_base_index *place) {
  if (!place || !place->source) {
    return 0;
  }
  const uint8_t bits = lanes_shape_of(e->values, place->source).bits;
  const uint64_t last = bits < 32 ? (UINT64_C(1) << bits) - 1 : UINT32_MAX;
  const uint64_t reach = last * place->size_bytes + 4;
  return place->size_bytes % 4 == 0 && reach <= PAGE_BYTES ? reach : 0;
}

// Returns an i1: all elements that an index can reach are in the window, and
// all lanes run, so that no lane needs a test.
static LLVMValueRef is_within_reach(lanes_emitter *e, LLVMValueRef window,
                                    LLVMValueRef base, LLVMValueRef start,
                                    uint64_t reach) {
  LLVMBuilderRef b = e->builder;
  // None of the three numbers is negative; a closed window has no bytes.
  LLVMValueRef offset = LLVMBuildSub(b, base, window_word(e, window, 1), "");
  LLVMValueRef room = LLVMBuildSub(b, window_word(e, window, 2),
                                   mtlc_i64(e->context, reach), "");
  LLVMValueRef behind = LLVMBuildSub(b, room, offset, "");
  LLVMValueRef to_end = LLVMBuildSub(
      b, mtlc_i64(e->context, WINDOW_WORDS * 4 - reach), start, "");
  LLVMValueRef any =
      LLVMBuildOr(b, LLVMBuildOr(b, offset, behind, ""), to_end, "");
  LLVMValueRef is_inside =
      LLVMBuildICmp(b, LLVMIntSGE, any, mtlc_i64(e->context, 0), "");
  LLVMValueRef is_full = lanes_all(e, e->mask);
  return LLVMBuildAnd(b, is_full, is_inside, "");
}

// Adds a few lanes an iteration, if the indices are in memory: small code can
// stay within the loop over simdgroups.
static void add_in_turns(lanes_emitter *e, LLVMValueRef atomic,
                         const lanes_base_index *place, LLVMValueRef sums) {
  LLVMBuilderRef b = e->builder;
  lanes_indices indices;
  LLVMValueRef values[MOST_LANES];
  lanes_indices_begin(e, place, atomic, &indices);
  lanes_take_operand(e, LLVMGetOperand(atomic, 1), values);
  const bool is_same =
      lanes_is_uniform(lanes_shape_of(e->values, LLVMGetOperand(atomic, 1)));
  const uint32_t lanes = indices.are_in_memory && is_same ? TURN_LANES : e->lanes;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef turn = lanes_block(e, "turn.counted");
  LLVMBasicBlockRef done = lanes_block(e, "turned.counted");
  LLVMBuildBr(b, turn);
  LLVMPositionBuilderAtEnd(b, turn);
  LLVMValueRef first = LLVMBuildPhi(b, e->types.i64, "");
  for (uint32_t lane = 0; lane < lanes; lane++) {
    add_one(e, atomic, sums_of_lane(e, sums, lane), place->size_bytes,
            lanes_indices_at(e, &indices, first, lane), values[lane]);
  }
  LLVMValueRef next = LLVMBuildAdd(b, first, mtlc_i64(e->context, lanes), "");
  LLVMValueRef from[] = {mtlc_i64(e->context, 0), next};
  LLVMBasicBlockRef blocks[] = {before, turn};
  LLVMAddIncoming(first, from, blocks, 2);
  LLVMValueRef again = LLVMBuildCondBr(
      b, LLVMBuildICmp(b, LLVMIntULT, next, mtlc_i64(e->context, e->lanes), ""),
      turn, done);
  mtlc_set_loop_hint(again, "llvm.loop.unroll.full");
  LLVMPositionBuilderAtEnd(b, done);
}

// Adds to elements of at most a page, with a branch for the case that not all
// are in the window.
static void add_within_reach(lanes_emitter *e, LLVMValueRef atomic,
                             const lanes_base_index *place, LLVMValueRef window,
                             uint64_t reach, LLVMBasicBlockRef done) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef near = lanes_block(e, "near.counted");
  LLVMBasicBlockRef far = lanes_block(e, "far.counted");
  LLVMValueRef base = LLVMBuildPtrToInt(b, place->base, e->types.i64, "");
  LLVMValueRef start =
      LLVMBuildAnd(b, base, mtlc_i64(e->context, (WINDOW_WORDS - 1) * 4), "");
  LLVMValueRef is_near =
      LLVMBuildAnd(b, is_within_reach(e, window, base, start, reach),
                   lanes_indices_hold(e, place, atomic), "");
  LLVMBuildCondBr(b, is_near, near, far);
  LLVMPositionBuilderAtEnd(b, near);
  add_in_turns(e, atomic, place,
               LLVMBuildGEP2(b, e->types.i8, window, &start, 1, ""));
  LLVMBuildBr(b, done);
  LLVMPositionBuilderAtEnd(b, far);
}

// Tests for each lane whether its element is in the window.
static void add_by_lane(lanes_emitter *e, LLVMValueRef atomic) {
  e->is_counting = true;
  lanes_scalarise(e, atomic);
  e->is_counting = false;
}

static void add_anywhere(lanes_emitter *e, LLVMValueRef atomic,
                         const lanes_base_index *place, LLVMValueRef window,
                         LLVMBasicBlockRef done) {
  LLVMBasicBlockRef all = lanes_block(e, "all.counted");
  LLVMBasicBlockRef some = lanes_block(e, "some.counted");
  const window_words words =
      find_words(e, place, LLVMGetOperand(atomic, 0), window);
  LLVMValueRef both = LLVMBuildAnd(e->builder, words.inside, e->mask, "");
  LLVMBuildCondBr(e->builder, lanes_all(e, both), all, some);
  LLVMPositionBuilderAtEnd(e->builder, all);
  add_all(e, atomic, window, words.numbers);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, some);
}

bool lanes_is_deferred(const lanes_emitter *e, LLVMValueRef atomic) {
  return e->counting.is_on && LLVMIsAAtomicRMWInst(atomic) &&
         is_addition(atomic) && !is_own(e, LLVMGetOperand(atomic, 0));
}

bool lanes_emit_deferred(lanes_emitter *e, LLVMValueRef atomic) {
  if (!lanes_is_deferred(e, atomic)) {
    return false;
  }
  LLVMBasicBlockRef counted = lanes_block(e, "counted");
  LLVMBasicBlockRef direct = lanes_block(e, "direct");
  LLVMBasicBlockRef after = lanes_block(e, "after");
  LLVMValueRef window = window_of(e, atomic);
  lanes_base_index found;
  const lanes_base_index *place =
      lanes_base_index_find(e, LLVMGetOperand(atomic, 0), &found) ? &found : NULL;
  const uint64_t reach = reach_of(e, place);
  const lanes_lines serials = e->serials;
  e->uncached = true;
  if (reach) {
    add_within_reach(e, atomic, place, window, reach, after);
  }
  LLVMBuildCondBr(e->builder,
                  call(e, "mettle.counters.ready", e->types.i1, &window, 1),
                  counted, direct);
  LLVMPositionBuilderAtEnd(e->builder, counted);
  call(e, "mettle.counters.note", e->types.nothing, &window, 1);
  if (!reach) {
    add_anywhere(e, atomic, place, window, after);
  }
  add_by_lane(e, atomic);
  LLVMBuildBr(e->builder, after);
  e->serials = serials;
  LLVMPositionBuilderAtEnd(e->builder, direct);
  lanes_scalarise(e, atomic);
  LLVMBuildBr(e->builder, after);
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, after);
  return true;
}
