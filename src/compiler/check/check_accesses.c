// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_accesses.c: instruments each access, wait and use of a value with a
// call to the run-time part of the checker.
//
// Requires  simplify_checked
// Leaves    mettle.thread with calls of the functions of ir/check.ll, inlined,
//           and of mettle.check.context; MTLC_CHECK_SITES_GLOBAL
#include <stdlib.h>

#include "base/status.h"
#include "compiler/check/checking.h"
#include "compiler/ir/analysis/cycles.h"

// The longest kernel, in accesses, whose fast paths are inlined; longer ones
// call them.
enum { MOST_INLINED_ACCESSES = 200 };

// --- uses of values ----------------------------------------------------------

static bool is_known_set(const mtlc_checking *c, LLVMValueRef value) {
  return !c->shadows || mtlc_is_set(c->shadows, value) ||
         !mtlc_has_shadow(LLVMTypeOf(value));
}

void mtlc_check_use_at(mtlc_checking *c, LLVMValueRef before,
                       LLVMValueRef value, uint32_t site) {
  if (is_known_set(c, value)) {
    return;
  }
  mtlc_checking_before(c, before);
  LLVMValueRef arguments[] = {mtlc_i32(c->kernel->context, site),
                              mtlc_any_unset(c->shadows, value),
                              mtlc_shadow_of(c->shadows, value).origin};
  mtlc_checking_call(c, "mettle.check.use", arguments, 3);
}

void mtlc_check_use(mtlc_checking *c, LLVMValueRef before, LLVMValueRef value,
                    mtli_check_access access) {
  const mtli_check_site site = {.access = (uint8_t)access,
                                .slot = MTLI_CHECK_NO_SLOT};
  if (!is_known_set(c, value)) {
    mtlc_check_use_at(c, before, value,
                      mtlc_sites_add(&c->sites, before, &site));
  }
}

static void check_branch(mtlc_checking *c, LLVMValueRef branch) {
  if (LLVMIsABranchInst(branch) && LLVMIsConditional(branch)) {
    mtlc_check_use(c, branch, LLVMGetCondition(branch), MTLI_CHECK_BRANCH);
  } else if (LLVMIsASwitchInst(branch)) {
    mtlc_check_use(c, branch, LLVMGetOperand(branch, 0), MTLI_CHECK_BRANCH);
  }
}

// --- arithmetic --------------------------------------------------------------

static void use_with(mtlc_checking *c, LLVMValueRef at,
                     mtli_check_access access, const mtlc_root *root,
                     LLVMValueRef is_bad, uint32_t what) {
  mtli_check_site site = {.access = (uint8_t)access,
                          .slot = MTLI_CHECK_NO_SLOT};
  if (root) {
    site = mtlc_check_site_of(c, root, access);
  }
  LLVMValueRef arguments[] = {
      mtlc_i32(c->kernel->context, mtlc_sites_add(&c->sites, at, &site)),
      is_bad, mtlc_i32(c->kernel->context, what)};
  mtlc_checking_call(c, "mettle.check.use", arguments, 3);
}

// Checks an operation that may make a non-finite value of finite ones.
static void check_birth(mtlc_checking *c, LLVMValueRef operation) {
  if (mtlc_checking_wants(c, MTLI_CHECK_NAN) &&
      mtlc_is_floating(LLVMTypeOf(operation))) {
    mtlc_checking_behind(c, operation);
    use_with(c, operation, MTLI_CHECK_OPERATION, NULL,
             mtlc_is_born(c->builder, operation), MTLI_CHECK_BORN);
  }
}

static void check_kept(mtlc_checking *c, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(store, 1));
  if (mtlc_checking_wants(c, MTLI_CHECK_NAN) &&
      mtlc_is_floating(LLVMTypeOf(value)) && root.space == MTLI_CHECK_DEVICE) {
    mtlc_checking_before(c, store);
    use_with(c, store, MTLI_CHECK_WRITE, &root,
             mtlc_any_wild(c->builder, value), MTLI_CHECK_KEPT);
  }
}

static void check_mark(mtlc_checking *c, LLVMValueRef mark) {
  mtlc_checking_before(c, mark);
  use_with(c, mark, MTLI_CHECK_OPERATION, NULL, LLVMGetOperand(mark, 1),
           (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(mark, 0)));
  LLVMInstructionEraseFromParent(mark);
}

// --- waits -------------------------------------------------------------------

