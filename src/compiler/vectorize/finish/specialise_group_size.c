// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// specialise_group_size.c: specialises trees and scans for a known threadgroup
// size. They spend their time passing elements through threadgroup memory: each
// step loads what the last one stored. With a known size and all simdgroups
// unrolled, each element has a constant address, and LLVM keeps the elements in
// registers. A pipeline often does not know its threadgroups' size; the number
// of elements of a threadgroup array predicts it. For that size mettle.group
// gets a second version, where the size is constant, and where threadgroup
// memory and what simdgroups keep across barriers are local variables. Code for
// a known size has that version alone; if its threadgroup memory cannot be
// resolved, what is kept may still go to registers.
#include "compiler/vectorize/finish/specialise_group_size.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "code/cpu_abi.h"
#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/finish/evaluate.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"
#include "compiler/vectorize/finish/threadgroup_sroa.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_THREADS = 1024,
  LEAST_WAITS = 3,
  // of all simdgroups together
  MOST_INSTRUCTIONS = 2560,
  GATHER_INSTRUCTIONS = 8,  // for elements that are in several vectors
  MOST_MEMORY_BYTES = 4096,
  // On machines with 32-byte registers this includes kept values: argmax over
  // 2048 bytes takes 1.1 of the time, a tree with as many kept values 1.25.
  MOST_IN_SHORT_REGISTERS_BYTES = 1024,
  STATE_BYTES = 64,         // of a frame without kept values
  MOST_KEPT_BYTES = 1536,   // of kept values: three quarters of the registers
  MOST_FRAME_BYTES = 8192,  // of all
  PATIENCE = 500000,
  // Before the scratch, so that threadgroup memory begins with a cell
  // (threadgroup_sroa.h) of elements of any size.
  IN_FRONT_BYTES =
      MTLI_CPU_SCRATCH_MARGIN_BYTES + 256 - (int)sizeof(mtli_cpu_position),
};

static const char memory_name[] = "known.memory";

// --- Whether it is worth it --------------------------------------------------

// A simdgroup's function under test for a count of threads.
typedef struct question {
  const mtlc_kernel *kernel;
  LLVMValueRef scratch;
  mtlc_values accesses;  // to threadgroup memory
  lanes_known_place place;
  uint64_t memory_bytes;  // touched
  uint32_t instructions;  // so far, of all simdgroups
  bool straddles;         // some access touches parts of several vectors
} question;

// Returns for how many threads an array is made that an address points into: it
// has an element, or several, for each thread, or one for each simdgroup.
static uint64_t threads_for(const question *q, LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  uint64_t most = 0;
  for (int k = 2; k < LLVMGetNumOperands(address); k++) {
    if (LLVMGetTypeKind(type) != LLVMArrayTypeKind) {
      break;
    }
    lanes_known_place next = q->place;
    next.first = MTL_SIMD_WIDTH;
    LLVMValueRef index = LLVMGetOperand(address, (unsigned)k);
    uint64_t at, after;
    if (lanes_evaluate(&q->place, index, 0, &at) &&
        lanes_evaluate(&next, index, 0, &after) && after > at) {
      const uint64_t threads =
          LLVMGetArrayLength2(type) * MTL_SIMD_WIDTH / (after - at);
      most = threads > most ? threads : most;
    }
    type = LLVMGetElementType(type);
  }
  return most;
}

static uint64_t likely_threads(const question *q) {
  const uint64_t limit = q->kernel->kernel->max_total_threads_per_threadgroup;
  uint64_t most = 0;
  for (size_t i = 0; i < q->accesses.count; i++) {
    lanes_touch touch;
    lanes_touch_of(q->place.data, q->accesses.items[i], &touch);
    for (LLVMValueRef a = touch.address; LLVMIsAGetElementPtrInst(a);
         a = LLVMGetOperand(a, 0)) {
      const uint64_t threads = threads_for(q, a);
      most = threads > most && threads <= MOST_THREADS ? threads : most;
    }
  }
  most = limit && (limit < most || most == 0) ? limit : most;
  return most - most % MTL_SIMD_WIDTH;  // an array may be larger than needed
}

