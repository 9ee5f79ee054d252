// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// jam_simdgroups.h: one function for several simdgroups of a threadgroup.
#ifndef MTLC_JAM_SIMDGROUPS_H
#define MTLC_JAM_SIMDGROUPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"

// True if a function of one simdgroup, even after promotion to SSA form, is
// larger than lanes_jam_simdgroups accepts. forms: how many versions of the
// code it contains, of which one runs.
bool lanes_is_too_large_to_jam(LLVMValueRef function, uint32_t forms);

// Turns a function of one simdgroup, in SSA form, into a function of several,
// all whole, and returns how many: as many as pay, but no more than `most`,
// which is LANES_MOST_AT_ONCE or less. If it returns 1 the function is
// unchanged.
//
// With same_x all have the same position along x. The parameters after the
// function's own are `first`, x, y and z of the second simdgroup, then of the
// third, and so on. Sets *out_shares if loops load vectors once for all of
// them.
uint32_t lanes_jam_simdgroups(mtlc_kernel *kernel, LLVMValueRef function,
                            bool same_x, uint32_t most, mtli_arena *arena,
                            bool *out_shares);

#endif
