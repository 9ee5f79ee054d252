// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// make_coroutines.c: makes each thread a coroutine that suspends where it
// waits for others, and puts the scheduler of ir/text/schedule.ll over them.
//
// Requires  mettle.thread; stands back if mettle.group is already there
// Leaves    mettle.group and mettle.context_bytes; no convergent function
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ir/transform/thread_state.h"
#include "compiler/passes/lower/execute_functions.h"
#include "compiler/passes/passes.h"

// Parameters of the body after those of thread_state.h.
enum {
  BODY_WAITING = MTLC_BODY_PARAMETER_COUNT,  // %waiting of schedule.ll
  BODY_FRAME,
};

// States of schedule.ll.
enum { STATE_RETURNED = 0, STATE_BARRIER = 1, STATE_FIRST_FUNCTION = 2 };

enum { FRAME_ALIGNMENT = 64, SIMD_WIDTH = 32 };

// Bytes of a thread in the tables of schedule.ll: state, value and operand.
enum { TABLES_BYTES = 4 + 8 + 4 };

// A call that the thread waits at, and its key.
typedef struct wait {
  LLVMValueRef call;
  uint32_t state;
  uint32_t place;     // in its block
  LLVMValueRef *key;  // [key_words]; NULL at a threadgroup barrier
} wait;

typedef struct coroutine {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef body;
  mtlc_values functions;  // the simdgroup functions in use, by number
  wait *waits;            // [wait_count]
  size_t wait_count;
  uint32_t key_words;
  // Addresses of this thread's entries in the tables of schedule.ll.
  LLVMValueRef state_at;
  LLVMValueRef value_at;
  LLVMValueRef operand_at;
  LLVMValueRef key_at;
  LLVMValueRef frames;     // NULL without offers
  LLVMValueRef offers_at;  // this thread's
  LLVMValueRef handle;
  LLVMBasicBlockRef end;
  uint32_t offer_count;  // 8 bytes each, behind the thread's frame
} coroutine;

static uint32_t function_number(coroutine *c, LLVMValueRef function) {
  for (size_t i = 0; i < c->functions.count; ++i) {
    if (c->functions.items[i] == function) {
      return (uint32_t)i;
    }
  }
  mtlc_values_add(&c->functions, function);
  return (uint32_t)c->functions.count - 1;
}

static void collect_waits(coroutine *c) {
  mtlc_values calls = {0};
  mtlc_collect_calls(c->kernel->module, "mettle.barrier.", &calls);
  mtlc_collect_calls(c->kernel->module, "mettle.simd.", &calls);
  c->waits = calloc(calls.count, sizeof c->waits[0]);
  c->wait_count = calls.count;
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMValueRef callee = mtlc_callee(calls.items[i]);
    const bool is_barrier =
        strcmp(mtlc_name(callee), "mettle.barrier.threadgroup") == 0;
    c->waits[i].call = calls.items[i];
    c->waits[i].state = is_barrier
                            ? STATE_BARRIER
                            : STATE_FIRST_FUNCTION + function_number(c, callee);
  }
  free(calls.items);
}

// --- keys --------------------------------------------------------------------

typedef struct turn_counters {
  mtlc_flow flow;
  bool *is_used;           // [cycle_count] a simdgroup function is inside
  LLVMValueRef *counters;  // [cycle_count] allocas
} turn_counters;

static unsigned cycle_depth(const mtlc_flow *flow, int cycle) {
  unsigned depth = 0;
  for (; cycle != MTLC_NO_CYCLE; cycle = flow->cycles[cycle].parent) {
    ++depth;
  }
  return depth;
}

// Calls in one block come in their order in it.
static uint32_t place_in_block(LLVMValueRef call) {
  uint32_t place = 0;
  for (LLVMValueRef at = call; at; at = LLVMGetPreviousInstruction(at)) {
    ++place;
  }
  return place;
}

static void mark_cycles(coroutine *c, turn_counters *turns) {
  for (size_t i = 0; i < c->wait_count; ++i) {
    const mtlc_flow_block *block = mtlc_flow_find(
        &turns->flow, LLVMGetInstructionParent(c->waits[i].call));
    c->waits[i].place = place_in_block(c->waits[i].call);
    if (c->waits[i].state == STATE_BARRIER) {
      continue;
    }
    const uint32_t words = 2 * cycle_depth(&turns->flow, block->cycle) + 2;
    c->key_words = words > c->key_words ? words : c->key_words;
    for (int cycle = block->cycle; cycle != MTLC_NO_CYCLE;
         cycle = turns->flow.cycles[cycle].parent) {
      turns->is_used[cycle] = true;
    }
  }
}

