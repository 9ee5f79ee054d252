// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tuning.c: figures that differ between CPUs with the same instructions, each
// with the machine that it was measured on.
#include "compiler/vectorize/target/tuning.h"

#include "compiler/ir/kernel/target.h"

// Processors that prefetch a line's neighbour themselves: Intel's with AVX-512.
// Also the default for a target whose vectors do not tell.
static const lanes_tuning usual = {.near_bytes = 1536};

// Zen 3, measured on a 2-core EPYC, 2026-11; used for every AVX2 target. A
// prefetch distance from 0.5 to 6 KiB outside loops took a tree of sums from
// 0.60 to 0.80 of plain C's speed. From 2 KiB on, the processor's own prefetch
// is no longer of use.
static const lanes_tuning zen_3 = {.needs_order = true, .near_bytes = 1536};

// Zen 4, measured on a 2-core EPYC, 2026-11. Without prefetching the same tree
// of sums ran at 0.6; with a distance of 128 bytes, which is the next
// simdgroup's, or 384 bytes at 0.92; with 512 at 0.6 to 0.85, by where the
// code's other loads are; further at 0.65. Lines far ahead are better fetched
// to the second-level cache (prefetch.c); on a Zen 3 that was slower.
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