// Returns the blocks that the simdgroup may reach.
static mtlc_values find_reached(const question *q) {
  mtlc_values reached = {0};
  mtlc_values_add(&reached, LLVMBasicBlockAsValue(
                                LLVMGetEntryBasicBlock(q->place.function)));
  for (size_t i = 0; i < reached.count; i++) {
    LLVMValueRef end =
        LLVMGetBasicBlockTerminator(LLVMValueAsBasicBlock(reached.items[i]));
    const unsigned count = LLVMGetNumSuccessors(end);
    uint64_t goes = 0;
    const bool is_known =
        LLVMIsABranchInst(end) && count == 2 &&
        lanes_evaluate(&q->place, LLVMGetCondition(end), 0, &goes);
    for (unsigned k = 0; k < count; k++) {
      LLVMValueRef to = LLVMBasicBlockAsValue(LLVMGetSuccessor(end, k));
      if ((!is_known || k == (goes ? 0 : 1)) &&
          !mtlc_values_has(&reached, to)) {
        mtlc_values_add(&reached, to);
      }
    }
  }
  return reached;
}

static void note_straddling(question *q, const lanes_touch *touch,
                            int64_t offset) {
  const int64_t row_bytes = (int64_t)touch->element_bytes * MOST_LANES;
  const int64_t bytes = (int64_t)touch->element_bytes * touch->count;
  if (LLVMGetTypeKind(LLVMTypeOf(touch->address)) == LLVMVectorTypeKind) {
    q->instructions += GATHER_INSTRUCTIONS;
    q->straddles = true;
  } else {
    q->straddles |=
        (offset & (row_bytes - 1)) + (bytes < row_bytes ? bytes : row_bytes) >
        row_bytes;
  }
}

// True if every address that an access touches is a known number.
static bool is_known(question *q, LLVMValueRef access) {
  const int64_t start = sizeof(mtli_cpu_position);
  lanes_touch touch;
  lanes_touch_of(q->place.data, access, &touch);
  for (uint32_t k = 0; k < touch.count; k++) {
    int64_t offset = 0;
    const lanes_whereabouts found =
        lanes_touches_at(&q->place, &touch, k, q->scratch, &offset);
    if (found == LANES_NOWHERE) {
      continue;
    }
    const int64_t end = offset - start + (int64_t)touch.element_bytes;
    if (found == LANES_SOMEWHERE || offset < -MTLI_CPU_SCRATCH_MARGIN_BYTES ||
        end > MOST_MEMORY_BYTES) {
      return false;
    }
    q->memory_bytes =
        end > (int64_t)q->memory_bytes ? (uint64_t)end : q->memory_bytes;
    if (k == 0) {
      note_straddling(q, &touch, offset - start);
    }
  }
  return true;
}

// True if all accesses of the simdgroup are known. Counts its instructions.
static bool are_known(question *q) {
  mtlc_values reached = find_reached(q);
  bool all = true;
  for (size_t i = 0; i < reached.count; i++) {
    q->instructions +=
        mtlc_count_in_block(LLVMValueAsBasicBlock(reached.items[i]));
  }
  for (size_t i = 0; i < q->accesses.count && all; i++) {
    LLVMValueRef access = q->accesses.items[i];
    all = !mtlc_values_has(&reached, LLVMBasicBlockAsValue(
                                         LLVMGetInstructionParent(access))) ||
          is_known(q, access);
  }
  free(reached.items);
  return all;
}

// True if a function has loops over threads: those take its time.
static bool has_loops(LLVMValueRef function) {
  mtlc_flow flow = mtlc_flow_of(function);
  const bool any = flow.cycle_count > 0;
  mtlc_flow_clear(&flow);
  return any;
}

