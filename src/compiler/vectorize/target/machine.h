// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.h: asks the target once for the vectors that it has.
#ifndef MTLC_MACHINE_H
#define MTLC_MACHINE_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

// What vectors the machine has; asked of its features once.
typedef struct lanes_machine {
  bool has_avx2;    // and gathers; x86-64 alone
  bool has_avx512;  // masks and scatters
  bool is_zen;      // AMD's
  bool has_pairs;   // of bfloats multiplied as fast as floats
  uint32_t vector_registers;
  uint32_t vector_bytes;  // of each
} lanes_machine;
lanes_machine lanes_machine_of(LLVMTargetMachineRef target);

#endif
