// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ir_analysis_tests.c: each analysis of scalar IR alone (compiler/ir/analysis):
// a few lines of IR go in, facts come out as text.
#include <inttypes.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/ir/analysis/access_spaces.h"
#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/analysis/forward.h"
#include "compiler/ir/analysis/inlined_size.h"
#include "compiler/ir/analysis/loops.h"
#include "compiler/ir/analysis/variable_use.h"
#include "facts.h"
#include "harness/test.h"

// Calls visit for each instruction of the function.
static void for_each(const facts_subject *s,
                     void (*visit)(const facts_subject *, LLVMValueRef)) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->kernel->thread); b;
       b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      visit(s, i);
    }
  }
}

// --- cycles, loops -----------------------------------------------------------

static void facts_of_cycles(const facts_subject *s) {
  mtlc_flow flow = mtlc_flow_of(s->kernel->thread);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->kernel->thread); b;
       b = LLVMGetNextBasicBlock(b)) {
    const mtlc_flow_block *block = mtlc_flow_find(&flow, b);
    const mtlc_cycle *cycle =
        block->cycle == MTLC_NO_CYCLE ? NULL : &flow.cycles[block->cycle];
    facts_add(
        "%s in %s%s", LLVMGetBasicBlockName(b),
        cycle ? LLVMGetBasicBlockName(cycle->header) : "none",
        cycle && cycle->parent != MTLC_NO_CYCLE ? ", inside another" : "");
  }
  mtlc_flow_clear(&flow);
  facts_add("%" PRIu32 " loops", mtlc_most_loops(s->kernel->module));
}

TEST(cycles, nest_and_are_entered_at_their_headers) {
  CHECK_TEXT(facts_of("entry: br label %outer\n"
                      "outer: br label %inner\n"
                      "inner: br i1 undef, label %inner, label %back\n"
                      "back: br i1 undef, label %outer, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_cycles),
             "entry in none\n"
             "outer in outer\n"
             "inner in inner, inside another\n"
             "back in outer\n"
             "done in none\n"
             "2 loops\n");
}

static void facts_of_turns(const facts_subject *s) {
  facts_add("%s",
            mtlc_has_known_turns(s->kernel->module) ? "known" : "unknown");
}

TEST(loops, turns_are_known_where_a_count_is_compared_with_a_constant) {
  static const char known[] =
      "entry: br label %head\n"
      "head:\n"
      "  %i = phi i32 [0, %entry], [%next, %head]\n"
      "  %next = add i32 %i, 1\n"
      "  %more = icmp ult i32 %next, 4\n"
      "  br i1 %more, label %head, label %done\n"
      "done: ret void\n";
  static const char unknown[] =
      "entry:\n"
      "  %x = call ptr @mettle.argument(i32 0)\n"
      "  %n = load i32, ptr %x\n"
      "  br label %head\n"
      "head:\n"
      "  %i = phi i32 [0, %entry], [%next, %head]\n"
      "  %next = add i32 %i, 1\n"
      "  %more = icmp ult i32 %next, %n\n"
      "  br i1 %more, label %head, label %done\n"
      "done: ret void\n";
  CHECK_TEXT(facts_of(known, 32, 32, facts_of_turns), "known\n");
  CHECK_TEXT(facts_of(unknown, 32, 32, facts_of_turns), "unknown\n");
}

// --- access spaces -----------------------------------------------------------

// A set of spaces: "0" to "61" for arguments, "other", "threadgroup".
static const char *spaces_text(mtlc_spaces spaces, char out[64]) {
  int length = 0;
  out[0] = '\0';
  for (int i = 0; i < 64; ++i) {
    if (spaces >> i & 1 && length < 40) {
      length +=
          i < MTLC_OTHER_SPACE
              ? snprintf(out + length, 64 - (size_t)length, " %d", i)
              : snprintf(out + length, 64 - (size_t)length,
                         i == MTLC_OTHER_SPACE ? " other" : " threadgroup");
    }
  }
  return length ? out : " none";
}

static void facts_of_accesses(const facts_subject *s) {
  static const char name[] = "mettle.thread";
  LLVMSetValueName2(s->kernel->thread, name, sizeof name - 1);
  mtlc_accesses accesses = {0};
  CHECK_OK(mtlc_find_accesses(s->kernel, &accesses));
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->kernel->thread); b;
       b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
        char read[64], written[64];
        const mtlc_access access = mtlc_access_of(&accesses, i);
        facts_add("reads%s, writes%s", spaces_text(access.read, read),
                  spaces_text(access.written, written));
      }
    }
  }
  free(accesses.items);
}

TEST(access_spaces, an_address_is_followed_through_a_variable) {
  CHECK_TEXT(facts_of("%kept = alloca ptr\n"
                      "%x = call ptr @mettle.argument(i32 0)\n"
                      "%y = call ptr @mettle.argument(i32 1)\n"
                      "store ptr %y, ptr %kept\n"
                      "%at = load ptr, ptr %kept\n"
                      "%value = load i32, ptr %x\n"
                      "store i32 %value, ptr %at\n"
                      "ret void\n",
                      32, 32, facts_of_accesses),
             "reads none, writes none\n"
             "reads none, writes none\n"
             "reads 0, writes none\n"
             "reads none, writes 1\n");
}

TEST(access_spaces, a_loaded_address_may_lead_to_other_memory) {
  CHECK_TEXT(facts_of("%x = call ptr @mettle.argument(i32 0)\n"
                      "%found = load ptr, ptr %x\n"
                      "store i32 1, ptr %found\n"
                      "ret void\n",
                      32, 32, facts_of_accesses),
             "reads 0, writes none\n"
             "reads none, writes other\n");
}

// --- forward -----------------------------------------------------------------

static void add_forward(const facts_subject *s, LLVMValueRef i) {
  if (LLVMIsALoadInst(i)) {
    facts_add("%s is %s", facts_name(i),
              facts_name(mtlc_forward(s->kernel->module, i)));
  }
}
static void facts_of_forward(const facts_subject *s) {
  for_each(s, add_forward);
}

TEST(forward, a_load_is_what_was_last_stored_there) {
  CHECK_TEXT(facts_of("%a = alloca i32\n"
                      "%b = alloca i32\n"
                      "%x = call ptr @mettle.argument(i32 0)\n"
                      "store i32 7, ptr %a\n"
                      "store i32 9, ptr %b\n"
                      "%first = load i32, ptr %a\n"
                      "store i32 %first, ptr %b\n"
                      "%second = load i32, ptr %b\n"
                      "%shared = load i32, ptr %x\n"
                      "ret void\n",
                      32, 32, facts_of_forward),
             "first is 7\n"
             "second is 7\n"
             "shared is shared\n");
}

// --- variable_use, inlined_size ----------------------------------------------

static void facts_of_thread(const facts_subject *s) {
  facts_add("%s, %" PRIu64 " instructions",
            mtlc_only_computes(s->kernel->thread) ? "only computes" : "acts",
            mtlc_inlined_size(s->kernel));
}

TEST(variable_use, a_function_that_stores_to_memory_does_more_than_compute) {
  CHECK_TEXT(facts_of("%a = alloca i32\n"
                      "store i32 7, ptr %a\n"
                      "%v = load i32, ptr %a\n"
                      "%w = add i32 %v, 1\n"
                      "ret void\n",
                      32, 32, facts_of_thread),
             "only computes, 5 instructions\n");
  CHECK_TEXT(facts_of("%x = call ptr @mettle.argument(i32 0)\n"
                      "store i32 7, ptr %x\n"
                      "ret void\n",
                      32, 32, facts_of_thread),
             "acts, 3 instructions\n");
}
