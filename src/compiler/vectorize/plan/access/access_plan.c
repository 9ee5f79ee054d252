// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_plan.c: decides how each load and store is done: the first form that
// fits, from best to worst. Read from decide_load and decide_store on.
#include "compiler/vectorize/plan/access/access_plan.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/cost.h"
#include "compiler/vectorize/plan/access/forms/adjacent.h"
#include "compiler/vectorize/plan/access/forms/bit_runs.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"
#include "compiler/vectorize/plan/access/forms/packed_vectors.h"
#include "compiler/vectorize/plan/access/forms/row_copies.h"
#include "compiler/vectorize/plan/access/forms/stride_factors.h"
#include "compiler/vectorize/plan/access/forms/windows.h"
#include "compiler/vectorize/plan/access/forms/wraps.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/plan/access/why.h"

// The access being decided.
typedef struct decision {
  lanes_planning *p;
  lanes_access_plan *out;
  const lanes_access *a;
  bool store;
  bool is_nested;  // behind a check: its results are not kept for later code
  const lanes_interleave_group *beside;  // a group of adjacent loads that is
                                         // not done as one, or NULL
} decision;

static const lanes_choice *keep(const decision *d, lanes_choice choice) {
  lanes_choice *kept = lanes_allocate(d->p->arena, 1, sizeof choice);
  *kept = choice;
  kept->is_nested = d->is_nested;
  kept->group = choice.group ? choice.group : d->beside;
  kept->cost = lanes_access_cost(d->p, d->a, kept);
  return kept;
}

static const lanes_choice *form(const decision *d, lanes_form form,
                                const char *why) {
  return keep(d, (lanes_choice){.form = form, .why = why});
}

// --- Each lane its own address -----------------------------------------------

// True for the columns of a tile that is stored transposed: if all lanes run,
// stores at constant distances take half as long as a scatter.
static bool may_be_in_line(const decision *d, const lanes_access *a) {
  enum { LEAST_ROW = 8 };
  return !d->p->is_at_once && !a->shape.conditional &&
         a->shape.row >= LEAST_ROW && !lanes_has_own_mask(d->p);
}

// Decides by the address's own shape, which no check has established.
static const lanes_choice *decide_singly(const decision *d) {
  lanes_lines_add(d->p->arena, d->store ? &d->out->scatters : &d->out->gathers,
                  d->a->instruction);
  lanes_access each = *d->a;
  each.shape = lanes_shape_of(d->p->values, d->a->pointer);
  const char *why = lanes_why_apart(d->p, &each);
  if (!d->store) {
    return form(d, LANES_GATHER, why);
  }
  if (lanes_is_row_of_words(&each)) {
    return form(d, LANES_SCATTER_VECTORS, why);
  }
  return form(d, may_be_in_line(d, &each) ? LANES_IN_LINE : LANES_SCATTER, why);
}

// Decides for code that rarely runs: short code.
static const lanes_choice *decide_some(const decision *d, bool is_gapped) {
  const bool is_much = d->store && (is_gapped || d->a->count > 1);
  return d->p->is_at_once || is_much
             ? decide_singly(d)
             : form(d, LANES_LANE_LOOP, "hardly ever comes to it");
}

// --- What the address's shape tells ------------------------------------------

static const lanes_choice *decide_gapped(const decision *d, uint32_t stride) {
  const bool by_words = !d->store && lanes_lie_in_words(d->a, stride);
  if (!by_words && !d->store) {
    lanes_lines_add(d->p->arena, &d->out->gathers, d->a->instruction);
  }
  const char *why = "gaps between lanes, and no masks for such elements";
  const lanes_form likely = by_words   ? LANES_WORDS
                            : d->store ? LANES_EACH
                                       : LANES_INTERLEAVED;
  const lanes_choice *then =
      keep(d, (lanes_choice){.form = likely, .stride = stride, .why = why});
  decision rest = *d;
  rest.is_nested = true;
  return keep(d, (lanes_choice){.check = by_words ? LANES_CHECK_READABLE
                                                  : LANES_CHECK_ALL_LANES,
                                .then = then,
                                .otherwise = decide_some(&rest, true),
                                .stride = stride,
                                .why = why});
}

static const lanes_choice *decide_shaped(const decision *d);

// True if lanes lie in reverse order and need no costly masks. (Where masks are
// emulated, the reversal would have to be undone for each lane.)
static bool is_reversed(const decision *d) {
  const lanes_access mirrored = lanes_reversed(d->a);
  return lanes_is_reversed(d->a) && !lanes_is_gapped(d->p, &mirrored, d->store);
}

