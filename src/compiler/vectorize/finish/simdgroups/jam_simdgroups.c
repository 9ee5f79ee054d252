// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// jam_simdgroups.c: runs several simdgroups of a threadgroup interleaved
// (unroll and jam). A loop that sums in one vector waits for each addition; the
// sums of four simdgroups fill that latency, and what they share is loaded
// once.
//
// A copy of a simdgroup's function, whose branches do not depend on the
// simdgroup, is widened to several: each instruction that depends on the
// simdgroup is repeated for each. Kernels cannot rely on an order of
// simdgroups.
#include "compiler/vectorize/finish/simdgroups/jam_simdgroups.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum {
  MOST = LANES_MOST_AT_ONCE,
  REGISTER_BITS = 512,
  // For values kept across iterations. 32 registers hold them, since values
  // that are only read can stay in memory.
  MOST_REGISTERS = 40,
  LARGEST_INSTRUCTIONS = 1200,
  MOST_INSTRUCTIONS = 1000,  // of all copies: they cost compile time
  FARTHEST_AHEAD_BYTES = 256 * 1024,
};

typedef struct copies {
  mtli_arena *arena;
  LLVMValueRef function;
  bool same_x;
  lanes_map own;        // number of each instruction that every simdgroup needs
                        // its own of
  LLVMValueRef *items;  // [count] those instructions
  uint32_t count;
  LLVMValueRef (*made)[MOST];  // [count] each simdgroup's instruction
  uint32_t simdgroups;
  lanes_map blocks;         // to their numbers
  LLVMBasicBlockRef *work;  // [blocks] scratch
  uint32_t *visits;         // [blocks] the last search that visited it
  uint32_t searches;
} copies;

// --- What differs ------------------------------------------------------------

static bool is_own_parameter(const copies *c, LLVMValueRef value) {
  static const lanes_parameter own[] = {LANES_FIRST, LANES_Y, LANES_Z, LANES_X};
  const uint32_t count = c->same_x ? 3 : 4;
  for (uint32_t i = 0; i < count; i++) {
    if (value == LLVMGetParam(c->function, own[i])) {
      return true;
    }
  }
  return false;
}

static bool is_own(const copies *c, LLVMValueRef value) {
  return LLVMIsAArgument(value)
             ? is_own_parameter(c, value)
             : LLVMIsAInstruction(value) &&
                   lanes_map_get(&c->own, value) != LANES_NONE;
}

static bool has_own_operand(const copies *c, LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    if (!LLVMValueIsBasicBlock(operand) && is_own(c, operand)) {
      return true;
    }
  }
  return false;
}

// True if each simdgroup has to do it, even if all do the same.
static bool has_effect(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore:
    case LLVMAlloca: return true;
    case LLVMCall: return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind;
    default: return false;
  }
}

static void add_own(copies *c, LLVMValueRef i) {
  lanes_map_set(c->arena, &c->own, i, c->count);
  c->items[c->count++] = i;
}

static bool is_terminator(LLVMValueRef i) {
  return LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(i)) == i;
}

static void find_own(copies *c) {
  for (bool changed = true; changed;) {
    changed = false;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(c->function); block;
         block = LLVMGetNextBasicBlock(block)) {
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
           i = LLVMGetNextInstruction(i)) {
        if (!is_terminator(i) && !is_own(c, i) &&
            (has_effect(i) || has_own_operand(c, i))) {
          add_own(c, i);
          changed = true;
        }
      }
    }
  }
}

// --- Whether it can be done --------------------------------------------------

static bool is_known_call(LLVMValueRef call) {
  return mtlc_is_call_of(call, "llvm.");
}

static bool is_of_all(const copies *c, LLVMValueRef end) {
  switch (LLVMGetInstructionOpcode(end)) {
    case LLVMBr:
      return !LLVMIsConditional(end) || !is_own(c, LLVMGetCondition(end)) ||
             lanes_is_check(end);
    case LLVMRet: return LLVMIsConstant(LLVMGetOperand(end, 0));
    default: return false;
  }
}

static bool can_be_copied(const copies *c, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return false;
    case LLVMLoad:
    case LLVMStore:
      return lanes_is_plain(i);
    case LLVMCall: return is_known_call(i);
    default: return !is_terminator(i) || is_of_all(c, i);
  }
}

// --- How many ----------------------------------------------------------------

static uint32_t registers_of(const copies *c, LLVMTargetDataRef data,
                             LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
      LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind) {
    return 0;
  }
  const uint64_t bits = LLVMSizeOfTypeInBits(data, type);
  return (uint32_t)(bits / REGISTER_BITS) * (is_own(c, value) ? 1 : 0);
}

static void number_blocks(copies *c) {
  uint32_t count = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(c->function); block;
       block = LLVMGetNextBasicBlock(block)) {
    lanes_map_set(c->arena, &c->blocks, block, count++);
  }
  c->work = lanes_allocate(c->arena, count, sizeof *c->work);
  c->visits = lanes_allocate(c->arena, count, sizeof *c->visits);
}

