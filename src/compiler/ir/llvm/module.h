// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// module.h: what the passes share in reading and changing a module: types,
// lists of calls, moved functions, linked text.
#ifndef MTLC_MODULE_H
#define MTLC_MODULE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"

// Moves the body of source into target, a declaration, with its debug
// information; parameters and attributes do not move.
void mtlc_move_body(LLVMValueRef source, LLVMValueRef target);

// Parses IR text (from ir_text.S) and links it into the kernel's module.
mtl_status mtlc_link_text(mtlc_kernel *kernel, const char *name,
                          const char *text);

// Makes every function internal but those of cpu_abi.h.
void mtlc_hide_functions(LLVMModuleRef module);

// Runs a pipeline of LLVM's own passes, described as for `opt -passes`.
mtl_status mtlc_run_llvm_passes(mtlc_kernel *kernel, const char *passes);

// Texts of ir_text.S.
extern const char mtlc_text_counters[];
extern const char mtlc_text_lane_loop[];
extern const char mtlc_text_schedule[];
extern const char mtlc_text_memory[];
extern const char mtlc_text_check[];
extern const char mtlc_text_check_lane_loop[];
extern const char mtlc_text_check_schedule[];
extern const char mtlc_text_fused[];
extern const char mtlc_text_halves[];
extern const char mtlc_text_tiles[];
extern const char mtlc_text_ptx_check[];
extern const char mtlc_text_pairs[];
extern const char mtlc_text_apart[];
extern const char mtlc_text_extremes[];

#endif
