// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// marks.h: metadata and flags of instructions, wishes of loops, lines.
#ifndef MTLC_MARKS_H
#define MTLC_MARKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// On a call of mettle.argument that is a threadgroup's memory.
#define MTLC_THREADGROUP_MARK "mettle.threadgroup"

// On a call of mettle.barrier.simdgroup by advance_together.
#define MTLC_TOGETHER_MARK "mettle.together"

// On the extension of an index, or a shift to the right before it, that is
// taken not to wrap between two threads
// (vectorize/analysis/addresses/no_wrap.h).
#define MTLC_UNWRAPPED_MARK "mettle.unwrapped"

// Marks an instruction by metadata of that name without operands; copies have
// it, too.
void mtlc_mark(LLVMValueRef instruction, const char *name);
bool mtlc_is_marked(LLVMValueRef instruction, const char *name);
// What is known of a vector's elements, as that a sum does not wrap, is known
// of each: an instruction that was just made from another, if it is one.
void mtlc_keep_flags(LLVMValueRef from, LLVMValueRef made);
// Takes away what is known of an instruction's result and its operands.
void mtlc_drop_flags(LLVMValueRef instruction);
// What this load reads nothing writes while the kernel runs.
void mtlc_mark_invariant(LLVMValueRef load);
bool mtlc_is_invariant(LLVMValueRef load);
// Gives an instruction of function, made by us, the line that the function
// begins on, if it has debug information.
void mtlc_set_location(LLVMValueRef instruction, LLVMValueRef function);
// Sets what a loop wishes, such as "llvm.loop.unroll.full", on the branch back
// to its header.
void mtlc_set_loop_wish(LLVMValueRef latch, const char *wish);

#endif