// Returns the flags of a barrier; all, if they are not constant.
static uint32_t flags_of(LLVMValueRef barrier) {
  LLVMValueRef flags = LLVMGetOperand(barrier, 0);
  return LLVMIsAConstantInt(flags) ? (uint32_t)LLVMConstIntGetZExtValue(flags)
                                   : UINT32_MAX;
}

static void check_wait(mtlc_checking *c, LLVMValueRef wait, const char *name) {
  LLVMContextRef context = c->kernel->context;
  const bool is_barrier = mtlc_starts_with(name, "mettle.barrier.");
  mtli_check_site site = {.slot = MTLI_CHECK_NO_SLOT};
  site.access =
      (uint8_t)(strcmp(name, "mettle.barrier.threadgroup") == 0
                    ? MTLI_CHECK_BARRIER
                : is_barrier ? MTLI_CHECK_SIMD_BARRIER
                : mtlc_starts_with(name, "mettle.simd.shuffle")
                    ? MTLI_CHECK_SHUFFLE
                : mtlc_starts_with(name, "mettle.simd.scan.inclusive.")
                    ? MTLI_CHECK_SCAN_INCLUSIVE
                : mtlc_starts_with(name, "mettle.simd.scan.exclusive.")
                    ? MTLI_CHECK_SCAN_EXCLUSIVE
                    : MTLI_CHECK_SIMD);
  site.size_bytes = is_barrier ? flags_of(wait) : 0;
  LLVMValueRef number =
      mtlc_i32(context, mtlc_sites_add(&c->sites, wait, &site));
  LLVMValueRef zero = mtlc_i32(context, 0);
  LLVMValueRef value = is_barrier ? NULL : LLVMGetOperand(wait, 0);
  mtlc_checking_before(c, wait);
  LLVMValueRef origin = zero;
  if (value && c->shadows && !mtlc_is_set(c->shadows, value)) {
    origin =
        LLVMBuildSelect(c->builder, mtlc_any_unset(c->shadows, value),
                        mtlc_shadow_of(c->shadows, value).origin, zero, "");
  }
  LLVMValueRef arguments[] = {
      number, is_barrier ? LLVMGetOperand(wait, 0) : zero, origin};
  mtlc_checking_call(c, "mettle.check.arrive", arguments, 3);
  if (is_barrier) {
    return;
  }
  mtlc_checking_behind(c, wait);
  LLVMValueRef from = mtlc_checking_call(c, "mettle.check.pass", &number, 1);
  LLVMValueRef is_there = site.access == MTLI_CHECK_SHUFFLE
                              ? mtlc_lane_is_there(c->builder, wait)
                              : NULL;
  if (is_there) {
    from = LLVMBuildSelect(c->builder, is_there, from, number, "");
  }
  if (c->shadows && mtlc_has_shadow(LLVMTypeOf(wait))) {
    LLVMValueRef is_bad = LLVMBuildICmp(c->builder, LLVMIntNE, from, zero, "");
    mtlc_set_shadow(c->shadows, wait,
                    mtlc_shadow_if(c->shadows, LLVMTypeOf(wait), is_bad, from));
  }
}

static void check_marker(mtlc_checking *c, LLVMValueRef at,
                         mtli_check_access access, uint32_t flags) {
  mtli_check_site site = {.access = (uint8_t)access,
                          .slot = MTLI_CHECK_NO_SLOT};
  mtlc_checking_before(c, at);
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef arguments[] = {
      mtlc_i32(context, mtlc_sites_add(&c->sites, at, &site)),
      mtlc_i32(context, flags), mtlc_i32(context, 0)};
  mtlc_checking_call(c, "mettle.check.arrive", arguments, 3);
}

// --- all of it ---------------------------------------------------------------

static void check_call(mtlc_checking *c, LLVMValueRef i) {
  LLVMValueRef callee = mtlc_callee(i);
  const char *name = callee ? mtlc_name(callee) : "";
  if (mtlc_starts_with(name, "llvm.lifetime.start")) {
    if (c->shadows) {
      mtlc_private_bytes_start(&c->private_bytes, i);
    }
  } else if (strcmp(name, MTLC_ARITHMETIC_MARK) == 0) {
    check_mark(c, i);
  } else if (mtlc_starts_with(name, "llvm.fma.") ||
             mtlc_starts_with(name, "llvm.sqrt.")) {
    check_birth(c, i);
  } else if (mtlc_starts_with(name, "llvm.memset")) {
    mtlc_check_piece(c, i, 0, MTLI_CHECK_WRITE);
  } else if (mtlc_starts_with(name, "llvm.memcpy") ||
             mtlc_starts_with(name, "llvm.memmove")) {
    mtlc_check_piece(c, i, 1, MTLI_CHECK_READ);
    mtlc_check_piece(c, i, 0, MTLI_CHECK_WRITE);
  } else if (mtlc_starts_with(name, "mettle.texel.decode")) {
    mtlc_check_texel(c, i, MTLI_CHECK_READ);
  } else if (mtlc_starts_with(name, "mettle.texel.encode")) {
    mtlc_check_texel(c, i, MTLI_CHECK_WRITE);
  } else if (mtlc_starts_with(name, "mettle.barrier.") ||
             mtlc_starts_with(name, "mettle.simd.")) {
    // Accesses without a place in the source are not checked for races.
    if (mtlc_checking_wants(
            c, MTLI_CHECK_RACES | MTLI_CHECK_SYNC | MTLI_CHECK_INIT) &&
        !mtlc_is_marked(i, MTLC_TOGETHER_MARK)) {
      check_wait(c, i, name);
    }
  }
}