// A cycle is entered anew only through the header of the cycle around it: there
// its counter starts again.
static void count_turns(coroutine *c, turn_counters *turns, size_t cycle) {
  LLVMValueRef zero = mtlc_i32(c->kernel->context, 0);
  LLVMValueRef one = mtlc_i32(c->kernel->context, 1);
  mtlc_position_behind_phis(
      c->builder, LLVMGetFirstInstruction(turns->flow.cycles[cycle].header));
  LLVMValueRef counter = turns->counters[cycle];
  LLVMValueRef turn = LLVMBuildLoad2(c->builder, c->types.i32, counter, "");
  LLVMBuildStore(c->builder, LLVMBuildAdd(c->builder, turn, one, ""), counter);
  for (size_t i = 0; i < turns->flow.cycle_count; ++i) {
    if (turns->is_used[i] && turns->flow.cycles[i].parent == (int)cycle) {
      LLVMBuildStore(c->builder, zero, turns->counters[i]);
    }
  }
}

static void make_counters(coroutine *c, turn_counters *turns) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->kernel->thread);
  for (size_t i = 0; i < turns->flow.cycle_count; ++i) {
    if (turns->is_used[i]) {
      LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(entry));
      turns->counters[i] = LLVMBuildAlloca(c->builder, c->types.i32, "turn");
      LLVMBuildStore(c->builder, mtlc_i32(c->kernel->context, 0),
                     turns->counters[i]);
    }
  }
  for (size_t i = 0; i < turns->flow.cycle_count; ++i) {
    if (turns->is_used[i]) {
      count_turns(c, turns, i);
    }
  }
}

// Fills in a key from the call outwards: two words for the call and two for
// each cycle around it.
static void make_key(coroutine *c, const turn_counters *turns, wait *w) {
  const mtlc_flow *flow = &turns->flow;
  LLVMContextRef context = c->kernel->context;
  const mtlc_flow_block *block =
      mtlc_flow_find(flow, LLVMGetInstructionParent(w->call));
  w->key = calloc(c->key_words, sizeof w->key[0]);
  for (uint32_t i = 0; i < c->key_words; ++i) {
    w->key[i] = mtlc_i32(context, 0);
  }
  unsigned depth = cycle_depth(flow, block->cycle);
  w->key[2 * depth] = mtlc_i32(context, block->order);
  w->key[2 * depth + 1] = mtlc_i32(context, w->place);
  LLVMPositionBuilderBefore(c->builder, w->call);
  for (int cycle = block->cycle; cycle != MTLC_NO_CYCLE;
       cycle = flow->cycles[cycle].parent) {
    --depth;
    const mtlc_flow_block *header =
        mtlc_flow_find(flow, flow->cycles[cycle].header);
    w->key[2 * depth] = mtlc_i32(context, header->order);
    w->key[2 * depth + 1] =
        LLVMBuildLoad2(c->builder, c->types.i32, turns->counters[cycle], "");
  }
}

static void make_keys(coroutine *c) {
  turn_counters turns = {.flow = mtlc_flow_of(c->kernel->thread)};
  turns.is_used = calloc(turns.flow.cycle_count + 1, sizeof turns.is_used[0]);
  turns.counters = calloc(turns.flow.cycle_count + 1, sizeof turns.counters[0]);
  mark_cycles(c, &turns);
  make_counters(c, &turns);
  for (size_t i = 0; i < c->wait_count; ++i) {
    if (c->waits[i].state != STATE_BARRIER) {
      make_key(c, &turns, &c->waits[i]);
    }
  }
  free(turns.is_used);
  free(turns.counters);
  mtlc_flow_clear(&turns.flow);
}

// --- offers ------------------------------------------------------------------

// Returns a call of mettle.offer that a shuffle's operand is, or NULL.
static LLVMValueRef offer_of(LLVMValueRef shuffle) {
  LLVMValueRef value = LLVMGetOperand(shuffle, 0);
  return mtlc_is_call_of(value, MTLC_OFFER_PREFIX) ? value : NULL;
}

static uint32_t offer_number(LLVMValueRef offer) {
  return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(offer, 1));
}

