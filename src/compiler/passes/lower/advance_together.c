// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// advance_together.c: adds simdgroup waits where a thread could observe, in
// shared memory, that another is ahead or behind. GPUs and vectors run an
// instruction for all threads of a simdgroup before the next, and kernels rely
// on it: they sum what all have written, then one thread writes there, without
// a barrier between.
//
// Of two accesses that touch the same memory, one a store, the thread that is
// further behind in the program is to come first. A wait in front of the later
// one sees to it, by the rule of docs/ir.md: those furthest behind go first. It
// is needed where the way from the last wait leads past such an access, or
// past a branch into one: other threads may be there meanwhile.
//
// Requires  lower_threadgroup_memory, lower_tiles; stands back if mettle.group
//           is already there
// Leaves    more calls of mettle.barrier.simdgroup in mettle.thread, into which
//           functions that touch such memory are inlined
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/analysis/access_spaces.h"
#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/split_calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// The memory accessed since the threads last waited.
typedef mtlc_access reach;

static void add(reach *to, reach what) {
  to->read |= what.read;
  to->written |= what.written;
}


// A thread's offers are its own: they may follow each other, but not come
// before others have read the last one. Shuffles, which read them, wait anyway.
static bool must_wait(reach before, mtlc_access access) {
  const mtlc_spaces written = before.written & ~MTLC_SPACES_OFFER;
  return (access.written & (before.read | written)) != 0 ||
         (access.read & written) != 0;
}

// --- inlining ----------------------------------------------------------------

typedef struct inliner {
  const mtlc_accesses *accesses;
  mtlc_spaces shared;
  bool touches;  // the current function accesses shared memory
} inliner;

static void look_for_access(LLVMValueRef instruction, void *context) {
  inliner *l = context;
  const mtlc_access access = mtlc_access_of(l->accesses, instruction);
  LLVMValueRef callee = mtlc_callee(instruction);
  l->touches |= ((access.read | access.written) & l->shared) != 0 ||
                (callee && mtlc_has_attribute(callee, "alwaysinline"));
}

// Inlines functions that access shared memory, and their callers: only
// mettle.thread can wait.
static mtl_status inline_accesses(mtlc_kernel *kernel, inliner *l) {
  bool any = false;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
         f = LLVMGetNextFunction(f)) {
      if (f == kernel->thread || LLVMIsDeclaration(f) ||
          mtlc_has_attribute(f, "noinline") ||
          mtlc_has_attribute(f, "alwaysinline")) {
        continue;
      }
      l->touches = false;
      mtlc_for_each_instruction(f, look_for_access, l);
      if (l->touches) {
        mtlc_set_attribute(f, "alwaysinline", 0);
        is_done = false;
        any = true;
      }
    }
  }
  if (!any) {
    return MTL_OK;
  }
  mtlc_split_between_calls(kernel);
  return mtlc_run_llvm_passes(kernel, "always-inline,globaldce");
}

// --- what is where -----------------------------------------------------------

typedef struct block {
  const mtlc_flow_block *in_flow;
  reach contents;  // all accesses in it
  reach entry;     // on the ways to it
} block;

typedef struct advance {
  mtlc_kernel *kernel;
  const mtlc_accesses *accesses;
  mtlc_spaces shared;
  mtlc_flow flow;
  block *blocks;         // [flow.block_count] by order, from 0 on
  uint32_t *cycle_ends;  // [flow.cycle_count] behind the last block's place
  LLVMBuilderRef builder;
  LLVMValueRef barrier;
  size_t wait_count;
} advance;

static mtlc_access shared_access(const advance *a, LLVMValueRef instruction) {
  mtlc_access access = mtlc_access_of(a->accesses, instruction);
  if (mtlc_is_call_of(instruction, MTLC_OFFER_PREFIX)) {
    access.written |= MTLC_SPACES_OFFER;
  } else if (mtlc_is_call_of(instruction, "mettle.simd.shuffle.")) {
    access.read |= MTLC_SPACES_OFFER;
  }
  access.read &= a->shared;
  access.written &= a->shared;
  return access;
}