static void check_instruction(mtlc_checking *c, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: mtlc_check_load(c, i); return;
    case LLVMStore:
      check_kept(c, i);
      mtlc_check_store(c, i);
      return;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFPTrunc: check_birth(c, i); return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: mtlc_check_atomic(c, i); return;
    case LLVMCall: check_call(c, i); return;
    case LLVMBr:
    case LLVMSwitch: check_branch(c, i); return;
    case LLVMFence:
      if (mtlc_checking_wants(c, MTLI_CHECK_RACES)) {
        // metal_atomic: one of the threadgroup's scope is of a single thread.
        check_marker(c, i, MTLI_CHECK_FENCE, LLVMIsAtomicSingleThread(i));
      }
      return;
    default: return;
  }
}

static void count_access(LLVMValueRef instruction, void *context) {
  *(size_t *)context +=
      LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction);
}

static int compare_order(const void *left, const void *right) {
  const mtlc_flow_block *a = left, *b = right;
  return a->order < b->order ? -1 : a->order > b->order;
}

// Checks blocks in an order in which predecessors come first, except for back
// edges.
static void check_thread(mtlc_checking *c) {
  mtlc_flow flow = mtlc_flow_of(c->kernel->thread);
  mtlc_values work = {0};
  qsort(flow.blocks, flow.block_count, sizeof *flow.blocks, compare_order);
  for (size_t b = 0; b < flow.block_count; ++b) {
    work.count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(flow.blocks[b].block); i;
         i = LLVMGetNextInstruction(i)) {
      mtlc_values_add(&work, i);
    }
    for (size_t i = 0; i < work.count; ++i) {
      if (c->shadows) {
        mtlc_shadows_visit(c->shadows, work.items[i]);
      }
      check_instruction(c, work.items[i]);
    }
  }
  free(work.items);
  mtlc_flow_clear(&flow);
}

mtl_status mtlc_check_accesses(mtlc_kernel *kernel) {
  MTL_TRY(mtlc_link_text(kernel, "check", mtlc_text_check));
  mtlc_checking c = {.kernel = kernel,
                     .types = mtlc_types_of(kernel->context),
                     .builder = LLVMCreateBuilderInContext(kernel->context),
                     .layout = LLVMGetModuleDataLayout(kernel->module)};
  mtlc_sites_begin(&c.sites, kernel);
  mtlc_drop_unset_stores(kernel);
  size_t accesses = 0;
  mtlc_for_each_instruction(kernel->thread, count_access, &accesses);
  c.is_inline = accesses <= MOST_INLINED_ACCESSES;
  if (kernel->checks & (MTLI_CHECK_INIT | MTLI_CHECK_SYNC)) {
    c.shadows = mtlc_shadows_begin(kernel, &c.sites, c.builder);
    mtlc_private_bytes_make(&c.private_bytes, kernel, c.builder);
  }
  check_thread(&c);
  mtlc_hide_functions(kernel->module);  // check.ll's that nobody calls go
  LLVMSetLinkage(kernel->thread, LLVMExternalLinkage);
  if (c.shadows) {
    mtlc_shadows_finish(c.shadows);
    mtlc_shadows_end(c.shadows);
  }
  mtlc_drop_unset_marks(kernel);
  mtlc_drop_lane_marks(kernel);
  mtlc_drop_handle_marks(kernel);
  mtlc_sites_write(&c.sites);
  mtlc_sites_end(&c.sites);
  LLVMDisposeBuilder(c.builder);
  mtlc_private_bytes_clear(&c.private_bytes);
  return mtlc_run_llvm_passes(kernel, "always-inline,globaldce");
}
