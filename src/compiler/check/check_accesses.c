// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_accesses.c: instruments each access, wait and use of a value with a
// call to the run-time part of the checker.
//
// Requires  simplify_checked
// Leaves    mettle.thread with calls of the functions of ir/check.ll, inlined,
//           and of mettle.check.context; MTLC_CHECK_SITES_GLOBAL
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "base/status.h"
#include "code/texture_abi.h"
#include "compiler/check/check.h"
#include "compiler/ir/analysis/cycles.h"

typedef struct checking {
  mtlc_kernel *kernel;
  mtlc_types types;
  mtlc_sites sites;
  mtlc_shadows *shadows;  // NULL without MTLI_CHECK_INIT and _SYNC
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  mtlc_private_bytes private_bytes;
  bool is_inline;         // the thread is short enough for inlined fast paths
} checking;

// The longest kernel, in accesses, whose fast paths are inlined; longer ones
// call them.
enum { MOST_INLINED_ACCESSES = 200 };

static bool wants(const checking *c, unsigned checks) {
  return (c->kernel->checks & checks) != 0;
}

static LLVMValueRef call(checking *c, const char *name, LLVMValueRef *arguments,
                         size_t count) {
  return mtlc_call(c->builder, LLVMGetNamedFunction(c->kernel->module, name),
                   arguments, count);
}

static void go_before(checking *c, LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(c->builder, instruction);
  LLVMSetCurrentDebugLocation2(c->builder,
                               LLVMInstructionGetDebugLoc(instruction));
}

static void go_behind(checking *c, LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(c->builder, LLVMGetNextInstruction(instruction));
  LLVMSetCurrentDebugLocation2(c->builder,
                               LLVMInstructionGetDebugLoc(instruction));
}

// --- uses of values ------------------------------------------------------------

static bool is_known_set(const checking *c, LLVMValueRef value) {
  return !c->shadows || mtlc_is_set(c->shadows, value) ||
         !mtlc_has_shadow(LLVMTypeOf(value));
}

static void check_use_at(checking *c, LLVMValueRef before, LLVMValueRef value,
                         uint32_t site) {
  if (is_known_set(c, value)) {
    return;
  }
  go_before(c, before);
  LLVMValueRef arguments[] = {mtlc_i32(c->kernel->context, site),
                              mtlc_any_unset(c->shadows, value),
                              mtlc_shadow_of(c->shadows, value).origin};
  call(c, "mettle.check.use", arguments, 3);
}

static void check_use(checking *c, LLVMValueRef before, LLVMValueRef value,
                      mtli_check_access access) {
  const mtli_check_site site = {.access = (uint8_t)access,
                                .slot = MTLI_CHECK_NO_SLOT};
  if (!is_known_set(c, value)) {
    check_use_at(c, before, value, mtlc_sites_add(&c->sites, before, &site));
  }
}

static void check_branch(checking *c, LLVMValueRef branch) {
  if (LLVMIsABranchInst(branch) && LLVMIsConditional(branch)) {
    check_use(c, branch, LLVMGetCondition(branch), MTLI_CHECK_BRANCH);
  } else if (LLVMIsASwitchInst(branch)) {
    check_use(c, branch, LLVMGetOperand(branch, 0), MTLI_CHECK_BRANCH);
  }
}

// --- accesses -----------------------------------------------------------------

static void check_member(checking *c, LLVMValueRef address,
                         const mtli_check_site *site, const mtlc_root *root,
                         LLVMValueRef access) {
  const mtlc_member inside =
      mtlc_find_member(c->builder, c->layout, address);
  if (!inside.base || mtlc_is_all_of(&inside, root) ||
      inside.bytes < site->size_bytes) {
    return;
  }
  mtli_check_site own = *site;
  own.object_bytes = (uint32_t)inside.bytes;
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef arguments[] = {
      address, mtlc_i32(context, mtlc_sites_add(&c->sites, access, &own)),
      inside.base, mtlc_i64(context, inside.bytes),
      mtlc_i64(context, site->size_bytes)};
  call(c, "mettle.check.member", arguments, 5);
}