// Returns the address of what a thread of this threadgroup offers: the end of
// its place among the frames.
static LLVMValueRef offers_of(const coroutine *c, LLVMValueRef index) {
  LLVMValueRef bytes = LLVMBuildLoad2(
      c->builder, c->types.i64,
      LLVMGetNamedGlobal(c->kernel->module, "mettle.frame_bytes"), "");
  LLVMValueRef next = LLVMBuildAdd(
      c->builder, LLVMBuildZExt(c->builder, index, c->types.i64, ""),
      mtlc_i64(c->kernel->context, 1), "");
  LLVMValueRef end = LLVMBuildMul(c->builder, next, bytes, "");
  LLVMValueRef offset = LLVMBuildSub(
      c->builder, end,
      mtlc_i64(c->kernel->context, c->offer_count * sizeof(uint64_t)), "");
  return LLVMBuildGEP2(c->builder, c->types.i8, c->frames, &offset, 1, "");
}

static void find_offers(coroutine *c) {
  mtlc_values offers = {0};
  mtlc_collect_calls(c->kernel->module, MTLC_OFFER_PREFIX, &offers);
  for (size_t i = 0; i < offers.count; ++i) {
    const uint32_t number = offer_number(offers.items[i]);
    c->offer_count = number < c->offer_count ? c->offer_count : number + 1;
  }
  free(offers.items);
}

// A thread that has offered nothing offers zeros.
static void begin_offers(coroutine *c) {
  if (c->offer_count) {
    LLVMValueRef waiting = LLVMGetParam(c->body, BODY_WAITING);
    c->frames = LLVMBuildLoad2(
        c->builder, c->types.pointer,
        mtlc_offset(c->builder, waiting, 4 * sizeof(void *)), "");
    c->offers_at = offers_of(c, LLVMGetParam(c->body, MTLC_BODY_INDEX));
    LLVMBuildMemSet(
        c->builder, c->offers_at, LLVMConstNull(c->types.i8),
        mtlc_i64(c->kernel->context, c->offer_count * sizeof(uint64_t)),
        sizeof(uint64_t));
  }
}

// --- suspending --------------------------------------------------------------

// Inserts an instruction with its own name and line; a builder would overwrite
// them.
static void insert_unchanged(LLVMBuilderRef builder, LLVMValueRef instruction) {
  char name[64];
  snprintf(name, sizeof name, "%s", mtlc_name(instruction));
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMInsertIntoBuilderWithName(builder, instruction, name);
}

// Splits the instruction's block in two: the code before it moves to a new
// block in its place, which is returned. Terminator and successors stay.
static LLVMBasicBlockRef cut_before(LLVMBuilderRef builder,
                                    LLVMValueRef instruction) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
  LLVMBasicBlockRef before = LLVMInsertBasicBlockInContext(context, block, "");
  // Without its terminator a block has no successors, so that redirecting
  // edges to it leaves the phis alone that name it as where they come from.
  LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
  LLVMInstructionRemoveFromParent(terminator);
  LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block),
                         LLVMBasicBlockAsValue(before));
  LLVMPositionBuilderAtEnd(builder, block);
  insert_unchanged(builder, terminator);
  LLVMPositionBuilderAtEnd(builder, before);
  LLVMValueRef moved;
  while ((moved = LLVMGetFirstInstruction(block)) != instruction) {
    LLVMInstructionRemoveFromParent(moved);
    insert_unchanged(builder, moved);
  }
  return before;
}

static LLVMValueRef table_entry(const coroutine *c, unsigned field,
                                LLVMValueRef index, uint64_t bytes) {
  LLVMValueRef waiting = LLVMGetParam(c->body, BODY_WAITING);
  LLVMValueRef at = mtlc_offset(c->builder, waiting, field * sizeof(void *));
  LLVMValueRef table = LLVMBuildLoad2(c->builder, c->types.pointer, at, "");
  LLVMValueRef offset = LLVMBuildMul(
      c->builder, LLVMBuildZExt(c->builder, index, c->types.i64, ""),
      mtlc_i64(c->kernel->context, bytes), "");
  return LLVMBuildGEP2(c->builder, c->types.i8, table, &offset, 1, "");
}