// True if control can return to a block without passing another one.
static bool is_reached_again(copies *c, LLVMBasicBlockRef block,
                        LLVMBasicBlockRef other) {
  uint32_t count = 0;
  c->work[count++] = block;
  c->visits[lanes_map_get(&c->blocks, other)] = ++c->searches;
  while (count) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(c->work[--count]);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
      uint32_t *visit = &c->visits[lanes_map_get(&c->blocks, to)];
      if (to == block) {
        return true;
      }
      if (*visit != c->searches) {
        *visit = c->searches;
        c->work[count++] = to;
      }
    }
  }
  return false;
}

// True if a loop uses a value computed before it.
static bool is_live_into_loop(copies *c, LLVMValueRef value) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    LLVMBasicBlockRef to = LLVMGetInstructionParent(user);
    if (!LLVMIsAPHINode(user) && to != block && is_reached_again(c, to, block)) {
      return true;
    }
  }
  return false;
}

// True for a loop-carried phi.
static bool is_loop_carried(LLVMValueRef phi, LLVMValueRef value, uint32_t depth) {
  if (value == phi) {
    return true;
  }
  if (!LLVMIsAInstruction(value) || depth == 0) {
    return false;
  }
  const int count = LLVMGetNumOperands(value);
  for (int k = 0; k < count; k++) {
    LLVMValueRef operand = LLVMGetOperand(value, (unsigned)k);
    if (!LLVMValueIsBasicBlock(operand) &&
        is_loop_carried(phi, operand, depth - 1)) {
      return true;
    }
  }
  return false;
}

static bool is_sum(LLVMValueRef phi) {
  enum { CHAIN = 4 };  // operations between two iterations' values
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    if (value != phi && is_loop_carried(phi, value, CHAIN)) {
      return true;
    }
  }
  return false;
}

// Returns the registers of one simdgroup's accumulators and of values that
// loops reuse; 0 if it accumulates nothing.
static uint32_t lasting_registers(copies *c, LLVMTargetDataRef data) {
  uint32_t lasting = 0;
  bool sums = false;
  for (uint32_t n = 0; n < c->count; n++) {
    LLVMValueRef i = c->items[n];
    const uint32_t registers = registers_of(c, data, i);
    const bool is_loops = registers && LLVMIsAPHINode(i) && is_sum(i);
    sums |= is_loops;
    if (registers && (is_loops || is_live_into_loop(c, i))) {
      lasting += registers;
    }
  }
  return sums ? lasting : 0;
}

static bool loads_vector(LLVMValueRef i) {
  const char *name = mtlc_callee_name(i);
  return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind &&
         (LLVMIsALoadInst(i) || mtlc_starts_with(name, "llvm.masked.load.") ||
          mtlc_starts_with(name, "llvm.masked.gather."));
}

// True if a loop loads a vector that is the same for all simdgroups.
static bool shares_loads(copies *c) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->function);
  for (LLVMBasicBlockRef block = LLVMGetNextBasicBlock(entry); block;
       block = LLVMGetNextBasicBlock(block)) {
    bool any = false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      any |= loads_vector(i) && !is_own(c, i);
    }
    if (any && is_reached_again(c, block, entry)) {
      return true;
    }
  }
  return false;
}

static uint32_t choose_count(copies *c, LLVMTargetDataRef data,
                             uint32_t most) {
  const uint32_t lasting = lasting_registers(c, data);
  uint32_t count = lasting ? most : 1;
  while (count > 1 && (count * lasting > MOST_REGISTERS ||
                       count * c->count > MOST_INSTRUCTIONS)) {
    count /= 2;
  }
  return count;
}

// --- Copying -----------------------------------------------------------------

static LLVMValueRef others_parameter(const copies *c, LLVMValueRef parameter,
                                     uint32_t simdgroup) {
  static const lanes_parameter own[] = {LANES_FIRST, LANES_X, LANES_Y, LANES_Z};
  for (uint32_t i = 0; i < 4; i++) {
    if (parameter == LLVMGetParam(c->function, own[i])) {
      return LLVMGetParam(c->function,
                          LANES_PARAMETER_COUNT + (simdgroup - 1) * 4 + i);
    }
  }
  return parameter;
}

static LLVMValueRef others(const copies *c, LLVMValueRef value,
                           uint32_t simdgroup) {
  if (!is_own(c, value)) {
    return value;
  }
  return LLVMIsAArgument(value)
             ? others_parameter(c, value, simdgroup)
             : c->made[lanes_map_get(&c->own, value)][simdgroup];
}

static void clone(copies *c, LLVMBuilderRef builder, uint32_t number) {
  LLVMValueRef i = c->items[number];
  c->made[number][0] = i;
  // Phis come first in a block.
  LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(i));
  for (uint32_t s = 1; s < c->simdgroups; s++) {
    c->made[number][s] = LLVMInstructionClone(i);
    LLVMInsertIntoBuilder(builder, c->made[number][s]);
  }
}

