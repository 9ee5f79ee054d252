// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_loops.c: computes the minimum and maximum of an offset over all
// iterations of the counted loops around it, so that one check before them
// suffices.
//
// A loop is counted if its only exit is a constant trip count of at least one.
// An offset is a sum of constants, of loop-invariant values, and of loop
// counters times non-negative constants: so its extremes are at the first and
// last iterations.
#include <stdlib.h>

#include "compiler/check/check.h"
#include "compiler/ir/analysis/cycles.h"

enum { MOST_DEPTH = 12, WORD_BITS = 32 };

typedef struct counted_loop {
  int cycle;
  LLVMBasicBlockRef before;  // its only block in front
  LLVMValueRef counter;      // a phi
  int64_t first, last;
} counted_loop;

typedef struct hoist {
  const mtlc_flow *flow;
  LLVMBuilderRef builder;
  counted_loop loops[MOST_DEPTH];  // [count] from the innermost out
  size_t count;
  LLVMValueRef must[2 * MOST_DEPTH];  // [must_count] i1: nothing wraps
  size_t must_count;
} hoist;

static bool is_in(const mtlc_flow *flow, LLVMBasicBlockRef block, int cycle) {
  int at = mtlc_flow_find(flow, block)->cycle;
  while (at != MTLC_NO_CYCLE && at != cycle) {
    at = flow->cycles[at].parent;
  }
  return at == cycle;
}

// --- counted loops ----------------------------------------------------------

// Sets the blocks that lead to a header from outside and from inside. False if
// there is not one of each.
static bool find_entries(const mtlc_flow *flow, int cycle,
                         LLVMBasicBlockRef *out_before,
                         LLVMBasicBlockRef *out_latch) {
  LLVMBasicBlockRef header = flow->cycles[cycle].header;
  *out_before = *out_latch = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(header)); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef end = LLVMGetUser(use);
    if (!LLVMIsATerminatorInst(end)) {
      continue;
    }
    LLVMBasicBlockRef block = LLVMGetInstructionParent(end);
    LLVMBasicBlockRef *out = is_in(flow, block, cycle) ? out_latch : out_before;
    if (*out) {
      return false;
    }
    *out = block;
  }
  return *out_before && *out_latch &&
         LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(*out_before)) == 1;
}

// True if nothing but the header's branch leaves the loop.
static bool has_one_exit(const mtlc_flow *flow, int cycle) {
  for (size_t i = 0; i < flow->block_count; ++i) {
    LLVMBasicBlockRef block = flow->blocks[i].block;
    if (block == flow->cycles[cycle].header || !is_in(flow, block, cycle)) {
      continue;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); ++k) {
      if (!is_in(flow, LLVMGetSuccessor(end, k), cycle)) {
        return false;
      }
    }
  }
  return true;
}

static LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block) {
  for (unsigned i = 0; i < LLVMCountIncoming(phi); ++i) {
    if (LLVMGetIncomingBlock(phi, i) == block) {
      return LLVMGetIncomingValue(phi, i);
    }
  }
  return NULL;
}

// Returns the bound of a comparison counter < bound, or 0.
static int64_t bound_of(LLVMValueRef comparison, LLVMValueRef counter) {
  if (!LLVMIsAICmpInst(comparison) ||
      LLVMGetOperand(comparison, 0) != counter ||
      !LLVMIsAConstantInt(LLVMGetOperand(comparison, 1))) {
    return 0;
  }
  const int64_t bound = LLVMConstIntGetSExtValue(LLVMGetOperand(comparison, 1));
  switch (LLVMGetICmpPredicate(comparison)) {
    case LLVMIntULT:
    case LLVMIntSLT: return bound;
    case LLVMIntULE:
    case LLVMIntSLE: return bound + 1;
    default: return 0;
  }
}

static bool is_counter(LLVMValueRef phi, LLVMBasicBlockRef before,
                       LLVMBasicBlockRef latch, LLVMValueRef comparison,
                       counted_loop *out) {
  LLVMValueRef first = incoming_from(phi, before);
  LLVMValueRef next = incoming_from(phi, latch);
  if (!first || !LLVMIsAConstantInt(first) || !mtlc_is_opcode(next, LLVMAdd) ||
      LLVMGetOperand(next, 0) != phi ||
      !LLVMIsAConstantInt(LLVMGetOperand(next, 1))) {
    return false;
  }
  const int64_t step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
  const int64_t bound = bound_of(comparison, phi);
  out->counter = phi;
  out->first = LLVMConstIntGetSExtValue(first);
  if (step <= 0 || out->first < 0 || bound <= out->first ||
      bound > INT32_MAX - step) {
    return false;
  }
  out->last = out->first + (bound - 1 - out->first) / step * step;
  return true;
}