static mtli_check_site site_of(checking *c, const mtlc_root *root,
                               mtli_check_access access) {
  char name[256];
  mtlc_name_root(c->kernel, root, name, sizeof name);
  const uint64_t bytes = root->bytes < UINT32_MAX ? root->bytes : UINT32_MAX;
  return (mtli_check_site){.access = (uint8_t)access,
                           .space = (uint8_t)(root->texture
                                                  ? MTLI_CHECK_TEXELS
                                                  : root->space),
                           .slot = (uint16_t)root->slot,
                           .object_bytes = (uint32_t)bytes,
                           .name = mtlc_sites_text(&c->sites, name),
                           .align_bytes = 1};
}

// True if such memory needs no check.
static bool is_free(checking *c, const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE: return false;
    case MTLI_CHECK_THREADGROUP: return false;
    case MTLI_CHECK_PRIVATE:
    case MTLI_CHECK_CONSTANT:
      return !root->base || root->bytes == 0 ||
             !wants(c, MTLI_CHECK_BOUNDS | MTLI_CHECK_INIT);
    default: return root->is_outside;
  }
}

// The result of a check.
typedef struct checked {
  LLVMValueRef address;  // to access
  LLVMValueRef unset;    // i64, a bit for each byte of a read value
  uint32_t site;
} checked;

// Calls the run-time part.
static checked ask(checking *c, LLVMValueRef *arguments, mtli_check_space space,
                   uint32_t site) {
  const bool is_device =
      space == MTLI_CHECK_DEVICE || space == MTLI_CHECK_ANYWHERE ||
      space == MTLI_CHECK_TEXELS;
  LLVMValueRef address =
      call(c,
           is_device                         ? "mettle.check.device"
           : space == MTLI_CHECK_THREADGROUP ? "mettle.check.threadgroup"
                                             : "mettle.check.variable",
           arguments, is_device ? 3 : 5);
  return (checked){address, call(c, "mettle.check.unset", NULL, 0), site};
}

// Checks behind a fast path, if there is one.
static checked check_or_ask(checking *c, const mtli_check_site *site,
                            LLVMValueRef *arguments, uint32_t number) {
  const bool is_write = site->access == MTLI_CHECK_WRITE;
  const mtlc_fast_access access = {
      .space = site->space,
      .is_write = is_write,
      .has_slot = site->slot != MTLI_CHECK_NO_SLOT,
      .has_shadow = c->shadows && !LLVMIsNull(arguments[4]),
      .size_bytes = site->size_bytes,
      .align_bytes = site->align_bytes,
      .object_bytes = site->object_bytes};
  const uint32_t most =
      is_write ? MTLI_CHECK_MOST_WRITE_SITE : MTLI_CHECK_MOST_READ_SITE;
  LLVMValueRef function =
      number <= most && (is_write || site->access == MTLI_CHECK_READ)
          ? mtlc_fast_path(c->kernel, &access, c->is_inline)
          : NULL;
  if (!function) {
    return ask(c, arguments, site->space, number);
  }
  LLVMValueRef all[] = {call(c, "mettle.check.context", NULL, 0),
                        arguments[0],
                        arguments[1],
                        arguments[2],
                        arguments[3],
                        arguments[4],
                        mtlc_i64(c->kernel->context, site->slot)};
  LLVMValueRef result = mtlc_call(c->builder, function, all, 7);
  return (checked){LLVMBuildExtractValue(c->builder, result, 0, ""),
                   LLVMBuildExtractValue(c->builder, result, 1, ""), number};
}

