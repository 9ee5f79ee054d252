// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault_position.h: records which simdgroup runs, for the text of a fault.
#ifndef MTLC_FAULT_POSITION_H
#define MTLC_FAULT_POSITION_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// True if an instruction records, for the text of a fault, which simdgroup
// runs.
bool lanes_notes_fault_position(LLVMValueRef instruction);
// Lowers all such instructions to stores.
void lanes_write_fault_positions(mtlc_kernel *kernel);

#endif
