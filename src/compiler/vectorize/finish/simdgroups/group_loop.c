// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_loop.c: mettle.group around the functions of one
// simdgroup: loops from IR text, and the choice between row lengths.
#include "compiler/vectorize/finish/simdgroups/group_loop.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/finish/simdgroups/link_loops.h"
#include "compiler/vectorize/finish/specialise_group_size.h"

// --- mettle.group ------------------------------------------------------------

typedef struct chooser {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef group;  // the function
} chooser;

static LLVMValueRef load_u32(const chooser *c, unsigned parameter,
                             uint64_t offset) {
  return LLVMBuildLoad2(
      c->builder, c->types.i32,
      mtlc_offset(c->builder, LLVMGetParam(c->group, parameter), offset), "");
}

static LLVMValueRef is_equal(const chooser *c, LLVMValueRef value,
                             uint32_t to) {
  return LLVMBuildICmp(c->builder, LLVMIntEQ, value,
                       mtlc_i32(c->kernel->context, to), "");
}

// Returns whether segments fill simdgroups or parts of one, and no position
// overflows (callees.c, GRID_BITS).
static LLVMValueRef fits(const chooser *c, const lanes_variant *variant) {
  const uint64_t size = offsetof(mtli_cpu_group, size);
  LLVMValueRef x = load_u32(c, 3, size);
  LLVMValueRef mask = mtlc_i32(c->kernel->context, variant->row - 1u);
  LLVMValueRef whole = is_equal(c, LLVMBuildAnd(c->builder, x, mask, ""), 0);
  if (variant->row == variant->lanes) {
    LLVMValueRef flat =
        LLVMBuildAnd(c->builder, is_equal(c, load_u32(c, 3, size + 4), 1),
                     is_equal(c, load_u32(c, 3, size + 8), 1), "");
    whole = LLVMBuildOr(c->builder, whole, flat, "");
  }
  LLVMValueRef grid = load_u32(c, 0, offsetof(mtli_cpu_launch, grid_threads));
  LLVMValueRef small = LLVMBuildICmp(c->builder, LLVMIntSGE, grid,
                                     mtlc_i32(c->kernel->context, 0), "");
  return LLVMBuildAnd(c->builder, whole, small, "");
}

static LLVMValueRef loop_of(const chooser *c, uint8_t row) {
  char name[32];
  snprintf(name, sizeof name, "mettle.simdgroups.%u", row);
  return LLVMGetNamedFunction(c->kernel->module, name);
}

// Loops of simdgroups with barriers get threadgroup memory as an argument of
// its own, beside the scratch that contains it.
static void call_loop(const chooser *c, uint8_t row) {
  LLVMValueRef loop = loop_of(c, row);
  LLVMValueRef arguments[5];
  LLVMGetParams(c->group, arguments);
  arguments[4] = arguments[LANES_SCRATCH];
  mtlc_call(c->builder, loop, arguments, LLVMCountParams(loop));
  LLVMBuildRetVoid(c->builder);
}

static LLVMBasicBlockRef new_block(const chooser *c) {
  return LLVMAppendBasicBlockInContext(c->kernel->context, c->group, "");
}

