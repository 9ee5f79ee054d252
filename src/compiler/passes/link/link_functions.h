// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link_functions.h: brings a pipeline's linked functions into the kernel's
// module.
#ifndef MTLC_LINK_FUNCTIONS_H
#define MTLC_LINK_FUNCTIONS_H

#include <llvm-c/Core.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/llvm/value_list.h"

// Visible functions that link_functions has brought in, for calls through
// tables: "mettle.linked.LEVEL.NUMBER". The kernel is at level 0; what a
// function of a level calls through a table is at the next.
#define MTLC_LINKED_PREFIX "mettle.linked."
// Returns the linked function of a number and level, or NULL.
LLVMValueRef mtlc_linked_function(LLVMModuleRef module, uint32_t level,
                                  size_t number);
// Returns the level at which a function stands.
uint32_t mtlc_level_of(LLVMValueRef function);
// Appends the calls through pointers in functions of a level.
void mtlc_collect_pointer_calls(LLVMModuleRef module, uint32_t level,
                                mtlc_values *calls);

#endif