static bool is_wait(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  const char *name = callee ? mtlc_name(callee) : "";
  return mtlc_starts_with(name, "mettle.barrier.") ||
         mtlc_starts_with(name, "mettle.simd.");
}

static int compare_orders(const void *left, const void *right) {
  const uint32_t a = ((const block *)left)->in_flow->order;
  const uint32_t b = ((const block *)right)->in_flow->order;
  return a < b ? -1 : a > b;
}

// Returns the place of a block in the order, from 0 on.
static uint32_t place_of(const advance *a, LLVMBasicBlockRef b) {
  const uint32_t order = mtlc_flow_find(&a->flow, b)->order;
  uint32_t low = 0;
  uint32_t high = (uint32_t)a->flow.block_count;
  while (low + 1 < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (a->blocks[middle].in_flow->order <= order) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static void order_blocks(advance *a) {
  const size_t count = a->flow.block_count;
  a->blocks = calloc(count + 1, sizeof a->blocks[0]);
  a->cycle_ends = calloc(a->flow.cycle_count + 1, sizeof a->cycle_ends[0]);
  if (!a->blocks || !a->cycle_ends) {
    abort();  // as mtlc_values_add
  }
  for (size_t i = 0; i < count; ++i) {
    a->blocks[i].in_flow = &a->flow.blocks[i];
  }
  qsort(a->blocks, count, sizeof a->blocks[0], compare_orders);
  for (uint32_t i = 0; i < count; ++i) {
    for (int cycle = a->blocks[i].in_flow->cycle; cycle != MTLC_NO_CYCLE;
         cycle = a->flow.cycles[cycle].parent) {
      a->cycle_ends[cycle] = i + 1;
    }
    for (LLVMValueRef at = LLVMGetFirstInstruction(a->blocks[i].in_flow->block);
         at; at = LLVMGetNextInstruction(at)) {
      add(&a->blocks[i].contents, shared_access(a, at));
    }
  }
}

// --- the ways ----------------------------------------------------------------

// Returns the outermost cycle around one block but not the other, or
// MTLC_NO_CYCLE.
static int cycle_left(const advance *a, int from, int to) {
  int left = MTLC_NO_CYCLE;
  for (int cycle = from; cycle != MTLC_NO_CYCLE;
       cycle = a->flow.cycles[cycle].parent) {
    bool is_around = false;
    for (int other = to; other != MTLC_NO_CYCLE;
         other = a->flow.cycles[other].parent) {
      is_around |= other == cycle;
    }
    if (is_around) {
      break;
    }
    left = cycle;
  }
  return left;
}

// Returns what threads on other paths may still access when a thread takes an
// edge: blocks that the edge skips, further iterations of a cycle that it
// leaves, the rest of an iteration that it ends.
static reach passed_over(const advance *a, uint32_t from, uint32_t to) {
  const int target = a->blocks[to].in_flow->cycle;
  const int left = cycle_left(a, a->blocks[from].in_flow->cycle, target);
  const bool goes_back = to <= from;
  const uint32_t first =
      left == MTLC_NO_CYCLE ? from + 1
                            : place_of(a, a->flow.cycles[left].header);
  const uint32_t end =
      goes_back && target != MTLC_NO_CYCLE ? a->cycle_ends[target] : to;
  reach passed = {0};
  for (uint32_t i = first; i < end; ++i) {
    add(&passed, a->blocks[i].contents);
  }
  return passed;
}

// Follows a block from its entry on; with is_last, puts the waits in.
static reach follow(advance *a, const block *b, bool is_last) {
  reach now = b->entry;
  LLVMValueRef next = NULL;
  for (LLVMValueRef at = LLVMGetFirstInstruction(b->in_flow->block); at;
       at = next) {
    next = LLVMGetNextInstruction(at);
    if (is_wait(at)) {
      now = (reach){0};
      continue;
    }
    const mtlc_access access = shared_access(a, at);
    if (must_wait(now, access)) {
      now = (reach){0};
      if (is_last) {
        LLVMValueRef flags = mtlc_i32(a->kernel->context, 0);
        LLVMPositionBuilderBefore(a->builder, at);
        LLVMSetCurrentDebugLocation2(a->builder,
                                     LLVMInstructionGetDebugLoc(at));
        mtlc_mark(mtlc_call(a->builder, a->barrier, &flags, 1),
                  MTLC_TOGETHER_MARK);
        ++a->wait_count;
      }
    }
    add(&now, access);
  }
  return now;
}

// Propagates the state at a block's end to its successors. True if any changed.
static bool propagate_out(advance *a, uint32_t from) {
  const reach end = follow(a, &a->blocks[from], false);
  LLVMValueRef last =
      LLVMGetBasicBlockTerminator(a->blocks[from].in_flow->block);
  bool any = false;
  for (unsigned i = 0; i < LLVMGetNumSuccessors(last); ++i) {
    const uint32_t to = place_of(a, LLVMGetSuccessor(last, i));
    reach entry = a->blocks[to].entry;
    add(&entry, end);
    add(&entry, passed_over(a, from, to));
    any |= entry.read != a->blocks[to].entry.read ||
           entry.written != a->blocks[to].entry.written;
    a->blocks[to].entry = entry;
  }
  return any;
}

static void place_waits(advance *a) {
  const uint32_t count = (uint32_t)a->flow.block_count;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (uint32_t i = 0; i < count; ++i) {
      is_done &= !propagate_out(a, i);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    follow(a, &a->blocks[i], true);
  }
}

// --- the pass ----------------------------------------------------------------

static void declare_barrier(advance *a) {
  mtlc_types types = mtlc_types_of(a->kernel->context);
  a->barrier =
      mtlc_declare(a->kernel->module, "mettle.barrier.simdgroup",
                   LLVMFunctionType(types.nothing, &types.i32, 1, false));
  mtlc_set_attribute(a->barrier, "convergent", 0);
  mtlc_set_attribute(a->barrier, "nounwind", 0);
}

static void make_threads_wait(mtlc_kernel *kernel,
                              const mtlc_accesses *accesses,
                              mtlc_spaces shared) {
  advance a = {.kernel = kernel,
               .accesses = accesses,
               .shared = shared,
               .flow = mtlc_flow_of(kernel->thread),
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  declare_barrier(&a);
  order_blocks(&a);
  place_waits(&a);
  mtlc_report(kernel, "simdgroups: together, %zu waits at shared memory",
              a.wait_count);
  LLVMDisposeBuilder(a.builder);
  free(a.blocks);
  free(a.cycle_ends);
  mtlc_flow_clear(&a.flow);
}

static mtlc_spaces offered(const mtlc_kernel *kernel) {
  mtlc_values offers = {0};
  mtlc_collect_calls(kernel->module, MTLC_OFFER_PREFIX, &offers);
  free(offers.items);
  return offers.count ? MTLC_SPACES_OFFER : 0;
}

// Returns the spaces in which threads may see each other's stores. Threads that
// wait for nothing and have no threadgroup memory stay as simple to follow as
// they are: each goes from beginning to end.
static mtlc_spaces shared_spaces(const mtlc_kernel *kernel,
                                 const mtlc_accesses *accesses) {
  reach all = {.written = offered(kernel)};
  for (size_t i = 0; i < accesses->count; ++i) {
    add(&all, accesses->items[i]);
  }
  const bool is_together =
      (all.written & MTLC_SPACES_THREADGROUP) != 0 ||
      mtlc_is_convergent(kernel->module);
  return is_together ? all.written : 0;
}

mtl_status mtlc_advance_together(mtlc_kernel *kernel) {
  if (kernel->has_group) {
    return MTL_OK;
  }
  mtlc_accesses accesses;
  mtl_status status = mtlc_find_accesses(kernel, &accesses);
  if (status == MTL_OK) {
    inliner l = {.accesses = &accesses,
                 .shared = shared_spaces(kernel, &accesses)};
    status = l.shared ? inline_accesses(kernel, &l) : MTL_OK;
    if (status == MTL_OK && l.shared) {
      make_threads_wait(kernel, &accesses, l.shared);
    }
  }
  free(accesses.items);
  return status;
}
