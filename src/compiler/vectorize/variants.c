// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variants.c: emits a kernel's functions: for each length of rows analysis,
// plan and vector IR; some for several simdgroups at once.
#include "compiler/vectorize/variants.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/kernel/steps.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/group_uniformity.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/calls/barriers.h"
#include "compiler/vectorize/emit/calls/vector_calls.h"
#include "compiler/vectorize/emit/flow/flow.h"
#include "compiler/vectorize/emit/flow/promote_allocas.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/tiles/tile_sums.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"
#include "compiler/vectorize/finish/simdgroups/jam_simdgroups.h"
#include "compiler/vectorize/finish/simdgroups/single_simdgroup_regions.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/plan/linearize.h"
#include "compiler/vectorize/plan/loop_cost.h"
#include "compiler/vectorize/prepare/versions/version_guard.h"
#include "compiler/vectorize/survey.h"
#include "compiler/vectorize/target/machine.h"
#include "compiler/vectorize/vectorizer.h"

enum {
  FRAME_STATE_BYTES = 64,  // the state of a frame, and room to align it
  STACK_PRIVATE_BYTES = 16 * 1024,  // above this size, private memory is in the
                                    // frame
  // Of simdgroups whose first thread stores a result: a row of a matrix each,
  // which comes from memory. Measured on a 2-core EPYC of the Zen 3 kind,
  // 2026-11, int8 and int4: two at once take 0.8 of the time of one, four 0.7
  // with a matrix in the second level of the cache, 0.8 to 1.0 without.
  MOST_ROWS_AT_ONCE = 2,
};

const char lanes_inside_folding[] =
    "function(instsimplify,simplifycfg<no-switch-range-to-icmp;"
    "no-switch-to-lookup;keep-loops>,lower-switch,loop-simplify,lcssa)";

// Marks memory that nothing writes while the launch runs. A simdgroup's frame
// is its own, so loads that all simdgroups share can be hoisted from the loop
// over them.
static void mark_parameters(lanes_emitter *e) {
  mtlc_set_parameter_attribute(e->function, LANES_LAUNCH, "noalias", 0);
  mtlc_set_parameter_attribute(e->function, LANES_LAUNCH, "readonly", 0);
  mtlc_set_parameter_attribute(e->function, LANES_GROUP, "noalias", 0);
  mtlc_set_parameter_attribute(e->function, LANES_GROUP, "readonly", 0);
  mtlc_set_parameter_attribute(e->function, LANES_FRAME, "noalias", 0);
  mtlc_set_parameter_attribute(e->function, LANES_SCRATCH, "noalias", 0);
}

// Reports the accesses that a programmer could make faster.
static void report_variant(const lanes_vectorizer *v, const lanes_emitter *e) {
  static const char *const along[] = {"", " along y", " along z"};
  char rows[48] = "any threadgroup";
  char *gathers = lanes_lines_describe(&e->gathers, "gathers");
  char *scatters = lanes_lines_describe(&e->scatters, "scatters");
  char *serials =
      lanes_lines_describe(&e->serials, "instructions lane by lane");
  char *checked =
      e->accesses->checked.count
          ? lanes_lines_describe(&e->accesses->checked, "checked")
          : NULL;
  if (e->values->row > 1) {
    snprintf(rows, sizeof rows, "rows of %u threads%s",
             e->values->row == e->lanes ? MOST_LANES : e->values->row,
             along[e->kernel->group_class.row_dimension]);
  }
  mtlc_report(e->kernel,
              "vectorised for %s%s: %s, %s, %s, %u barriers by fission%s%s",
              rows, e->lanes < MOST_LANES ? ", half a simdgroup at a time" : "",
              gathers, scatters, serials, e->wait_count - v->loops_by_turns,
              checked ? ", " : "", checked ? checked : "");
  free(checked);
  free(gathers);
  free(scatters);
  free(serials);
  if (e->product_count) {
    mtlc_report(
        e->kernel,
        "%u products of tiles, in %u batches of one left side; %u sums "
        "in memory, others in registers",
        e->product_count, e->batch_count,
        (uint32_t)(e->sums_bytes / (LANES_TILE_ELEMENTS * sizeof(float))));
  }
}

// Merges the variants' windows: they share one worker's, and the decision to
// use them.
static void join_counting(lanes_deferral *all, const lanes_deferral *own) {
  if (own->is_on) {
    all->is_on = true;
    all->added_slots |= own->added_slots;
    all->touched_slots |= own->touched_slots;
    if (own->window_count > all->window_count) {
      all->window_count = own->window_count;
    }
  }
}

