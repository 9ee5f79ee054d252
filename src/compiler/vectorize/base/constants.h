// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.h: reads constant integers.
#ifndef MTLC_CONSTANTS_H
#define MTLC_CONSTANTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

// True if a value is a constant integer of at most 64 bits; returns it in *out.
static inline bool lanes_constant_of(LLVMValueRef value,
                                     uint64_t *out_constant) {
  if (!LLVMIsAConstantInt(value) ||
      LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) {
    return false;
  }
  *out_constant = LLVMConstIntGetZExtValue(value);
  return true;
}

static inline bool lanes_is_power_of_two(uint64_t number) {
  return number && (number & (number - 1)) == 0;
}

#endif
