// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tuning.c: what is done otherwise on one CPU than on another with the same
// instructions, each figure with where it was measured.
#include "compiler/vectorize/target/tuning.h"

#include "compiler/ir/kernel/target.h"

// A processor that asks for a line's neighbour by itself: Intel's with AVX-512,
// and those without vectors that would tell.
static const lanes_tuning usual = {.near_bytes = 1536};

// Near bytes of half a KiB to 6 outside loops, measured on a 2-core EPYC of the
// Zen 3 kind, 2026-11: a tree of sums from 0.60 to 0.80 of the speed of plain
// C. From 2 KiB on, what the processor itself fetches is no longer of use. Of
// those with AVX2 alone it stands for all.
static const lanes_tuning zen_3 = {.needs_order = true, .near_bytes = 1536};

// On a 2-core EPYC of the Zen 4 kind, 2026-11, the same without 0.6, with 128
// bytes, the next simdgroup's, 0.92, with 384 the same, with half a KiB 0.6 to
// 0.85 by where the code's other loads are, further 0.65. Its second level is
// better than its first for what is far ahead (prefetch.c), where also the
// order of simdgroups was measured; a Zen 3 was slower so.
static const lanes_tuning zen_4 = {.needs_order = true,
                                   .prefers_second_level = true,
                                   .interchanges_simdgroups = true,
                                   .near_bytes = 128};

const lanes_tuning *lanes_tuning_of(LLVMTargetMachineRef target, bool has_avx2,
                                    bool has_avx512) {
  const bool is_zen = mtlc_target_is_cpu(target, "znver");
  return is_zen && has_avx512            ? &zen_4
         : is_zen || (has_avx2 && !has_avx512) ? &zen_3
                                         : &usual;
}