static void connect(const copies *c, uint32_t number) {
  for (uint32_t s = 1; s < c->simdgroups; s++) {
    LLVMValueRef i = c->made[number][s];
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
      LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
      if (!LLVMValueIsBasicBlock(operand)) {
        LLVMSetOperand(i, (unsigned)k, others(c, operand, s));
      }
    }
  }
}

// Joins the answers of run-time checks: false for one simdgroup is false for
// all.
static void join_questions(const copies *c, LLVMBuilderRef builder) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(c->function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end) ||
        !is_own(c, LLVMGetCondition(end))) {
      continue;
    }
    LLVMPositionBuilderBefore(builder, end);
    LLVMValueRef all = LLVMGetCondition(end);
    LLVMValueRef first = all;
    for (uint32_t s = 1; s < c->simdgroups; s++) {
      all = LLVMBuildAnd(builder, all, others(c, first, s), "");
    }
    LLVMSetCondition(end, all);
  }
}

// Moves a prefetch further ahead. Simdgroups with a matrix row each are a row's
// length apart; the next ones start after the rows of all simdgroups. Prefetch
// what those will load in the same iteration: at any other distance, half of
// the lines come twice or too late, since rows are read side by side.
static void reach_next(const copies *c, LLVMContextRef context,
                       LLVMBuilderRef builder, uint32_t number) {
  LLVMValueRef *made = c->made[number];
  if (!LLVMIsAGetElementPtrInst(made[0]) || !lanes_is_prefetched_ahead(made[0])) {
    return;
  }
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
  LLVMPositionBuilderBefore(builder, made[0]);
  LLVMValueRef places[2];
  for (uint32_t s = 0; s < 2; s++) {
    places[s] =
        LLVMBuildPtrToInt(builder, LLVMGetOperand(made[s], 0), i64, "");
  }
  LLVMValueRef apart = LLVMBuildSub(builder, places[1], places[0], "");
  LLVMValueRef next = LLVMBuildMul(
      builder, apart, LLVMConstInt(i64, c->simdgroups, false), "");
  LLVMValueRef is_near =
      LLVMBuildICmp(builder, LLVMIntULE, next,
                    LLVMConstInt(i64, FARTHEST_AHEAD_BYTES, false), "");
  LLVMValueRef ahead = LLVMBuildSelect(builder, is_near, next,
                                       LLVMGetOperand(made[0], 1), "");
  for (uint32_t s = 0; s < c->simdgroups; s++) {
    LLVMSetOperand(made[s], 1, ahead);
  }
}

static bool can_all_be_copied(const copies *c) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(c->function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (!can_be_copied(c, i)) {
        return false;
      }
    }
  }
  return true;
}

static void copy_all(copies *c, LLVMContextRef context) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  c->made = lanes_allocate(c->arena, c->count, sizeof *c->made);
  for (uint32_t n = 0; n < c->count; n++) {
    clone(c, builder, n);
  }
  for (uint32_t n = 0; n < c->count; n++) {
    connect(c, n);
  }
  for (uint32_t n = 0; n < c->count; n++) {
    reach_next(c, context, builder, n);
  }
  join_questions(c, builder);
  LLVMDisposeBuilder(builder);
}

// Counts an instruction that will remain after mem2reg.
static void count_lasting(LLVMValueRef i, void *context) {
  uint32_t *count = context;
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  const bool may_go =
      opcode == LLVMAlloca ||
      (opcode == LLVMLoad && LLVMIsAAllocaInst(LLVMGetOperand(i, 0))) ||
      (opcode == LLVMStore && LLVMIsAAllocaInst(LLVMGetOperand(i, 1)));
  *count += may_go ? 0 : 1;
}

bool lanes_is_too_large_to_jam(LLVMValueRef function, uint32_t forms) {
  uint32_t count = 0;
  mtlc_for_each_instruction(function, count_lasting, &count);
  return count > LARGEST_INSTRUCTIONS * forms;
}

uint32_t lanes_jam_simdgroups(mtlc_kernel *kernel, LLVMValueRef function,
                            bool same_x, uint32_t most, mtli_arena *arena,
                            bool *out_shares) {
  *out_shares = false;
  copies c = {.arena = arena, .function = function, .same_x = same_x};
  const uint32_t count = mtlc_count_instructions(function);
  if (count > LARGEST_INSTRUCTIONS) {
    return 1;
  }
  c.items = lanes_allocate(arena, count, sizeof *c.items);
  find_own(&c);
  if (!can_all_be_copied(&c)) {
    return 1;
  }
  number_blocks(&c);
  c.simdgroups =
      choose_count(&c, LLVMGetModuleDataLayout(kernel->module), most);
  if (c.simdgroups > 1) {
    *out_shares = shares_loads(&c);
    copy_all(&c, kernel->context);
  }
  return c.simdgroups;
}
