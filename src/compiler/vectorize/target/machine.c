// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.c: asks the target once for the vectors that it has.
#include "compiler/vectorize/target/machine.h"

#include "compiler/ir/target.h"

lanes_machine lanes_machine_of(LLVMTargetMachineRef target) {
  const bool is_x86 = mtlc_target_is(target, "x86_64");
  const bool has_avx2 = is_x86 && mtlc_target_has(target, "avx2");
  const bool has_avx512 = is_x86 && mtlc_target_has(target, "avx512f");
  const bool is_zen = mtlc_target_is_cpu(target, "znver");
  return (lanes_machine){.has_avx2 = has_avx2,
                         .has_avx512 = has_avx512,
                         .is_zen = is_zen,
                         .has_pairs = has_avx512 && is_zen &&
                                      mtlc_target_has(target, "avx512bf16"),
                         .vector_registers = is_x86 && !has_avx512 ? 16 : 32,
                         .vector_bytes = has_avx512 ? 64
                                         : has_avx2 ? 32
                                                    : 16};
}