static const lanes_choice *decide_reversed(const decision *d) {
  const lanes_access mirrored = lanes_reversed(d->a);
  decision nested = *d;
  nested.a = &mirrored;
  return keep(d, (lanes_choice){.form = LANES_REVERSED,
                                .then = decide_shaped(&nested),
                                .why = "lanes lie in the reverse order"});
}

static const lanes_choice *decide_shaped(const decision *d) {
  const lanes_access *a = d->a;
  const uint32_t stride = lanes_stride_elements(a);
  if (is_reversed(d)) {
    return decide_reversed(d);
  }
  if (lanes_is_gapped(d->p, a, d->store)) {
    return decide_gapped(d, stride);
  }
  if (stride) {
    const bool is_plain = stride == 1;
    return keep(d, (lanes_choice){
                       .form = is_plain ? LANES_CONTIGUOUS : LANES_INTERLEAVED,
                       .stride = stride,
                       .why = is_plain ? "lanes lie side by side"
                                       : "lanes are a small stride apart"});
  }
  return lanes_is_by_segments(a)
             ? form(d, LANES_SEGMENT_VECTORS,
                    "the lanes of each row lie side by side")
             : decide_singly(d);
}

// Decides for a lane whose index wraps: the lanes before it and those from it
// on are two runs. Falls back to lane by lane where that is not possible, or
// would double the code for a case that hardly ever happens.
static const lanes_choice *decide_wrapped(const decision *d) {
  lanes_wrap wrap;
  if (lanes_is_gapped(d->p, d->a, d->store) || is_reversed(d)) {
    return decide_some(d, false);
  }
  if (!lanes_find_wrap(d->p->values, d->a->pointer, &wrap)) {
    return decide_singly(d);
  }
  return keep(d, (lanes_choice){.form = LANES_SPLIT_AT_WRAP,
                                .then = decide_shaped(d),
                                .why = "one index may wrap, once"});
}

// Decides where the stride holds unless an index wraps. Wrapping is so rare
// that the report does not mention it.
static const lanes_choice *unless_wrapped(const decision *d,
                                          const lanes_choice *holds) {
  const lanes_lines gathers = d->out->gathers, scatters = d->out->scatters;
  decision nested = *d;
  nested.is_nested = true;
  const lanes_choice *choice =
      keep(d, (lanes_choice){.check = LANES_CHECK_NO_WRAP,
                             .then = holds ? holds : decide_shaped(&nested),
                             .otherwise = decide_wrapped(&nested),
                             .why = "a narrow index may wrap"});
  d->out->gathers = gathers;
  d->out->scatters = scatters;
  return choice;
}

// --- What a check may find ---------------------------------------------------

static const lanes_choice *broadcast(const decision *d, const char *why) {
  return form(d, LANES_BROADCAST, why);
}

// Decides for lanes that are a run-time number apart.
static const lanes_choice *decide_by_factors(const decision *d) {
  lanes_stride_factors found;
  lanes_access runs = *d->a;
  if (!lanes_find_stride_factors(d->p, d->a, &found, &runs.shape) ||
      !lanes_is_shaped(&runs)) {
    return NULL;
  }
  lanes_stride_factors *factors = lanes_allocate(d->p->arena, 1, sizeof found);
  *factors = found;
  decision likely = *d, rest = *d;
  likely.a = &runs;
  likely.is_nested = rest.is_nested = true;
  const lanes_choice *then = decide_shaped(&likely);
  const lanes_choice *apart = decide_singly(&rest);
  const char *why = "the program's numbers say how far lanes are apart";
  if (!d->store) {
    const lanes_choice *same = broadcast(&rest, "a stride of none");
    apart = keep(d, (lanes_choice){.check = LANES_CHECK_STRIDE_ZERO,
                                   .then = same,
                                   .otherwise = apart,
                                   .shape = runs.shape,
                                   .factors = factors,
                                   .why = why});
  }
  return keep(d, (lanes_choice){.check = LANES_CHECK_STRIDE_ONE,
                                .then = then,
                                .otherwise = apart,
                                .shape = runs.shape,
                                .factors = factors,
                                .why = why});
}

