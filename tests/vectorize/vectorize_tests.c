// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize_tests.c: each kernel of kernels.cpp in tier 1 against tier 0.
#include "differential.h"
#include "harness/test.h"
#include "rig.h"

enum { KERNEL_COUNT = 40, FIRST_LATER = 44, LAST_LATER = 47 };

static void check_later(const char *target) {
  for (unsigned number = FIRST_LATER; number <= LAST_LATER; number++) {
    differential_check(number, target, 1);
  }
}

#define SAME(number, behaviour)          \
  TEST(same, behaviour) {                \
    differential_check(number, NULL, 2); \
  }

SAME(0, streaming)
SAME(1, a_divergent_loop)
SAME(2, a_matrix_product)
SAME(3, branches_with_memory)
SAME(4, nested_divergent_loops)
SAME(5, early_returns)
SAME(6, switch_with_fallthrough)
SAME(7, private_memory)
SAME(8, a_tree_sum)
SAME(9, barriers_in_a_loop)
SAME(10, simdgroup_functions_of_all)
SAME(11, simdgroup_functions_of_some)
SAME(12, shuffles)
SAME(13, atomics_without_results)
SAME(14, atomics_with_results)
SAME(15, vectors_of_four)
SAME(16, integer_division)
SAME(17, narrow_and_wide_types)
SAME(18, half)
SAME(19, a_stencil)
SAME(20, a_loop_with_two_entries)
SAME(21, uniform_branches)
SAME(22, arrays_of_structures)
SAME(23, a_bitonic_sort)
SAME(24, state_across_barriers)
SAME(25, indices_that_wrap)
SAME(26, pointers_that_differ)
SAME(27, stores_to_one_place)
SAME(28, loops_with_several_exits)
SAME(29, loops_over_lanes)
SAME(30, bits_and_conversions)
SAME(31, rows_of_a_threadgroup)
SAME(32, uniform_accesses_behind_conditions)
SAME(33, a_loop_in_a_loop)
SAME(34, private_structures)
SAME(35, a_histogram)
SAME(36, atomics_on_one_address)
SAME(37, private_memory_copied)
SAME(38, a_guard_clause)
SAME(39, a_branch_that_others_wait_for)
SAME(41, sums_of_threads_that_run)
SAME(42, a_divergent_loop_last_in_a_uniform_one)
SAME(43, runs_within_runs)
SAME(44, products_of_tiles)
SAME(45, tiles_of_16_bits)
SAME(46, tiles_of_single_threads)
SAME(47, vectors_in_short_runs)

// Machines without masks in registers of their own, and without gathers.
TEST(machines, avx2) {
  for (unsigned number = 0; number < KERNEL_COUNT; number++) {
    differential_check(number, "x86_64 x86-64-v3", 1);
  }
}

// Without masked loads LLVM branches for every lane, which takes it long: some.
TEST(machines, sse4_2) {
  for (unsigned number = 0; number < KERNEL_COUNT; number += 3) {
    differential_check(number, "x86_64 x86-64-v2", 1);
  }
}

TEST(machines, later_avx2) {
  check_later("x86_64 x86-64-v3");
}

TEST(machines, later_sse4_2) {
  check_later("x86_64 x86-64-v2");
}

TEST(refusals, barriers_that_threads_reach_apart) {
  const rig_kernel kernel = {40, differential_parameters, NULL, NULL, 0};
  rig_code code = rig_compile(&kernel, RIG_T1);
  CHECK_CONTAINS(code.report,
                 "not vectorised: a threadgroup barrier (line ");
  CHECK_CONTAINS(code.report,
                 ") that not all threads reach together (they part at line ");
  rig_clear(&code);
}
