// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_loop.h: makes mettle.group of functions of one simdgroup (passes.h).
#ifndef MTLC_GROUP_LOOP_H
#define MTLC_GROUP_LOOP_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// The function of one simdgroup, for one row length.
typedef struct lanes_variant {
  uint8_t lanes;  // of a vector
  uint8_t row;
  LLVMValueRef function;  // mettle.simdgroup.<row>
  uint32_t wait_count;    // states to continue in, besides the beginning
  bool waits_together;    // all simdgroups continue in the same state
  uint64_t common_bytes;  // size of the group-uniform values
  uint64_t states_once;   // a bit for each state that one simdgroup runs for
                          // all
  LLVMValueRef at_once;   // mettle.simdgroups.of.<row>, which runs several; or
                          // NULL
  uint32_t at_once_count;
  bool at_once_same_x;  // only if all have the same position along x
  bool may_be_at_once;  // the control flow allows several
  bool may_refuse;      // at_once returns LANES_REFUSED if a thread would end
} lanes_variant;

// Links the loops over simdgroups around the variants, in order of preference;
// the last must fit any threadgroup.
//
//   has_waits    threads wait for each other
//   frame_bytes  what each simdgroup keeps meanwhile
mtl_status lanes_link_group(mtlc_kernel *kernel, const lanes_variant *variants,
                            uint32_t variant_count, bool has_waits,
                            uint64_t frame_bytes);

#endif