// Adds the version for threadgroups of a known size, behind a test if others
// may come. True if they may.
static bool add_known(chooser *c, const lanes_variant *variant,
                      uint64_t frame_bytes) {
  mtlc_kernel *kernel = c->kernel;
  lanes_known_group known = {0};
  const mtli_group_class *class = &kernel->group_class;
  if (variant->waits_together && class->is_whole &&
      lanes_is_in_place(variant) && variant->lanes == MOST_LANES &&
      variant->row == (class->is_exact ? class->row : MTL_SIMD_WIDTH)) {
    known = lanes_guess_threads(kernel, variant, frame_bytes);
  }
  const bool is_sure = class->simdgroups > 0;
  if (known.threads == 0) {
    return true;
  }
  kernel->knows_threads = true;
  mtlc_report(kernel,
              "%sfor threadgroups of %u threads in rows of %u%s, with %s in "
              "registers",
              is_sure ? "" : "and ", known.threads, known.row,
              is_sure ? " alone" : "",
              known.memory_bytes ? "threadgroup memory"
                                 : "what is kept across barriers");
  kernel->facts.needs_simdgroups |= is_sure;
  kernel->group_class.simdgroups = known.threads / MTL_SIMD_WIDTH;
  LLVMBasicBlockRef others = NULL;
  if (!is_sure) {
    LLVMValueRef all = load_u32(c, 3, offsetof(mtli_cpu_group, threads));
    LLVMValueRef row = load_u32(c, 3, offsetof(mtli_cpu_group, size));
    LLVMBasicBlockRef these = new_block(c);
    others = new_block(c);
    LLVMBuildCondBr(c->builder,
                    LLVMBuildAnd(c->builder, is_equal(c, all, known.threads),
                                 is_equal(c, row, known.threads), ""),
                    these, others);
    LLVMPositionBuilderAtEnd(c->builder, these);
  }
  lanes_call_for_threads(kernel, c->builder, loop_of(c, variant->row), known,
                         frame_bytes);
  LLVMBuildRetVoid(c->builder);
  if (others) {
    LLVMPositionBuilderAtEnd(c->builder, others);
  }
  return others != NULL;
}

// Marks a worker's memory as dereferenceable, so that loads of it can be
// hoisted from loops.
static void describe_scratch(const mtlc_kernel *kernel, LLVMValueRef function) {
  mtlc_set_parameter_attribute(function, LANES_SCRATCH, "align",
                               MTLI_CPU_SCRATCH_ALIGNMENT);
  mtlc_set_parameter_attribute(
      function, LANES_SCRATCH, "dereferenceable",
      sizeof(mtli_cpu_position) + kernel->static_threadgroup_bytes);
}

static void define_group(mtlc_kernel *kernel, const lanes_variant *variants,
                         uint32_t variant_count, uint64_t frame_bytes) {
  chooser c = {.kernel = kernel,
               .types = mtlc_types_of(kernel->context),
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  LLVMTypeRef p = c.types.pointer;
  LLVMTypeRef parameters[] = {p, p, p, p};
  c.group = mtlc_declare(kernel->module, MTLC_GROUP_FUNCTION,
                         LLVMFunctionType(c.types.nothing, parameters, 4, 0));
  mtlc_set_attribute(c.group, "nounwind", 0);
  LLVMPositionBuilderAtEnd(c.builder, new_block(&c));
  for (uint32_t i = 0; i + 1 < variant_count; i++) {
    LLVMBasicBlockRef yes = new_block(&c);
    LLVMBasicBlockRef no = new_block(&c);
    LLVMBuildCondBr(c.builder, fits(&c, &variants[i]), yes, no);
    LLVMPositionBuilderAtEnd(c.builder, yes);
    call_loop(&c, variants[i].row);
    LLVMPositionBuilderAtEnd(c.builder, no);
  }
  if (variant_count != 1 || add_known(&c, &variants[0], frame_bytes)) {
    call_loop(&c, variants[variant_count - 1].row);
  }
  if (variant_count == 1) {
    // Inlined: each function costs code generation, however small.
    mtlc_set_attribute(loop_of(&c, variants[0].row), "alwaysinline", 0);
  }
  LLVMDisposeBuilder(c.builder);
}

mtl_status lanes_link_group(mtlc_kernel *kernel, const lanes_variant *variants,
                            uint32_t variant_count, bool has_waits,
                            uint64_t frame_bytes) {
  for (uint32_t i = 0; i < variant_count; i++) {
    MTL_TRY(lanes_link_loop(kernel, &variants[i], has_waits, frame_bytes));
  }
  define_group(kernel, variants, variant_count, frame_bytes);
  describe_scratch(kernel,
                   LLVMGetNamedFunction(kernel->module, MTLC_GROUP_FUNCTION));
  if (has_waits) {
    kernel->frame_bytes = frame_bytes;
    kernel->simdgroup_bytes = frame_bytes * (MOST_LANES / variants[0].lanes);
  } else {
    kernel->context_bytes = frame_bytes;
  }
  return MTL_OK;
}
