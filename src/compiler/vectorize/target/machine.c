// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.c: finds the vector instructions of the target, once.
#include "compiler/vectorize/target/machine.h"

#include "compiler/ir/kernel/target.h"
#include "compiler/vectorize/target/tuning.h"

static const lanes_costs avx512_costs = {
    .access = 1, .shuffle = 1, .gather = 2, .scatter = 3, .branch = 2};
static const lanes_costs avx2_costs = {
    .access = 1, .shuffle = 1, .gather = 2, .scatter = 2, .branch = 2};
static const lanes_costs plain_costs = {
    .access = 1, .shuffle = 1, .gather = 2, .scatter = 2, .branch = 2};

lanes_machine lanes_machine_of(LLVMTargetMachineRef target) {
  const bool is_x86 = mtlc_target_is(target, "x86_64");
  const bool has_avx2 = is_x86 && mtlc_target_has(target, "avx2");
  const bool has_avx512 = is_x86 && mtlc_target_has(target, "avx512f");
  const bool is_zen = mtlc_target_is_cpu(target, "znver");
  return (lanes_machine){.has_gathers = has_avx2,
                         .has_masks = has_avx512,
                         .has_pairs = has_avx512 && is_zen &&
                                      mtlc_target_has(target, "avx512bf16"),
                         .vector_registers = is_x86 && !has_avx512 ? 16 : 32,
                         .vector_bytes = has_avx512 ? 64
                                         : has_avx2 ? 32
                                                    : 16,
                         .dot_words = !is_x86                               ? 0
                                      : mtlc_target_has(target, "avx512bw") ? 16
                                      : mtlc_target_has(target, "avx2")     ? 8
                                                                            : 4,
                         .sums_bytes = mtlc_target_has(
                             target, has_avx512 ? "avx512vnni" : "avxvnni"),
                         .counts_bits =
                             mtlc_target_has(target, "avx512vpopcntdq"),
                         .has_fma = mtlc_target_has(target, "fma"),
                         .converts_halves = mtlc_target_has(target, "f16c"),
                         .tuning =
                             lanes_tuning_of(target, has_avx2, has_avx512),
                         .costs = has_avx512 ? avx512_costs
                                  : has_avx2 ? avx2_costs
                                             : plain_costs};
}

uint32_t lanes_shuffled_words(const lanes_machine *machine) {
  return machine->has_masks ? 16 : machine->has_gathers ? 8 : 0;
}
