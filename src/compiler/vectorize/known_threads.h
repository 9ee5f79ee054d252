// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// known_threads.h: a second form of a kernel, for threadgroups of as many
// threads as its threadgroup memory is made for.
#ifndef MTLC_VECTORIZE_KNOWN_THREADS_H
#define MTLC_VECTORIZE_KNOWN_THREADS_H

#include "compiler/vectorize/group.h"

// Returns how many threads, all in one row, a threadgroup is likely to have
// whose code would be better for knowing it; 0 if none would.
//
//   frame_bytes  what a simdgroup keeps across barriers
uint32_t lanes_guess_threads(const mtlc_kernel *kernel,
                             const lanes_variant *variant,
                             uint64_t frame_bytes);

// Builds, in mettle.group, the call of the loops over simdgroups for a
// threadgroup of just so many threads, with memory of its own.
void lanes_call_for_threads(const mtlc_kernel *kernel, LLVMBuilderRef builder,
                            LLVMValueRef loops, uint32_t threads,
                            uint64_t frame_bytes);

// Once those loops are inlined and the number is in its place: asks LLVM to
// unroll them.
void lanes_unroll_simdgroups(mtlc_kernel *kernel);

// Once they are unrolled: makes the accesses to that memory such as LLVM makes
// registers of.
void lanes_open_memory(mtlc_kernel *kernel);

#endif