// Decides between one common address and addresses anywhere.
static const lanes_choice *decide_same(const decision *d) {
  decision rest = *d;
  rest.is_nested = true;
  return keep(d,
              (lanes_choice){.check = LANES_CHECK_EQUAL,
                             .then = broadcast(d, "lanes may have one address"),
                             .otherwise = decide_singly(&rest),
                             .why = "made of numbers that lanes share"});
}

// Decides where nothing is known, but lanes are probably adjacent.
static const lanes_choice *decide_adjacent(const decision *d) {
  const lanes_planning *p = d->p;
  lanes_access runs = *d->a;
  bool may_be_same = false;
  if (!lanes_may_be_adjacent(p, d->a, &runs.shape, &may_be_same)) {
    return NULL;
  }
  if (runs.shape.stride == 0 && !d->store && lanes_has_some_lane(p)) {
    return decide_same(d);
  }
  const uint32_t in_rows = d->store ? 0 : lanes_stride_in_rows(&runs);
  const bool is_in_rows = in_rows && lanes_has_masks_for(p, d->a->element);
  if (!lanes_is_shaped(&runs) && !is_in_rows) {
    return NULL;
  }
  decision likely = *d, rest = *d;
  likely.a = &runs;
  likely.is_nested = rest.is_nested = true;
  const char *why = "made of positions, cut off or chosen";
  const lanes_choice *then =
      is_in_rows ? keep(d, (lanes_choice){.form = LANES_STRIDED_SEGMENTS,
                                          .stride = in_rows,
                                          .why = why})
                 : decide_shaped(&likely);
  return keep(d, (lanes_choice){.check = LANES_CHECK_ADJACENT,
                                .then = then,
                                .otherwise = may_be_same && !d->store &&
                                                     lanes_has_some_lane(p)
                                                 ? decide_same(&rest)
                                                 : decide_singly(&rest),
                                .shape = runs.shape,
                                .why = why});
}

static const lanes_choice *decide_window(const decision *d) {
  if (!(d->store ? lanes_may_store_near : lanes_may_be_near)(d->p, d->a)) {
    return NULL;
  }
  decision rest = *d;
  rest.is_nested = true;
  const char *why = "made of positions, divided or with bits exchanged";
  return keep(d, (lanes_choice){.check = LANES_CHECK_IN_WINDOW,
                                .then = form(d, LANES_WINDOW, why),
                                .otherwise = decide_singly(&rest),
                                .why = why});
}

// Decides for vectors behind a run-time check. The report lists the access as
// checked, although its other arm may gather.
static const lanes_choice *decide_checked(const decision *d) {
  const lanes_lines gathers = d->out->gathers, scatters = d->out->scatters;
  const lanes_choice *choice = decide_by_factors(d);
  choice = choice ? choice : decide_adjacent(d);
  choice = choice ? choice : decide_window(d);
  if (choice) {
    d->out->gathers = gathers;
    d->out->scatters = scatters;
    lanes_lines_add(d->p->arena, &d->out->checked, d->a->instruction);
  }
  return choice;
}

// Decides for a load from a table. The arm that cannot read the whole table
// hardly ever runs.
static const lanes_choice *decide_table(const decision *d) {
  if (d->store || !lanes_may_be_table(d->p, d->a)) {
    return NULL;
  }
  const lanes_lines gathers = d->out->gathers;
  decision rest = *d;
  rest.is_nested = true;
  const char *why = "an index of few bits";
  const lanes_choice *choice =
      keep(d, (lanes_choice){.check = LANES_CHECK_IN_TABLE,
                             .then = form(d, LANES_TABLE, why),
                             .otherwise = decide_singly(&rest),
                             .why = why});
  d->out->gathers = gathers;
  return choice;
}

static const lanes_choice *decide_permuted(const decision *d) {
  lanes_pattern_runs found;
  if (!(d->store ? lanes_find_bit_runs : lanes_find_shared_bit_runs)(d->p, d->a,
                                                                     &found)) {
    return NULL;
  }
  lanes_pattern_runs *runs = lanes_allocate(d->p->arena, 1, sizeof found);
  *runs = found;
  return keep(d, (lanes_choice){.form = LANES_BIT_PERMUTED,
                                .runs = runs,
                                .why = "bits of the lane's number tell"});
}

static const lanes_choice *decide_any(const decision *d) {
  if (lanes_is_shaped(d->a) || is_reversed(d)) {
    return d->a->shape.conditional ? unless_wrapped(d, NULL) : decide_shaped(d);
  }
  const lanes_choice *choice = decide_permuted(d);
  choice = choice ? choice : decide_table(d);
  choice = choice ? choice : decide_checked(d);
  return choice ? choice : decide_shaped(d);
}

