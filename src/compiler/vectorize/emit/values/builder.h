// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// builder.h: blocks, shuffles, masks and memory of the emitted function.
#ifndef MTLC_BUILDER_H
#define MTLC_BUILDER_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns an alloca that lanes_promote_allocas or mem2reg removes.
LLVMValueRef lanes_promotable_alloca(lanes_emitter *e, LLVMTypeRef type);
// Returns an alloca that stays, because addresses in it are computed.
LLVMValueRef lanes_fixed_alloca(lanes_emitter *e, LLVMTypeRef type);
LLVMValueRef lanes_splat(lanes_emitter *e, LLVMBuilderRef builder,
                         LLVMValueRef scalar);
LLVMValueRef lanes_splat_to(lanes_emitter *e, LLVMBuilderRef builder,
                            LLVMValueRef scalar, uint32_t width);
// Returns <32 x type> of start, start + step, ...
LLVMValueRef lanes_steps(uint32_t lanes, LLVMTypeRef type, uint64_t start, uint64_t step);
LLVMBasicBlockRef lanes_block(lanes_emitter *e, const char *name);
// Marks a loop by its latch so that LLVM does not unroll it.
void lanes_keep_loop(LLVMValueRef latch);
// The first is true if any bit of a mask is set, the second if all are.
LLVMValueRef lanes_any(lanes_emitter *e, LLVMValueRef mask);
LLVMValueRef lanes_all(lanes_emitter *e, LLVMValueRef mask);
// Returns an i32: the last running lane; any lane if none runs.
LLVMValueRef lanes_last(lanes_emitter *e);
LLVMValueRef lanes_intrinsic(lanes_emitter *e, const char *name,
                             LLVMTypeRef *overloads, uint32_t overload_count,
                             LLVMValueRef *arguments, uint32_t count);
LLVMValueRef lanes_shuffle(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                           const int *lanes, uint32_t count);
// Returns count elements of a vector, from first on.
LLVMValueRef lanes_subvector(lanes_emitter *e, LLVMValueRef vector, uint32_t first,
                         uint32_t count);
// Concatenates vectors of equal length, a power of two of them at the end.
LLVMValueRef lanes_concatenated(lanes_emitter *e, LLVMValueRef *parts,
                                uint32_t count);
// The first interleaves two <32 x T> to <64 x T>. The second returns every
// other element of one, from the first or the second on.
LLVMValueRef lanes_interleave(lanes_emitter *e, LLVMValueRef first,
                              LLVMValueRef second);
LLVMValueRef lanes_deinterleave(lanes_emitter *e, LLVMValueRef both,
                                uint32_t from);
// Returns a pointer, scalar or vector, plus offset bytes.
LLVMValueRef lanes_address_at(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t offset);
// Loads or stores at a vector of pointers, of any length, under a mask.
LLVMValueRef lanes_gather_from(lanes_emitter *e, LLVMTypeRef element,
                               LLVMValueRef pointers, uint32_t alignment,
                               LLVMValueRef mask);

// Repeats each of `from` segments' first values, so that there are width of
// them, and adds the stride times the lane's distance from its segment's first.
LLVMValueRef lanes_broadcast_segments(lanes_emitter *e, LLVMValueRef firsts, uint32_t from,
                          int64_t stride, uint32_t width);

#endif
