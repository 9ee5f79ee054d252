// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_private.c: refuses kernels whose private memory is too large, or of a
// size that is known only when they run. Both tiers have the same limit, and
// what is counted is what the source declares: whether an array is one that
// LLVM does without makes no difference.
//
// Requires  the kernel and all that it reaches, before any function is inlined
// Leaves    every variable of constant size in its function's entry, and so few
//           that 32 threads' fit the stack and the frames that a worker has
#include <inttypes.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/passes/passes.h"
#include "mettle/pipeline.h"

enum {
  // Scalars, vectors and small matrices do not count: few of them stay in
  // memory.
  SMALL_BYTES = 64,
};

// A function and the memory of the deepest calls from it.
typedef struct function_memory {
  LLVMValueRef function;
  bool is_known;  // or in progress: calls in a circle count once
  uint64_t bytes;
} function_memory;

typedef struct check {
  const mtlc_kernel *kernel;
  LLVMTargetDataRef data;
  function_memory *functions;  // [count]
  size_t count;
  LLVMValueRef refused;  // a variable of no constant size
} check;

// Saturates here, so that the sum of two does not wrap.
static const uint64_t MOST_BYTES = (uint64_t)1 << 48;

static uint64_t at_most(uint64_t bytes) {
  return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

static uint64_t variable_bytes(check *c, LLVMValueRef variable) {
  LLVMValueRef count = LLVMGetOperand(variable, 0);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(variable);
  if (!LLVMIsAConstantInt(count) ||
      block != LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block))) {
    c->refused = c->refused ? c->refused : variable;
    return 0;
  }
  uint64_t bytes = LLVMABISizeOfType(c->data, LLVMGetAllocatedType(variable));
  if (__builtin_mul_overflow(bytes, LLVMConstIntGetZExtValue(count), &bytes)) {
    bytes = MOST_BYTES;
  }
  return bytes > SMALL_BYTES ? at_most(bytes) : 0;
}

static uint64_t bytes_from(check *c, LLVMValueRef function);

static uint64_t bytes_in(check *c, LLVMValueRef function) {
  uint64_t own_bytes = 0;
  uint64_t deepest_bytes = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (LLVMIsAAllocaInst(i)) {
        own_bytes = at_most(own_bytes + variable_bytes(c, i));
        continue;
      }
      LLVMValueRef callee = mtlc_callee(i);
      const uint64_t bytes = callee ? bytes_from(c, callee) : 0;
      deepest_bytes = bytes > deepest_bytes ? bytes : deepest_bytes;
    }
  }
  return at_most(own_bytes + deepest_bytes);
}

static uint64_t bytes_from(check *c, LLVMValueRef function) {
  for (size_t i = 0; i < c->count; ++i) {
    function_memory *it = &c->functions[i];
    if (it->function == function) {
      if (!it->is_known) {
        it->is_known = true;
        it->bytes = bytes_in(c, function);
      }
      return it->bytes;
    }
  }
  return 0;
}

static mtl_status refuse(const check *c) {
  unsigned length = 0;
  const char *file = LLVMGetDebugLocFilename(c->refused, &length);
  return mtli_fail(MTL_UNSUPPORTED,
                   "kernel %s: %.*s%s%u: memory whose size is known only when "
                   "it runs (alloca, or an array of variable length), which "
                   "Metal does not have",
                   c->kernel->kernel->name, (int)length, file ? file : "",
                   length ? ":" : "line ", LLVMGetDebugLocLine(c->refused));
}

mtl_status mtlc_check_private(mtlc_kernel *kernel) {
  check c = {.kernel = kernel, .data = LLVMGetModuleDataLayout(kernel->module)};
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    c.count += !LLVMIsDeclaration(f);
  }
  c.functions = calloc(c.count + 1, sizeof c.functions[0]);
  if (!c.functions) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "check_private");
  }
  size_t filled = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f)) {
      c.functions[filled++].function = f;
    }
  }
  uint64_t most_bytes = 0;
  for (size_t i = 0; i < c.count; ++i) {
    const uint64_t bytes = bytes_from(&c, c.functions[i].function);
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
  }
  free(c.functions);
  if (c.refused) {
    return refuse(&c);
  }
  return most_bytes <= MTL_MAX_PRIVATE_BYTES
             ? MTL_OK
             : mtli_fail(MTL_UNSUPPORTED,
                         "kernel %s (%s:%u): %" PRIu64
                         " bytes of private memory a thread, of its own arrays "
                         "and those of the functions that it calls, are over "
                         "the limit of %d",
                         kernel->kernel->name,
                         kernel->kernel->file ? kernel->kernel->file : "",
                         kernel->kernel->line, most_bytes,
                         MTL_MAX_PRIVATE_BYTES);
}
