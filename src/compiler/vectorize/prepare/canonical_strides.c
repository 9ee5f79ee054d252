// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// canonical_strides.c: rewrites values with a constant stride between threads
// whose operands have none:
//
//   const short row = lane / 2, half = lane % 2;
//   for (int i = row; i < n; i += 16) { ... x[(i * 32 + half * 16) / 4] ... }
//
// Such a value is the first thread's value plus a constant times the index in
// the simdgroup. The first thread's is computed beside it, with an index of 0,
// as a uniform value; a loop counter thus has two forms, one of which mostly
// ends up unused.
#include "compiler/vectorize/prepare/canonical_strides.h"

#include <stddef.h>

#include "code/code.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

enum {
  LEAST_WIDTH = 32,        // bits of numbers worth rewriting
  MOST_STEP = 4096,        // largest step for which shapes test wrapping
  MOST_INSTRUCTIONS = 64,  // of computing a first thread's number
};

// A number with the same step between all neighbouring threads.
typedef struct even_number {
  LLVMValueRef value;
  LLVMValueRef first;  // the first thread's value
  uint64_t step;
  uint64_t most;  // upper bound, as in lanes_pattern
} even_number;

typedef struct first_finder {
  const lanes_values *values;
  lanes_pattern_finder patterns;
  LLVMBuilderRef builder;
  LLVMValueRef lane;     // the thread's index in its simdgroup
  lanes_map seen;        // values visited for the current number
  lanes_map numbers;     // an instruction to its number among the firsts
  LLVMValueRef *firsts;  // [values->count] its value for the first thread
  uint32_t first_count;
  even_number *evens;  // [values->count]
  uint32_t even_count;
} first_finder;

static bool is_lane(LLVMValueRef value) {
  return LLVMIsACallInst(value) &&
         lanes_callee_of(value) == LANES_CALLEE_POSITION &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0)) ==
             MTLI_THREAD_INDEX_IN_SIMDGROUP;
}

static uint32_t width_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
             ? LLVMGetIntTypeWidth(type)
             : 0;
}

// True if shapes tell already that a number's step is constant.
static bool is_run(const first_finder *f, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(f->values, value);
  return shape.row == shape.lanes && !shape.conditional;
}

// --- Which there are ---------------------------------------------------------

// True for operations without effects for any operands.
static bool is_harmless(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt: return true;
    case LLVMUDiv:
    case LLVMURem:
    case LLVMSDiv:
    case LLVMSRem: {
      LLVMValueRef by = LLVMGetOperand(i, 1);
      return LLVMIsAConstantInt(by) && LLVMConstIntGetSExtValue(by) > 0;
    }
    default: return mtlc_is_plain_arithmetic(LLVMGetInstructionOpcode(i));
  }
}

// True if the first thread's value can be computed. A phi's is chosen by the
// same branch as the thread's own, if it has a pattern: threads have not
// diverged before it.
static bool has_first(first_finder *f, LLVMValueRef value) {
  if (is_run(f, value) || lanes_map_get(&f->seen, value) != LANES_NONE) {
    return true;
  }
  const bool is_phi = LLVMIsAPHINode(value) != NULL;
  const bool is_kind = is_phi ? lanes_has_pattern(&f->patterns, value)
                              : LLVMIsAInstruction(value) && is_harmless(value);
  if (!is_kind || !width_of(value) || f->seen.count == MOST_INSTRUCTIONS) {
    return false;
  }
  lanes_map_set(f->values->arena, &f->seen, value, 0);
  const unsigned count =
      is_phi ? LLVMCountIncoming(value) : (unsigned)LLVMGetNumOperands(value);
  for (unsigned k = 0; k < count; k++) {
    if (!has_first(f, is_phi ? LLVMGetIncomingValue(value, k)
                             : LLVMGetOperand(value, k))) {
      return false;
    }
  }
  return true;
}

// Adds a value whose step is constant although its shape does not show it.
static void look_at(first_finder *f, LLVMValueRef value) {
  if (width_of(value) < LEAST_WIDTH || width_of(value) > 64 ||
      lanes_is_scalar(lanes_shape_of(f->values, value))) {
    return;
  }
  const lanes_pattern pattern = lanes_pattern_of(&f->patterns, value);
  const int64_t step = pattern.by_bit[0];
  bool is_even =
      lanes_pattern_is_whole(&pattern) && step > 0 && step < MOST_STEP;
  for (uint32_t i = 1; i < LANES_BITS; i++) {
    is_even &= pattern.by_bit[i] == step << i;
  }
  f->seen = (lanes_map){0};
  if (is_even && has_first(f, value)) {
    f->evens[f->even_count++] = (even_number){
        .value = value, .step = (uint64_t)step, .most = pattern.most};
  }
}

// --- What they become --------------------------------------------------------

static LLVMValueRef first_of(first_finder *f, LLVMValueRef value);

static void note_first(first_finder *f, LLVMValueRef value,
                       LLVMValueRef first) {
  lanes_map_set(f->values->arena, &f->numbers, value, f->first_count);
  f->firsts[f->first_count++] = first;
}

