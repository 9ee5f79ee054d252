// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sink_tests.h: tests of thread indices, made where they are asked for.
#ifndef MTLC_SINK_TESTS_H
#define MTLC_SINK_TESTS_H

#include <llvm-c/Core.h>

// Makes comparisons of positions with numbers again in each block that asks for
// their result. For kernels that wait; LLVM joins them again where they do not.
void lanes_sink_tests(LLVMContextRef context, LLVMValueRef function);

#endif
