// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// list_code.h: a kernel's machine code as text to read.
#ifndef MTLC_LIST_CODE_H
#define MTLC_LIST_CODE_H

#include "compiler/ir/kernel/kernel.h"

// Writes it; malloc'ed. Before emit_object, which changes the module.
mtl_status mtlc_list_code(mtlc_kernel *kernel, char **out_text);

#endif
