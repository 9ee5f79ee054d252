// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wraps.h: addresses whose stride holds unless an index wraps around.
#ifndef MTLC_WRAPS_H
#define MTLC_WRAPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"

// True if a conditional value is itself the extension that may wrap.
bool lanes_is_wrap_root(const lanes_values *values, LLVMValueRef value);

typedef struct lanes_wrap {
  LLVMValueRef root;  // the extension of an index of 32 bits that may wrap
  int64_t factor;     // how much the address changes when the root changes by
                      // one
} lanes_wrap;
// True if only one index may wrap, and at most once: lanes before it and from
// it on are two runs.
bool lanes_find_wrap(const lanes_values *values, LLVMValueRef address,
                     lanes_wrap *out_wrap);

#endif
