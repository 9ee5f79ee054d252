// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fast_path.h: what the files of fast paths share: the function being written.
//
//   fast_paths.c      the functions, a kind of memory each
//   fast_path_code.c  loads, comparisons and blocks
//   fast_path_races.c tests and updates of a word's cells
#ifndef MTLC_FAST_PATH_H
#define MTLC_FAST_PATH_H

#include "compiler/check/check.h"

enum { MTLC_WORD_BYTES = 4 };  // bytes of memory for one cell of the checker

// Parameters of a fast path.
enum {
  MTLC_FAST_CHECK,
  MTLC_FAST_ADDRESS,
  MTLC_FAST_SITE,
  MTLC_FAST_UNSET,
  MTLC_FAST_BASE,
  MTLC_FAST_SHADOW,
  MTLC_FAST_SLOT,
  MTLC_FAST_PARAMETER_COUNT
};

typedef struct mtlc_fast_path_code {
  mtlc_kernel *kernel;
  const mtlc_fast_access *access;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  LLVMBasicBlockRef slow;  // asks the run-time part
  LLVMValueRef address;    // i64
  LLVMValueRef offset;     // i64: from the first byte that has a cell
  // i32, of the running thread; see mtli_check:
  LLVMValueRef segment;
  LLVMValueRef floor;
  LLVMValueRef shared;
} mtlc_fast_path_code;

// --- fast_path_code.c -------------------------------------------------------

bool mtlc_fast_wants(const mtlc_fast_path_code *e, unsigned checks);
LLVMValueRef mtlc_fast_parameter(const mtlc_fast_path_code *e, unsigned which);
LLVMValueRef mtlc_fast_i64(const mtlc_fast_path_code *e, uint64_t value);
LLVMValueRef mtlc_fast_at(const mtlc_fast_path_code *e, LLVMValueRef base,
                          uint64_t offset);
LLVMValueRef mtlc_fast_at_number(const mtlc_fast_path_code *e,
                                 LLVMValueRef base, LLVMValueRef offset);
LLVMValueRef mtlc_fast_load(const mtlc_fast_path_code *e, LLVMTypeRef type,
                            LLVMValueRef base, uint64_t offset);
// Loads a field that the dispatch never changes.
LLVMValueRef mtlc_fast_load_fixed(const mtlc_fast_path_code *e,
                                  LLVMTypeRef type, LLVMValueRef base,
                                  uint64_t offset);
LLVMValueRef mtlc_fast_compare(const mtlc_fast_path_code *e,
                               LLVMIntPredicate how, LLVMValueRef a,
                               LLVMValueRef b);
LLVMValueRef mtlc_fast_and(const mtlc_fast_path_code *e, LLVMValueRef a,
                           LLVMValueRef b);
LLVMBasicBlockRef mtlc_fast_add_block(const mtlc_fast_path_code *e);
// Continues in a new block if an i1 holds, else in the other block.
void mtlc_fast_go_on_if(const mtlc_fast_path_code *e, LLVMValueRef holds,
                        LLVMBasicBlockRef otherwise);
// Continues if an i1 holds, else in the slow block.
void mtlc_fast_must(const mtlc_fast_path_code *e, LLVMValueRef holds);

// --- fast_path_races.c ------------------------------------------------------

// Tests the cells of the accessed bytes for races and notes the access there.
void mtlc_fast_device_races(mtlc_fast_path_code *e, LLVMValueRef view);
void mtlc_fast_threadgroup_races(mtlc_fast_path_code *e);

#endif