// Checks the address that is operand number `operand`.
static checked check_address(checking *c, LLVMValueRef access,
                             unsigned operand, LLVMTypeRef type,
                             mtli_check_access kind, LLVMValueRef unset,
                             const mtlc_root *root) {
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef address = LLVMGetOperand(access, operand);
  mtli_check_site site = site_of(c, root, kind);
  site.size_bytes = (uint32_t)LLVMStoreSizeOfType(c->layout, type);
  site.align_bytes = LLVMIsALoadInst(access) || LLVMIsAStoreInst(access)
                         ? LLVMGetAlignment(access)
                         : LLVMABIAlignmentOfType(c->layout, type);
  if (wants(c, MTLI_CHECK_BOUNDS)) {
    check_member(c, address, &site, root, access);
  }
  const uint32_t number = mtlc_sites_add(&c->sites, access, &site);
  LLVMValueRef null = LLVMConstNull(c->types.pointer);
  LLVMValueRef arguments[] = {address, mtlc_i32(context, number), unset,
                              root->base ? root->base : null, null};
  if (root->space == MTLI_CHECK_PRIVATE) {
    arguments[4] = mtlc_private_bytes_of(&c->private_bytes, root->base);
  }
  return check_or_ask(c, &site, arguments, number);
}

// Reads of program data, and of variables at constant offsets, cannot fail
// unless unset bytes matter.
static bool is_harmless(checking *c, const mtlc_root *root, LLVMValueRef address,
                        LLVMTypeRef type) {
  return root->space == MTLI_CHECK_CONSTANT &&
         mtlc_is_constant_inside(c->layout, root, address,
                                 LLVMStoreSizeOfType(c->layout, type));
}

static void check_load(checking *c, LLVMValueRef load) {
  LLVMTypeRef type = LLVMTypeOf(load);
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(load, 0));
  check_use(c, load, LLVMGetOperand(load, 0), MTLI_CHECK_ADDRESS);
  if (is_free(c, &root) ||
      is_harmless(c, &root, LLVMGetOperand(load, 0), type)) {
    return;
  }
  const bool is_atomic = LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic;
  go_before(c, load);
  const checked it =
      check_address(c, load, 0, type,
                    is_atomic ? MTLI_CHECK_ATOMIC_READ : MTLI_CHECK_READ,
                    mtlc_i64(c->kernel->context, 0), &root);
  LLVMSetOperand(load, 0, it.address);
  if (LLVMGetAlignment(load) > 1 && wants(c, MTLI_CHECK_ALIGN) && !is_atomic) {
    LLVMSetAlignment(load, 1);  // or a wrong one would stop the kernel
  }
  if (c->shadows && mtlc_has_shadow(type) &&
      root.space != MTLI_CHECK_CONSTANT &&
      !mtlc_is_marked(load, MTLC_PADDING_MARK)) {
    LLVMValueRef origin = mtlc_i32(c->kernel->context, it.site);
    if (root.space != MTLI_CHECK_DEVICE) {
      origin = call(c, "mettle.check.origin", NULL, 0);
    }
    mtlc_set_shadow(c->shadows, load,
                    mtlc_shadow_of_bytes(c->shadows, type, it.unset, origin));
  }
}

