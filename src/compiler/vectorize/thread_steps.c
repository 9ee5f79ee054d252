// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread_steps.c: the vectoriser's steps over the thread function: each calls a
// file of prepare/ and says what of the graph and the facts it has changed.
#include "compiler/vectorize/thread_steps.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/vectorize/analysis/addresses/no_wrap.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/tiles/tile_phis.h"
#include "compiler/vectorize/emit/tiles/tile_products.h"
#include "compiler/vectorize/emit/tiles/vector_phis.h"
#include "compiler/vectorize/plan/width.h"
#include "compiler/vectorize/prepare/canonical_strides.h"
#include "compiler/vectorize/prepare/coalesce.h"
#include "compiler/vectorize/prepare/dot_products.h"
#include "compiler/ir/transform/expand_memcpy.h"
#include "compiler/vectorize/prepare/hoist_loads.h"
#include "compiler/vectorize/prepare/interchange_simdgroups.h"
#include "compiler/vectorize/prepare/versions/merge_groups.h"
#include "compiler/vectorize/prepare/pointer_induction.h"
#include "compiler/vectorize/prepare/tiles/recognise_tile_loads.h"
#include "compiler/vectorize/prepare/sink_tests.h"
#include "compiler/vectorize/prepare/split_exits.h"
#include "compiler/vectorize/prepare/split_geps.h"
#include "compiler/vectorize/prepare/unroll_row_walks.h"
#include "compiler/vectorize/prepare/versions/version_interior.h"
#include "compiler/vectorize/prepare/versions/version_uniform.h"
#include "compiler/vectorize/survey.h"
#include "compiler/vectorize/target/machine.h"
#include "compiler/vectorize/variants.h"
#include "compiler/vectorize/vectorizer.h"

// The form that the analyses want: branches only, loops with one back edge,
// tested at their end, whose values leave through phis at the exits.
static const char preparation[] =
    "function(lower-switch,loop-simplify,lcssa,"
    "loop(loop-rotate<no-header-duplication>),simplifycfg<no-switch-range-to-"
    "icmp;no-switch-to-lookup;keep-loops>,instcombine<no-verify-fixpoint>,"
    "lower-switch,loop-simplify,lcssa)";
// The form for loops with several entries.
static const char reduction[] =
    "function(lower-switch,fix-irreducible,loop-simplify,lcssa)";
// Loops as LLVM unrolls them: tested at their end, at the price of a copy of
// their header.
static const char rotation[] =
    "function(loop-simplify,lcssa,loop(loop-rotate<header-duplication>),"
    "loop-simplify,lcssa)";
enum {
  MOST_UNMASKED_INSTRUCTIONS = 1500,
  MOST_UNMASKED_DEPTH = 4,
};

// --- Facts -------------------------------------------------------------------

// Returns the facts about values, found anew after a change.
static lanes_values *facts(lanes_vectorizer *v) {
  if (!v->has_values) {
    lanes_values_find(&v->graph, v->data, v->lanes, lanes_usual_row(v),
                      &v->kernel->group_class, &v->values);
    v->has_values = true;
  }
  return &v->values;
}

// Drops the facts: the code has changed, or what they depend on.
static void forget(lanes_vectorizer *v) {
  v->has_values = false;
}

// Invalidates the cached analyses and counts one change by the running step.
static void code_changed(lanes_vectorizer *v) {
  v->changes++;
  forget(v);
}

// Drops the facts and the graph: blocks or branches may have changed.
static void flow_changed(lanes_vectorizer *v) {
  code_changed(v);
  lanes_graph_build(v->kernel->thread, &v->arena, &v->graph);
}

// --- Questions ---------------------------------------------------------------

bool lanes_has_plain_branches(LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    const LLVMOpcode end =
        LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(block));
    if (end != LLVMBr && end != LLVMRet && end != LLVMUnreachable) {
      return false;
    }
  }
  return true;
}

static bool has_products(mtlc_kernel *kernel) {
  static const char *const names[] = {
      "mettle.tile.multiply_add", "mettle.tile.dot.su", "mettle.tile.dot.us"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (LLVMGetNamedFunction(kernel->module, names[i])) {
      return true;
    }
  }
  return false;
}

static void find_byte(LLVMValueRef i, void *found) {
  *(bool *)found |=
      mtlc_is_opcode(i, LLVMLoad) &&
      LLVMTypeOf(i) == LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(i)));
}

// Prepares called functions in the same way as the thread function.
static mtl_status prepare_called(lanes_vectorizer *v) {
  bool has_entries = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    lanes_graph graph;
    has_entries |=
        mtlc_is_called(f) && !lanes_graph_build(f, &v->arena, &graph);
  }
  return has_entries ? mtlc_run_llvm_passes(v->kernel, reduction) : MTL_OK;
}

