// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd_functions.h: the simdgroup functions of docs/ir.md, by name, and what
// they do to the values of 32 threads.
#ifndef MTLC_SIMD_FUNCTIONS_H
#define MTLC_SIMD_FUNCTIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "mettle/status.h"

typedef enum mtlc_simd_kind {
  MTLC_SIMD_BARRIER,
  MTLC_SIMD_SHUFFLE,
  MTLC_SIMD_BALLOT,
  MTLC_SIMD_REDUCE,
  MTLC_SIMD_SCAN_INCLUSIVE,
  MTLC_SIMD_SCAN_EXCLUSIVE,
} mtlc_simd_kind;

typedef enum mtlc_simd_operation {
  MTLC_SIMD_ADD,
  MTLC_SIMD_MUL,
  MTLC_SIMD_MIN,
  MTLC_SIMD_MAX,
  MTLC_SIMD_AND,
  MTLC_SIMD_OR,
  MTLC_SIMD_XOR,
} mtlc_simd_operation;

typedef struct mtlc_simd_function {
  mtlc_simd_kind kind;
  mtlc_simd_operation operation;  // of reductions and scans
  LLVMTypeRef type;               // of a value
  bool is_unsigned;               // minimum and maximum of u32, u64
  bool starts_with_neighbours;  // sums and products of floating point; false if
                                // the caller says nothing
} mtlc_simd_function;

// Parses a function's name.
// Errors  MTL_UNSUPPORTED  no such function; the text has the name
mtl_status mtlc_simd_function_of(LLVMContextRef context, const char *name,
                                 mtlc_simd_function *out_function);

// Builds the result of function for 32 threads: of values, a vector of 32 of
// its type, where mask, <32 x i1>, is set. Every element of the result is
// right, also those of threads that are not active. Reductions and scans only.
LLVMValueRef mtlc_build_simd_function(LLVMBuilderRef builder,
                                      const mtlc_simd_function *function,
                                      LLVMValueRef values, LLVMValueRef mask);

// Builds the operation of a reduction or scan for two values, or vectors.
LLVMValueRef mtlc_build_simd_operation(LLVMBuilderRef builder,
                                       const mtlc_simd_function *function,
                                       LLVMValueRef left, LLVMValueRef right);
// Returns the operation's identity, the value that inactive threads contribute.
LLVMValueRef mtlc_simd_identity(const mtlc_simd_function *function);
// Returns what thread 0 of an exclusive scan starts with.
LLVMValueRef mtlc_simd_start(const mtlc_simd_function *function);
// True if a reduction combines neighbours first, and this makes a difference.
bool mtlc_simd_starts_with_neighbours(const mtlc_simd_function *function);

#endif
