// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch_lines.c: emits prefetches of cache lines.
#include "compiler/vectorize/emit/address/prefetch_lines.h"

#include <stdbool.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum { LINE_BYTES = 64 };

static void fetch(lanes_emitter *e, LLVMValueRef address, bool is_store,
                  lanes_prefetch_level level) {
  enum { DATA = 1 };
  LLVMValueRef arguments[] = {address, mtlc_i32(e->context, is_store),
                              mtlc_i32(e->context, level),
                              mtlc_i32(e->context, DATA)};
  lanes_intrinsic(e, "llvm.prefetch", &e->types.pointer, 1, arguments, 4);
}

LLVMValueRef lanes_prefetch_lines(lanes_emitter *e, LLVMValueRef address,
                                LLVMValueRef step, uint64_t bytes,
                                bool is_store, lanes_prefetch_level level) {
  LLVMValueRef next =
      LLVMBuildGEP2(e->builder, e->types.i8, address, &step, 1, "");
  for (uint64_t at = 0; at < bytes; at += LINE_BYTES) {
    fetch(e, lanes_address_at(e, next, at), is_store, level);
  }
  return next;
}

void lanes_prefetch_for_write(lanes_emitter *e, LLVMValueRef address,
                           uint64_t bytes) {
  lanes_prefetch_lines(e, address, mtlc_i64(e->context, 0), bytes, true, LANES_FIRST_LEVEL);
}
