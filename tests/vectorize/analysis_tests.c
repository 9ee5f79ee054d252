// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// analysis_tests.c: each analysis of the vectoriser alone: a few lines of IR
// go in, facts come out as text.
#include <llvm-c/Core.h>
#include <stdio.h>
#include <string.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "facts.h"
#include "harness/test.h"

#define LANE "%lane = call i32 @mettle.position(i32 11, i32 0)\n"
#define GRID "%t = call i32 @mettle.position(i32 1, i32 0)\n"
#define BUFFER "%x = call ptr @mettle.argument(i32 0)\n"

// --- graph -------------------------------------------------------------------

TEST(graph, a_latch_stands_behind_the_blocks_of_its_loop) {
  CHECK_TEXT(facts_of("entry: br label %head\n"
                      "head:\n"
                      "  %i = phi i32 [0, %entry], [%next, %back]\n"
                      "  %small = icmp ult i32 %i, 4\n"
                      "  br i1 %small, label %yes, label %back\n"
                      "yes: br label %back\n"
                      "back:\n"
                      "  %next = add i32 %i, 1\n"
                      "  %more = icmp ult i32 %next, 9\n"
                      "  br i1 %more, label %head, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_graph),
             "0 entry: 1\n"
             "1 head: 2 3\n"
             "2 yes: 3\n"
             "3 back: 4 5\n"
             "4 latch: 5\n"
             "5 done: 6\n"
             "6 exit:\n"
             "loop 1 to 4\n");
}

TEST(graph, a_loop_of_two_entries_has_none) {
  CHECK_TEXT(facts_of("entry:\n" LANE "  %c = icmp eq i32 %lane, 0\n"
                      "  br i1 %c, label %one, label %other\n"
                      "one: br label %other\n"
                      "other: br i1 %c, label %one, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_graph),
             "no graph\n");
}

TEST(graph, loops_nest) {
  CHECK_TEXT(facts_of("entry: br label %outer\n"
                      "outer: br label %inner\n"
                      "inner: br i1 undef, label %inner, label %back\n"
                      "back: br i1 undef, label %outer, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_graph),
             "0 entry: 1\n"
             "1 outer: 2\n"
             "2 inner: 3 4\n"
             "3 latch: 4\n"
             "4 back: 5 6\n"
             "5 latch: 6\n"
             "6 done: 7\n"
             "7 exit:\n"
             "loop 2 to 3, inside another\n"
             "loop 1 to 5\n");
}

// --- shape -------------------------------------------------------------------

TEST(shape, sums_and_products_keep_strides) {
  CHECK_TEXT(
      facts_of(GRID BUFFER "%twice = mul i32 %t, 2\n"
                           "%next = add i32 %twice, 5\n"
                           "%wide = zext i32 %t to i64\n"
                           "%p = getelementptr float, ptr %x, i64 %wide\n"
                           "%v = load float, ptr %p\n"
                           "%w = load float, ptr %x\n"
                           "ret void\n",
               32, 32, facts_of_shapes),
      "t by 1\n"
      "x uniform\n"
      "twice by 2\n"
      "next by 2\n"
      "wide by 1\n"
      "p by 4\n"
      "v varying\n"
      "w uniform\n");
}

TEST(shape, an_index_that_may_wrap_is_checked) {
  CHECK_TEXT(facts_of(GRID "%far = mul i32 %t, 3\n"
                           "%wide = zext i32 %far to i64\n"
                           "ret void\n",
                      32, 32, facts_of_shapes),
             "t by 1\n"
             "far by 3\n"
             "wide by 3, checked\n");
}

TEST(shape, low_bits_of_lanes_repeat_in_rows) {
  CHECK_TEXT(facts_of(LANE "%column = and i32 %lane, 7\n"
                           "%row = lshr i32 %lane, 3\n"
                           "%odd = and i32 %lane, 1\n"
                           "ret void\n",
                      32, 32, facts_of_shapes),
             "lane by 1\n"
             "column by 1 in rows of 8\n"
             "row by 0 in rows of 8\n"
             "odd varying\n");
}

TEST(shape, vectors_of_half_a_simdgroup_have_their_own_rows) {
  CHECK_TEXT(facts_of(LANE "%row = lshr i32 %lane, 4\n"
                           "%next = lshr i32 %lane, 3\n"
                           "ret void\n",
                      16, 16, facts_of_shapes),
             "lane by 1\n"
             "row uniform\n"
             "next by 0 in rows of 8\n");
}

// --- uniformity --------------------------------------------------------------

TEST(uniformity, a_branch_by_lane_masks_its_arms_and_joins_behind) {
  CHECK_TEXT(facts_of(LANE "%c = icmp ult i32 %lane, 9\n"
                           "br i1 %c, label %yes, label %no\n"
                           "yes: br label %both\n"
                           "no: br label %both\n"
                           "both: ret void\n",
                      32, 32, facts_of_flow),
             " parts\n"
             "yes masked\n"
             "no masked\n"
             "both joins\n");
}

TEST(uniformity, a_branch_by_threadgroup_does_not_part) {
  CHECK_TEXT(facts_of("%g = call i32 @mettle.position(i32 3, i32 0)\n"
                      "%c = icmp ult i32 %g, 9\n"
                      "br i1 %c, label %yes, label %both\n"
                      "yes: br label %both\n"
                      "both: ret void\n",
                      32, 32, facts_of_flow),
             "\n"
             "yes\n"
             "both\n");
}

TEST(uniformity, threads_leave_a_loop_one_by_one) {
  static const char loop[] =
      "entry:\n" LANE
      "  %size = call i32 @mettle.position(i32 4, i32 0)\n"
      "  br label %head\n"
      "head:\n"
      "  %i = phi i32 [0, %entry], [%next, %head]\n"
      "  %next = add i32 %i, 1\n"
      "  %more = icmp ult i32 %next, %%s\n"
      "  br i1 %more, label %head, label %done\n"
      "done: ret void\n";
  char body[512];
  const char *at = strstr(loop, "%%s");
  snprintf(body, sizeof body, "%.*s%s%s", (int)(at - loop), loop, "%lane",
           at + 3);
  CHECK_CONTAINS(facts_of(body, 32, 32, facts_of_flow), "loop left one by one");
  snprintf(body, sizeof body, "%.*s%s%s", (int)(at - loop), loop, "%size",
           at + 3);
  CHECK_CONTAINS(facts_of(body, 32, 32, facts_of_flow), "loop left together");
}

// --- private_layout ----------------------------------------------------------

TEST(private_layout, what_all_threads_keep_alike_is_kept_once) {
  CHECK_TEXT(facts_of(LANE "%same = alloca [4 x i32]\n"
                           "%own = alloca [4 x i32]\n"
                           "%short = alloca [8 x i16]\n"
                           "store i32 7, ptr %same\n"
                           "store i32 %lane, ptr %own\n"
                           "%small = trunc i32 %lane to i16\n"
                           "store i16 %small, ptr %short\n"
                           "ret void\n",
                      32, 32, facts_of_privates),
             "same once, 16 bytes\n"
             "own for each lane, 16 bytes in units of 4\n"
             "short for each lane, 16 bytes in units of 2\n");
}

// --- group_uniformity --------------------------------------------------------

TEST(group_uniformity, simdgroups_differ_where_threadgroups_do_not) {
  CHECK_TEXT(facts_of("%group = call i32 @mettle.position(i32 3, i32 0)\n"
                      "%simd = call i32 @mettle.position(i32 13, i32 0)\n"
                      "%sum = add i32 %group, 1\n"
                      "%other = add i32 %simd, 1\n"
                      "call void @mettle.barrier.threadgroup(i32 2)\n"
                      "ret void\n",
                      32, 32, facts_of_groups),
             "group one for all\n"
             "simd differs\n"
             "sum one for all\n"
             "other differs\n"
             "waits together\n");
}

TEST(group_uniformity, a_barrier_of_some_simdgroups_is_met_apart) {
  CHECK_CONTAINS(
      facts_of("%simd = call i32 @mettle.position(i32 13, i32 0)\n"
               "%c = icmp eq i32 %simd, 0\n"
               "br i1 %c, label %first, label %done\n"
               "first: call void @mettle.barrier.threadgroup(i32 2)\n"
               "br label %done\n"
               "done: ret void\n",
               32, 32, facts_of_groups),
      "waits apart");
}

// --- lane_bits ---------------------------------------------------------------

TEST(lane_bits, each_bit_adds_its_own) {
  CHECK_TEXT(facts_of(LANE "%column = and i32 %lane, 3\n"
                           "%row = lshr i32 %lane, 2\n"
                           "%from = mul i32 %row, 100\n"
                           "%at = add i32 %from, %column\n"
                           "ret void\n",
                      32, 32, facts_of_bits),
             "lane 1 2 4 8 16\n"
             "column 1 2 0 0 0\n"
             "row 0 0 1 2 4\n"
             "from 0 0 100 200 400\n"
             "at 1 2 100 200 400\n");
}

TEST(lane_bits, only_what_rises_or_stays_is_known) {
  CHECK_TEXT(facts_of(LANE BUFFER "%back = sub i32 31, %lane\n"
                                  "%any = load i32, ptr %x\n"
                                  "%p = getelementptr i32, ptr %x, i32 %lane\n"
                                  "%each = load i32, ptr %p\n"
                                  "ret void\n",
                      32, 32, facts_of_bits),
             "lane 1 2 4 8 16\n"
             "x 0 0 0 0 0\n"
             "back ? ? ? ? ?\n"
             "any 0 0 0 0 0\n"
             "p 4 8 16 32 64\n"
             "each ? ? ? ? ?\n");
}

TEST(lane_bits, half_a_simdgroup_has_four_bits) {
  CHECK_TEXT(facts_of(LANE "%at = mul i32 %lane, 3\n"
                           "ret void\n",
                      16, 16, facts_of_bits),
             "lane 1 2 4 8 ?\n"
             "at 3 6 12 24 ?\n");
}

// --- affine ------------------------------------------------------------------

TEST(affine, an_address_is_base_scale_terms_and_bytes) {
  CHECK_TEXT(
      facts_of(LANE BUFFER "%k = call i32 @mettle.position(i32 3, i32 0)\n"
                           "%sum = add nsw i32 %lane, %k\n"
                           "%next = add nsw i32 %sum, 3\n"
                           "%wide = sext i32 %next to i64\n"
                           "%p = getelementptr float, ptr %x, i64 %wide\n"
                           "%q = getelementptr i8, ptr %p, i64 8\n"
                           "%v = load float, ptr %q\n"
                           "%u = load float, ptr %x\n"
                           "ret void\n",
               32, 32, facts_of_addresses),
      "v: x + 4 * signed (lane + k + 3) + 8\n"
      "u: x + 0 * (0) + 0\n");
}

// --- induction ---------------------------------------------------------------

TEST(induction, steps_of_counters_pointers_and_what_hangs_on_them) {
  CHECK_TEXT(facts_of("entry:\n" BUFFER
                      "  %n = call i32 @mettle.position(i32 4, i32 0)\n"
                      "  br label %head\n"
                      "head:\n"
                      "  %i = phi i32 [0, %entry], [%next, %head]\n"
                      "  %p = phi ptr [%x, %entry], [%q, %head]\n"
                      "  %j = phi i32 [0, %entry], [%k, %head]\n"
                      "  %s = phi i32 [1, %entry], [%d, %head]\n"
                      "  %five = mul i32 %i, 5\n"
                      "  %next = add i32 %i, 1\n"
                      "  %q = getelementptr i8, ptr %p, i64 12\n"
                      "  %k = add i32 %j, %n\n"
                      "  %d = mul i32 %s, 2\n"
                      "  %more = icmp ult i32 %next, 9\n"
                      "  br i1 %more, label %head, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_steps),
             "i by 1\n"
             "p by 12\n"
             "j by 1 times n\n"
             "s unknown\n"
             "five by 5\n"
             "next by 1\n"
             "q by 12\n"
             "k by 1 times n\n"
             "d unknown\n"
             "more unknown\n");
}

// --- trip_counts -------------------------------------------------------------

TEST(trip_counts, a_counter_goes_up_to_its_bound) {
  CHECK_TEXT(facts_of("entry: br label %head\n"
                      "head:\n"
                      "  %i = phi i32 [2, %entry], [%next, %head]\n"
                      "  %half = phi i32 [64, %entry], [%less, %head]\n"
                      "  %next = add i32 %i, 1\n"
                      "  %less = lshr i32 %half, 1\n"
                      "  %more = icmp ult i32 %next, 9\n"
                      "  br i1 %more, label %head, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_counters),
             "i from 2 below 9\n"
             "half is none\n");
}

// --- value_ranges ------------------------------------------------------------

TEST(ranges, arithmetic_of_lanes) {
  CHECK_TEXT(facts_of(LANE "%thrice = mul i32 %lane, 3\n"
                           "%less = sub i32 7, %thrice\n"
                           "%half = lshr i32 %thrice, 1\n"
                           "%low = and i32 %thrice, 15\n"
                           "%rest = urem i32 %thrice, 200\n"
                           "%wide = zext i32 %thrice to i64\n"
                           "%apart = or disjoint i32 %thrice, 128\n"
                           "ret void\n",
                      32, 32, facts_of_ranges),
             "lane from 0 to 31\n"
             "thrice from 0 to 93\n"
             "less from -86 to 7\n"
             "half from 0 to 46\n"
             "low from 0 to 15\n"
             "rest from 0 to 93\n"
             "wide from 0 to 93\n"
             "apart from 128 to 221\n"
             "right\n");
}

// As an unsigned number, a negative one is large.
TEST(ranges, a_number_that_leaves_its_type_is_not_taken_for_itself) {
  CHECK_TEXT(facts_of(LANE "%less = sub i32 %lane, 1\n"
                           "%wide = zext i32 %less to i64\n"
                           "ret void\n",
                      32, 32, facts_of_ranges),
             "lane from 0 to 31\n"
             "less from -1 to 30\n"
             "wide from -1 to 30\n"
             "wrong\n");
}

TEST(ranges, counters_go_up_and_down_to_their_bounds) {
  CHECK_TEXT(facts_of("entry: br label %head\n"
                      "head:\n"
                      "  %up = phi i32 [2, %entry], [%up.next, %head]\n"
                      "  %by4 = phi i32 [1, %entry], [%by4.next, %head]\n"
                      "  %other = phi i32 [64, %entry], [%less, %head]\n"
                      "  %up.next = add i32 %up, 1\n"
                      "  %by4.next = add i32 %by4, 4\n"
                      "  %less = lshr i32 %other, 1\n"
                      "  %more = icmp slt i32 %by4.next, 16\n"
                      "  br i1 %more, label %head, label %next\n"
                      "next: br label %down.head\n"
                      "down.head:\n"
                      "  %down = phi i32 [9, %next], [%down.next, %down.head]\n"
                      "  %down.next = add i32 %down, -1\n"
                      "  %again = icmp sgt i32 %down.next, 3\n"
                      "  br i1 %again, label %down.head, label %done\n"
                      "done: ret void\n",
                      32, 32, facts_of_ranges),
             "up is any\n"
             "by4 from 1 to 13\n"
             "other is any\n"
             "up.next is any\n"
             "by4.next from 5 to 17\n"
             "less is any\n"
             "down from 4 to 9\n"
             "down.next from 3 to 8\n"
             "right\n");
}

TEST(ranges, what_a_loop_leaves_behind_is_not_what_it_counts) {
  CHECK_TEXT(facts_of("entry: br label %head\n"
                      "head:\n"
                      "  %i = phi i32 [0, %entry], [%next, %body]\n"
                      "  %more = icmp ult i32 %i, 8\n"
                      "  br i1 %more, label %body, label %done\n"
                      "body:\n"
                      "  %next = add i32 %i, 1\n"
                      "  br label %head\n"
                      "done:\n"
                      "  %behind = phi i32 [%i, %head]\n"
                      "  ret void\n",
                      32, 32, facts_of_ranges),
             "i from 0 to 7\n"
             "next from 1 to 8\n"
             "behind is any\n"
             "right\n");
}

// --- effects -----------------------------------------------------------------

TEST(effects, stores_barriers_and_unknown_calls_may_write) {
  CHECK_TEXT(facts_of(BUFFER "%m = call ptr @mettle.argument(i32 7)\n"
                             "%v = load i32, ptr %m\n"
                             "%w = load volatile i32, ptr %x\n"
                             "store i32 %v, ptr %x\n"
                             "call void @mettle.barrier.threadgroup(i32 2)\n"
                             "call void @elsewhere()\n"
                             "ret void\n",
                      32, 32, facts_of_effects),
             "mettle.argument\n"
             "mettle.argument\n"
             "load threadgroup\n"
             "load may write elsewhere\n"
             "store may write elsewhere\n"
             "mettle.barrier.threadgroup may write\n"
             "elsewhere may write\n");
}

// --- callees -----------------------------------------------------------------

TEST(callees, are_sorted_by_their_names) {
  CHECK_TEXT(
      facts_of(LANE BUFFER
               "%a = call i32 @mettle.simd.shuffle.i32(i32 %lane, i32 1)\n"
               "%b = call i32 @mettle.simd.reduce.add.i32(i32 %lane)\n"
               "%c = call i32 @mettle.simd.scan.inclusive.add.i32(i32 %b)\n"
               "%d = call i32 @mettle.simd.ballot(i1 true)\n"
               "%e = call float @llvm.fabs.f32(float 1.0)\n"
               "call void @elsewhere()\n"
               "ret void\n",
               32, 32, facts_of_callees),
      "mettle.position: position\n"
      "mettle.argument: argument\n"
      "mettle.simd.shuffle.i32: shuffle, convergent\n"
      "mettle.simd.reduce.add.i32: reduction, convergent\n"
      "mettle.simd.scan.inclusive.add.i32: scan, convergent\n"
      "mettle.simd.ballot: ballot, convergent\n"
      "llvm.fabs.f32: elementwise\n"
      "elsewhere: thread by thread\n");
}

TEST(callees, reductions_are_one_for_all_and_scans_are_not) {
  CHECK_TEXT(
      facts_of(LANE
               "%b = call i32 @mettle.simd.reduce.add.i32(i32 %lane)\n"
               "%c = call i32 @mettle.simd.scan.inclusive.add.i32(i32 %lane)\n"
               "%d = call i32 @mettle.simd.shuffle.i32(i32 %lane, i32 3)\n"
               "ret void\n",
               32, 32, facts_of_shapes),
      "lane by 1\n"
      "b uniform\n"
      "c varying\n"
      "d uniform\n");
}

// --- no_wrap -----------------------------------------------------------------

TEST(no_wrap, an_index_that_only_leads_to_buffers_does_not_wrap) {
  static const char before[] = LANE BUFFER
      "%k = call i32 @mettle.position(i32 3, i32 0)\n"
      "%from = mul i32 %k, 100\n"
      "%at = add i32 %from, %lane\n"
      "%wide = zext i32 %at to i64\n"
      "%p = getelementptr float, ptr %x, i64 %wide\n"
      "%v = load float, ptr %p\n";
  char body[1024];
  snprintf(body, sizeof body, "%sret void\n", before);
  CHECK_TEXT(facts_of(body, 32, 32, facts_of_wraps),
             "some do not wrap\nsigned\n");
  snprintf(body, sizeof body, "%sstore i64 %%wide, ptr %%x\nret void\n",
           before);
  CHECK_TEXT(facts_of(body, 32, 32, facts_of_wraps),
             "all may wrap\nunsigned\n");
}

// --- predicates, components --------------------------------------------------

TEST(predicates, inverse_swapped_signed_and_less) {
  CHECK_EQUAL(lanes_inverse_predicate(LLVMIntULT), LLVMIntUGE);
  CHECK_EQUAL(lanes_inverse_predicate(LLVMIntEQ), LLVMIntNE);
  CHECK_EQUAL(lanes_swapped_predicate(LLVMIntSLE), LLVMIntSGE);
  CHECK_EQUAL(lanes_swapped_predicate(LLVMIntNE), LLVMIntNE);
  CHECK(lanes_is_signed_predicate(LLVMIntSGT));
  CHECK(!lanes_is_signed_predicate(LLVMIntUGT));
  CHECK(lanes_is_less_predicate(LLVMIntULE));
  CHECK(!lanes_is_less_predicate(LLVMIntUGE));
}

TEST(components, of_numbers_vectors_and_structures) {
  LLVMTypeRef number = LLVMFloatType();
  LLVMTypeRef four = LLVMVectorType(number, 4);
  LLVMTypeRef fields[] = {LLVMInt16Type(), number};
  LLVMTypeRef both = LLVMStructType(fields, 2, false);
  CHECK_EQUAL(lanes_component_count(number), 1);
  CHECK_EQUAL(lanes_component_count(four), 4);
  CHECK_EQUAL(lanes_component_count(both), 2);
  CHECK(lanes_component_type(four, 3) == number);
  CHECK(lanes_component_type(both, 0) == LLVMInt16Type());
  CHECK(lanes_vector_of(16, number) == LLVMVectorType(number, 16));
  CHECK(lanes_wide(number, 1) == number);
}
