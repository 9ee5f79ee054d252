// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// passes.h: the passes from portable IR to one kernel's machine code, and what
// they share. The order is in passes.c.
//
// Between the passes the module changes shape three times:
//
//   docs/ir.md       to enter_kernel: one wrapper that takes an argument array
//   @mettle.thread   void(void), one thread. It reaches the outside only by the
//                    functions of docs/ir.md; lower_threadgroup_memory leaves
//                      ptr @mettle.threadgroup_memory(i32 offset_bytes)
//                    in place of the kernel's threadgroup variables: the
//                    address of a byte of the threadgroup memory
//   @mettle.group    void(ptr launch, ptr scratch, ptr context, ptr group): one
//                    threadgroup, as mtli_cpu_run_group of cpu_abi.h. Whoever
//                    makes it says what memory it needs, and is done
#ifndef MTLC_PASSES_H
#define MTLC_PASSES_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "compiler/compiler.h"
#include "compiler/ir/kernel/kernel.h"

// Runs all passes for kernel->tier, so that kernel->module has the code of
// cpu_abi.h, and makes the dump that kernel->dump_after asks for. Errors:
// MTL_NOT_FOUND  that is no pass's name; the text lists the names
mtl_status mtlc_run_passes(mtlc_kernel *kernel);

// The passes, each in the file of its name, which says what it requires and
// leaves.
mtlc_pass mtlc_drop_initialisers;
mtlc_pass mtlc_select_kernel;
mtlc_pass mtlc_fix_constants;
mtlc_pass mtlc_fold_initialisers;  // part of fix_constants
mtlc_pass mtlc_link_functions;
mtlc_pass mtlc_check_private;
mtlc_pass mtlc_lower_pointer_calls;
mtlc_pass mtlc_simplify_library;
mtlc_pass mtlc_enter_kernel;
mtlc_pass mtlc_lower_bfloat;
mtlc_pass mtlc_define_arithmetic;
mtlc_pass mtlc_contract_arithmetic;
mtlc_pass mtlc_offer_values;
mtlc_pass mtlc_drop_unread;
mtlc_pass mtlc_lower_threadgroup_memory;
mtlc_pass mtlc_carry_private;
mtlc_pass mtlc_bound_private;
mtlc_pass mtlc_turn_positions;
mtlc_pass mtlc_fix_threads;
mtlc_pass mtlc_simplify_thread;
mtlc_pass mtlc_find_unused;
mtlc_pass mtlc_lower_tiles;
mtlc_pass mtlc_probe_alignment;
mtlc_pass mtlc_advance_together;
mtlc_pass mtlc_loop_lanes;
mtlc_pass mtlc_make_coroutines;
mtlc_pass mtlc_describe_code;
mtlc_pass mtlc_optimise;
mtlc_pass mtlc_finish_module;
mtlc_pass mtlc_split_blocks;
mtlc_pass mtlc_bfloat_across_blocks;

// The value of dump_after that asks for the machine code as text.
#define MTLC_CODE_LISTING "asm"

#endif
