// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tuning.h: what is done otherwise on one CPU than on another with the same
// instructions.
#ifndef MTLC_TUNING_H
#define MTLC_TUNING_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct lanes_tuning {
  bool needs_order;              // lines are asked for in order (prefetch.c)
  bool prefers_second_level;     // far lines are fetched to that
  bool interchanges_simdgroups;  // these take turns in loops with barriers
  uint16_t near_bytes;           // how far ahead outside loops
} lanes_tuning;

const lanes_tuning *lanes_tuning_of(LLVMTargetMachineRef target, bool has_avx2,
                                    bool has_avx512);

#endif
