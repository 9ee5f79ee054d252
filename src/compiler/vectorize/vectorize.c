// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize.c: the vectoriser's stages in order, for each row length that the
// kernel's threadgroups may have.
#include "compiler/vectorize/vectorize.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/kernel/steps.h"
#include "compiler/ir/kernel/target.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/emit/calls/vector_calls.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/finish/demanded_lanes.h"
#include "compiler/vectorize/finish/scalarise_short.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"
#include "compiler/vectorize/prepare/versions/version_apart.h"
#include "compiler/vectorize/prepare/versions/version_uniform.h"
#include "compiler/vectorize/thread_steps.h"
#include "compiler/vectorize/variants.h"
#include "compiler/vectorize/vectorizer.h"

// Promotes memory to registers, before code is cloned.
static const char cleaning[] =
    "function(mem2reg,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,adce)";

// After vectors become shorter: products of numbers that differ by one differ
// by a constant.
static const char adding[] = "function(slsr,early-cse,adce)";

// Promotes memory that a loop accumulates in.
static const char promotion[] =
    "function(loop-simplify,lcssa,loop-mssa(loop-rotate<header-duplication>,"
    "licm),early-cse<memssa>,dse,instcombine<no-verify-fixpoint>,"
    "simplifycfg<no-switch-range-to-icmp;no-switch-to-lookup;keep-loops>,adce)";

// --- Failure -----------------------------------------------------------------

static mtl_status refuse(lanes_vectorizer *v) {
  for (uint32_t i = 0; i < v->variant_count; i++) {
    LLVMDeleteFunction(v->variants[i].function);
    if (v->variants[i].at_once) {
      LLVMDeleteFunction(v->variants[i].at_once);
    }
  }
  v->kernel->groups_at_once = v->kernel->groups_apart = 0;
  lanes_vector_function_forget(v->kernel);
  lanes_forget_uniform_versions(v->kernel->module);
  mtlc_report(v->kernel, "not vectorised: %s", v->refusal);
  return mtli_fail(MTL_UNSUPPORTED, "kernel %s is not vectorised: %s",
                   v->kernel->kernel->name, v->refusal);
}

// Gives the functions that a simdgroup's is inlined into their debug
// information.
static void describe_loops(const lanes_vectorizer *v, LLVMMetadataRef lines) {
  LLVMModuleRef module = v->kernel->module;
  for (uint32_t i = 0; i < v->variant_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "mettle.simdgroups.%u", v->variants[i].row);
    lanes_describe_function(v->kernel, lines,
                            LLVMGetNamedFunction(module, name));
  }
  lanes_describe_function(v->kernel, lines,
                          LLVMGetNamedFunction(module, MTLC_GROUP_FUNCTION));
}

static bool any_at_once(const lanes_vectorizer *v) {
  for (uint32_t i = 0; i < v->variant_count; i++) {
    if (v->variants[i].at_once) {
      return true;
    }
  }
  return false;
}

// --- Steps over the emitted function -----------------------------------------

static mtl_status promote(lanes_vectorizer *v) {
  LLVMDeleteFunction(v->kernel->thread);
  v->kernel->thread = NULL;
  mtlc_set_target_attributes(v->kernel);
  return mtlc_run_llvm_passes(v->kernel, cleaning);
}

static mtl_status shorten_vectors(lanes_vectorizer *v) {
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    v->changes += lanes_scalarise_short(f);
    v->changes += lanes_demand_lanes(f);
  }
  return v->changes ? mtlc_run_llvm_passes(v->kernel, adding) : MTL_OK;
}

static mtl_status link_parts(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (v->counting.is_on) {
    lanes_deferred_define(kernel, &v->counting);
    MTL_TRY(mtlc_link_text(kernel, "counters", mtlc_text_counters));
  }
  return LLVMGetNamedFunction(kernel->module, "mettle.are_apart")
             ? mtlc_link_text(kernel, "apart", mtlc_text_apart)
             : MTL_OK;
}

static mtl_status group_loop(lanes_vectorizer *v) {
  return lanes_link_group(v->kernel, v->variants, v->variant_count,
                          v->has_waits, v->frame_bytes);
}

// --- All of them, in order ---------------------------------------------------

// How a step depends on other steps.
typedef enum step_kind {
  NEEDED = 1,   // other steps rely on it; it cannot be left out
  PLAIN = 2,    // left out for a function that build_graph has reduced
  COUNTED = 4,  // counts its changes
} step_kind;

#define STEP(name) "vectorize." #name, lanes_step_##name
#define LATE_STEP(name) "vectorize." #name, name