static bool find_counted(const mtlc_flow *flow, int cycle, counted_loop *out) {
  LLVMBasicBlockRef header = flow->cycles[cycle].header;
  LLVMBasicBlockRef latch = NULL;
  out->cycle = cycle;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(header);
  if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) ||
      !is_in(flow, LLVMGetSuccessor(end, 0), cycle) ||
      is_in(flow, LLVMGetSuccessor(end, 1), cycle) ||
      !find_entries(flow, cycle, &out->before, &latch) ||
      !has_one_exit(flow, cycle)) {
    return false;
  }
  for (LLVMValueRef phi = LLVMGetFirstInstruction(header);
       phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    if (is_counter(phi, out->before, latch, LLVMGetCondition(end), out)) {
      return true;
    }
  }
  return false;
}

// True if each iteration of a loop passes a block: without it, the header is
// not reachable from itself.
static bool is_passed(const mtlc_flow *flow, int cycle,
                      LLVMBasicBlockRef through) {
  LLVMBasicBlockRef header = flow->cycles[cycle].header;
  mtlc_values seen = {0};
  bool comes_back = false;
  mtlc_values_add(&seen, LLVMBasicBlockAsValue(header));
  for (size_t i = 0; i < seen.count && !comes_back && through != header; ++i) {
    LLVMValueRef end =
        LLVMGetBasicBlockTerminator(LLVMValueAsBasicBlock(seen.items[i]));
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); ++k) {
      LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
      comes_back |= next == header;
      if (next != through && is_in(flow, next, cycle) &&
          !mtlc_values_has(&seen, LLVMBasicBlockAsValue(next))) {
        mtlc_values_add(&seen, LLVMBasicBlockAsValue(next));
      }
    }
  }
  free(seen.items);
  return !comes_back;
}

// Finds the counted loops that all pass an access, outwards to the first that
// is not counted.
static void find_loops(hoist *h, LLVMBasicBlockRef block) {
  int cycle = mtlc_flow_find(h->flow, block)->cycle;
  LLVMBasicBlockRef through = block;
  while (cycle != MTLC_NO_CYCLE && h->count < MOST_DEPTH) {
    counted_loop *it = &h->loops[h->count];
    // An access in the header itself has one iteration more.
    if (through == h->flow->cycles[cycle].header ||
        !is_passed(h->flow, cycle, through) ||
        !find_counted(h->flow, cycle, it)) {
      return;
    }
    h->count++;
    through = it->before;
    cycle = h->flow->cycles[cycle].parent;
  }
}

// --- extremes ---------------------------------------------------------------

static LLVMValueRef number(const hoist *h, int64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(
                          LLVMGetTypeContext(LLVMTypeOf(h->loops[0].counter))),
                      (uint64_t)value, true);
}

static const counted_loop *loop_of(const hoist *h, LLVMValueRef counter) {
  for (size_t i = 0; i < h->count; ++i) {
    if (h->loops[i].counter == counter) {
      return &h->loops[i];
    }
  }
  return NULL;
}

static bool is_fixed(const hoist *h, LLVMValueRef value) {
  return !LLVMIsAInstruction(value) ||
         !is_in(h->flow, LLVMGetInstructionParent(value),
                h->loops[h->count - 1].cycle);
}

// True if a value is computed inside the loops from invariant ones, and can be
// computed before them.
static bool is_movable(const hoist *h, LLVMValueRef value, unsigned depth) {
  enum { MOST_STEPS = 12 };
  if (is_fixed(h, value)) {
    return true;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMBitCast:
    case LLVMExtractElement: break;
    default: return false;
  }
  bool is = depth < MOST_STEPS;
  for (unsigned i = 0; is && i < (unsigned)LLVMGetNumOperands(value); ++i) {
    is = is_movable(h, LLVMGetOperand(value, i), depth + 1);
  }
  return is;
}

static LLVMValueRef moved(const hoist *h, LLVMValueRef value) {
  if (is_fixed(h, value)) {
    return value;
  }
  LLVMValueRef copy = LLVMInstructionClone(value);
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); ++i) {
    LLVMSetOperand(copy, i, moved(h, LLVMGetOperand(value, i)));
  }
  LLVMInsertIntoBuilder(h->builder, copy);
  return copy;
}

