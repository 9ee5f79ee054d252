// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// callees.h: facts about functions, by their names.
#ifndef MTLC_CALLEES_H
#define MTLC_CALLEES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"

typedef enum lanes_callee {
  LANES_CALLEE_OTHER,     // called for one thread after the other
  LANES_CALLEE_NOTHING,   // no effect: markers of lifetime, assumptions, ...
  LANES_CALLEE_ARGUMENT,  // a function of docs/ir.md
  LANES_CALLEE_APART,
  LANES_CALLEE_ALL,
  LANES_CALLEE_FIRST,   // the first lane's value (version_row.c)
  LANES_CALLEE_DEMAND,  // version_guard.h
  LANES_CALLEE_POSITION,
  LANES_CALLEE_THREADGROUP_MEMORY,
  LANES_CALLEE_THREADGROUP_BARRIER,
  LANES_CALLEE_SIMDGROUP_BARRIER,
  LANES_CALLEE_SHUFFLE,
  LANES_CALLEE_BALLOT,
  LANES_CALLEE_REDUCE,
  LANES_CALLEE_SCAN,
  LANES_CALLEE_TILE,
  LANES_CALLEE_TRAP,
  LANES_CALLEE_MUST,  // check/screen_accesses.c
  LANES_CALLEE_SHARED,  // check/screen_stamps.c
  LANES_CALLEE_CHECK_MEMORY,
  LANES_CALLEE_LOG_MEMORY,
  LANES_CALLEE_PARAMETER,  // vector_calls.h
  LANES_CALLEE_CALLED,
  LANES_CALLEE_ELEMENTWISE,  // an intrinsic with a vector form, or a dot
                             // product (dot_products.h)
  LANES_CALLEE_UNKNOWN,      // named mettle.*, but not in the list
} lanes_callee;

lanes_callee lanes_callee_of(LLVMValueRef call);

// True if threads of a threadgroup wait for each other in a block.
bool lanes_has_barrier(LLVMBasicBlockRef block);

// The operation of a reduction or scan, from its name.
typedef enum lanes_operation {
  LANES_ADD,
  LANES_MULTIPLY,
  LANES_MINIMUM,
  LANES_MAXIMUM,
  LANES_AND,
  LANES_OR,
  LANES_XOR,
  LANES_NO_OPERATION,
} lanes_operation;

typedef struct lanes_collective {
  lanes_operation operation;
  bool is_scan;
  bool is_exclusive;
  bool is_unsigned;  // of a minimum or maximum
} lanes_collective;

lanes_collective lanes_collective_of(LLVMValueRef call);

// Returns the count of operands; of a call, that of its arguments.
unsigned lanes_operand_count(LLVMValueRef i);

// A minimum or maximum of two 32-bit integers.
typedef struct lanes_limit {
  bool is_max;
  bool is_signed;
} lanes_limit;
// False if a value is no such minimum or maximum.
bool lanes_limit_find(LLVMValueRef value, lanes_limit *out_limit);

// True if an elementwise intrinsic's operand is the same for all lanes by
// definition (a flag, not data).
bool lanes_operand_is_flag(LLVMValueRef call, uint32_t operand);

// True if a call must be run by exactly the threads that reach it.
bool lanes_is_convergent(LLVMValueRef call);

// True if an instruction multiplies tiles, or sums products of bytes.
bool lanes_is_product(LLVMValueRef instruction);
bool lanes_is_byte_product(LLVMValueRef product);
// Returns the shape of a call's result from its arguments' shapes.
lanes_shape lanes_shape_of_call(const lanes_values *values, LLVMValueRef call,
                                const lanes_shape *operands);

#endif