// The coroutine begins: the frame is where the scheduler says. The size that
// it needs is known only once LLVM has laid it out; the call of mettle.frame_is
// keeps it until then.
static void begin_coroutine(coroutine *c) {
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef null = LLVMConstNull(c->types.pointer);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->body);
  LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(entry));
  // LLVM expects debug information about the promise of a coroutine that is
  // marked as C++, so this one has a promise, never used.
  LLVMValueRef promise = LLVMBuildAlloca(c->builder, c->types.i64, "promise");
  LLVMValueRef id_arguments[] = {mtlc_i32(context, FRAME_ALIGNMENT), promise,
                                 null, null};
  LLVMValueRef id =
      mtlc_call_intrinsic(c->builder, "llvm.coro.id", NULL, 0, id_arguments, 4);
  LLVMValueRef size = mtlc_call_intrinsic(c->builder, "llvm.coro.size",
                                          &c->types.i64, 1, NULL, 0);
  LLVMTypeRef type =
      LLVMFunctionType(c->types.nothing, &c->types.i64, 1, false);
  mtlc_call(c->builder,
            mtlc_declare(c->kernel->module, "mettle.frame_is", type), &size, 1);
  LLVMValueRef begin_arguments[] = {id, LLVMGetParam(c->body, BODY_FRAME)};
  c->handle = mtlc_call_intrinsic(c->builder, "llvm.coro.begin", NULL, 0,
                                  begin_arguments, 2);
  LLVMValueRef index = LLVMGetParam(c->body, MTLC_BODY_INDEX);
  c->state_at = table_entry(c, 0, index, 4);
  c->value_at = table_entry(c, 1, index, 8);
  c->operand_at = table_entry(c, 2, index, 4);
  c->key_at = table_entry(c, 3, index, 4 * (uint64_t)c->key_words);
  begin_offers(c);
}

// Makes the block in which every exit ends, with a suspended or a returned
// thread.
static void make_end(coroutine *c) {
  c->end = LLVMAppendBasicBlockInContext(c->kernel->context, c->body, "end");
  LLVMPositionBuilderAtEnd(c->builder, c->end);
  LLVMValueRef arguments[] = {c->handle, LLVMConstNull(c->types.i1),
                              LLVMConstNull(c->types.token)};
  mtlc_call_intrinsic(c->builder, "llvm.coro.end", NULL, 0, arguments, 3);
  LLVMBuildRetVoid(c->builder);
}

static void end_returns(coroutine *c) {
  LLVMValueRef returned = mtlc_i32(c->kernel->context, STATE_RETURNED);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(c->body); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    if (block == c->end || !LLVMIsAReturnInst(last)) {
      continue;
    }
    LLVMPositionBuilderBefore(c->builder, last);
    LLVMBuildStore(c->builder, returned, c->state_at);
    LLVMBuildBr(c->builder, c->end);
    LLVMInstructionEraseFromParent(last);
  }
}

static LLVMValueRef to_bits(const coroutine *c, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (type == c->types.f32) {
    value = LLVMBuildBitCast(c->builder, value, c->types.i32, "");
  } else if (type == c->types.f16) {
    value = LLVMBuildBitCast(c->builder, value, c->types.i16, "");
  }
  return LLVMBuildZExtOrBitCast(c->builder, value, c->types.i64, "");
}

static LLVMValueRef from_bits(const coroutine *c, LLVMValueRef bits,
                              LLVMTypeRef type) {
  if (type == c->types.f32) {
    bits = LLVMBuildTrunc(c->builder, bits, c->types.i32, "");
  } else if (type == c->types.f16) {
    bits = LLVMBuildTrunc(c->builder, bits, c->types.i16, "");
  } else {
    return LLVMBuildTruncOrBitCast(c->builder, bits, type, "");
  }
  return LLVMBuildBitCast(c->builder, bits, type, "");
}

static void lower_offers(coroutine *c) {
  mtlc_values offers = {0};
  mtlc_collect_calls(c->kernel->module, MTLC_OFFER_PREFIX, &offers);
  for (size_t i = 0; i < offers.count; ++i) {
    LLVMValueRef offer = offers.items[i];
    LLVMValueRef value = LLVMGetOperand(offer, 0);
    LLVMPositionBuilderBefore(c->builder, offer);
    LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(offer));
    LLVMBuildStore(c->builder, to_bits(c, value),
                   mtlc_offset(c->builder, c->offers_at,
                               offer_number(offer) * sizeof(uint64_t)));
    mtlc_replace(offer, value);
  }
  free(offers.items);
}