static lanes_emitter emitter_of(lanes_vectorizer *v, const lanes_values *values,
                                const lanes_plan *plan) {
  return (lanes_emitter){
      .kernel = v->kernel,
      .machine = lanes_machine_of(v->kernel->target),
      .types = mtlc_types_of(v->kernel->context),
      .context = v->kernel->context,
      .builder = LLVMCreateBuilderInContext(v->kernel->context),
      .prologue = LLVMCreateBuilderInContext(v->kernel->context),
      .arena = &v->arena,
      .graph = &v->graph,
      .values = values,
      .lanes = values->lanes,
      .plan = plan,
      .single_simdgroup = v->single_simdgroup,
      .has_waits = v->has_waits,
      .in_rows = v->asks_other,
      .private_in_frame =
          v->has_waits || values->private_bytes > STACK_PRIVATE_BYTES};
}

static void show_plan(const lanes_emitter *e) {
  char title[96];
  if (e->called) {
    snprintf(title, sizeof title, "called: %.60s\n", mtlc_name(e->called));
  } else {
    snprintf(title, sizeof title, "rows of %u%s:\n", e->values->row,
             e->is_at_once ? ", several simdgroups at once" : "");
  }
  char *text = lanes_access_plan_text(e->values, e->accesses);
  mtlc_dump_add(e->kernel, title);
  mtlc_dump_add(e->kernel, text ? text : "");
  free(text);
}

// Decides how the emitter's loads and stores are done.
static void plan_accesses(lanes_emitter *e) {
  lanes_planning *p = lanes_allocate(e->arena, 1, sizeof *p);
  lanes_access_plan *plan = lanes_allocate(e->arena, 1, sizeof *plan);
  *p = (lanes_planning){.kernel = e->kernel,
                        .machine = e->machine,
                        .arena = e->arena,
                        .graph = e->graph,
                        .values = e->values,
                        .plan = e->plan,
                        .is_at_once = e->is_at_once,
                        .has_waits = e->has_waits,
                        .single_simdgroup = e->single_simdgroup};
  lanes_plan_accesses(p, plan);
  e->planning = p;
  e->accesses = plan;
  e->gathers = plan->gathers;
  e->scatters = plan->scatters;
  if (mtlc_wants_access_plan(e->kernel)) {
    show_plan(e);
  }
}

static void drop_emitter(lanes_emitter *e) {
  LLVMDisposeBuilder(e->builder);
  LLVMDisposeBuilder(e->prologue);
}

// True if a loop accumulates lane by lane.
static bool has_wide_phi(const lanes_values *values) {
  for (uint32_t n = 0; n < values->count; n++) {
    if (LLVMIsAPHINode(values->items[n]) &&
        lanes_width_of(values->shapes[n]) == values->lanes &&
        values->graph->nodes[values->nodes[n]].loop != LANES_NONE) {
      return true;
    }
  }
  return false;
}

uint32_t lanes_most_at_once(const lanes_values *values) {
  lanes_group_uniform common;
  if (values->row == 1 || !has_wide_phi(values)) {
    return 1;
  }
  lanes_group_uniform_find(values, true, &common);
  return !common.goes_together ? 1
         : common.parts_lanes  ? MOST_ROWS_AT_ONCE
                               : LANES_MOST_AT_ONCE;
}

// With AVX-512, takes as many simdgroups as fit the registers.
static uint32_t best_at_once(const lanes_vectorizer *v, const lanes_values *values) {
  const lanes_machine machine = lanes_machine_of(v->kernel->target);
  const uint32_t simdgroups = v->kernel->group_class.simdgroups;
  uint32_t most = lanes_most_at_once(values);
  // A threadgroup of known size may have fewer simdgroups.
  while (simdgroups && most > simdgroups * (MOST_LANES / values->lanes)) {
    most /= 2;
  }
  if (most == 1 || machine.has_masks) {
    return most;
  }
  lanes_iterations turns;
  double cost;
  lanes_iterations_find(values, &turns);
  return lanes_best_jam(&turns, &machine, values->lanes, most, &cost);
}

// True if several simdgroups of an emitted function may run at once, whatever
// branches they take.
static bool may_be_at_once(const lanes_emitter *one) {
  return !one->private_in_frame && !one->sums_bytes && !one->has_one_sum &&
         !one->counting.is_on && !one->single_simdgroup;
}

