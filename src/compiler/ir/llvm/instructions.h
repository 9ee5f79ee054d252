// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// instructions.h: reads, replaces and moves instructions.
#ifndef MTLC_INSTRUCTIONS_H
#define MTLC_INSTRUCTIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

// True if a value is a constant struct, array or vector.
bool mtlc_is_constant_aggregate(LLVMValueRef value);
// True if a value is a threadgroup variable (docs/ir.md), or a constant made of
// one.
bool mtlc_names_threadgroup_memory(LLVMValueRef value);

// Calls visit for each instruction of a function, or of all functions. The
// visited instruction may be erased, its block not split.
typedef void mtlc_visit(LLVMValueRef instruction, void *context);
void mtlc_for_each_instruction(LLVMValueRef function, mtlc_visit *visit,
                               void *context);
void mtlc_for_each_in_module(LLVMModuleRef module, mtlc_visit *visit,
                             void *context);
// Returns the greatest common divisor.
uint64_t mtlc_common_divisor(uint64_t a, uint64_t b);
// The first positions a builder before an instruction; the second, after the
// phis that begin with it.
void mtlc_position_behind_phis(LLVMBuilderRef builder,
                               LLVMValueRef instruction);
// Moves all of a block but its branch to a new block, which takes over the
// block's predecessors. Phis after the branch stay valid. Returns the new
// block, which has no terminator yet.
LLVMBasicBlockRef mtlc_split_above(LLVMBuilderRef builder,
                                   LLVMValueRef branch);
// True if a value is an instruction of that kind.
bool mtlc_is_opcode(LLVMValueRef value, LLVMOpcode opcode);
// True if an operation of two integers is defined for all operands: no
// division.
bool mtlc_is_plain_arithmetic(LLVMOpcode opcode);
// Builds an instruction's operation once more, on operands of another width:
// an elementwise call, arithmetic, a comparison, a select, a freeze or a cast.
// Fast-math flags are taken over; others are not.
//
//   type  of the result
LLVMValueRef mtlc_build_like(LLVMBuilderRef builder, LLVMValueRef instruction,
                             LLVMTypeRef type, LLVMValueRef *operands);
// Replaces an instruction by value and erases it.
void mtlc_replace(LLVMValueRef instruction, LLVMValueRef value);
// Returns the address that is `bytes` after pointer.
LLVMValueRef mtlc_offset(LLVMBuilderRef builder, LLVMValueRef pointer,
                         uint64_t bytes);
// Positions a builder where code that runs before the function's own goes:
// after the first block's static allocas.
void mtlc_position_at_entry(LLVMBuilderRef builder, LLVMValueRef function);
// Returns the address that an address is computed from by getelementptr.
LLVMValueRef mtlc_root_of(LLVMValueRef address);
uint32_t mtlc_count_instructions(LLVMValueRef function);
uint32_t mtlc_count_in_block(LLVMBasicBlockRef block);

#endif
