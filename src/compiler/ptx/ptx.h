// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptx.h: passes from the portable IR of one thread to PTX (docs/cuda.md). They
// run in this order, after those that all targets share; passes.c has the list.
#ifndef MTLC_PTX_H
#define MTLC_PTX_H

#include "compiler/ir/kernel/kernel.h"

// True if a request's target is "nvptx64 sm_NN +ptxNN", perhaps with
// " +approximate" behind it: fast math may use the machine's approximations.
bool mtlc_is_ptx_target(const char *target);

// Returns the compute capability that a target machine is of, times ten: 90 for
// sm_90.
unsigned mtlc_ptx_capability(LLVMTargetMachineRef target);

// Makes the target machine of such a request; the caller keeps it.
mtl_status mtlc_make_ptx_machine(const char *target,
                                 LLVMTargetMachineRef *out_machine,
                                 bool *out_may_approximate);

// Address spaces of NVPTX: device memory, and a block's shared memory.
enum { MTLC_PTX_GLOBAL_SPACE = 1, MTLC_PTX_SHARED_SPACE = 3 };

// Sets the module's triple and data layout, before all passes.
void mtlc_set_ptx_module(mtlc_kernel *kernel);

// Metadata of a module whose simdgroups are numbered as the machine's fragments
// of matrices: thread l of a simdgroup is in lane (l4 l2 l1 l3 l0), bits of l.
#define MTLC_PTX_TURNED "mettle.turned"

// void(ptr address, i64 bytes, i32 slot, i32 is_write): between check_accesses
// and enter_block, in front of an access.
#define MTLC_PTX_ASK "mettle.ptx.ask"

// Adds a constant of bytes, followed by zeros (MTLI_PTX_TEXT_BYTES).
LLVMValueRef mtlc_ptx_add_text(mtlc_kernel *kernel, const char *text,
                               size_t length, unsigned alignment);

// The passes, each in the file of its name.
mtlc_pass mtlc_ptx_approximate;
mtlc_pass mtlc_ptx_multiply_tiles;
mtlc_pass mtlc_ptx_lower_simdgroups;
mtlc_pass mtlc_ptx_check_accesses;
mtlc_pass mtlc_ptx_lower_memory;
mtlc_pass mtlc_ptx_enter_block;
mtlc_pass mtlc_ptx_optimise;
mtlc_pass mtlc_ptx_unroll_loops;
mtlc_pass mtlc_ptx_divide;
mtlc_pass mtlc_ptx_raise_alignment;

// Module to PTX text; malloc'ed.
mtl_status mtlc_emit_ptx(mtlc_kernel *kernel, void **out_text,
                         size_t *out_size_bytes);

#endif