// Adds the function for several simdgroups to that for one, where it pays.
static mtl_status emit_at_once(lanes_vectorizer *v, const lanes_values *values,
                               const lanes_plan *plan, lanes_variant *variant) {
  const uint32_t most = best_at_once(v, values);
  if (most == 1) {
    return MTL_OK;
  }
  lanes_emitter e = emitter_of(v, values, plan);
  e.is_at_once = true;
  plan_accesses(&e);
  char name[40];
  snprintf(name, sizeof name, "mettle.simdgroups.of.%u", variant->row);
  variant->at_once = lanes_emit(&e, name);
  if (variant->at_once) {
    lanes_promote_allocas(&e);
    mark_parameters(&e);
  }
  drop_emitter(&e);
  if (!variant->at_once) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(mem2reg)"));
  variant->at_once_same_x = v->asks_other;
  bool shares = false;
  variant->at_once_count =
      lanes_jam_simdgroups(v->kernel, variant->at_once, variant->at_once_same_x,
                         most, &v->arena, &shares);
  if (variant->at_once_count > 1) {
    v->kernel->facts.shares_rows |= shares && variant->at_once_same_x;
    mtlc_report(v->kernel, "%u simdgroups of a threadgroup at once",
                variant->at_once_count);
    return MTL_OK;
  }
  LLVMDeleteFunction(variant->at_once);
  variant->at_once = NULL;
  return MTL_OK;
}

// True if values would have other shapes in threadgroups whose rows begin
// anywhere.
static bool depends_on_start(lanes_vectorizer *v, const lanes_values *values) {
  const mtli_group_class uneven = {.row = values->row, .is_uneven = true};
  lanes_values others;
  lanes_values_find(&v->graph, v->data, v->lanes, values->row, &uneven, &others);
  for (uint32_t i = 0; i < values->count; i++) {
    if (values->shapes[i].row != others.shapes[i].row ||
        values->shapes[i].stride != others.shapes[i].stride) {
      return true;
    }
  }
  return false;
}

static mtl_status emit_variant(lanes_vectorizer *v, uint8_t row) {
  lanes_values values;
  lanes_plan plan;
  lanes_values_find(&v->graph, v->data, v->lanes, row, &v->kernel->group_class, &values);
  v->asks_start |= values.is_even && depends_on_start(v, &values);
  lanes_plan_make(&values, &plan);
  lanes_emitter e = emitter_of(v, &values, &plan);
  plan_accesses(&e);
  lanes_deferred_find(&e);
  if (v->has_waits) {
    lanes_group_uniform_find(&values, false, &e.common);
  }
  const uint64_t private_end =
      FRAME_STATE_BYTES + (e.private_in_frame ? values.private_bytes : 0);
  lanes_sums_find(&e, private_end);
  char name[32];
  snprintf(name, sizeof name, "mettle.simdgroup.%u", row);
  LLVMValueRef function = lanes_emit(&e, name);
  if (!function) {
    drop_emitter(&e);
    snprintf(v->refusal, sizeof v->refusal, "%s", e.refusal);
    return MTL_UNSUPPORTED;
  }
  uint64_t common_bytes = 0;
  uint64_t bytes = lanes_spill_at_barriers(&e, private_end + e.sums_bytes, &common_bytes);
  lanes_promote_allocas(&e);
  drop_emitter(&e);
  const bool has_frame = v->has_waits || e.private_in_frame || e.sums_bytes;
  bytes = has_frame ? (bytes + 63) / 64 * 64 : 0;
  join_counting(&v->counting, &e.counting);
  v->frame_bytes = bytes > v->frame_bytes ? bytes : v->frame_bytes;
  mark_parameters(&e);
  report_variant(v, &e);
  lanes_variant *variant = &v->variants[v->variant_count++];
  *variant = (lanes_variant){.lanes = v->lanes,
                             .row = row,
                             .function = function,
                             .wait_count = e.wait_count,
                             .waits_together = e.common.waits_together,
                             .common_bytes = common_bytes};
  if (variant->waits_together) {
    variant->states_once = lanes_single_simdgroup_states(function, &v->arena);
  }
  variant->may_be_at_once = may_be_at_once(&e);
  return variant->may_be_at_once && !lanes_is_too_large_to_jam(function, 1)
             ? emit_at_once(v, &values, &plan, variant)
             : MTL_OK;
}

static bool waits_for_guards(const lanes_variant *variant) {
  enum { FORMS = 2 };  // with masks and without
  return variant->may_be_at_once && !variant->at_once &&
         !lanes_is_too_large_to_jam(variant->function, FORMS);
}

