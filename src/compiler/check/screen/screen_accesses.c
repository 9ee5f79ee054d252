// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_accesses.c: adds conditions to a thread under which the checked tier
// would report nothing. A thread that breaks one stops; src/check/screen.c then
// undoes the dispatch and runs it again in the checked tier, which reports. So
// a condition may be too strict, and never too weak. The conditions are plain
// comparisons, which the vectoriser makes for 32 threads at a time.
//
// Requires  simplify_checked
// Leaves    mettle.thread with calls of mettle.check.must and .context
//           (docs/ir.md); or fails with MTL_UNSUPPORTED if some access is of
//           memory that cannot be named
#include <stdlib.h>

#include "compiler/check/screen/screening.h"
#include "compiler/ir/analysis/cycles.h"

// LLVM's encoding of the attribute memory(inaccessiblemem: readwrite).
enum { ITS_OWN_MEMORY = 12 };

static void look_at_load(mtlc_screening *s, LLVMValueRef load) {
  const bool is_atomic = LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic;
  mtlc_screen_access(s, load, 0, LLVMTypeOf(load),
                     is_atomic ? MTLI_CHECK_ATOMIC_READ : MTLI_CHECK_READ);
}

static void look_at_store(mtlc_screening *s, LLVMValueRef store) {
  const bool is_atomic = LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic;
  LLVMValueRef value = LLVMGetOperand(store, 0);
  mtlc_screen_go_before(s, store);
  mtlc_screen_must_be_set(s, value);
  mtlc_screen_access(s, store, 1, LLVMTypeOf(value),
                     is_atomic ? MTLI_CHECK_ATOMIC_WRITE : MTLI_CHECK_WRITE);
}

// --- instructions -----------------------------------------------------------

static bool may_call(const char *name) {
  static const char *const known[] = {"llvm.",
                                      "mettle.argument",
                                      "mettle.position",
                                      "mettle.barrier.",
                                      "mettle.simd.",
                                      "mettle.screened.",
                                      "mettle.check.",
                                      "mettle.marked.",
                                      MTLC_UNSET_PREFIX,
                                      "mettle.math_mode",
                                      "mettle.constant_defined"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (mtlc_starts_with(name, known[i])) {
      return !mtlc_starts_with(name, "llvm.mem") &&
             !mtlc_starts_with(name, "llvm.trap");
    }
  }
  return false;
}

static void look_at_call(mtlc_screening *s, LLVMValueRef i) {
  const char *name = mtlc_name(mtlc_callee(i));
  if (mtlc_starts_with(name, "llvm.lifetime.start")) {
    if (s->shadows) {
      mtlc_private_bytes_start(&s->private_bytes, i);
    }
  } else if (strcmp(name, "mettle.barrier.threadgroup") == 0) {
    if (mtlc_screen_has_barriers(s)) {
      mtlc_screen_barrier(s, i);
    }
  } else if (strcmp(name, "mettle.barrier.simdgroup") == 0) {
    if (mtlc_screen_wants(s, MTLI_CHECK_SYNC)) {
      mtlc_screen_all_lanes(s, i);
    }
  } else if (mtlc_starts_with(name, "mettle.simd.")) {
    mtlc_screen_go_before(s, i);
    mtlc_screen_must_be_set(s, LLVMGetOperand(i, 0));
    if (mtlc_starts_with(name, "mettle.simd.shuffle.") &&
        mtlc_screen_wants(s, MTLI_CHECK_SYNC | MTLI_CHECK_INIT)) {
      mtlc_screen_all_lanes(s, i);
      LLVMValueRef is_there = mtlc_lane_is_there(s->builder, i);
      if (is_there) {
        mtlc_screen_must_later(s, is_there);
      }
    }
  }
}

static void look_at_branch(mtlc_screening *s, LLVMValueRef branch) {
  if (LLVMIsABranchInst(branch) && LLVMIsConditional(branch)) {
    mtlc_screen_must_be_set(s, LLVMGetCondition(branch));
  } else if (LLVMIsASwitchInst(branch)) {
    mtlc_screen_must_be_set(s, LLVMGetOperand(branch, 0));
  }
}

static void look_at(mtlc_screening *s, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: look_at_load(s, i); return;
    case LLVMStore: look_at_store(s, i); return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
      mtlc_screen_go_before(s, i);
      for (unsigned k = 1; k < (unsigned)LLVMGetNumOperands(i); ++k) {
        mtlc_screen_must_be_set(s, LLVMGetOperand(i, k));
      }
      mtlc_screen_access(s, i, 0, LLVMTypeOf(LLVMGetOperand(i, 1)),
                         MTLI_CHECK_ATOMIC_BOTH);
      return;
    case LLVMCall: look_at_call(s, i); return;
    default: return;
  }
}

static int compare_order(const void *left, const void *right) {
  const mtlc_flow_block *a = left, *b = right;
  return a->order < b->order ? -1 : a->order > b->order;
}