// Returns what a shuffle gives: `bits` if the thread that it names has taken
// part, else what that thread has offered. mettle.execute_shuffle leaves the
// threads that did in place of the operand.
static LLVMValueRef offered(const coroutine *c, LLVMValueRef shuffle,
                            LLVMValueRef bits) {
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef mask =
      LLVMBuildLoad2(c->builder, c->types.i32, c->operand_at, "");
  LLVMValueRef lane = LLVMBuildAnd(c->builder, LLVMGetOperand(shuffle, 1),
                                   mtlc_i32(context, SIMD_WIDTH - 1), "");
  LLVMValueRef takes_part = LLVMBuildTrunc(
      c->builder, LLVMBuildLShr(c->builder, mask, lane, ""), c->types.i1, "");
  LLVMValueRef other = LLVMConstNull(c->types.i64);
  LLVMValueRef offer = offer_of(shuffle);
  if (offer) {
    LLVMValueRef own = LLVMGetParam(c->body, MTLC_BODY_INDEX);
    LLVMValueRef first = LLVMBuildAnd(
        c->builder, own, mtlc_i32(context, ~(uint32_t)(SIMD_WIDTH - 1)), "");
    LLVMValueRef index = LLVMBuildOr(c->builder, first, lane, "");
    LLVMValueRef threads = LLVMBuildLoad2(
        c->builder, c->types.i32,
        mtlc_offset(c->builder, LLVMGetParam(c->body, MTLC_BODY_GROUP),
                    offsetof(mtli_cpu_group, threads)),
        "");
    LLVMValueRef exists =
        LLVMBuildICmp(c->builder, LLVMIntULT, index, threads, "");
    LLVMValueRef place = mtlc_offset(
        c->builder,
        offers_of(c, LLVMBuildSelect(c->builder, exists, index, own, "")),
        offer_number(offer) * sizeof(uint64_t));
    other = LLVMBuildSelect(c->builder, exists,
                            LLVMBuildLoad2(c->builder, c->types.i64, place, ""),
                            other, "");
  }
  return LLVMBuildSelect(c->builder, takes_part, bits, other, "");
}

static void store_request(coroutine *c, const wait *w) {
  const bool is_function = w->state != STATE_BARRIER;
  const unsigned count = LLVMGetNumArgOperands(w->call);
  LLVMValueRef callee = mtlc_callee(w->call);
  const bool has_value = mtlc_starts_with(mtlc_name(callee), "mettle.simd.");
  if (has_value) {
    LLVMBuildStore(c->builder, to_bits(c, LLVMGetOperand(w->call, 0)),
                   c->value_at);
  }
  if (has_value && count > 1) {
    LLVMBuildStore(c->builder, LLVMGetOperand(w->call, 1), c->operand_at);
  }
  for (uint32_t i = 0; is_function && i < c->key_words; ++i) {
    LLVMBuildStore(c->builder, w->key[i],
                   mtlc_offset(c->builder, c->key_at, 4 * (uint64_t)i));
  }
  LLVMBuildStore(c->builder, mtlc_i32(c->kernel->context, w->state),
                 c->state_at);
}

static void suspend_at(coroutine *c, const wait *w) {
  LLVMBasicBlockRef after = LLVMGetInstructionParent(w->call);
  LLVMBasicBlockRef before = cut_before(c->builder, w->call);
  LLVMPositionBuilderAtEnd(c->builder, before);
  LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(w->call));
  store_request(c, w);
  LLVMValueRef arguments[] = {LLVMConstNull(c->types.token),
                              LLVMConstNull(c->types.i1)};
  LLVMValueRef way = mtlc_call_intrinsic(c->builder, "llvm.coro.suspend", NULL,
                                         0, arguments, 2);
  LLVMValueRef ways = LLVMBuildSwitch(c->builder, way, c->end, 1);
  LLVMAddCase(ways, LLVMConstInt(c->types.i8, 0, false), after);
  LLVMPositionBuilderBefore(c->builder, w->call);
  LLVMTypeRef type = LLVMTypeOf(w->call);
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind) {
    LLVMInstructionEraseFromParent(w->call);
    return;
  }
  LLVMValueRef bits = LLVMBuildLoad2(c->builder, c->types.i64, c->value_at, "");
  if (mtlc_is_call_of(w->call, "mettle.simd.shuffle.")) {
    bits = offered(c, w->call, bits);
  }
  mtlc_replace(w->call, from_bits(c, bits, type));
}

// --- all of it ---------------------------------------------------------------

