// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.h: the vector instructions of the target, found once.
#ifndef MTLC_MACHINE_H
#define MTLC_MACHINE_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/target/tuning.h"

// Costs of accesses, in cycles, for data in the first-level cache. These are
// estimates, and only --dump-plan shows them.
typedef struct lanes_costs {
  uint8_t access;   // a register loaded or stored
  uint8_t shuffle;  // of one register or two
  uint8_t gather;   // an element
  uint8_t scatter;  // an element
  uint8_t branch;   // a run-time check that holds, predicted
} lanes_costs;

// The vector instructions of the target, from its features.
typedef struct lanes_machine {
  // Gathers, and loads and stores of 32-bit words under a vector mask (AVX2).
  bool has_gathers;
  // Masks in registers of their own for every instruction, scatters, and masked
  // loads and stores of any element (AVX-512).
  bool has_masks;
  bool has_pairs;   // bfloats multiply as fast as floats (AVX512-BF16)
  uint32_t vector_registers;
  uint32_t vector_bytes;  // bytes of a vector register
  uint32_t dot_words;    // 32-bit sums of byte products in a register; 0: none
  bool sums_bytes;       // sums products of bytes into words in one instruction
                         // (VNNI)
  bool counts_bits;      // counts the bits of each word in one instruction
  bool has_fma;          // multiplies and adds with one rounding
  bool converts_halves;  // converts half to float and back in hardware
  lanes_costs costs;
  const lanes_tuning *tuning;
} lanes_machine;
lanes_machine lanes_machine_of(LLVMTargetMachineRef target);

// Returns how many words of a register one shuffle picks by an index in another
// register; 0 if there is no such shuffle.
uint32_t lanes_shuffled_words(const lanes_machine *machine);

#endif
