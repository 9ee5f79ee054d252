// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// checking.h: shared by check_accesses.c, the pass, and check_memory.c, which
// instruments accesses to memory: the state of one thread function.
#ifndef MTLC_CHECKING_H
#define MTLC_CHECKING_H

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "compiler/check/check.h"

typedef struct mtlc_checking {
  mtlc_kernel *kernel;
  mtlc_types types;
  mtlc_sites sites;
  mtlc_shadows *shadows;  // NULL without MTLI_CHECK_INIT and _SYNC
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  mtlc_private_bytes private_bytes;
  bool is_inline;  // the thread is short enough for inlined fast paths
} mtlc_checking;

// True if any of these MTLI_CHECK_ bits is requested.
static inline bool mtlc_checking_wants(const mtlc_checking *c,
                                       unsigned checks) {
  return (c->kernel->checks & checks) != 0;
}

// Calls a function of ir/text/check.ll.
static inline LLVMValueRef mtlc_checking_call(mtlc_checking *c,
                                              const char *name,
                                              LLVMValueRef *arguments,
                                              size_t count) {
  return mtlc_call(c->builder, LLVMGetNamedFunction(c->kernel->module, name),
                   arguments, count);
}

// Position the builder before, or behind, an instruction, at its source line.
static inline void mtlc_checking_before(mtlc_checking *c,
                                        LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(c->builder, instruction);
  LLVMSetCurrentDebugLocation2(c->builder,
                               LLVMInstructionGetDebugLoc(instruction));
}

static inline void mtlc_checking_behind(mtlc_checking *c,
                                        LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(c->builder, LLVMGetNextInstruction(instruction));
  LLVMSetCurrentDebugLocation2(c->builder,
                               LLVMInstructionGetDebugLoc(instruction));
}

// Reports a value that has unset bits where it is used, before an instruction.
void mtlc_check_use_at(mtlc_checking *c, LLVMValueRef before,
                       LLVMValueRef value, uint32_t site);
void mtlc_check_use(mtlc_checking *c, LLVMValueRef before, LLVMValueRef value,
                    mtli_check_access access);

// check_memory.c: returns the site of an access to a root's memory, without its
// size.
mtli_check_site mtlc_check_site_of(mtlc_checking *c, const mtlc_root *root,
                                   mtli_check_access access);
// Instrument one access.
void mtlc_check_load(mtlc_checking *c, LLVMValueRef load);
void mtlc_check_store(mtlc_checking *c, LLVMValueRef store);
void mtlc_check_atomic(mtlc_checking *c, LLVMValueRef atomic);
// A piece of memory that is copied or filled at once; operand is its address's
// number.
void mtlc_check_piece(mtlc_checking *c, LLVMValueRef piece, unsigned operand,
                      mtli_check_access access);
// A texel of a format that a function decodes or encodes (mettle/texel.h).
void mtlc_check_texel(mtlc_checking *c, LLVMValueRef function_call,
                      mtli_check_access access);

#endif
