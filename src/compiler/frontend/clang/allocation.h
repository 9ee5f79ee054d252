// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// allocation.h: tells the compiler process that an allocation has failed.
#ifndef METTLE_COMPILER_FRONTEND_ALLOCATION_H
#define METTLE_COMPILER_FRONTEND_ALLOCATION_H

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

// True once an object could not be allocated: the process is about to abort.
// For its handler of signals.
extern volatile sig_atomic_t mtlc_memory_ran_out;

#ifdef __cplusplus
}
#endif

#endif
