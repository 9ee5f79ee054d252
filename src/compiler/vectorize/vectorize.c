// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize.c: the vectoriser's stages in order, for each row length that the
// kernel's threadgroups may have.
#include "compiler/vectorize/vectorize.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "base/status.h"
#include "compiler/ir/attributes.h"
#include "compiler/ir/instructions.h"
#include "compiler/ir/keep_calls.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/module.h"
#include "compiler/ir/names.h"
#include "compiler/ir/report.h"
#include "compiler/ir/steps.h"
#include "compiler/ir/target.h"
#include "compiler/ir/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/group_uniformity.h"
#include "compiler/vectorize/analysis/no_wrap.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/calls/barriers.h"
#include "compiler/vectorize/emit/calls/vector_calls.h"
#include "compiler/vectorize/emit/flow/flow.h"
#include "compiler/vectorize/emit/flow/promote_allocas.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/tiles/tile_phis.h"
#include "compiler/vectorize/emit/tiles/tile_products.h"
#include "compiler/vectorize/emit/tiles/tile_sums.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/finish/demanded_lanes.h"
#include "compiler/vectorize/finish/group_loop.h"
#include "compiler/vectorize/finish/jam_simdgroups.h"
#include "compiler/vectorize/finish/scalarise_short.h"
#include "compiler/vectorize/finish/single_simdgroup_regions.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/plan/linearize.h"
#include "compiler/vectorize/plan/loop_cost.h"
#include "compiler/vectorize/plan/width.h"
#include "compiler/vectorize/prepare/canonical_strides.h"
#include "compiler/vectorize/prepare/coalesce.h"
#include "compiler/vectorize/prepare/dot_products.h"
#include "compiler/vectorize/prepare/expand_memcpy.h"
#include "compiler/vectorize/prepare/hoist_loads.h"
#include "compiler/vectorize/prepare/interchange_simdgroups.h"
#include "compiler/vectorize/prepare/pointer_induction.h"
#include "compiler/vectorize/prepare/recognise_tile_loads.h"
#include "compiler/vectorize/prepare/sink_tests.h"
#include "compiler/vectorize/prepare/split_exits.h"
#include "compiler/vectorize/prepare/split_geps.h"
#include "compiler/vectorize/prepare/unroll_row_walks.h"
#include "compiler/vectorize/prepare/version_guard.h"
#include "compiler/vectorize/prepare/version_interior.h"
#include "compiler/vectorize/prepare/version_uniform.h"
#include "compiler/vectorize/target/machine.h"

// The form that the analyses want: branches only, loops with one back edge,
// tested at their end, whose values leave through phis at the exits.
static const char preparation[] =
    "function(lower-switch,loop-simplify,lcssa,"
    "loop(loop-rotate<no-header-duplication>),simplifycfg<no-switch-range-to-"
    "icmp;no-switch-to-lookup;keep-loops>,instcombine<no-verify-fixpoint>,"
    "lower-switch,loop-simplify,lcssa)";
// What is known where nothing is cut off (version_interior.c).
static const char inside_folding[] =
    "function(instsimplify,simplifycfg<no-switch-range-to-icmp;"
    "no-switch-to-lookup;keep-loops>,lower-switch,loop-simplify,lcssa)";
// The same where a loop has several entries.
static const char reduction[] =
    "function(lower-switch,fix-irreducible,loop-simplify,lcssa)";
// Loops as LLVM unrolls them: tested at their end, at the price of a copy of
// their header.
static const char rotation[] =
    "function(loop-simplify,lcssa,loop(loop-rotate<header-duplication>),"
    "loop-simplify,lcssa)";
// Out of memory into registers, before the code is copied anywhere.
static const char cleaning[] =
    "function(mem2reg,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,adce)";

// Behind what makes vectors shorter. Rows' numbers differ by one: so does what
// is a product of each.
static const char adding[] = "function(slsr,early-cse,adce)";