// Emits a function for several simdgroups without out-of-bounds threads.
// Changes the thread function, from which nothing else is emitted later.
static mtl_status emit_guarded(lanes_vectorizer *v) {
  bool is_demanded = false;
  for (uint32_t i = 0; i < v->variant_count && v->graph.loop_count > 0; i++) {
    lanes_variant *variant = &v->variants[i];
    if (!waits_for_guards(variant)) {
      continue;
    }
    if (!is_demanded) {
      if (!lanes_version_guard(v->kernel)) {
        return MTL_OK;
      }
      MTL_TRY(mtlc_run_llvm_passes(v->kernel, lanes_inside_folding));
      lanes_graph_build(v->kernel->thread, &v->arena, &v->graph);
      is_demanded = true;
    }
    lanes_values values;
    lanes_plan plan;
    lanes_values_find(&v->graph, v->data, v->lanes, variant->row,
                      &v->kernel->group_class, &values);
    lanes_plan_make(&values, &plan);
    MTL_TRY(emit_at_once(v, &values, &plan, variant));
    variant->may_refuse = variant->at_once;
  }
  return MTL_OK;
}

// Emits the functions that a long kernel calls, before it: they are the same
// for all segment lengths.
static mtl_status emit_called(lanes_vectorizer *v, LLVMValueRef function) {
  const mtli_group_class any = {0};
  lanes_graph graph;
  lanes_values values;
  lanes_plan plan;
  lanes_graph_build(function, &v->arena, &graph);
  lanes_values_find(&graph, v->data, v->lanes, 1, &any, &values);
  lanes_plan_make(&values, &plan);
  lanes_emitter e = emitter_of(v, &values, &plan);
  e.graph = &graph;
  e.called = function;
  e.has_waits = e.private_in_frame = e.in_rows = false;
  e.single_simdgroup = true;
  plan_accesses(&e);
  const bool done = lanes_emit(&e, mtlc_name(function)) != NULL;
  if (done) {
    lanes_promote_allocas(&e);
  } else {
    snprintf(v->refusal, sizeof v->refusal, "%s", e.refusal);
  }
  drop_emitter(&e);
  return done ? MTL_OK : MTL_UNSUPPORTED;
}

static void report_called(mtlc_kernel *kernel) {
  enum { TEXT_BYTES = 2048, NAME_BYTES = 128 };
  char text[TEXT_BYTES] = "";
  uint32_t count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (mtlc_is_called(f)) {
      char name[NAME_BYTES];
      const size_t length = strlen(text);
      mtlc_name_in_source(mtlc_name(f) + strlen(MTLC_CALLED_PREFIX), name,
                          sizeof name);
      snprintf(text + length, sizeof text - length, "%s%s", count++ ? ", " : "",
               name);
    }
  }
  if (count) {
    mtlc_report(kernel, "%u functions called rather than inlined: %s", count,
                text);
  }
}

static mtl_status emit_all_called(lanes_vectorizer *v) {
  mtl_status status = MTL_OK;
  lanes_vector_function_declare(v->kernel, v->lanes);
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module);
       f && status == MTL_OK; f = LLVMGetNextFunction(f)) {
    if (mtlc_is_called(f)) {
      lanes_vector_function_open(v->kernel, f);
      status = emit_called(v, f);
      lanes_vector_function_close(f);
    }
  }
  report_called(v->kernel);
  return status;
}

mtl_status lanes_emit_variants(lanes_vectorizer *v) {
  MTL_TRY(emit_all_called(v));
  const lanes_survey survey = lanes_survey_of(v);
  const bool limited = lanes_is_limited_to_one(v);
  v->single_simdgroup = lanes_is_single_simdgroup(v);
  v->has_waits = survey.has_barrier && !v->single_simdgroup;
  v->asks_other = survey.asks_other;
  uint8_t rows[LANES_MOST_VARIANTS];
  const uint32_t count = lanes_choose_rows(v, survey, rows);
  for (uint32_t i = 0; i < count; i++) {
    MTL_TRY(emit_variant(v, rows[i]));
  }
  MTL_TRY(emit_guarded(v));
  v->kernel->facts.depends_on_row =
      count == 1 && (survey.asks_x || survey.asks_other);
  v->kernel->facts.depends_on_uneven =
      v->kernel->facts.depends_on_row && rows[0] == v->lanes && v->asks_start;
  v->kernel->facts.depends_on_single = survey.has_barrier && !limited;
  return MTL_OK;
}
