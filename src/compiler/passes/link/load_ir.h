// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_ir.h: reads IR of a container, which may be damaged.
#ifndef MTLC_LOAD_IR_H
#define MTLC_LOAD_IR_H

#include <llvm-c/Types.h>
#include <stdbool.h>
#include <stddef.h>

// Reads a kernel as mtlc_load_kernel does. LLVM's reader follows what damaged
// bytes say into memory that is not there: such a fault is damage like other
// damage.
//
// Threads  One at a time in a process: the handlers of signals are the
//          process's.
//
// Returns false if the bitcode is damaged. After a fault nothing of the context
// may be used again, nor freed.
bool mtlc_load_ir(LLVMContextRef context, const void *bitcode,
                  size_t size_bytes, const char *symbol,
                  LLVMModuleRef *out_module);

#endif