enum {
  MAXIMUM_VARIANTS = 4,
  FRAME_STATE_BYTES = 64,  // where a frame's state is kept, and room to align
  SMALL_KERNEL_INSTRUCTIONS = 250,
  MOST_UNMASKED_INSTRUCTIONS = 1500,
  MOST_UNMASKED_DEPTH = 4,
  STACK_PRIVATE_BYTES = 16 * 1024,  // above it, private memory is in the frame
  // Of simdgroups whose first thread stores a result: a row of a matrix each,
  // which comes from memory. Measured on a 2-core EPYC of the Zen 3 kind,
  // 2026-11, int8 and int4: two at once take 0.8 of the time of one, four 0.7
  // with a matrix in the second level of the cache, 0.8 to 1.0 without.
  MOST_ROWS_AT_ONCE = 2,
};

// What is the same for all variants.
typedef struct vectorizer {
  mtlc_kernel *kernel;
  mtli_arena arena;
  lanes_graph graph;
  lanes_values values;  // of the graph, in its usual rows, if has_values
  bool has_values;
  uint32_t changes;  // of the step that runs
  bool is_reduced;   // several entries of a loop: the steps want one
  bool is_unrolled;  // row walks are
  bool waits;        // at barriers
  uint32_t room;     // instructions that versions may still add
  LLVMTargetDataRef data;
  bool single_simdgroup;
  bool has_waits;
  lanes_deferral counting;  // of all variants
  bool in_frame;            // private memory
  bool asks_other;          // positions across rows
  bool asks_start;          // may ask where in the grid rows begin
  uint32_t loops_by_turns;  // in which simdgroups wait for each other
  uint64_t frame_bytes;
  lanes_variant variants[MAXIMUM_VARIANTS];
  uint32_t variant_count;
  char refusal[256];
} vectorizer;

// --- What the kernel asks for ------------------------------------------------

// What its calls tell: whether it waits at barriers, and how it depends on the
// threadgroup's shape.
typedef struct call_survey {
  bool has_barrier;
  bool asks_x;      // the thread's position along a row
  bool asks_other;  // across rows
  uint32_t instruction_count;
} call_survey;