// True if simdgroups of threadgroups of that many threads would have
// threadgroup memory in registers.
static bool is_memory_known(question *q, uint64_t kept_bytes) {
  q->place.first = 0;
  for (; q->place.first < q->place.threads; q->place.first += MTL_SIMD_WIDTH) {
    if (!are_known(q) || q->instructions > MOST_INSTRUCTIONS) {
      return false;
    }
  }
  // What does not fit registers stays in memory, as before, except these.
  return q->memory_bytes + kept_bytes <= MOST_IN_SHORT_REGISTERS_BYTES ||
         q->straddles || lanes_machine_of(q->kernel->target).has_masks;
}

// True if values that simdgroups keep across a loop's barriers fit registers:
// accumulators, while threadgroup memory holds changing data.
static bool is_kept_in_registers(const question *q,
                                 const lanes_variant *variant,
                                 uint64_t simdgroups, uint64_t kept_bytes) {
  return lanes_machine_of(q->kernel->target).has_masks && kept_bytes > 0 &&
         simdgroups * kept_bytes <= MOST_KEPT_BYTES &&
         simdgroups * mtlc_count_instructions(variant->function) <=
             MOST_INSTRUCTIONS &&
         variant->wait_count > 1;
}

lanes_known_group lanes_guess_threads(mtlc_kernel *kernel,
                                      const lanes_variant *variant,
                                      uint64_t frame_bytes) {
  uint64_t patience = PATIENCE;
  question q = {.kernel = kernel,
                .scratch = LLVMGetParam(variant->function, LANES_SCRATCH),
                .memory_bytes = kernel->static_threadgroup_bytes,
                .place = {.function = variant->function,
                          .data = LLVMGetModuleDataLayout(kernel->module),
                          .patience = &patience}};
  const mtli_group_class *known = &kernel->group_class;
  const bool may_have_memory =
      variant->wait_count >= LEAST_WAITS && !has_loops(variant->function) &&
      q.memory_bytes <= MOST_MEMORY_BYTES &&
      lanes_find_touches(q.place.data, q.scratch, &q.accesses) &&
      q.accesses.count > 0;
  const uint64_t threads = known->simdgroups
                               ? known->simdgroups * MTL_SIMD_WIDTH
                           : may_have_memory ? likely_threads(&q)
                                             : 0;
  const uint64_t simdgroups = threads / MTL_SIMD_WIDTH;
  q.place.threads = threads;
  q.place.row = known->is_exact ? known->row : threads;
  const bool is_possible = threads <= MOST_THREADS && simdgroups > 1 &&
                           simdgroups * frame_bytes <= MOST_FRAME_BYTES;
  const uint64_t kept_bytes =
      frame_bytes > STATE_BYTES ? frame_bytes - STATE_BYTES : 0;
  const bool has_memory = is_possible && may_have_memory &&
                          is_memory_known(&q, simdgroups * kept_bytes);
  const bool keeps = is_possible && known->simdgroups &&
                     is_kept_in_registers(&q, variant, simdgroups, kept_bytes);
  kernel->facts.depends_on_simdgroups |=
      may_have_memory || is_kept_in_registers(&q, variant, 2, kept_bytes);
  free(q.accesses.items);
  return (lanes_known_group){has_memory || keeps ? (uint32_t)threads : 0,
                             (uint32_t)q.place.row,
                             has_memory ? q.memory_bytes : 0};
}

// --- The call ----------------------------------------------------------------

// Makes a zero-initialised variable of that size. Memory that a kernel reads
// before writing has some value, and is not undefined to LLVM.
static LLVMValueRef build_variable(const mtlc_kernel *kernel,
                                   LLVMBuilderRef builder, uint64_t bytes,
                                   const char *name) {
  const mtlc_types types = mtlc_types_of(kernel->context);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
  mtlc_position_at_entry(builder, LLVMGetBasicBlockParent(here));
  LLVMValueRef variable =
      LLVMBuildAlloca(builder, LLVMArrayType2(types.i8, bytes), name);
  LLVMPositionBuilderAtEnd(builder, here);
  LLVMSetAlignment(variable, MTLI_CPU_SCRATCH_ALIGNMENT);
  LLVMBuildMemSet(builder, variable, LLVMConstInt(types.i8, 0, false),
                  mtlc_i64(kernel->context, bytes), MTLI_CPU_SCRATCH_ALIGNMENT);
  return variable;
}