static const struct step {
  const char *name;
  mtl_status (*run)(lanes_vectorizer *v);
  unsigned kind;  // step_kinds
} steps[] = {
    // Memory copied as bytes gets elements again; private memory above all.
    {STEP(expand_memcpy), 0},
    // Loops with one entry and one latch; branches with two targets.
    {STEP(normalise), NEEDED},
    // Before addresses are split, which show where a tile is.
    {STEP(recognise_tile_loads), COUNTED},
    // Common parts of rows' addresses are computed once.
    {STEP(split_geps), 0},
    {STEP(build_graph), NEEDED | COUNTED},
    // A uniform exit costs no mask, and affects the choice of width.
    {STEP(split_exits), PLAIN | COUNTED},
    // Before shapes are used: they depend on the number of lanes.
    {STEP(choose_width), PLAIN | COUNTED},
    // Three steps about addresses, each of which may enable the next.
    {STEP(canonical_strides), PLAIN | COUNTED},
    {STEP(no_wrap), PLAIN | COUNTED},
    {STEP(pointer_induction), PLAIN | COUNTED},
    // Loads of unrolled iterations then come first.
    {STEP(unroll_row_walks), PLAIN | COUNTED},
    {STEP(hoist_loads), PLAIN | COUNTED},
    {STEP(dot_products), PLAIN | COUNTED},
    // Two steps about code between barriers.
    {STEP(interchange_simdgroups), PLAIN | COUNTED},
    {STEP(sink_tests), PLAIN},
    {STEP(choose_group_class), NEEDED | PLAIN},
    // Versions last: each includes the changes of earlier steps.
    {STEP(merge_groups), PLAIN | COUNTED},
    {STEP(version_interior), PLAIN | COUNTED},
    {STEP(version_uniform), PLAIN | COUNTED},
    // Coalesces adjacent elements of each lane, in blocks without masks.
    {STEP(coalesce), PLAIN | COUNTED},
    // For each row length: analysis, plan, vector IR.
    {"vectorize.emit_all", lanes_emit_variants, NEEDED},
    {LATE_STEP(promote), NEEDED},
    {LATE_STEP(shorten_vectors), COUNTED},
    {LATE_STEP(link_parts), NEEDED},
    {LATE_STEP(group_loop), NEEDED},
};

enum { STEP_COUNT = sizeof steps / sizeof steps[0] };

const char *mtlc_vectorize_step(size_t index) {
  return index < STEP_COUNT ? steps[index].name : NULL;
}

bool mtlc_vectorize_can_leave_out(const char *name) {
  for (size_t i = 0; i < STEP_COUNT; i++) {
    if (strcmp(name, steps[i].name) == 0) {
      return !(steps[i].kind & NEEDED);
    }
  }
  return false;
}

static mtl_status run_step(lanes_vectorizer *v, const struct step *step) {
  if ((step->kind & PLAIN && v->is_reduced) ||
      mtlc_step_is_left_out(v->kernel, step->name)) {
    return MTL_OK;
  }
  const uint64_t start_ns = mtlc_step_begin(v->kernel);
  v->changes = 0;
  MTL_TRY(step->run(v));
  mtlc_step_done(v->kernel, step->name,
                 step->kind & COUNTED ? v->changes : MTLC_NOT_COUNTED,
                 start_ns);
  return MTL_OK;
}

// Builds a graph of the function in its present form; false if it cannot have
// one.
static bool build_new(mtlc_kernel *kernel, mtli_arena *arena,
                      lanes_graph *out_graph) {
  mtli_arena_clear(arena);
  return lanes_graph_build(kernel->thread, arena, out_graph);
}

mtl_status mtlc_version_apart(mtlc_kernel *kernel) {
  static const char form[] = "function(loop-simplify,lcssa)";
  mtli_arena arena = {0};
  lanes_graph graph;
  mtl_status status = MTL_OK;
  uint32_t count = 0;
  if (lanes_has_plain_branches(kernel->thread) &&
      build_new(kernel, &arena, &graph) && lanes_may_version_apart(&graph)) {
    status = mtlc_run_llvm_passes(kernel, form);
    while (status == MTL_OK && build_new(kernel, &arena, &graph) &&
           lanes_version_apart(kernel, &graph)) {
      count++;
      status = mtlc_run_llvm_passes(kernel, form);
    }
  }
  mtli_arena_clear(&arena);
  if (count && status == MTL_OK) {
    mtlc_report(kernel,
                "sums in registers where memory lies apart: %u nest%s of loops",
                count, count == 1 ? "" : "s");
    status = mtlc_run_llvm_passes(kernel, promotion);
  }
  return status;
}

mtl_status mtlc_vectorize(mtlc_kernel *kernel) {
  lanes_vectorizer v = {.kernel = kernel,
                        .lanes = MOST_LANES,
                        .data = LLVMGetModuleDataLayout(kernel->module)};
  LLVMMetadataRef lines = LLVMGetSubprogram(kernel->thread);
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < STEP_COUNT && status == MTL_OK; i++) {
    status = run_step(&v, &steps[i]);
  }
  if (status == MTL_UNSUPPORTED && kernel->thread) {
    if (!v.refusal[0]) {
      snprintf(v.refusal, sizeof v.refusal, "%s", mtl_last_error());
    }
    status = refuse(&v);
  }
  if (status == MTL_OK) {
    describe_loops(&v, lines);
    kernel->is_vectorized = true;
    kernel->vector_lanes = v.lanes;
    kernel->is_at_once = any_at_once(&v);
  }
  mtli_arena_clear(&v.arena);
  return status;
}