static void set_global(mtlc_kernel *kernel, const char *name, uint64_t value) {
  LLVMValueRef global = LLVMGetNamedGlobal(kernel->module, name);
  LLVMSetInitializer(global, mtlc_i64(kernel->context, value));
  LLVMSetLinkage(global, LLVMInternalLinkage);
}

// Drops the destructors: no thread is destroyed, and its frame is freed with
// the threadgroup.
static void drop_destructors(coroutine *c) {
  static const char *const names[] = {MTLC_BODY_FUNCTION ".destroy",
                                      MTLC_BODY_FUNCTION ".cleanup"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    LLVMValueRef function = LLVMGetNamedFunction(c->kernel->module, names[i]);
    if (function) {
      LLVMReplaceAllUsesWith(function, LLVMConstNull(c->types.pointer));
      LLVMDeleteFunction(function);
    }
  }
}

// Lets LLVM split the coroutine, then takes the frame's size from the call
// that kept it.
static mtl_status split(coroutine *c) {
  MTL_TRY(mtlc_run_llvm_passes(
      c->kernel, c->kernel->tier == MTLI_TIER_0
                     ? "coro-early,cgscc(coro-split),coro-cleanup,globaldce"
                     : "coro-early,function(sroa,early-cse,simplifycfg),"
                       "cgscc(coro-split<reuse-storage>),coro-cleanup,"
                       "globaldce"));
  drop_destructors(c);
  mtlc_values calls = {0};
  mtlc_collect_calls(c->kernel->module, "mettle.frame_is", &calls);
  uint64_t bytes = 0;
  for (size_t i = 0; i < calls.count; ++i) {
    bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(calls.items[i], 0));
    LLVMInstructionEraseFromParent(calls.items[i]);
  }
  free(calls.items);
  if (bytes == 0) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "kernel %s: LLVM did not make a coroutine of it",
                     c->kernel->kernel->name);
  }
  bytes += c->offer_count * sizeof(uint64_t);
  bytes = (bytes + FRAME_ALIGNMENT - 1) / FRAME_ALIGNMENT * FRAME_ALIGNMENT;
  set_global(c->kernel, "mettle.frame_bytes", bytes);
  c->kernel->thread_bytes = bytes;
  mtlc_report(c->kernel,
              "threads: coroutines, %zu waits, %llu bytes of frame a thread",
              c->wait_count, (unsigned long long)bytes);
  return MTL_OK;
}

static mtl_status make_coroutine(coroutine *c) {
  // Blocks are split by moving instructions. LLVM's debug variables move with
  // them only in the format with instructions of their own.
  LLVMSetIsNewDbgInfoFormat(c->kernel->module, false);
  collect_waits(c);
  make_keys(c);
  MTL_TRY(mtlc_link_text(c->kernel, "schedule",
                         c->kernel->tier == MTLI_TIER_CHECKED
                             ? mtlc_text_check_schedule
                             : mtlc_text_schedule));
  set_global(c->kernel, "mettle.key_words", c->key_words);
  c->kernel->simdgroup_bytes =
      SIMD_WIDTH * (TABLES_BYTES + sizeof(uint32_t) * (uint64_t)c->key_words);
  c->body = LLVMGetNamedFunction(c->kernel->module, MTLC_BODY_FUNCTION);
  MTL_TRY(mtlc_bind_thread(c->kernel, c->body));
  mtlc_set_attribute(c->body, "nounwind", 0);
  mtlc_set_attribute(c->body, "presplitcoroutine", 0);
  find_offers(c);
  begin_coroutine(c);
  make_end(c);
  end_returns(c);
  for (size_t i = 0; i < c->wait_count; ++i) {
    suspend_at(c, &c->waits[i]);
  }
  lower_offers(c);
  MTL_TRY(mtlc_define_execute(c->kernel, &c->functions));
  return split(c);
}

mtl_status mtlc_make_coroutines(mtlc_kernel *kernel) {
  if (kernel->has_group) {
    return MTL_OK;
  }
  coroutine c = {.kernel = kernel,
                 .types = mtlc_types_of(kernel->context),
                 .builder = LLVMCreateBuilderInContext(kernel->context)};
  const mtl_status status = make_coroutine(&c);
  for (size_t i = 0; i < c.wait_count; ++i) {
    free(c.waits[i].key);
  }
  free(c.waits);
  free(c.functions.items);
  LLVMDisposeBuilder(c.builder);
  LLVMSetIsNewDbgInfoFormat(kernel->module, true);
  kernel->has_group = status == MTL_OK;
  return status;
}
