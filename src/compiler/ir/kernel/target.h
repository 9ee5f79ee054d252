// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// target.h: the target machine's features, and the attributes that name them.
#ifndef MTLC_TARGET_H
#define MTLC_TARGET_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Sets the target's CPU and features on every function, without which LLVM
// optimises and emits for the plainest machine of the triple.
void mtlc_set_target_attributes(mtlc_kernel *kernel);
// True if the target has an x86 feature. AArch64 and PTX have equivalents of
// all that are tested.
bool mtlc_target_has(LLVMTargetMachineRef target, const char *feature);
// True if a target's triple starts with an architecture.
bool mtlc_target_is(LLVMTargetMachineRef target, const char *architecture);
// True if the name of a target's CPU starts with that of a family.
bool mtlc_target_is_cpu(LLVMTargetMachineRef target, const char *family);

#endif