// --- Steps over the thread function ------------------------------------------

mtl_status lanes_step_expand_memcpy(lanes_vectorizer *v) {
  v->asks_start |= lanes_asks_bits(v->kernel->thread);
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (f == v->kernel->thread || mtlc_is_called(f)) {
      mtlc_expand_memcpy(v->kernel->context, f, MTLC_MOST_COPIED_BYTES, 1);
    }
  }
  return MTL_OK;
}

mtl_status lanes_step_normalise(lanes_vectorizer *v) {
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, preparation));
  return prepare_called(v);
}

mtl_status lanes_step_recognise_tile_loads(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (!has_products(kernel)) {
    return MTL_OK;
  }
  bool changed = lanes_part_vector_phis(kernel->context, kernel->thread);
  changed |= lanes_carry_tiles(kernel->context, kernel->thread);
  if (lanes_has_plain_branches(kernel->thread) &&
      lanes_graph_build(kernel->thread, &v->arena, &v->graph)) {
    changed |= lanes_recognise_tile_loads(kernel, &v->graph, v->lanes,
                                          &kernel->group_class);
  }
  if (changed) {
    code_changed(v);
    MTL_TRY(mtlc_run_llvm_passes(kernel, "function(adce)"));
  }
  lanes_gather_products(kernel->thread);
  // A thread's elements of a fragment are adjacent: four are one gather.
  return mtlc_run_llvm_passes(kernel, "function(load-store-vectorizer)");
}

mtl_status lanes_step_split_geps(lanes_vectorizer *v) {
  lanes_split_geps(v->kernel->context, v->kernel->thread);
  return MTL_OK;
}

mtl_status lanes_step_build_graph(lanes_vectorizer *v) {
  forget(v);
  if (!lanes_has_plain_branches(v->kernel->thread)) {
    snprintf(v->refusal, sizeof v->refusal, "a jump to a computed address");
    return MTL_UNSUPPORTED;
  }
  if (lanes_graph_build(v->kernel->thread, &v->arena, &v->graph)) {
    return MTL_OK;
  }
  v->is_reduced = true;
  v->changes++;
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, reduction));
  if (lanes_graph_build(v->kernel->thread, &v->arena, &v->graph)) {
    return MTL_OK;
  }
  snprintf(v->refusal, sizeof v->refusal, "a loop with several entries");
  return MTL_UNSUPPORTED;
}

mtl_status lanes_step_split_exits(lanes_vectorizer *v) {
  if (lanes_may_split_exits(&v->graph) && lanes_split_exits(facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(loop-simplify,lcssa)"));
    flow_changed(v);
  }
  return MTL_OK;
}

mtl_status lanes_step_choose_width(lanes_vectorizer *v) {
  // A kernel with barriers but one simdgroup never waits.
  const bool waits = lanes_survey_of(v).has_barrier;
  if (lanes_may_halve_width(v->kernel, &v->graph) &&
      !(waits && lanes_is_single_simdgroup(v))) {
    const lanes_values *values = facts(v);
    v->lanes = (uint8_t)lanes_best_width(v->kernel, values,
                                         lanes_most_at_once(values), waits);
    if (v->lanes != MOST_LANES) {
      code_changed(v);  // shapes now have other lanes
    }
  }
  return MTL_OK;
}

// Rewrites strides that are constant in any threadgroup.
mtl_status lanes_step_canonical_strides(lanes_vectorizer *v) {
  const mtli_group_class any = {0};
  LLVMValueRef lane = lanes_find_lane(&v->graph);
  lanes_values values;
  if (!lane) {
    return MTL_OK;
  }
  lanes_values_find(&v->graph, v->data, v->lanes, 1, &any, &values);
  if (lanes_canonicalise_strides(&values, lane)) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(adce)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Threads' indices are neighbours' where buffers are not too large.
mtl_status lanes_step_no_wrap(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (!kernel->group_class.is_far &&
      lanes_mark_no_wrap(kernel->kernel, facts(v))) {
    kernel->facts.depends_on_far = true;
    code_changed(v);
  }
  return MTL_OK;
}

// Repeats for each loop of a nest that carries its pointer.
mtl_status lanes_step_pointer_induction(lanes_vectorizer *v) {
  while (lanes_may_have_pointer_inductions(&v->graph) &&
         lanes_rewrite_pointer_inductions(facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(adce)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Unrolls loops in which threads walk along rows of their own.
mtl_status lanes_step_unroll_row_walks(lanes_vectorizer *v) {
  const mtli_group_class *class = &v->kernel->group_class;
  const uint8_t row = lanes_usual_row(v);
  if (v->graph.loop_count == 0 ||
      !lanes_mark_row_walks(&v->graph, v->data, v->lanes, row, class)) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, rotation));
  flow_changed(v);
  lanes_mark_row_walks(&v->graph, v->data, v->lanes, row, class);
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, lanes_unrolling));
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, preparation));
  flow_changed(v);
  v->is_unrolled = true;
  return MTL_OK;
}

