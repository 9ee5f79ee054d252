// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// specialise_group_size.h: makes a version of a kernel for the threadgroup size
// that its threadgroup memory is declared for.
#ifndef MTLC_SPECIALISE_GROUP_SIZE_H
#define MTLC_SPECIALISE_GROUP_SIZE_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"

typedef struct lanes_known_group {
  uint32_t threads;       // 0: no such version
  uint32_t row;           // threads in a row
  uint64_t memory_bytes;  // of threadgroup memory that is in registers
} lanes_known_group;

// Predicts the threadgroup size for which a specialised version pays; its
// threads are 0 if none does. Sets kernel->facts.depends_on_simdgroups if one
// may pay for some sizes.
//
//   frame_bytes  what a simdgroup keeps across barriers
lanes_known_group lanes_guess_threads(mtlc_kernel *kernel,
                                      const lanes_variant *variant,
                                      uint64_t frame_bytes);

// Builds, in mettle.group, the call of the loops over simdgroups for
// threadgroups of exactly the known size, whose threadgroup memory is a local
// variable.
void lanes_call_for_threads(const mtlc_kernel *kernel, LLVMBuilderRef builder,
                            LLVMValueRef loops, lanes_known_group known,
                            uint64_t frame_bytes);

// Asks LLVM to unroll those loops, once they are inlined and their count is
// constant.
void lanes_unroll_simdgroups(mtlc_kernel *kernel);

// Rewrites accesses to that memory, once the loops are unrolled, so that LLVM
// can promote them.
void lanes_open_memory(mtlc_kernel *kernel);

#endif