static void check_store(checking *c, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  LLVMTypeRef type = LLVMTypeOf(value);
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(store, 1));
  check_use(c, store, LLVMGetOperand(store, 1), MTLI_CHECK_ADDRESS);
  if (is_free(c, &root)) {
    return;
  }
  const bool is_atomic = LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic;
  go_before(c, store);
  LLVMValueRef asked = LLVMGetOperand(store, 1);
  LLVMValueRef unset =
      c->shadows ? mtlc_unset_bytes(c->shadows, value) : NULL;
  if (unset && !mtlc_is_set(c->shadows, value)) {
    LLVMValueRef origin = mtlc_shadow_of(c->shadows, value).origin;
    call(c, "mettle.check.from", &origin, 1);
  }
  const checked it = check_address(
      c, store, 1, type,
      is_atomic ? MTLI_CHECK_ATOMIC_WRITE : MTLI_CHECK_WRITE,
      unset ? unset : mtlc_i64(c->kernel->context, 0), &root);
  LLVMSetOperand(store, 1, it.address);
  if (wants(c, MTLI_CHECK_RACES) && root.space != MTLI_CHECK_PRIVATE) {
    LLVMValueRef arguments[] = {it.address, asked};
    go_behind(c, store);
    call(c, "mettle.check.settle", arguments, 2);
    go_before(c, store);
  }
  if (LLVMGetAlignment(store) > 1 && wants(c, MTLI_CHECK_ALIGN) && !is_atomic) {
    LLVMSetAlignment(store, 1);
  }
  // The run-time part tells of a value that is not set where a host may read
  // it; the place where the value began is told by the use before it.
  if (c->shadows && unset && root.space == MTLI_CHECK_DEVICE &&
      !mtlc_is_set(c->shadows, value)) {
    LLVMValueRef arguments[] = {
        mtlc_i32(c->kernel->context, it.site),
        mtlc_any_unset(c->shadows, value),
        mtlc_shadow_of(c->shadows, value).origin};
    call(c, "mettle.check.use", arguments, 3);
  }
}

// Emits the check of an atomic update of uninitialised memory; its result is
// uninitialised, too.
static void check_changed(checking *c, const checked *it,
                          const mtlc_root *root) {
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef origin = mtlc_i32(context, it->site);
  if (root->space != MTLI_CHECK_DEVICE) {
    origin = call(c, "mettle.check.origin", NULL, 0);
  }
  LLVMValueRef arguments[] = {
      mtlc_i32(context, it->site),
      LLVMBuildICmp(c->builder, LLVMIntNE, it->unset, mtlc_i64(context, 0), ""),
      origin};
  call(c, "mettle.check.use", arguments, 3);
}

static void check_atomic(checking *c, LLVMValueRef atomic) {
  const bool is_exchange = LLVMIsAAtomicCmpXchgInst(atomic) != NULL;
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(atomic, 1));
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(atomic, 0));
  check_use(c, atomic, LLVMGetOperand(atomic, 0), MTLI_CHECK_ADDRESS);
  if (is_free(c, &root)) {
    return;
  }
  go_before(c, atomic);
  const bool sets = LLVMIsAAtomicRMWInst(atomic) &&
                    LLVMGetAtomicRMWBinOp(atomic) == LLVMAtomicRMWBinOpXchg;
  const checked it = check_address(
      c, atomic, 0, type,
      sets ? MTLI_CHECK_ATOMIC_EXCHANGE : MTLI_CHECK_ATOMIC_BOTH,
      mtlc_i64(c->kernel->context, 0), &root);
  LLVMSetOperand(atomic, 0, it.address);
  if (c->shadows && !sets) {
    check_changed(c, &it, &root);
  }
  // A comparison uses memory that other threads are about to read.
  for (unsigned i = 1; c->shadows && i <= (is_exchange ? 2u : 1u); ++i) {
    check_use_at(c, atomic, LLVMGetOperand(atomic, i), it.site);
  }
  if (c->shadows && !is_exchange && mtlc_has_shadow(type)) {
    mtlc_set_shadow(c->shadows, atomic,
                    mtlc_shadow_of_bytes(c->shadows, type, it.unset,
                                         mtlc_i32(c->kernel->context, it.site)));
  }
}