mtl_status lanes_step_hoist_loads(lanes_vectorizer *v) {
  if (lanes_may_hoist_loads(&v->graph) &&
      lanes_hoist_loads(v->kernel, facts(v), v->is_unrolled)) {
    MTL_TRY(mtlc_link_text(v->kernel, "apart", mtlc_text_apart));
    flow_changed(v);
  }
  return MTL_OK;
}

mtl_status lanes_step_dot_products(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  bool has_bytes = false;
  mtlc_for_each_instruction(kernel->thread, find_byte, &has_bytes);
  if (lanes_find_dot_products(kernel, kernel->thread,
                              has_bytes ? facts(v) : NULL)) {
    MTL_TRY(mtlc_link_text(kernel, "pairs", mtlc_text_pairs));
    MTL_TRY(mtlc_run_llvm_passes(
        kernel, "function(early-cse<memssa>,adce,loop-simplify,lcssa)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// True if a kernel has barriers and several simdgroups.
static bool has_waiting_simdgroups(const lanes_vectorizer *v) {
  return lanes_survey_of(v).has_barrier && !lanes_is_single_simdgroup(v);
}

// Interchanges simdgroups where the order of memory accesses matters
// (prefetch.c).
mtl_status lanes_step_interchange_simdgroups(lanes_vectorizer *v) {
  const lanes_machine machine = lanes_machine_of(v->kernel->target);
  if (!has_waiting_simdgroups(v) || lanes_survey_of(v).asks_other ||
      !machine.tuning->interchanges_simdgroups) {
    return MTL_OK;
  }
  while (lanes_interchange_simdgroups(v->kernel, facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(loop-simplify,lcssa)"));
    flow_changed(v);
  }
  v->loops_by_turns = v->changes;
  if (v->loops_by_turns) {
    mtlc_report(v->kernel, "simdgroups take turns in %u loops",
                v->loops_by_turns);
  }
  return MTL_OK;
}

// Sinks tests between the barriers of simdgroups that wait for each other.
mtl_status lanes_step_sink_tests(lanes_vectorizer *v) {
  if (has_waiting_simdgroups(v)) {
    lanes_sink_tests(v->kernel->context, v->kernel->thread);
    forget(v);
  }
  return MTL_OK;
}

mtl_status lanes_step_choose_group_class(lanes_vectorizer *v) {
  lanes_find_any_groups(v);
  v->room = MOST_UNMASKED_INSTRUCTIONS;
  v->waits = lanes_survey_of(v).has_barrier;
  forget(v);
  return MTL_OK;
}

// Merges threadgroups of one simdgroup each.
mtl_status lanes_step_merge_groups(lanes_vectorizer *v) {
  if (!lanes_may_merge_groups(v->kernel) ||
      !lanes_put_body_apart(v->kernel, facts(v))) {
    return MTL_OK;
  }
  flow_changed(v);
  if (lanes_merge_groups(v->kernel, facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(early-cse,adce)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Versions code for complete simdgroups in an image's interior, which need no
// clamps or bounds tests.
mtl_status lanes_step_version_interior(lanes_vectorizer *v) {
  if (!v->kernel->group_class.is_whole || v->waits) {
    return MTL_OK;
  }
  if (lanes_set_body_apart(v->kernel, facts(v))) {
    flow_changed(v);
  }
  if (lanes_version_interior(v->kernel, facts(v), &v->room)) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, lanes_inside_folding));
    flow_changed(v);
    MTL_TRY(lanes_step_no_wrap(v));
    return lanes_step_hoist_loads(
        v);  // loads of several blocks may now be in one
  }
  return MTL_OK;
}

// Versions code for threads that do not diverge, on machines where masks are
// slow.
mtl_status lanes_step_version_uniform(lanes_vectorizer *v) {
  for (uint32_t depth = 0;
       v->kernel->group_class.is_whole && depth < MOST_UNMASKED_DEPTH &&
       lanes_version_uniform(v->kernel, facts(v), v->waits, &v->room);
       depth++) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(loop-simplify,lcssa)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Coalesces where all lanes run and are adjacent. A missing lane would leave
// other lanes' elements undone, so the code is for complete simdgroups alone.
mtl_status lanes_step_coalesce(lanes_vectorizer *v) {
  const mtli_group_class *class = &v->kernel->group_class;
  if (class->is_whole && class->row == MTLI_LONGEST_ROW) {
    const uint32_t count = lanes_coalesce(v->kernel, facts(v));
    v->kernel->facts.depends_on_whole |= count > 0;
    v->changes += count;
    forget(v);
  }
  return MTL_OK;
}
