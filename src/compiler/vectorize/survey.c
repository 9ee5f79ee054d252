// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// survey.c: collects facts from a kernel's calls before anything is changed.
#include "compiler/vectorize/survey.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/futex.h"
#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/vectorizer.h"

enum { SMALL_KERNEL_INSTRUCTIONS = 250 };

static void survey_call(LLVMValueRef instruction, void *context) {
  lanes_survey *survey = context;
  survey->instruction_count++;
  if (LLVMGetInstructionOpcode(instruction) != LLVMCall) {
    return;
  }
  const lanes_callee callee = lanes_callee_of(instruction);
  survey->has_barrier |= callee == LANES_CALLEE_THREADGROUP_BARRIER;
  if (callee == LANES_CALLEE_POSITION) {
    const uint64_t builtin =
        LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 0));
    const uint64_t dimension =
        LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 1));
    if (builtin == MTLI_THREAD_POSITION_IN_GRID ||
        builtin == MTLI_THREAD_POSITION_IN_THREADGROUP) {
      survey->asks_x |= dimension == 0;
      survey->asks_other |= dimension != 0;
    }
  }
}

lanes_survey lanes_survey_of(const lanes_vectorizer *v) {
  lanes_survey survey = {0};
  mtlc_for_each_instruction(v->kernel->thread, survey_call, &survey);
  return survey;
}

// Records instructions that keep threads of different threadgroups from sharing
// a vector: they depend on the thread's own threadgroup or on what other
// threads do.
static void survey_groups(LLVMValueRef instruction, void *context) {
  bool *any = context;
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: *any = false; break;
    case LLVMLoad:
    case LLVMStore: *any &= lanes_is_plain(instruction); break;
    case LLVMCall:
      switch (lanes_callee_of(instruction)) {
        case LANES_CALLEE_NOTHING:
        case LANES_CALLEE_ELEMENTWISE:
        case LANES_CALLEE_ARGUMENT:
        case LANES_CALLEE_APART: break;
        case LANES_CALLEE_POSITION: {
          const uint64_t builtin =
              LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 0));
          *any &= builtin == MTLI_THREAD_POSITION_IN_GRID ||
                  builtin == MTLI_THREADS_PER_GRID ||
                  builtin == MTLI_GRID_SIZE || builtin == MTLI_GRID_ORIGIN;
          break;
        }
        default: *any = false; break;
      }
      break;
    default: break;
  }
}

static bool has_threadgroup_arguments(const mtli_kernel *kernel) {
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    if (kernel->parameters[i].builtin == MTLI_BUILTIN_NONE &&
        kernel->parameters[i].argument.kind ==
            MTL_ARGUMENT_THREADGROUP_MEMORY) {
      return true;
    }
  }
  return false;
}

void lanes_find_any_groups(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  kernel->facts.is_brief = v->graph.loop_count == 0;
  kernel->facts.any_groups = kernel->kernel->max_total_threads_per_threadgroup == 0 &&
                       !has_threadgroup_arguments(kernel->kernel);
  mtlc_for_each_instruction(kernel->thread, survey_groups, &kernel->facts.any_groups);
  if (kernel->facts.any_groups && kernel->facts.is_brief && kernel->may_change_class) {
    kernel->group_class =
        (mtli_group_class){.row = MTLI_LONGEST_ROW,
                           .is_whole = true,
                           .row_dimension = kernel->group_class.row_dimension};
  }
}

// Records operations on the bits of positions, which lane_bits.c follows.
static void survey_bits(LLVMValueRef instruction, void *context) {
  bool *any = context;
  LLVMTypeRef type = LLVMTypeOf(instruction);
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
      *any |= type != LLVMInt1TypeInContext(LLVMGetTypeContext(type));
      break;
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: *any = true; break;
    default: break;
  }
}

bool lanes_asks_bits(LLVMValueRef function) {
  bool any = false;
  mtlc_for_each_instruction(function, survey_bits, &any);
  return any;
}

bool lanes_is_limited_to_one(const lanes_vectorizer *v) {
  const uint32_t limit = v->kernel->kernel->max_total_threads_per_threadgroup;
  return limit > 0 && limit <= v->lanes;
}

bool lanes_is_single_simdgroup(const lanes_vectorizer *v) {
  return lanes_is_limited_to_one(v) || v->kernel->group_class.is_single;
}

uint8_t lanes_usual_row(const lanes_vectorizer *v) {
  const uint32_t row = v->kernel->group_class.row;
  return (uint8_t)(row && row < v->lanes ? row : v->lanes);
}

uint32_t lanes_choose_rows(const lanes_vectorizer *v, lanes_survey survey,
                            uint8_t rows[LANES_MOST_VARIANTS]) {
  uint32_t count = 0;
  if (!survey.asks_x && !survey.asks_other) {
    rows[count++] = v->lanes;
  } else if (v->kernel->group_class.row) {
    rows[count++] = lanes_usual_row(v);
  } else {
    rows[count++] = v->lanes;
    if (survey.asks_other) {
      if (v->lanes > 16 && survey.instruction_count <= SMALL_KERNEL_INSTRUCTIONS) {
        rows[count++] = 16;
      }
      rows[count++] = 8;
    }
    rows[count++] = 1;
  }
  return count;
}