// --- Several of a block at once ----------------------------------------------

static void set_ahead(const decision *d, LLVMValueRef load) {
  d->p->ahead[lanes_map_get(&d->p->values->numbers, load)] = true;
}

static const lanes_choice *decide_interleave_group(decision *d) {
  lanes_interleave_group found;
  if (!lanes_find_interleave_group(d->p, d->a, &found)) {
    return NULL;
  }
  lanes_interleave_group *group = lanes_allocate(d->p->arena, 1, sizeof found);
  *group = found;
  if (!group->is_one) {
    d->beside = group;
    return NULL;
  }
  for (uint32_t at = 0; at < group->count; at++) {
    if (group->loads[at]) {
      set_ahead(d, group->loads[at]);
    }
  }
  return keep(d, (lanes_choice){.form = LANES_INTERLEAVE_GROUP,
                                .group = group,
                                .stride = group->stride,
                                .why = "the block loads what lies beside it"});
}

static const lanes_choice *decide_lane_vectors(const decision *d) {
  const lanes_lane_vector *row = lanes_find_lane_vectors(d->p, d->a);
  if (!row) {
    return NULL;
  }
  for (uint32_t i = 0; i < row->member_count; i++) {
    set_ahead(d, row->members[i].access.instruction);
    if (row->lie == LANES_ROWS_ANYWHERE) {
      lanes_lines_add(d->p->arena, &d->out->gathers,
                      row->members[i].access.instruction);
    }
  }
  return keep(d, (lanes_choice){.form = LANES_LANE_VECTORS,
                                .vectors = row,
                                .why = "each lane loads bytes side by side"});
}

enum { LEAST_ROW_BYTES = 16 };  // of lanes whose stride may wrap

// Decides for a load together with adjacent loads of the block, if there are
// any.
static const lanes_choice *decide_with_others(decision *d) {
  const lanes_access *a = d->a;
  const uint32_t stride = lanes_stride_elements(a);
  if (!a->shape.conditional &&
      ((stride && a->count == 1) || lanes_stride_in_rows(a))) {
    return decide_interleave_group(d);
  }
  if (stride) {
    // Without gaps between lanes the whole group is contiguous.
    return stride != a->count && stride * a->size_bytes >= LEAST_ROW_BYTES
               ? decide_lane_vectors(d)
               : NULL;
  }
  lanes_pattern_runs runs;
  lanes_stride_factors factors;
  lanes_shape shape;
  bool may_be_same = false;
  const bool is_dense = a->shape.stride == -(int64_t)(a->count * a->size_bytes);
  return lanes_is_by_segments(a) || (is_dense && is_reversed(d)) ||
                 lanes_find_shared_bit_runs(d->p, a, &runs) ||
                 lanes_may_be_adjacent(d->p, a, &shape, &may_be_same) ||
                 lanes_find_stride_factors(d->p, a, &factors, &shape)
             ? NULL
             : decide_lane_vectors(d);
}

// --- Loads and stores --------------------------------------------------------

static const lanes_choice *decide_private(const decision *d, uint32_t unit) {
  const lanes_access *a = d->a;
  const bool is_vector = a->shape.row == a->shape.lanes &&
                         a->shape.stride == (int64_t)unit &&
                         !a->shape.conditional;
  lanes_lines *lines = d->store ? &d->out->scatters : &d->out->gathers;
  for (uint64_t i = 0; !is_vector && i < a->count * (a->size_bytes / unit);
       i++) {
    lanes_lines_add(d->p->arena, lines, a->instruction);
  }
  return keep(
      d, (lanes_choice){
             .form = is_vector ? LANES_PRIVATE_VECTOR : LANES_PRIVATE_GATHER,
             .stride = unit,
             .why = is_vector ? "all lanes use one index"
                              : "each lane uses its own index"});
}

static const lanes_choice *decide_load(decision *d) {
  const uint32_t unit = lanes_private_unit_of(d->p->values, d->a);
  const lanes_shape shape = d->a->shape;
  if (lanes_is_uniform(shape)) {
    return form(d, LANES_UNIFORM, "one address for all lanes");
  }
  if (lanes_loads_by_segments(d->a->instruction, shape)) {
    return form(d, LANES_SEGMENT_FIRSTS, "one address for each row of lanes");
  }
  if (d->a->count > d->p->values->lanes) {
    return form(d, LANES_NO_FORM, "vectors of more than 32 components");
  }
  if (unit) {
    return decide_private(d, unit);
  }
  const lanes_choice *choice = decide_with_others(d);
  return choice ? choice : decide_any(d);
}

