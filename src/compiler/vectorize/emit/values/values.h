// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// values.h: the components of the thread function's values in the emitted code.
#ifndef MTLC_VALUES_H
#define MTLC_VALUES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// True if an operand is available here: computed on every path, or kept.
bool lanes_is_at_hand(lanes_emitter *e, LLVMValueRef operand);
// Returns a component of an operand at its own width: for a width of 1, lane
// 0's value.
LLVMValueRef lanes_scalar(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component);
// Returns a component as a vector of 32.
LLVMValueRef lanes_vector(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component);
// Returns a component at any width that is a multiple of its own.
LLVMValueRef lanes_at_width(lanes_emitter *e, LLVMValueRef operand,
                        uint32_t component, uint32_t width);
// Returns a component at that width, or as a scalar if it is uniform: for
// instructions that take either.
LLVMValueRef lanes_at_width_or_scalar(lanes_emitter *e, LLVMValueRef operand,
                                  uint32_t component, uint32_t width);
// Sets a component of an instruction's result, at the width of its shape.
void lanes_set_result(lanes_emitter *e, LLVMValueRef instruction,
                      uint32_t component, LLVMValueRef value);
// Sets a component that was computed in the entry block.
void lanes_set_everywhere(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef value);
// True if all operands can be read in the entry block.
bool lanes_has_operands_everywhere(lanes_emitter *e, LLVMValueRef instruction);
// Returns the address of a matrix accumulator, or NULL.
LLVMValueRef lanes_sum_home(lanes_emitter *e, LLVMValueRef value);
// True if a value has the same address as an accumulator that has one.
bool lanes_has_home_of(const lanes_emitter *e, LLVMValueRef value,
                       LLVMValueRef sum);
uint32_t lanes_width(const lanes_emitter *e, LLVMValueRef operand);

#endif
