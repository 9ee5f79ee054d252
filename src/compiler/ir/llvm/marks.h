// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// marks.h: metadata and flags of instructions, wishes of loops, lines.
#ifndef MTLC_MARKS_H
#define MTLC_MARKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Marks a call of mettle.argument that returns threadgroup memory.
#define MTLC_THREADGROUP_MARK "mettle.threadgroup"

// On a call of mettle.barrier.simdgroup by advance_together.
#define MTLC_TOGETHER_MARK "mettle.together"

// Marks an index's extension, or a right shift before it, that is assumed not
// to wrap between two threads (vectorize/analysis/addresses/no_wrap.h).
#define MTLC_UNWRAPPED_MARK "mettle.unwrapped"

// Marks an instruction by metadata of that name without operands; copies have
// it, too.
void mtlc_mark(LLVMValueRef instruction, const char *name);
bool mtlc_is_marked(LLVMValueRef instruction, const char *name);
// Copies to an instruction that was made from another one its flags, such as
// that a sum does not wrap.
void mtlc_keep_flags(LLVMValueRef from, LLVMValueRef made);
// Removes flags that promise something about an instruction's result or
// operands.
void mtlc_drop_flags(LLVMValueRef instruction);
// Hides an operand from LLVM's loop passes behind a marked freeze, until all of
// a function's are released.
void mtlc_hold_operand(LLVMBuilderRef builder, LLVMValueRef user, unsigned k);
void mtlc_release_held(LLVMValueRef function);
// Marks a load of memory that nothing writes while the kernel runs.
void mtlc_mark_invariant(LLVMValueRef load);
bool mtlc_is_invariant(LLVMValueRef load);
// Sets the line of an instruction that we made to the first line of its
// function, if it has debug information.
void mtlc_set_location(LLVMValueRef instruction, LLVMValueRef function);
// Sets loop metadata, such as "llvm.loop.unroll.full", on the branch back to
// its header.
void mtlc_set_loop_hint(LLVMValueRef latch, const char *wish);
// The same for "llvm.loop.unroll.count": so many iterations at once.
void mtlc_set_unrolling_count(LLVMValueRef latch, uint32_t count);
// True if the loop already has a note on unrolling, as LLVM leaves one on loops
// that it has unrolled.
bool mtlc_has_unroll_hint(LLVMValueRef latch);

#endif