// Checks a piece of memory that is copied or filled at once.
static void check_piece(checking *c, LLVMValueRef piece, unsigned operand,
                        mtli_check_access access) {
  const mtlc_root root =
      mtlc_find_root(c->kernel, LLVMGetOperand(piece, operand));
  if (is_free(c, &root)) {
    return;
  }
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef null = LLVMConstNull(c->types.pointer);
  mtli_check_site site = site_of(c, &root, access);
  LLVMValueRef length = LLVMGetOperand(piece, 2);
  site.size_bytes = LLVMIsAConstantInt(length)
                        ? (uint32_t)LLVMConstIntGetZExtValue(length)
                        : 0;
  go_before(c, piece);
  LLVMValueRef wide =
      LLVMBuildZExtOrBitCast(c->builder, length, c->types.i64, "");
  LLVMValueRef arguments[] = {
      LLVMGetOperand(piece, operand),
      mtlc_i32(context, mtlc_sites_add(&c->sites, piece, &site)), wide,
      root.base ? root.base : null,
      root.space == MTLI_CHECK_PRIVATE ? mtlc_private_bytes_of(&c->private_bytes, root.base) : null};
  LLVMValueRef allowed = call(c, "mettle.check.range", arguments, 5);
  LLVMSetOperand(piece, 2,
                 LLVMBuildTruncOrBitCast(c->builder, allowed,
                                         LLVMTypeOf(length), ""));
}

// A texel of a format that a function decodes or encodes (mettle_texel.h).
static void check_texel(checking *c, LLVMValueRef function_call,
                        mtli_check_access access) {
  const mtlc_root root =
      mtlc_find_root(c->kernel, LLVMGetOperand(function_call, 1));
  if (is_free(c, &root)) {
    return;
  }
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef null = LLVMConstNull(c->types.pointer);
  const mtli_check_site site = site_of(c, &root, access);
  go_before(c, function_call);
  LLVMValueRef bytes = LLVMBuildLoad2(
      c->builder, c->types.i32,
      mtlc_offset(c->builder, LLVMGetOperand(function_call, 0),
                  offsetof(mtli_texture_descriptor, texel_bytes)),
      "");
  LLVMValueRef arguments[] = {
      LLVMGetOperand(function_call, 1),
      mtlc_i32(context, mtlc_sites_add(&c->sites, function_call, &site)),
      LLVMBuildZExt(c->builder, bytes, c->types.i64, ""), null, null};
  call(c, "mettle.check.range", arguments, 5);
}

// --- arithmetic ---------------------------------------------------------------

static void use_with(checking *c, LLVMValueRef at, mtli_check_access access,
                     const mtlc_root *root, LLVMValueRef is_bad,
                     uint32_t what) {
  mtli_check_site site = {.access = (uint8_t)access,
                          .slot = MTLI_CHECK_NO_SLOT};
  if (root) {
    site = site_of(c, root, access);
  }
  LLVMValueRef arguments[] = {
      mtlc_i32(c->kernel->context, mtlc_sites_add(&c->sites, at, &site)),
      is_bad, mtlc_i32(c->kernel->context, what)};
  call(c, "mettle.check.use", arguments, 3);
}

// Checks an operation that may make a non-finite value of finite ones.
static void check_birth(checking *c, LLVMValueRef operation) {
  if (wants(c, MTLI_CHECK_NAN) && mtlc_is_floating(LLVMTypeOf(operation))) {
    go_behind(c, operation);
    use_with(c, operation, MTLI_CHECK_OPERATION, NULL,
             mtlc_is_born(c->builder, operation), MTLI_CHECK_BORN);
  }
}

static void check_kept(checking *c, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(store, 1));
  if (wants(c, MTLI_CHECK_NAN) && mtlc_is_floating(LLVMTypeOf(value)) &&
      root.space == MTLI_CHECK_DEVICE) {
    go_before(c, store);
    use_with(c, store, MTLI_CHECK_WRITE, &root,
             mtlc_any_wild(c->builder, value), MTLI_CHECK_KEPT);
  }
}

static void check_mark(checking *c, LLVMValueRef mark) {
  go_before(c, mark);
  use_with(c, mark, MTLI_CHECK_OPERATION, NULL, LLVMGetOperand(mark, 1),
           (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(mark, 0)));
  LLVMInstructionEraseFromParent(mark);
}

// --- waits --------------------------------------------------------------------