static const lanes_choice *decide_store(decision *d) {
  if (lanes_is_uniform(d->a->shape)) {
    return form(d, LANES_UNIFORM, "one address for all lanes");
  }
  if (d->a->count > d->p->values->lanes) {
    return form(d, LANES_NO_FORM, "vectors of more than 32 components");
  }
  const uint32_t unit = lanes_private_unit_of(d->p->values, d->a);
  return unit ? decide_private(d, unit) : decide_any(d);
}

// Decides for a short vector of the kernel that stays packed.
static const lanes_choice *decide_packed(decision *d) {
  const lanes_choice *whole =
      form(d, LANES_PACKED, "only adds and multiplies use it");
  return d->a->shape.conditional ? unless_wrapped(d, whole) : whole;
}

// True if a store belongs to a group; all stores of a group happen at its last.
static bool joins_group(const decision *d, const lanes_lane_vector **group,
                        const lanes_choice **out_choice) {
  if (!*group &&
      (lanes_is_uniform(d->a->shape) || d->a->count > d->p->values->lanes ||
       lanes_private_unit_of(d->p->values, d->a) ||
       !(*group = lanes_find_store_group(d->p, d->a)))) {
    return false;
  }
  *out_choice =
      keep(d, (lanes_choice){.form = LANES_STORE_GROUP,
                             .vectors = *group,
                             .why = "each lane stores bytes side by side"});
  const lanes_lane_vector_member *last =
      &(*group)->members[(*group)->member_count - 1];
  if (last->access.instruction == d->a->instruction) {
    *group = NULL;
  }
  return true;
}

static const lanes_choice *decide(decision *d, LLVMTypeRef type,
                                  const lanes_lane_vector **group) {
  const uint32_t n = lanes_map_get(&d->p->values->numbers, d->p->user);
  const lanes_choice *choice = NULL;
  if (d->out->copied[n]) {
    return form(d, LANES_ROW_COPY, "goes to other memory as it is");
  }
  if (d->out->packed[n].is_in) {
    return decide_packed(d);
  }
  if (!d->store && d->p->ahead[n]) {
    return form(d, LANES_LOADED_AHEAD, "with one in front of it");
  }
  if (!lanes_is_ordinary(d->p->user)) {
    return form(d, LANES_SCALARISED, "volatile or ordered");
  }
  if (lanes_is_structure(d->a, type)) {
    return form(d, LANES_NO_FORM, "loads or stores of whole structures");
  }
  if (d->store && joins_group(d, group, &choice)) {
    return choice;
  }
  return d->store ? decide_store(d) : decide_load(d);
}

static void find_copies(const lanes_planning *p, lanes_access_plan *plan) {
  const lanes_values *values = p->values;
  plan->copied = lanes_allocate(p->arena, values->count, 1);
  for (uint32_t n = 0; n < values->count; n++) {
    lanes_row_copy copy;
    if (lanes_find_row_copy(p, values->items[n], &copy)) {
      plan->copied[n] = true;
      plan->copied[lanes_map_get(&values->numbers, copy.load)] = true;
      if (copy.conversion) {
        plan->copied[lanes_map_get(&values->numbers, copy.conversion)] = true;
      }
    }
  }
}

void lanes_plan_accesses(lanes_planning *p, lanes_access_plan *out_plan) {
  const lanes_values *values = p->values;
  *out_plan = (lanes_access_plan){
      .of = lanes_allocate(p->arena, values->count, sizeof *out_plan->of)};
  lanes_planning_begin(p);
  find_copies(p, out_plan);
  out_plan->packed = lanes_find_packed(p, out_plan->copied);
  const lanes_lane_vector *group = NULL;
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef i = values->items[n];
    const bool store = LLVMIsAStoreInst(i);
    if (!store && !LLVMIsALoadInst(i)) {
      continue;
    }
    LLVMTypeRef type = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i);
    p->user = i;
    p->node = values->nodes[n];
    const lanes_access a =
        lanes_access_of(values, i, LLVMGetOperand(i, store ? 1 : 0), type);
    decision d = {.p = p, .out = out_plan, .a = &a, .store = store};
    out_plan->of[n] = decide(&d, type, &group);
  }
}