static void look_at_block(mtlc_screening *s, LLVMBasicBlockRef block) {
  mtlc_values work = {0};
  s->inside.count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    mtlc_values_add(&work, i);
  }
  for (size_t i = 0; i < work.count; ++i) {
    if (s->shadows) {
      mtlc_shadows_visit(s->shadows, work.items[i]);
    }
    look_at(s, work.items[i]);
  }
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  mtlc_screen_go_before(s, end);
  look_at_branch(s, end);
  mtlc_screen_flush(s);
  free(work.items);
}

// Visits every block after its predecessors, back edges of cycles left out.
static void look_at_thread(mtlc_screening *s) {
  mtlc_flow flow = mtlc_flow_of(s->kernel->thread);
  mtlc_flow places = mtlc_flow_of(s->kernel->thread);  // by address
  s->flow = &places;
  qsort(flow.blocks, flow.block_count, sizeof *flow.blocks, compare_order);
  for (size_t b = 0; b < flow.block_count; ++b) {
    look_at_block(s, flow.blocks[b].block);
  }
  mtlc_flow_clear(&flow);
  mtlc_flow_clear(&places);
}

// --- what can be screened ---------------------------------------------------

static void note_access(mtlc_screening *s, LLVMValueRef address, bool is_read,
                        bool is_written) {
  const mtlc_root root = mtlc_find_root(s->kernel, address);
  if (root.space == MTLI_CHECK_DEVICE && root.slot != MTLI_CHECK_NO_SLOT) {
    s->slots[root.slot].is_read |= is_read;
    s->slots[root.slot].is_written |= is_written;
  }
  if (!mtlc_screen_is_known(&root)) {
    mtlc_screen_refuse(s, "an access of memory that no parameter names");
  }
}

static void note_instruction(LLVMValueRef i, void *context) {
  mtlc_screening *s = context;
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: note_access(s, LLVMGetOperand(i, 0), true, false); return;
    case LLVMStore: note_access(s, LLVMGetOperand(i, 1), false, true); return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
      note_access(s, LLVMGetOperand(i, 0), true, true);
      return;
    case LLVMFence: mtlc_screen_refuse(s, "a fence"); return;
    case LLVMCall:
      if (!mtlc_callee(i) || !may_call(mtlc_name(mtlc_callee(i)))) {
        mtlc_screen_refuse(s, "a call of another function");
      }
      return;
    default: return;
  }
}

static void look_through(mtlc_screening *s) {
  const mtli_kernel *kernel = s->kernel->kernel;
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    const mtl_argument_kind kind = kernel->parameters[i].argument.kind;
    if (kernel->parameters[i].builtin == MTLI_BUILTIN_NONE &&
        kind != MTL_ARGUMENT_BUFFER &&
        kind != MTL_ARGUMENT_THREADGROUP_MEMORY) {
      mtlc_screen_refuse(s, "a parameter that is no buffer");
    }
  }
  if (s->kernel->checks &
      ~(unsigned)(MTLI_CHECK_BOUNDS | MTLI_CHECK_RACES | MTLI_CHECK_INIT |
                  MTLI_CHECK_SYNC | MTLI_CHECK_ALIGN)) {
    mtlc_screen_refuse(s, "another check is asked for");
  }
  mtlc_for_each_instruction(s->kernel->thread, note_instruction, s);
}

static void screen(mtlc_screening *s) {
  LLVMTypeRef i1 = s->types.i1;
  LLVMValueRef function =
      mtlc_screen_declare(s, "mettle.check.must", s->types.nothing, &i1, 1);
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "memory", ITS_OWN_MEMORY);
  mtlc_sites_begin(&s->sites, s->kernel);
  if (mtlc_screen_wants(s, MTLI_CHECK_INIT)) {
    s->shadows = mtlc_shadows_begin(s->kernel, &s->sites, s->builder);
    mtlc_private_bytes_make(&s->private_bytes, s->kernel, s->builder);
  }
  mtlc_intervals_make(&s->intervals, s->kernel);
  mtlc_screen_load_all(s);
  look_at_thread(s);
  mtlc_intervals_clear(&s->intervals);
  if (s->shadows) {
    mtlc_shadows_finish(s->shadows);
    mtlc_shadows_end(s->shadows);
  }
  mtlc_sites_end(&s->sites);
}

mtl_status mtlc_screen_accesses(mtlc_kernel *kernel) {
  mtlc_screening s = {
      .kernel = kernel,
      .types = mtlc_types_of(kernel->context),
      .builder = LLVMCreateBuilderInContext(kernel->context),
      .layout = LLVMGetModuleDataLayout(kernel->module),
      .slots = calloc(kernel->kernel->parameter_count + 1, sizeof *s.slots)};
  if (!s.slots) {
    abort();
  }
  mtlc_drop_unset_stores(kernel);
  look_through(&s);
  if (s.status == MTL_OK) {
    screen(&s);
  }
  mtlc_drop_unset_marks(kernel);
  mtlc_drop_lane_marks(kernel);
  LLVMDisposeBuilder(s.builder);
  mtlc_private_bytes_clear(&s.private_bytes);
  free(s.inside.items);
  free(s.slots);
  return s.status;
}
