// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sink_tests.h: repeats tests of a thread's position where they are used.
#ifndef MTLC_SINK_TESTS_H
#define MTLC_SINK_TESTS_H

#include <llvm-c/Core.h>

// Repeats comparisons of positions with constants in each block that uses them.
// For kernels with barriers; LLVM would join them again in others.
void lanes_sink_tests(LLVMContextRef context, LLVMValueRef function);

#endif