void lanes_call_for_threads(const mtlc_kernel *kernel, LLVMBuilderRef builder,
                            LLVMValueRef loops, lanes_known_group known,
                            uint64_t frame_bytes) {
  LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
  const uint32_t threads = known.threads;
  LLVMValueRef arguments[5];
  LLVMGetParams(function, arguments);
  arguments[4] = arguments[LANES_SCRATCH];
  if (known.memory_bytes) {
    LLVMValueRef own =
        build_variable(kernel, builder,
                       IN_FRONT_BYTES + sizeof(mtli_cpu_position) +
                           known.memory_bytes + MTLI_CPU_SCRATCH_MARGIN_BYTES,
                       memory_name);
    arguments[4] = mtlc_offset(builder, own, IN_FRONT_BYTES);
  }
  arguments[2] = build_variable(kernel, builder,
                                threads / MTL_SIMD_WIDTH * frame_bytes + 1, "");
  LLVMValueRef group =
      build_variable(kernel, builder, sizeof(mtli_cpu_group), "");
  LLVMBuildMemCpy(builder, group, 4, arguments[3], 4,
                  mtlc_i64(kernel->context, sizeof(mtli_cpu_group)));
  const uint32_t size[] = {known.row, threads / known.row, 1};
  for (size_t i = 0; i < 3; i++) {
    LLVMBuildStore(
        builder, mtlc_i32(kernel->context, size[i]),
        mtlc_offset(builder, group, offsetof(mtli_cpu_group, size) + 4 * i));
  }
  LLVMBuildStore(
      builder, mtlc_i32(kernel->context, threads),
      mtlc_offset(builder, group, offsetof(mtli_cpu_group, threads)));
  arguments[3] = group;
  mtlc_call(builder, loops, arguments, 5);
}

// --- Once it is inlined ------------------------------------------------------

void lanes_open_memory(mtlc_kernel *kernel) {
  LLVMValueRef group =
      LLVMGetNamedFunction(kernel->module, MTLC_GROUP_FUNCTION);
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(group));
       i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsAAllocaInst(i) && strcmp(mtlc_name(i), memory_name) == 0) {
      lanes_split_threadgroup_memory(kernel, i);
    }
  }
}

// True if a phi counts threads by simdgroups.
static bool counts_simdgroups(LLVMValueRef phi) {
  for (unsigned k = 0; LLVMIsAPHINode(phi) && k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k);
    LLVMValueRef step =
        mtlc_is_opcode(next, LLVMAdd) && LLVMGetOperand(next, 0) == phi
            ? LLVMIsAConstantInt(LLVMGetOperand(next, 1))
            : NULL;
    if (step && LLVMConstIntGetZExtValue(step) == MTL_SIMD_WIDTH) {
      return true;
    }
  }
  return false;
}

// True if a branch closes a loop over a known number of simdgroups.
static bool is_known_loop(LLVMValueRef end) {
  LLVMValueRef condition = LLVMIsABranchInst(end) && LLVMIsConditional(end)
                               ? LLVMIsAICmpInst(LLVMGetCondition(end))
                               : NULL;
  if (!condition || !LLVMIsAConstantInt(LLVMGetOperand(condition, 1))) {
    return false;
  }
  LLVMValueRef counter = LLVMGetOperand(condition, 0);
  return counts_simdgroups(
      mtlc_is_opcode(counter, LLVMAdd) ? LLVMGetOperand(counter, 0) : counter);
}

void lanes_unroll_simdgroups(mtlc_kernel *kernel) {
  LLVMValueRef group =
      LLVMGetNamedFunction(kernel->module, MTLC_GROUP_FUNCTION);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(group); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (is_known_loop(end)) {
      mtlc_set_loop_hint(end, "llvm.loop.unroll.full");
    }
  }
}
