// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tuning.h: figures that differ between CPUs with the same instructions.
#ifndef MTLC_TUNING_H
#define MTLC_TUNING_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct lanes_tuning {
  bool needs_order;              // lines are prefetched in the order of
                                 // addresses (prefetch.c)
  bool prefers_second_level;     // lines far ahead are prefetched to the
                                 // second-level cache
  bool interchanges_simdgroups;  // simdgroups are interchanged with loops that
                                 // have barriers
  uint16_t near_bytes;           // prefetch distance outside loops
} lanes_tuning;

const lanes_tuning *lanes_tuning_of(LLVMTargetMachineRef target, bool has_avx2,
                                    bool has_avx512);

#endif