static void check_wait(checking *c, LLVMValueRef wait, const char *name) {
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
  LLVMValueRef number =
      mtlc_i32(context, mtlc_sites_add(&c->sites, wait, &site));
  LLVMValueRef zero = mtlc_i32(context, 0);
  LLVMValueRef value = is_barrier ? NULL : LLVMGetOperand(wait, 0);
  go_before(c, wait);
  LLVMValueRef origin = zero;
  if (value && c->shadows && !mtlc_is_set(c->shadows, value)) {
    origin = LLVMBuildSelect(c->builder, mtlc_any_unset(c->shadows, value),
                             mtlc_shadow_of(c->shadows, value).origin, zero,
                             "");
  }
  LLVMValueRef arguments[] = {
      number, is_barrier ? LLVMGetOperand(wait, 0) : zero, origin};
  call(c, "mettle.check.arrive", arguments, 3);
  if (is_barrier) {
    return;
  }
  go_behind(c, wait);
  LLVMValueRef from = call(c, "mettle.check.pass", &number, 1);
  if (c->shadows && mtlc_has_shadow(LLVMTypeOf(wait))) {
    LLVMValueRef is_bad = LLVMBuildICmp(c->builder, LLVMIntNE, from, zero, "");
    mtlc_set_shadow(
        c->shadows, wait,
        mtlc_shadow_if(c->shadows, LLVMTypeOf(wait), is_bad, from));
  }
}

static void check_marker(checking *c, LLVMValueRef at, mtli_check_access access,
                         uint32_t flags) {
  mtli_check_site site = {.access = (uint8_t)access,
                          .slot = MTLI_CHECK_NO_SLOT};
  go_before(c, at);
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef arguments[] = {
      mtlc_i32(context, mtlc_sites_add(&c->sites, at, &site)),
      mtlc_i32(context, flags), mtlc_i32(context, 0)};
  call(c, "mettle.check.arrive", arguments, 3);
}

// --- all of it ----------------------------------------------------------------

static void check_call(checking *c, LLVMValueRef i) {
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
    check_piece(c, i, 0, MTLI_CHECK_WRITE);
  } else if (mtlc_starts_with(name, "llvm.memcpy") ||
             mtlc_starts_with(name, "llvm.memmove")) {
    check_piece(c, i, 1, MTLI_CHECK_READ);
    check_piece(c, i, 0, MTLI_CHECK_WRITE);
  } else if (mtlc_starts_with(name, "mettle.texel.decode")) {
    check_texel(c, i, MTLI_CHECK_READ);
  } else if (mtlc_starts_with(name, "mettle.texel.encode")) {
    check_texel(c, i, MTLI_CHECK_WRITE);
  } else if (mtlc_starts_with(name, "mettle.barrier.") ||
             mtlc_starts_with(name, "mettle.simd.")) {
    // Accesses without a place in the source are not checked for races.
    if (wants(c, MTLI_CHECK_RACES | MTLI_CHECK_SYNC | MTLI_CHECK_INIT) &&
        !mtlc_is_marked(i, MTLC_TOGETHER_MARK)) {
      check_wait(c, i, name);
    }
  }
}

static void check_instruction(checking *c, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: check_load(c, i); return;
    case LLVMStore:
      check_kept(c, i);
      check_store(c, i);
      return;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFPTrunc: check_birth(c, i); return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: check_atomic(c, i); return;
    case LLVMCall: check_call(c, i); return;
    case LLVMBr:
    case LLVMSwitch: check_branch(c, i); return;
    case LLVMFence:
      if (wants(c, MTLI_CHECK_RACES)) {
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
static void check_thread(checking *c) {
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
  checking c = {.kernel = kernel,
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
  mtlc_sites_write(&c.sites);
  mtlc_sites_end(&c.sites);
  LLVMDisposeBuilder(c.builder);
  mtlc_private_bytes_clear(&c.private_bytes);
  return mtlc_run_llvm_passes(kernel, "always-inline,globaldce");
}