static LLVMValueRef extreme(hoist *h, LLVMValueRef value, bool is_last,
                            bool is_signed);

// Returns a constant, not negative, that a value is multiplied by; or -1.
static int64_t factor_of(LLVMValueRef value) {
  LLVMValueRef by = LLVMGetOperand(value, 1);
  if (!LLVMIsAConstantInt(by)) {
    return -1;
  }
  const int64_t factor = LLVMConstIntGetSExtValue(by);
  if (mtlc_is_opcode(value, LLVMMul)) {
    return factor <= INT32_MAX ? factor : -1;
  }
  return factor >= 0 && factor < WORD_BITS - 1 ? (int64_t)1 << factor : -1;
}

// Returns the sum under an extension, if it does not wrap.
static LLVMValueRef extended(hoist *h, LLVMValueRef value, bool is_last) {
  const bool is_signed = LLVMIsASExtInst(value) != NULL;
  LLVMValueRef sum = extreme(h, LLVMGetOperand(value, 0), is_last, is_signed);
  if (!sum || h->must_count == 2 * MOST_DEPTH ||
      LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(value, 0))) != WORD_BITS) {
    return NULL;
  }
  LLVMValueRef above =
      is_signed ? LLVMBuildAdd(h->builder, sum,
                               number(h, (int64_t)1 << (WORD_BITS - 1)), "")
                : sum;
  h->must[h->must_count++] = LLVMBuildICmp(
      h->builder, LLVMIntULT, above, number(h, (int64_t)1 << WORD_BITS), "");
  return sum;
}

// Returns an i64 in front of the outermost loop; NULL if the offset is no such
// sum. A value of 32 bits is computed with more, which is the same modulo 2^32.
static LLVMValueRef extreme(hoist *h, LLVMValueRef value, bool is_last,
                            bool is_signed) {
  LLVMTypeRef wide = LLVMTypeOf(number(h, 0));
  if (LLVMIsAConstantInt(value)) {
    return number(h, LLVMConstIntGetSExtValue(value));
  }
  if (is_movable(h, value, 0)) {
    LLVMValueRef copy = moved(h, value);
    return is_signed ? LLVMBuildSExtOrBitCast(h->builder, copy, wide, "")
                     : LLVMBuildZExtOrBitCast(h->builder, copy, wide, "");
  }
  const counted_loop *loop = loop_of(h, value);
  if (loop) {
    return number(h, is_last ? loop->last : loop->first);
  }
  if (LLVMIsAZExtInst(value) || LLVMIsASExtInst(value)) {
    return extended(h, value, is_last);
  }
  switch (LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : 0) {
    case LLVMAdd: {
      LLVMValueRef a = extreme(h, LLVMGetOperand(value, 0), is_last, is_signed);
      LLVMValueRef b = extreme(h, LLVMGetOperand(value, 1), is_last, is_signed);
      return a && b ? LLVMBuildAdd(h->builder, a, b, "") : NULL;
    }
    case LLVMMul:
    case LLVMShl: {
      const int64_t factor = factor_of(value);
      LLVMValueRef a =
          factor < 0 ? NULL
                     : extreme(h, LLVMGetOperand(value, 0), is_last, is_signed);
      return a ? LLVMBuildMul(h->builder, a, number(h, factor), "") : NULL;
    }
    default: return NULL;
  }
}

bool mtlc_extremes(const mtlc_flow *flow, LLVMBuilderRef builder,
                   LLVMValueRef access, LLVMValueRef offset,
                   mtlc_extreme_offsets *out) {
  hoist h = {.flow = flow, .builder = builder};
  find_loops(&h, LLVMGetInstructionParent(access));
  if (!h.count || is_fixed(&h, offset)) {
    return false;
  }
  LLVMPositionBuilderBefore(
      builder, LLVMGetBasicBlockTerminator(h.loops[h.count - 1].before));
  out->least = extreme(&h, offset, false, false);
  out->most = out->least ? extreme(&h, offset, true, false) : NULL;
  out->holds = NULL;
  for (size_t i = 0; out->most && i < h.must_count; ++i) {
    out->holds = out->holds ? LLVMBuildAnd(builder, out->holds, h.must[i], "")
                            : h.must[i];
  }
  return out->most;
}
