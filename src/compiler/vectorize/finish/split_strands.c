// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_strands.c: computes long formulas of 32 lanes a register's lanes at a
// time. Code generation does each operation for all lanes before the next: four
// registers of 256 bits a value, so that a formula of five values leaves none.
// Here one register's lanes run through the whole formula, then the next's.
//
// Requires  a module that nothing optimises any more
// Leaves    runs of elementwise 32-bit arithmetic split into strands, each the
//           lanes of one register, one strand after the other; only where the
//           machine has 16 vector registers
#include "compiler/vectorize/finish/split_strands.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_STRANDS = 8,
  MOST_OPERANDS = 4,
  WORD_BITS = 32,
  MOST_LANES_EACH = 16,
  MOST_REGISTERS = 16,  // with 32 it has not been measured
  // A strand is one chain of dependent operations, so a processor must have the
  // next strand in its reorder buffer too: 256 entries on Zen 3, 224 or more on
  // other processors.
  MOST_IN_RUN = 100,
};

// A value of the run.
typedef struct whole {
  LLVMValueRef value;
  LLVMValueRef strands[MOST_STRANDS];
  uint32_t last;  // place of the last value of the run that reads it
} whole;

typedef struct splitting {
  mtli_arena arena;
  LLVMBuilderRef builder;
  LLVMContextRef context;
  lanes_machine machine;
  uint32_t lanes;  // of the run's values
  uint32_t strands;
  lanes_map numbers;  // value to its place in wholes
  whole *wholes;      // the run, in order
  uint32_t count;
  uint32_t capacity;
} splitting;

// --- Which operations --------------------------------------------------------

static unsigned bits_of(LLVMTypeRef element) {
  switch (LLVMGetTypeKind(element)) {
    case LLVMFloatTypeKind: return WORD_BITS;
    case LLVMHalfTypeKind: return 16;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(element);
    default: return 0;
  }
}

// Returns the lanes of a vector of words, or of what becomes words; 0 of
// anything else.
static uint32_t lanes_of_type(LLVMTypeRef type, bool may_be_narrow) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return 0;
  }
  const unsigned bits = bits_of(LLVMGetElementType(type));
  return bits == WORD_BITS || (may_be_narrow && (bits == 8 || bits == 16))
             ? LLVMGetVectorSize(type)
             : 0;
}

static bool is_plain_intrinsic(LLVMValueRef call) {
  static const char *const names[] = {"llvm.fma", "llvm.fmuladd", "llvm.fabs",
                                      "llvm.sqrt"};
  LLVMValueRef callee = LLVMGetCalledValue(call);
  const unsigned id = LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0;
  for (size_t i = 0; id && i < sizeof names / sizeof *names; i++) {
    if (id == LLVMLookupIntrinsicID(names[i], strlen(names[i]))) {
      return true;
    }
  }
  return false;
}

// True if a word's part becomes a word again: two shifts or a mask.
static bool is_only_widened(LLVMValueRef part) {
  for (LLVMUseRef use = LLVMGetFirstUse(part); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if ((!LLVMIsASExtInst(user) && !LLVMIsAZExtInst(user) &&
         !LLVMIsASIToFPInst(user) && !LLVMIsAUIToFPInst(user)) ||
        LLVMGetInstructionParent(user) != LLVMGetInstructionParent(part)) {
      return false;
    }
  }
  return true;
}

static bool is_elementwise(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFNeg:
    case LLVMAdd:
    case LLVMFAdd:
    case LLVMSub:
    case LLVMFSub:
    case LLVMMul:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPExt:
    case LLVMBitCast: return true;
    case LLVMTrunc: return is_only_widened(i);
    case LLVMCall: return is_plain_intrinsic(i);
    default: return false;
  }
}

static int operands_of(LLVMValueRef i) {
  return LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i)
                            : LLVMGetNumOperands(i);
}

// Returns the lanes of an operand; 0 if its strands cost more than the whole.
// Narrow integers from memory are widened as they are loaded.
static uint32_t lanes_read(const splitting *s, LLVMValueRef i,
                           LLVMValueRef from) {
  const bool in_run = lanes_map_get(&s->numbers, from) != LANES_NONE;
  return lanes_of_type(LLVMTypeOf(from), LLVMIsAFPExtInst(i) || in_run);
}

// True if an operation may join the run.
static bool may_split(const splitting *s, LLVMValueRef i) {
  if (!is_elementwise(i)) {
    return false;
  }
  const uint32_t lanes = lanes_of_type(LLVMTypeOf(i), LLVMIsATruncInst(i));
  const uint32_t each = s->machine.vector_bytes * 8 / WORD_BITS;
  bool may = lanes > each && lanes <= each * MOST_STRANDS &&
             (lanes & (lanes - 1)) == 0 && (!s->count || lanes == s->lanes);
  for (int k = 0; may && k < operands_of(i); k++) {
    may = lanes_read(s, i, LLVMGetOperand(i, (unsigned)k)) == lanes;
  }
  return may;
}

// --- The strands of a run ----------------------------------------------------

// Returns one strand of a value from outside.
static LLVMValueRef part(splitting *s, LLVMValueRef value, uint32_t strand) {
  const uint32_t each = s->lanes / s->strands;
  LLVMValueRef lanes[MOST_LANES_EACH];
  for (uint32_t l = 0; l < each; l++) {
    lanes[l] = mtlc_i32(s->context, strand * each + l);
  }
  return LLVMBuildShuffleVector(s->builder, value,
                                LLVMGetPoison(LLVMTypeOf(value)),
                                LLVMConstVector(lanes, each), "");
}

