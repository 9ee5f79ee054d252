// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.h: asks the target once for the vectors that it has.
#ifndef MTLC_MACHINE_H
#define MTLC_MACHINE_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/target/tuning.h"

// What accesses cost, in cycles, about: data is in the first cache. Estimates,
// not measured, that nothing but what is printed depends on.
typedef struct lanes_costs {
  uint8_t access;   // a register loaded or stored
  uint8_t shuffle;  // of one register or two
  uint8_t gather;   // an element
  uint8_t scatter;  // an element
  uint8_t branch;   // a check that holds, as is foreseen
} lanes_costs;

// What vectors the machine has; asked of its features once.
typedef struct lanes_machine {
  // Elements from addresses or indices of a vector; loads and stores of words
  // under a mask that is a vector (AVX2).
  bool has_gathers;
  // Every instruction may have a mask, in a register of its own kind; so may
  // scatters, and loads and stores of any element (AVX-512).
  bool has_masks;
  bool has_pairs;   // of bfloats multiplied as fast as floats
  uint32_t vector_registers;
  uint32_t vector_bytes;  // of each
  uint32_t dot_words;    // of a register of products of bytes summed; 0: none
  bool sums_bytes;       // products of words' bytes in one instruction (VNNI)
  bool counts_bits;      // of each word, in one instruction
  bool has_fma;          // multiplies and adds with one rounding
  bool converts_halves;  // to floats and back
  lanes_costs costs;
  const lanes_tuning *tuning;
} lanes_machine;
lanes_machine lanes_machine_of(LLVMTargetMachineRef target);

// Returns how many words of a register one shuffle picks by an index in another
// register; 0 if there is no such shuffle.
uint32_t lanes_shuffled_words(const lanes_machine *machine);

#endif
