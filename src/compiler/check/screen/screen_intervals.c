// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_intervals.c: finds which accesses of threadgroup memory may run
// between the same two barriers. An access beside which no write can run needs
// no test against other threads' writes; one beside which no read can run, none
// against their reads.
//
// All threads wait at the same barrier, or what screens stops. So two accesses
// are beside each other if both follow one barrier, or the beginning, without
// another barrier for threadgroup memory between.
#include <stdlib.h>

#include "compiler/check/check.h"

enum { FLAG_THREADGROUP = 2 };

static LLVMValueRef address_of(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: return LLVMGetOperand(i, 1);
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return LLVMGetOperand(i, 0);
    default: return NULL;
  }
}

static bool orders(LLVMValueRef i) {
  LLVMValueRef callee = mtlc_callee(i);
  return callee &&
         strcmp(mtlc_name(callee), "mettle.barrier.threadgroup") == 0 &&
         LLVMIsAConstantInt(LLVMGetOperand(i, 0)) &&
         (LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) & FLAG_THREADGROUP);
}

typedef struct search {
  const mtlc_kernel *kernel;
  mtlc_values accesses;  // of all the thread
  mtlc_values starts;    // barriers
} search;

static void collect(LLVMValueRef i, void *context) {
  search *s = context;
  LLVMValueRef address = address_of(i);
  if (orders(i)) {
    mtlc_values_add(&s->starts, i);
  } else if (address && mtlc_find_root(s->kernel, address).space ==
                            MTLI_CHECK_THREADGROUP) {
    mtlc_values_add(&s->accesses, i);
  }
}

// Follows the code behind an instruction up to barriers; adds its accesses to
// `found` and successor blocks to `blocks`.
static void follow(const search *s, LLVMValueRef i, mtlc_values *found,
                   mtlc_values *blocks) {
  LLVMValueRef last = NULL;
  for (; i; i = LLVMGetNextInstruction(i)) {
    if (orders(i)) {
      return;
    }
    if (address_of(i) && mtlc_values_has(&s->accesses, i)) {
      mtlc_values_add(found, i);
    }
    last = i;
  }
  for (unsigned k = 0; k < LLVMGetNumSuccessors(last); ++k) {
    LLVMValueRef next = LLVMBasicBlockAsValue(LLVMGetSuccessor(last, k));
    if (!mtlc_values_has(blocks, next)) {
      mtlc_values_add(blocks, next);
    }
  }
}

static void note_interval(mtlc_intervals *intervals, const search *s,
                          LLVMValueRef first) {
  mtlc_values found = {0}, blocks = {0};
  mtlc_group_use use = {false, false};
  follow(s, first, &found, &blocks);
  for (size_t i = 0; i < blocks.count; ++i) {
    follow(s, LLVMGetFirstInstruction(LLVMValueAsBasicBlock(blocks.items[i])),
           &found, &blocks);
  }
  for (size_t i = 0; i < found.count; ++i) {
    use.is_read |= !LLVMIsAStoreInst(found.items[i]);
    use.is_written |= !LLVMIsALoadInst(found.items[i]);
  }
  for (size_t i = 0; i < intervals->accesses.count; ++i) {
    if (mtlc_values_has(&found, intervals->accesses.items[i])) {
      intervals->uses[i].is_read |= use.is_read;
      intervals->uses[i].is_written |= use.is_written;
    }
  }
  free(found.items);
  free(blocks.items);
}

void mtlc_intervals_make(mtlc_intervals *intervals, const mtlc_kernel *kernel) {
  search s = {.kernel = kernel};
  mtlc_for_each_instruction(kernel->thread, collect, &s);
  intervals->accesses = s.accesses;
  intervals->uses = calloc(s.accesses.count + 1, sizeof *intervals->uses);
  if (!intervals->uses) {
    abort();
  }
  note_interval(
      intervals, &s,
      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel->thread)));
  for (size_t i = 0; i < s.starts.count; ++i) {
    note_interval(intervals, &s, LLVMGetNextInstruction(s.starts.items[i]));
  }
  free(s.starts.items);
}

void mtlc_intervals_clear(mtlc_intervals *intervals) {
  free(intervals->accesses.items);
  free(intervals->uses);
}

mtlc_group_use mtlc_interval_use(const mtlc_intervals *intervals,
                                 LLVMValueRef access) {
  for (size_t i = 0; i < intervals->accesses.count; ++i) {
    if (intervals->accesses.items[i] == access) {
      return intervals->uses[i];
    }
  }
  return (mtlc_group_use){true, true};
}
