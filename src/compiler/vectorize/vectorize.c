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
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/vectorize/analysis/addresses/no_wrap.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/emit/calls/vector_calls.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/tiles/tile_phis.h"
#include "compiler/vectorize/emit/tiles/tile_products.h"
#include "compiler/vectorize/emit/tiles/vector_phis.h"
#include "compiler/vectorize/finish/demanded_lanes.h"
#include "compiler/vectorize/finish/scalarise_short.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"
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
#include "compiler/vectorize/prepare/versions/version_apart.h"
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

// --- All of them -------------------------------------------------------------

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

static bool has_plain_branches(LLVMValueRef function) {
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

static mtl_status expand_memcpy(lanes_vectorizer *v) {
  v->asks_start |= lanes_asks_bits(v->kernel->thread);
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (f == v->kernel->thread || mtlc_is_called(f)) {
      mtlc_expand_memcpy(v->kernel->context, f, MTLC_MOST_COPIED_BYTES, 1);
    }
  }
  return MTL_OK;
}

static mtl_status normalise(lanes_vectorizer *v) {
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, preparation));
  return prepare_called(v);
}

static mtl_status recognise_tile_loads(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (!has_products(kernel)) {
    return MTL_OK;
  }
  bool changed = lanes_part_vector_phis(kernel->context, kernel->thread);
  changed |= lanes_carry_tiles(kernel->context, kernel->thread);
  if (has_plain_branches(kernel->thread) &&
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

static mtl_status split_geps(lanes_vectorizer *v) {
  lanes_split_geps(v->kernel->context, v->kernel->thread);
  return MTL_OK;
}

static mtl_status build_graph(lanes_vectorizer *v) {
  forget(v);
  if (!has_plain_branches(v->kernel->thread)) {
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

static mtl_status split_exits(lanes_vectorizer *v) {
  if (lanes_may_split_exits(&v->graph) && lanes_split_exits(facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(loop-simplify,lcssa)"));
    flow_changed(v);
  }
  return MTL_OK;
}

static mtl_status choose_width(lanes_vectorizer *v) {
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
static mtl_status canonical_strides(lanes_vectorizer *v) {
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
static mtl_status no_wrap(lanes_vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (!kernel->group_class.is_far &&
      lanes_mark_no_wrap(kernel->kernel, facts(v))) {
    kernel->facts.depends_on_far = true;
    code_changed(v);
  }
  return MTL_OK;
}

// Repeats for each loop of a nest that carries its pointer.
static mtl_status pointer_induction(lanes_vectorizer *v) {
  while (lanes_may_have_pointer_inductions(&v->graph) &&
         lanes_rewrite_pointer_inductions(facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(adce)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Unrolls loops in which threads walk along rows of their own.
static mtl_status unroll_row_walks(lanes_vectorizer *v) {
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

static mtl_status hoist_loads(lanes_vectorizer *v) {
  if (lanes_may_hoist_loads(&v->graph) &&
      lanes_hoist_loads(v->kernel, facts(v), v->is_unrolled)) {
    MTL_TRY(mtlc_link_text(v->kernel, "apart", mtlc_text_apart));
    flow_changed(v);
  }
  return MTL_OK;
}

static mtl_status dot_products(lanes_vectorizer *v) {
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
static mtl_status interchange_simdgroups(lanes_vectorizer *v) {
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
static mtl_status sink_tests(lanes_vectorizer *v) {
  if (has_waiting_simdgroups(v)) {
    lanes_sink_tests(v->kernel->context, v->kernel->thread);
    forget(v);
  }
  return MTL_OK;
}

static mtl_status choose_group_class(lanes_vectorizer *v) {
  lanes_find_any_groups(v);
  v->room = MOST_UNMASKED_INSTRUCTIONS;
  v->waits = lanes_survey_of(v).has_barrier;
  forget(v);
  return MTL_OK;
}

// Merges threadgroups of one simdgroup each.
static mtl_status merge_groups(lanes_vectorizer *v) {
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
static mtl_status version_interior(lanes_vectorizer *v) {
  if (!v->kernel->group_class.is_whole || v->waits) {
    return MTL_OK;
  }
  if (lanes_set_body_apart(v->kernel, facts(v))) {
    flow_changed(v);
  }
  if (lanes_version_interior(v->kernel, facts(v), &v->room)) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, lanes_inside_folding));
    flow_changed(v);
    MTL_TRY(no_wrap(v));
    return hoist_loads(v);  // loads of several blocks may now be in one
  }
  return MTL_OK;
}

// Versions code for threads that do not diverge, on machines where masks are
// slow.
static mtl_status version_uniform(lanes_vectorizer *v) {
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
static mtl_status coalesce(lanes_vectorizer *v) {
  const mtli_group_class *class = &v->kernel->group_class;
  if (class->is_whole && class->row == MTLI_LONGEST_ROW) {
    const uint32_t count = lanes_coalesce(v->kernel, facts(v));
    v->kernel->facts.depends_on_whole |= count > 0;
    v->changes += count;
    forget(v);
  }
  return MTL_OK;
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

#define STEP(name) "vectorize." #name, name

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
    {STEP(promote), NEEDED},
    {STEP(shorten_vectors), COUNTED},
    {STEP(link_parts), NEEDED},
    {STEP(group_loop), NEEDED},
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
  if (has_plain_branches(kernel->thread) && build_new(kernel, &arena, &graph) &&
      lanes_may_version_apart(&graph)) {
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
