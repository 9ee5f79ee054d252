// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_spaces.h: finds which memory the loads, stores and atomics of an
// unoptimised module may access, where addresses pass through variables,
// structures and calls.
#ifndef MTLC_ACCESS_SPACES_H
#define MTLC_ACCESS_SPACES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// A set of pieces of memory that threads share: the buffer of each argument by
// its slot, what addresses found in memory lead to, and the threadgroup's. None
// for a thread's own memory, and for constants. mtlc_find_accesses leaves out
// what threads offer: those are no accesses of the program.
typedef uint64_t mtlc_spaces;
enum {
  MTLC_LAST_ARGUMENT_SPACE = 60,
  MTLC_OFFER_SPACE = 61,  // what threads offer to shuffles (offer_values.c)
  MTLC_OTHER_SPACE = 62,
};
#define MTLC_SPACES_OFFER ((mtlc_spaces)1 << MTLC_OFFER_SPACE)
#define MTLC_SPACES_OTHER ((mtlc_spaces)1 << MTLC_OTHER_SPACE)
#define MTLC_SPACES_THREADGROUP ((mtlc_spaces)1 << 63)

typedef struct mtlc_access {
  mtlc_spaces read;
  mtlc_spaces written;
} mtlc_access;

typedef struct mtlc_accesses {
  mtlc_access *items;  // [count] by number
  size_t count;
} mtlc_accesses;

// Numbers the accesses of a kernel's module, and finds what they touch. Copies
// of an instruction, as inlining makes them, have its number. free(items) ends
// it.
mtl_status mtlc_find_accesses(mtlc_kernel *kernel, mtlc_accesses *out_accesses);

// True if a value is a call that returns threadgroup memory.
bool mtlc_is_threadgroup_memory(LLVMValueRef value);

// Returns the memory that an instruction accesses; none if it has no number.
mtlc_access mtlc_access_of(const mtlc_accesses *accesses,
                           LLVMValueRef instruction);

#endif