// Drops flags such as nuw: they hold for threads that run, and the first may
// not.
static LLVMValueRef first_of_operation(first_finder *f, LLVMValueRef i) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  LLVMValueRef a = first_of(f, LLVMGetOperand(i, 0));
  LLVMValueRef b =
      LLVMGetNumOperands(i) > 1 ? first_of(f, LLVMGetOperand(i, 1)) : NULL;
  LLVMPositionBuilderBefore(f->builder, i);
  if (!b) {
    return LLVMBuildCast(f->builder, opcode, a, LLVMTypeOf(i), "");
  }
  const bool is_sum = opcode == LLVMOr && LLVMGetIsDisjoint(i);
  return LLVMBuildBinOp(f->builder, is_sum ? LLVMAdd : opcode, a, b, "");
}

static LLVMValueRef steps_of(first_finder *f, LLVMTypeRef type, uint64_t step) {
  LLVMValueRef lane = LLVMBuildIntCast2(f->builder, f->lane, type, false, "");
  return LLVMBuildMul(f->builder, lane, LLVMConstInt(type, step, false), "");
}

// Returns the first value of a consecutive number.
static LLVMValueRef first_of_run(first_finder *f, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(f->values, value);
  if (shape.stride == 0) {
    return value;
  }
  if (value == f->lane) {
    return LLVMConstNull(LLVMTypeOf(value));
  }
  mtlc_position_behind_phis(f->builder, LLVMGetNextInstruction(value));
  return LLVMBuildSub(f->builder, value,
                      steps_of(f, LLVMTypeOf(value), (uint64_t)shape.stride),
                      "");
}

static LLVMValueRef first_of_phi(first_finder *f, LLVMValueRef phi) {
  LLVMPositionBuilderBefore(f->builder, phi);
  LLVMValueRef first = LLVMBuildPhi(f->builder, LLVMTypeOf(phi), "");
  note_first(f, phi, first);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef incoming = first_of(f, LLVMGetIncomingValue(phi, k));
    LLVMAddIncoming(first, &incoming, &from, 1);
  }
  return first;
}

static LLVMValueRef first_of(first_finder *f, LLVMValueRef value) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&f->numbers, value)
                              : LANES_NONE;
  if (number != LANES_NONE) {
    return f->firsts[number];
  }
  if (LLVMIsAPHINode(value) && !is_run(f, value)) {
    return first_of_phi(f, value);
  }
  LLVMValueRef first =
      is_run(f, value) ? first_of_run(f, value) : first_of_operation(f, value);
  if (LLVMIsAInstruction(value)) {
    note_first(f, value, first);
  }
  return first;
}

static LLVMValueRef sum_of(first_finder *f, const even_number *even) {
  LLVMTypeRef type = LLVMTypeOf(even->value);
  mtlc_position_behind_phis(f->builder, LLVMGetNextInstruction(even->value));
  LLVMValueRef steps = steps_of(f, type, even->step);
  LLVMSetNUW(steps, true);  // no wrap: at most MOST_STEP
  LLVMValueRef sum = LLVMBuildAdd(f->builder, even->first, steps, "");
  if (even->most != UINT64_MAX) {
    LLVMSetNUW(sum, true);
    LLVMSetNSW(sum, even->most >> (LLVMGetIntTypeWidth(type) - 1) == 0);
  }
  return sum;
}

// --- All of them -------------------------------------------------------------

LLVMValueRef lanes_find_lane(const lanes_graph *graph) {
  for (uint32_t n = 0; n < graph->node_count; n++) {
    LLVMBasicBlockRef block = graph->nodes[n].block;
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      if (is_lane(i)) {
        return i;
      }
    }
  }
  return NULL;
}

// Moves a value to where all later code can use it.
static void put_first(LLVMBuilderRef builder, LLVMValueRef lane) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(
      LLVMGetBasicBlockParent(LLVMGetInstructionParent(lane)));
  LLVMInstructionRemoveFromParent(lane);
  LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry));
  LLVMInsertIntoBuilder(builder, lane);
}

bool lanes_canonicalise_strides(const lanes_values *values, LLVMValueRef lane) {
  first_finder f = {.values = values, .lane = lane};
  f.patterns = lanes_patterns_begin(values);
  f.firsts = lanes_allocate(values->arena, values->count, sizeof *f.firsts);
  f.evens = lanes_allocate(values->arena, values->count, sizeof *f.evens);
  f.builder =
      LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(f.lane)));
  put_first(f.builder, lane);
  for (uint32_t i = 0; i < values->count; i++) {
    look_at(&f, values->items[i]);
  }
  for (uint32_t i = 0; i < f.even_count; i++) {
    f.evens[i].first = first_of(&f, f.evens[i].value);
  }
  for (uint32_t i = 0; i < f.even_count; i++) {
    LLVMReplaceAllUsesWith(f.evens[i].value, sum_of(&f, &f.evens[i]));
  }
  LLVMDisposeBuilder(f.builder);
  return f.even_count > 0;
}
