// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// emit_cpu.h: emits an object file, and creates the target machine.
#ifndef MTLC_EMIT_CPU_H
#define MTLC_EMIT_CPU_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"

// The target machine for a request's target string, kept for the next who asks:
// with what it knows of a CPU by then, which takes 2 ms to work out. Borrowed.
mtl_status mtlc_target_machine(const char *target, mtli_tier tier,
                               LLVMTargetMachineRef *out_target);
// Compiles the module to a relocatable object; malloc'ed.
mtl_status mtlc_emit_object(mtlc_kernel *kernel, void **out_object,
                            size_t *out_size_bytes);

#endif
