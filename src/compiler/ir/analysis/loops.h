// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// loops.h: which of LLVM's passes over loops are worth their time.
#ifndef MTLC_LOOPS_H
#define MTLC_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

// With more loops than this in a function, passes that change induction
// variables or ask how often a loop turns are left out: LLVM looks for what
// guards a loop in all that comes before it, which takes time that grows with
// the square. Measured on loops in a row (x86-64-v4, 2026-11): indvars takes
// 0.3 ms for each of ten, 0.8 of a hundred and 2.5 of 500.
enum { MTLC_MANY_LOOPS = 64 };
// With more than this, code generation's loop strength reduction is left out
// for the same reason: it takes a fifth of the time of 500 loops.
enum { MTLC_TOO_MANY_LOOPS = 256 };

// Returns the largest number of loops in one function.
uint32_t mtlc_most_loops(LLVMModuleRef module);

// True if a condition may end a loop after a known or small number of
// iterations: it compares a counter with such a bound.
bool mtlc_may_end_count(LLVMValueRef condition);

// True if some loop may have a known or small number of iterations, so that
// LLVM may unroll it: a branch compares a counter with such a bound. If there
// is none, LLVM's unroller, which analyses each loop's body first, need not
// run.
bool mtlc_has_known_turns(LLVMModuleRef module);

#endif