static LLVMValueRef operand(splitting *s, LLVMValueRef value, uint32_t strand) {
  const uint32_t place = lanes_map_get(&s->numbers, value);
  return place != LANES_NONE ? s->wholes[place].strands[strand]
                             : part(s, value, strand);
}

// Returns a value of the run whole again.
static LLVMValueRef joined(splitting *s, const whole *w) {
  LLVMValueRef parts[MOST_STRANDS];
  for (uint32_t p = 0; p < s->strands; p++) {
    parts[p] = w->strands[p];
  }
  LLVMValueRef lanes[MOST_LANES_EACH * MOST_STRANDS];
  for (uint32_t count = s->strands; count > 1; count /= 2) {
    const uint32_t size = 2 * LLVMGetVectorSize(LLVMTypeOf(parts[0]));
    for (uint32_t l = 0; l < size; l++) {
      lanes[l] = mtlc_i32(s->context, l);
    }
    for (uint32_t p = 0; p < count / 2; p++) {
      parts[p] =
          LLVMBuildShuffleVector(s->builder, parts[2 * p], parts[2 * p + 1],
                                 LLVMConstVector(lanes, size), "");
    }
  }
  return parts[0];
}

// Returns one strand of an operation.
static LLVMValueRef narrow(splitting *s, LLVMValueRef i, uint32_t strand) {
  LLVMValueRef in[MOST_OPERANDS];
  const int count = operands_of(i);
  for (int k = 0; k < count; k++) {
    in[k] = operand(s, LLVMGetOperand(i, (unsigned)k), strand);
  }
  LLVMTypeRef type =
      LLVMVectorType(LLVMGetElementType(LLVMTypeOf(i)), s->lanes / s->strands);
  LLVMValueRef made = mtlc_build_like(s->builder, i, type, in);
  if (LLVMIsAUIToFPInst(made) || LLVMIsAZExtInst(made)) {
    LLVMSetNNeg(made, LLVMGetNNeg(i));
  }
  return made;
}

static bool is_read_outside(const splitting *s, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (lanes_map_get(&s->numbers, LLVMGetUser(use)) == LANES_NONE) {
      return true;
    }
  }
  return false;
}

static void forget(splitting *s) {
  s->numbers = (lanes_map){0};
  s->count = 0;
}

// Returns the most values of the run that are live at once.
static uint32_t most_live(splitting *s) {
  uint32_t *const ends = lanes_allocate(&s->arena, s->count + 1, sizeof *ends);
  for (uint32_t g = 0; g < s->count; g++) {
    LLVMValueRef value = s->wholes[g].value;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use;
         use = LLVMGetNextUse(use)) {
      const uint32_t by = lanes_map_get(&s->numbers, LLVMGetUser(use));
      const uint32_t at = by == LANES_NONE ? s->count : by;
      s->wholes[g].last = at > s->wholes[g].last ? at : s->wholes[g].last;
    }
    ends[s->wholes[g].last]++;
  }
  uint32_t live = 0, most = 0;
  for (uint32_t g = 0; g < s->count; g++) {
    live -= ends[g];
    live++;
    most = live > most ? live : most;
  }
  return most;
}

// Puts the run's strands in front of an instruction.
static void flush(splitting *s, LLVMValueRef before) {
  s->strands = s->lanes * WORD_BITS / 8 / s->machine.vector_bytes;
  if (most_live(s) * s->strands <= s->machine.vector_registers) {
    forget(s);
    return;
  }
  for (uint32_t strand = 0; strand < s->strands; strand++) {
    for (uint32_t g = 0; g < s->count; g++) {
      LLVMPositionBuilderBefore(s->builder, before);
      LLVMSetCurrentDebugLocation2(
          s->builder, LLVMInstructionGetDebugLoc(s->wholes[g].value));
      s->wholes[g].strands[strand] = narrow(s, s->wholes[g].value, strand);
    }
  }
  for (uint32_t g = 0; g < s->count; g++) {
    if (is_read_outside(s, s->wholes[g].value)) {
      LLVMValueRef whole_again = joined(s, &s->wholes[g]);
      // uses inside the run go with it
      LLVMReplaceAllUsesWith(s->wholes[g].value, whole_again);
    }
  }
  for (uint32_t g = s->count; g-- > 0;) {
    LLVMInstructionEraseFromParent(s->wholes[g].value);
  }
  forget(s);
}

static bool reads_run(const splitting *s, LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    if (lanes_map_get(&s->numbers, LLVMGetOperand(i, (unsigned)k)) !=
        LANES_NONE) {
      return true;
    }
  }
  return false;
}

static void split_block(splitting *s, LLVMBasicBlockRef block) {
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (may_split(s, i)) {
      s->wholes = lanes_make_room(&s->arena, s->wholes, s->count, &s->capacity,
                                  64, sizeof *s->wholes);
      s->lanes = LLVMGetVectorSize(LLVMTypeOf(i));
      lanes_map_set(&s->arena, &s->numbers, i, s->count);
      s->wholes[s->count++] = (whole){.value = i};
      if (s->count == MOST_IN_RUN) {
        flush(s, next);
      }
    } else if (s->count && (LLVMIsATerminatorInst(i) || reads_run(s, i))) {
      flush(s, i);
    }
  }
}

mtl_status mtlc_split_strands(mtlc_kernel *kernel) {
  splitting s = {.context = kernel->context,
                 .machine = lanes_machine_of(kernel->target)};
  if (!kernel->is_vectorized || s.machine.has_masks ||
      s.machine.vector_registers > MOST_REGISTERS) {
    return MTL_OK;
  }
  s.builder = LLVMCreateBuilderInContext(kernel->context);
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      split_block(&s, block);
    }
  }
  LLVMDisposeBuilder(s.builder);
  mtli_arena_clear(&s.arena);
  return MTL_OK;
}