static void survey_call(LLVMValueRef instruction, void *context) {
  call_survey *survey = context;
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

static call_survey survey_of(const vectorizer *v) {
  call_survey survey = {0};
  mtlc_for_each_instruction(v->kernel->thread, survey_call, &survey);
  return survey;
}

// True if instructions are such that threads of any threadgroups may run
// them: no part of one's own threadgroup, nor of another thread's doing.
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

static void find_any_groups(vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  kernel->is_brief = v->graph.loop_count == 0;
  kernel->any_groups = kernel->kernel->max_total_threads_per_threadgroup == 0 &&
                       !has_threadgroup_arguments(kernel->kernel);
  mtlc_for_each_instruction(kernel->thread, survey_groups, &kernel->any_groups);
  if (kernel->any_groups && kernel->is_brief && kernel->may_change_class) {
    kernel->group_class =
        (mtli_group_class){.row = MTLI_LONGEST_ROW, .is_whole = true};
  }
}

// What lane_bits.c follows the bits of a position through.
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

static bool is_limited_to_one(const mtlc_kernel *kernel) {
  const uint32_t limit = kernel->kernel->max_total_threads_per_threadgroup;
  return limit > 0 && limit <= LANES;
}

static bool is_single_simdgroup(const vectorizer *v) {
  return is_limited_to_one(v->kernel) || v->kernel->group_class.is_single;
}

// The rows that the thread function is brought into its form for.
static uint8_t usual_row(const mtlc_kernel *kernel) {
  const uint32_t row = kernel->group_class.row;
  return (uint8_t)(row && row < LANES ? row : LANES);
}

// The values of the thread function, found when they are first asked for
// behind a change.
static lanes_values *facts(vectorizer *v) {
  if (!v->has_values) {
    lanes_values_find(&v->graph, v->data, usual_row(v->kernel),
                      &v->kernel->group_class, &v->values);
    v->has_values = true;
  }
  return &v->values;
}

// To be called behind a change of code, or of what facts depend on.
static void forget(vectorizer *v) {
  v->has_values = false;
}

// The same behind a change of which a step boasts.
static void code_changed(vectorizer *v) {
  v->changes++;
  forget(v);
}

// The same if blocks and branches may be others.
static void flow_changed(vectorizer *v) {
  code_changed(v);
  lanes_graph_build(v->kernel->thread, &v->arena, &v->graph);
}

// The row lengths to make code for: one, or all that are worth it if the
// threadgroups are not known, the best first; the last then fits any group.
static uint32_t choose_rows(const mtlc_kernel *kernel, call_survey survey,
                            uint8_t rows[MAXIMUM_VARIANTS]) {
  uint32_t count = 0;
  if (!survey.asks_x && !survey.asks_other) {
    rows[count++] = LANES;
  } else if (kernel->group_class.row) {
    rows[count++] = usual_row(kernel);
  } else {
    rows[count++] = LANES;
    if (survey.asks_other) {
      if (LANES > 16 && survey.instruction_count <= SMALL_KERNEL_INSTRUCTIONS) {
        rows[count++] = 16;
      }
      rows[count++] = 8;
    }
    rows[count++] = 1;
  }
  return count;
}

// --- One variant -------------------------------------------------------------

// What the launch says nobody writes. A simdgroup's frame is its own: what all
// of them load can be loaded in front of the loop over them.
static void mark_parameters(lanes_emitter *e) {
  mtlc_set_parameter_attribute(e->function, LANES_LAUNCH, "noalias", 0);
  mtlc_set_parameter_attribute(e->function, LANES_LAUNCH, "readonly", 0);
  mtlc_set_parameter_attribute(e->function, LANES_GROUP, "noalias", 0);
  mtlc_set_parameter_attribute(e->function, LANES_GROUP, "readonly", 0);
  mtlc_set_parameter_attribute(e->function, LANES_FRAME, "noalias", 0);
  mtlc_set_parameter_attribute(e->function, LANES_SCRATCH, "noalias", 0);
}

// Says what a person can make faster.
static void report_variant(const vectorizer *v, const lanes_emitter *e) {
  char rows[32] = "any threadgroup";
  char *gathers = lanes_lines_describe(&e->gathers, "gathers");
  char *scatters = lanes_lines_describe(&e->scatters, "scatters");
  char *serials =
      lanes_lines_describe(&e->serials, "instructions lane by lane");
  char *checked =
      e->accesses->checked.count
          ? lanes_lines_describe(&e->accesses->checked, "checked")
          : NULL;
  if (e->values->row > 1) {
    snprintf(rows, sizeof rows, "rows of %u threads",
             e->values->row == LANES ? MOST_LANES : e->values->row);
  }
  mtlc_report(e->kernel,
              "vectorised for %s%s: %s, %s, %s, %u barriers by fission%s%s",
              rows, LANES < MOST_LANES ? ", half a simdgroup at a time" : "",
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

// Variants share a worker's windows and the answer whether to use them.
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

static lanes_emitter emitter_of(vectorizer *v, const lanes_values *values,
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

// What a loop sums up lane by lane is one.
static bool has_wide_phi(const lanes_values *values) {
  for (uint32_t n = 0; n < values->count; n++) {
    if (LLVMIsAPHINode(values->items[n]) &&
        lanes_width_of(values->shapes[n]) == LANES &&
        values->graph->nodes[values->nodes[n]].loop != LANES_NONE) {
      return true;
    }
  }
  return false;
}

// Returns how many simdgroups at once are worth a try: several if all go the
// same way through the kernel and there is a loop to hurry.
static uint32_t most_at_once(const lanes_values *values) {
  lanes_group_uniform common;
  if (values->row == 1 || !has_wide_phi(values)) {
    return 1;
  }
  lanes_group_uniform_find(values, true, &common);
  return !common.goes_together ? 1
         : common.parts_lanes  ? MOST_ROWS_AT_ONCE
                               : LANES_MOST_AT_ONCE;
}

// With AVX-512 it is what fits the registers.
static uint32_t best_at_once(const vectorizer *v, const lanes_values *values) {
  const lanes_machine machine = lanes_machine_of(v->kernel->target);
  const uint32_t simdgroups = v->kernel->group_class.simdgroups;
  uint32_t most = most_at_once(values);
  // Of a threadgroup that has fewer, if this is for one that is known.
  while (simdgroups && most > simdgroups * (MOST_LANES / LANES)) {
    most /= 2;
  }
  if (most == 1 || machine.has_avx512) {
    return most;
  }
  lanes_iterations turns;
  double cost;
  lanes_iterations_find(values, &turns);
  return lanes_best_jam(&turns, &machine, LANES, most, &cost);
}

// True if several of what an emitter has made may run at once, whichever
// way they go.
static bool may_be_at_once(const lanes_emitter *one) {
  return !one->private_in_frame && !one->sums_bytes && !one->has_one_sum &&
         !one->counting.is_on && !one->single_simdgroup;
}

// Adds the function for several simdgroups at once to that of one, where it is
// worth it.
static mtl_status emit_at_once(vectorizer *v, const lanes_values *values,
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
    v->kernel->shares_rows |= shares && variant->at_once_same_x;
    mtlc_report(v->kernel, "%u simdgroups of a threadgroup at once",
                variant->at_once_count);
    return MTL_OK;
  }
  LLVMDeleteFunction(variant->at_once);
  variant->at_once = NULL;
  return MTL_OK;
}

// True if other threadgroups, whose rows begin anywhere, would give values
// other shapes.
static bool depends_on_start(vectorizer *v, const lanes_values *values) {
  const mtli_group_class uneven = {.row = values->row, .is_uneven = true};
  lanes_values others;
  lanes_values_find(&v->graph, v->data, values->row, &uneven, &others);
  for (uint32_t i = 0; i < values->count; i++) {
    if (values->shapes[i].row != others.shapes[i].row ||
        values->shapes[i].stride != others.shapes[i].stride) {
      return true;
    }
  }
  return false;
}

static mtl_status emit_variant(vectorizer *v, uint8_t row) {
  lanes_values values;
  lanes_plan plan;
  lanes_values_find(&v->graph, v->data, row, &v->kernel->group_class, &values);
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
  *variant = (lanes_variant){.row = row,
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

// Several simdgroups at once where threads that are out of bounds leave: for
// those that have none. Changes the thread function, of which nothing else is
// made any more.
static mtl_status emit_guarded(vectorizer *v) {
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
      MTL_TRY(mtlc_run_llvm_passes(v->kernel, inside_folding));
      lanes_graph_build(v->kernel->thread, &v->arena, &v->graph);
      is_demanded = true;
    }
    lanes_values values;
    lanes_plan plan;
    lanes_values_find(&v->graph, v->data, variant->row,
                      &v->kernel->group_class, &values);
    lanes_plan_make(&values, &plan);
    MTL_TRY(emit_at_once(v, &values, &plan, variant));
    variant->may_refuse = variant->at_once;
  }
  return MTL_OK;
}

// --- All of them -------------------------------------------------------------

static mtl_status refuse(vectorizer *v) {
  for (uint32_t i = 0; i < v->variant_count; i++) {
    LLVMDeleteFunction(v->variants[i].function);
    if (v->variants[i].at_once) {
      LLVMDeleteFunction(v->variants[i].at_once);
    }
  }
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
  return LLVMGetNamedFunction(kernel->module, "mettle.tile.multiply_add");
}

static void find_byte(LLVMValueRef i, void *found) {
  *(bool *)found |= mtlc_is_opcode(i, LLVMLoad) &&
                    LLVMTypeOf(i) == LLVMInt8TypeInContext(
                                         LLVMGetTypeContext(LLVMTypeOf(i)));
}

// Brings the functions that stay calls into the form of the thread's.
static mtl_status prepare_called(vectorizer *v) {
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

static mtl_status expand_memcpy(vectorizer *v) {
  mtlc_for_each_instruction(v->kernel->thread, survey_bits, &v->asks_start);
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (f == v->kernel->thread || mtlc_is_called(f)) {
      lanes_expand_memcpy(v->kernel->context, f);
    }
  }
  return MTL_OK;
}

static mtl_status normalise(vectorizer *v) {
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, preparation));
  return prepare_called(v);
}

static mtl_status recognise_tile_loads(vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (!has_products(kernel)) {
    return MTL_OK;
  }
  bool changed = lanes_carry_tiles(kernel->context, kernel->thread);
  if (has_plain_branches(kernel->thread) &&
      lanes_graph_build(kernel->thread, &v->arena, &v->graph)) {
    changed |=
        lanes_recognise_tile_loads(kernel, &v->graph, &kernel->group_class);
  }
  if (changed) {
    code_changed(v);
    MTL_TRY(mtlc_run_llvm_passes(kernel, "function(adce)"));
  }
  lanes_gather_products(kernel->thread);
  // What a thread has of a fragment lies side by side, by fours: one gather.
  return mtlc_run_llvm_passes(kernel, "function(load-store-vectorizer)");
}

static mtl_status split_geps(vectorizer *v) {
  lanes_split_geps(v->kernel->context, v->kernel->thread);
  return MTL_OK;
}

static mtl_status build_graph(vectorizer *v) {
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

static mtl_status split_exits(vectorizer *v) {
  if (lanes_may_split_exits(&v->graph) && lanes_split_exits(facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(loop-simplify,lcssa)"));
    flow_changed(v);
  }
  return MTL_OK;
}

static mtl_status choose_width(vectorizer *v) {
  // What has barriers but one simdgroup goes through without any.
  const bool waits = survey_of(v).has_barrier;
  if (lanes_may_halve_width(v->kernel, &v->graph) &&
      !(waits && is_single_simdgroup(v))) {
    const lanes_values *values = facts(v);
    lanes_vector_width =
        lanes_best_width(v->kernel, values, most_at_once(values), waits);
    if (LANES != MOST_LANES) {
      code_changed(v);  // shapes are of other lanes
    }
  }
  return MTL_OK;
}

// What holds in any threadgroup.
static mtl_status canonical_strides(vectorizer *v) {
  const mtli_group_class any = {0};
  LLVMValueRef lane = lanes_find_lane(&v->graph);
  lanes_values values;
  if (!lane) {
    return MTL_OK;
  }
  lanes_values_find(&v->graph, v->data, 1, &any, &values);
  if (lanes_canonicalise_strides(&values, lane)) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(adce)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Threads' indices are neighbours' where buffers are not too large.
static mtl_status no_wrap(vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (!kernel->group_class.is_far &&
      lanes_mark_no_wrap(kernel->kernel, facts(v))) {
    kernel->depends_on_far = true;
    code_changed(v);
  }
  return MTL_OK;
}

// Once for each loop of a nest that hands its pointer to the next.
static mtl_status pointer_induction(vectorizer *v) {
  while (lanes_may_have_pointer_inductions(&v->graph) &&
         lanes_rewrite_pointer_inductions(facts(v))) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(adce)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Where threads walk along rows of their own.
static mtl_status unroll_row_walks(vectorizer *v) {
  const mtli_group_class *class = &v->kernel->group_class;
  const uint8_t row = usual_row(v->kernel);
  if (v->graph.loop_count == 0 ||
      !lanes_mark_row_walks(&v->graph, v->data, row, class)) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, rotation));
  flow_changed(v);
  lanes_mark_row_walks(&v->graph, v->data, row, class);
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, lanes_unrolling));
  MTL_TRY(mtlc_run_llvm_passes(v->kernel, preparation));
  flow_changed(v);
  v->is_unrolled = true;
  return MTL_OK;
}

static mtl_status hoist_loads(vectorizer *v) {
  if (lanes_may_hoist_loads(&v->graph) &&
      lanes_hoist_loads(v->kernel, facts(v), v->is_unrolled)) {
    MTL_TRY(mtlc_link_text(v->kernel, "apart", mtlc_text_apart));
    flow_changed(v);
  }
  return MTL_OK;
}

static mtl_status dot_products(vectorizer *v) {
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

// True if simdgroups wait for each other.
static bool has_waiting_simdgroups(const vectorizer *v) {
  return survey_of(v).has_barrier && !is_single_simdgroup(v);
}

// Where order matters to memory (prefetch.c).
static mtl_status interchange_simdgroups(vectorizer *v) {
  const lanes_machine machine = lanes_machine_of(v->kernel->target);
  if (!has_waiting_simdgroups(v) || survey_of(v).asks_other ||
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

// Between the barriers of simdgroups that wait for each other.
static mtl_status sink_tests(vectorizer *v) {
  if (has_waiting_simdgroups(v)) {
    lanes_sink_tests(v->kernel->context, v->kernel->thread);
    forget(v);
  }
  return MTL_OK;
}

static mtl_status choose_group_class(vectorizer *v) {
  find_any_groups(v);
  v->room = MOST_UNMASKED_INSTRUCTIONS;
  v->waits = survey_of(v).has_barrier;
  forget(v);
  return MTL_OK;
}

// For simdgroups that are whole: where indices may be cut off at an edge, or
// out of bounds, they need not ask of each access.
static mtl_status version_interior(vectorizer *v) {
  if (!v->kernel->group_class.is_whole || v->waits) {
    return MTL_OK;
  }
  if (lanes_set_body_apart(v->kernel, facts(v))) {
    flow_changed(v);
  }
  if (lanes_version_interior(v->kernel, facts(v), &v->room)) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, inside_folding));
    flow_changed(v);
    MTL_TRY(no_wrap(v));
    return hoist_loads(v);  // those of several blocks that are one there
  }
  return MTL_OK;
}

// Where masks cost, threads that do not part do without them.
static mtl_status version_uniform(vectorizer *v) {
  for (uint32_t depth = 0;
       v->kernel->group_class.is_whole && depth < MOST_UNMASKED_DEPTH &&
       lanes_version_uniform(v->kernel, facts(v), v->waits, &v->room);
       depth++) {
    MTL_TRY(mtlc_run_llvm_passes(v->kernel, "function(loop-simplify,lcssa)"));
    flow_changed(v);
  }
  return MTL_OK;
}

// Where all lanes run and are neighbours, whatever the threadgroup.
static mtl_status coalesce(vectorizer *v) {
  const mtli_group_class *class = &v->kernel->group_class;
  if (class->is_whole && class->row == MTLI_LONGEST_ROW) {
    v->changes += lanes_coalesce(v->kernel, facts(v));
    forget(v);
  }
  return MTL_OK;
}

// What long kernels call, before them: any row of threads is one to it.
static mtl_status emit_called(vectorizer *v, LLVMValueRef function) {
  const mtli_group_class any = {0};
  lanes_graph graph;
  lanes_values values;
  lanes_plan plan;
  lanes_graph_build(function, &v->arena, &graph);
  lanes_values_find(&graph, v->data, 1, &any, &values);
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

static mtl_status emit_all_called(vectorizer *v) {
  mtl_status status = MTL_OK;
  lanes_vector_function_declare(v->kernel);
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

static mtl_status emit_all(vectorizer *v) {
  MTL_TRY(emit_all_called(v));
  const call_survey survey = survey_of(v);
  const bool limited = is_limited_to_one(v->kernel);
  v->single_simdgroup = is_single_simdgroup(v);
  v->has_waits = survey.has_barrier && !v->single_simdgroup;
  v->asks_other = survey.asks_other;
  uint8_t rows[MAXIMUM_VARIANTS];
  const uint32_t count = choose_rows(v->kernel, survey, rows);
  for (uint32_t i = 0; i < count; i++) {
    MTL_TRY(emit_variant(v, rows[i]));
  }
  MTL_TRY(emit_guarded(v));
  v->kernel->depends_on_row =
      count == 1 && (survey.asks_x || survey.asks_other);
  v->kernel->depends_on_uneven =
      v->kernel->depends_on_row && rows[0] == LANES && v->asks_start;
  v->kernel->depends_on_single = survey.has_barrier && !limited;
  return MTL_OK;
}

// The functions into which that of a simdgroup is inlined.
static void describe_loops(const vectorizer *v, LLVMMetadataRef lines) {
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

static bool any_at_once(const vectorizer *v) {
  for (uint32_t i = 0; i < v->variant_count; i++) {
    if (v->variants[i].at_once) {
      return true;
    }
  }
  return false;
}

// --- Steps over the emitted function -----------------------------------------

static mtl_status promote(vectorizer *v) {
  LLVMDeleteFunction(v->kernel->thread);
  v->kernel->thread = NULL;
  mtlc_set_target_attributes(v->kernel);
  return mtlc_run_llvm_passes(v->kernel, cleaning);
}

static mtl_status shorten_vectors(vectorizer *v) {
  for (LLVMValueRef f = LLVMGetFirstFunction(v->kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    v->changes += lanes_scalarise_short(f);
    v->changes += lanes_demand_lanes(f);
  }
  return v->changes ? mtlc_run_llvm_passes(v->kernel, adding) : MTL_OK;
}

static mtl_status link_parts(vectorizer *v) {
  mtlc_kernel *kernel = v->kernel;
  if (v->counting.is_on) {
    lanes_deferred_define(kernel, &v->counting);
    MTL_TRY(mtlc_link_text(kernel, "counters", mtlc_text_counters));
  }
  return LLVMGetNamedFunction(kernel->module, "mettle.are_apart")
             ? mtlc_link_text(kernel, "apart", mtlc_text_apart)
             : MTL_OK;
}

static mtl_status group_loop(vectorizer *v) {
  return lanes_link_group(v->kernel, v->variants, v->variant_count,
                          v->has_waits, v->frame_bytes);
}

// --- All of them, in order ---------------------------------------------------

// What a step is to the others.
typedef enum step_kind {
  NEEDED = 1,   // nothing works without it; others can be left out
  PLAIN = 2,    // not for what build_graph has reduced
  COUNTED = 4,  // says how often it changed something
} step_kind;

#define STEP(name) "vectorize." #name, name

static const struct step {
  const char *name;
  mtl_status (*run)(vectorizer *v);
  unsigned kind;  // step_kinds
} steps[] = {
    // What is copied as bytes has elements then; private memory above all.
    {STEP(expand_memcpy), 0},
    // Loops with one entry and one latch, branches that go two ways.
    {STEP(normalise), NEEDED},
    // Before addresses are split that tell where a tile is.
    {STEP(recognise_tile_loads), COUNTED},
    // What rows share is computed once.
    {STEP(split_geps), 0},
    {STEP(build_graph), NEEDED | COUNTED},
    // A uniform exit costs no mask, and tells the width.
    {STEP(split_exits), PLAIN | COUNTED},
    // Before shapes are looked at: they are of so many lanes.
    {STEP(choose_width), PLAIN | COUNTED},
    // Three about addresses, each of which may show the next one more.
    {STEP(canonical_strides), PLAIN | COUNTED},
    {STEP(no_wrap), PLAIN | COUNTED},
    {STEP(pointer_induction), PLAIN | COUNTED},
    // The loads of unrolled steps come first then.
    {STEP(unroll_row_walks), PLAIN | COUNTED},
    {STEP(hoist_loads), PLAIN | COUNTED},
    {STEP(dot_products), PLAIN | COUNTED},
    // Two about what stands between barriers.
    {STEP(interchange_simdgroups), PLAIN | COUNTED},
    {STEP(sink_tests), PLAIN},
    {STEP(choose_group_class), NEEDED | PLAIN},
    // Versions last: each holds what has been done before.
    {STEP(version_interior), PLAIN | COUNTED},
    {STEP(version_uniform), PLAIN | COUNTED},
    // What lanes have side by side for themselves, in blocks without masks.
    {STEP(coalesce), PLAIN | COUNTED},
    // For each row length: analysis, plan, vector IR.
    {STEP(emit_all), NEEDED},
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

static mtl_status run_step(vectorizer *v, const struct step *step) {
  if ((step->kind & PLAIN && v->is_reduced) ||
      mtlc_step_is_left_out(v->kernel, step->name)) {
    return MTL_OK;
  }
  const uint64_t start_ns = mtli_now_ns();
  v->changes = 0;
  MTL_TRY(step->run(v));
  mtlc_step_done(v->kernel, step->name,
                 step->kind & COUNTED ? v->changes : MTLC_NOT_COUNTED,
                 start_ns);
  return MTL_OK;
}

mtl_status mtlc_vectorize(mtlc_kernel *kernel) {
  vectorizer v = {.kernel = kernel,
                  .data = LLVMGetModuleDataLayout(kernel->module)};
  LLVMMetadataRef lines = LLVMGetSubprogram(kernel->thread);
  lanes_vector_width = MOST_LANES;
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
    kernel->is_at_once = any_at_once(&v);
  }
  mtli_arena_clear(&v.arena);
  return status;
}
