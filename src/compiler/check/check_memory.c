// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_memory.c: instruments an access to memory: a load, a store, an atomic,
// a copied piece or a texel (check_accesses.c).
#include <stddef.h>

#include "code/texture_abi.h"
#include "compiler/check/checking.h"

static void check_inside(mtlc_checking *c, const mtlc_member *inside,
                         LLVMValueRef address, const mtli_check_site *site,
                         const mtlc_root *root, LLVMValueRef access) {
  if (!inside->base || mtlc_is_all_of(inside, root) ||
      inside->bytes < site->size_bytes) {
    return;
  }
  mtli_check_site own = *site;
  own.object_bytes = (uint32_t)inside->bytes;
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef arguments[] = {
      address, mtlc_i32(context, mtlc_sites_add(&c->sites, access, &own)),
      inside->base, mtlc_i64(context, inside->bytes),
      mtlc_i64(context, site->size_bytes)};
  mtlc_checking_call(c, "mettle.check.member", arguments, 5);
}

static void check_member(mtlc_checking *c, LLVMValueRef address,
                         const mtli_check_site *site, const mtlc_root *root,
                         LLVMValueRef access) {
  const mtlc_member inside = mtlc_find_member(c->builder, c->layout, address);
  const mtlc_member row = mtlc_find_row(c->layout, address);
  check_inside(c, &inside, address, site, root, access);
  if (row.base != inside.base) {
    check_inside(c, &row, address, site, root, access);
  }
}

mtli_check_site mtlc_check_site_of(mtlc_checking *c, const mtlc_root *root,
                                   mtli_check_access access) {
  char name[256];
  mtlc_name_root(c->kernel, root, name, sizeof name);
  const uint64_t bytes = root->bytes < UINT32_MAX ? root->bytes : UINT32_MAX;
  return (mtli_check_site){
      .access = (uint8_t)access,
      .space = (uint8_t)(root->texture ? MTLI_CHECK_TEXELS : root->space),
      .slot = (uint16_t)root->slot,
      .object_bytes = (uint32_t)bytes,
      .name = mtlc_sites_text(&c->sites, name),
      .align_bytes = 1};
}

// True if such memory needs no check.
static bool is_free(mtlc_checking *c, const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE: return false;
    case MTLI_CHECK_THREADGROUP: return false;
    case MTLI_CHECK_PRIVATE:
    case MTLI_CHECK_CONSTANT:
      return !root->base || root->bytes == 0 ||
             !mtlc_checking_wants(c, MTLI_CHECK_BOUNDS | MTLI_CHECK_INIT);
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
static checked ask(mtlc_checking *c, LLVMValueRef *arguments,
                   mtli_check_space space, uint32_t site) {
  const bool is_device = space == MTLI_CHECK_DEVICE ||
                         space == MTLI_CHECK_ANYWHERE ||
                         space == MTLI_CHECK_TEXELS;
  LLVMValueRef address = mtlc_checking_call(c,
                                            is_device ? "mettle.check.device"
                                            : space == MTLI_CHECK_THREADGROUP
                                                ? "mettle.check.threadgroup"
                                                : "mettle.check.variable",
                                            arguments, is_device ? 3 : 5);
  return (checked){address,
                   mtlc_checking_call(c, "mettle.check.unset", NULL, 0), site};
}

// Checks behind a fast path, if there is one.
static checked check_or_ask(mtlc_checking *c, const mtli_check_site *site,
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
  LLVMValueRef all[] = {mtlc_checking_call(c, "mettle.check.context", NULL, 0),
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
static checked check_address(mtlc_checking *c, LLVMValueRef access,
                             unsigned operand, LLVMTypeRef type,
                             mtli_check_access kind, LLVMValueRef unset,
                             const mtlc_root *root) {
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef address = LLVMGetOperand(access, operand);
  mtli_check_site site = mtlc_check_site_of(c, root, kind);
  site.size_bytes = (uint32_t)LLVMStoreSizeOfType(c->layout, type);
  site.align_bytes = LLVMIsALoadInst(access) || LLVMIsAStoreInst(access)
                         ? LLVMGetAlignment(access)
                         : LLVMABIAlignmentOfType(c->layout, type);
  if (mtlc_checking_wants(c, MTLI_CHECK_BOUNDS)) {
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
static bool is_harmless(mtlc_checking *c, const mtlc_root *root,
                        LLVMValueRef address, LLVMTypeRef type) {
  return root->space == MTLI_CHECK_CONSTANT &&
         mtlc_is_constant_inside(c->layout, root, address,
                                 LLVMStoreSizeOfType(c->layout, type));
}

void mtlc_check_load(mtlc_checking *c, LLVMValueRef load) {
  LLVMTypeRef type = LLVMTypeOf(load);
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(load, 0));
  mtlc_check_use(c, load, LLVMGetOperand(load, 0), MTLI_CHECK_ADDRESS);
  if (is_free(c, &root) ||
      is_harmless(c, &root, LLVMGetOperand(load, 0), type)) {
    return;
  }
  const bool is_atomic = LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic;
  mtlc_checking_before(c, load);
  const checked it = check_address(
      c, load, 0, type, is_atomic ? MTLI_CHECK_ATOMIC_READ : MTLI_CHECK_READ,
      mtlc_i64(c->kernel->context, 0), &root);
  LLVMSetOperand(load, 0, it.address);
  if (LLVMGetAlignment(load) > 1 && mtlc_checking_wants(c, MTLI_CHECK_ALIGN) &&
      !is_atomic) {
    LLVMSetAlignment(load, 1);  // or a wrong one would stop the kernel
  }
  if (c->shadows && mtlc_has_shadow(type) &&
      root.space != MTLI_CHECK_CONSTANT &&
      !mtlc_is_marked(load, MTLC_PADDING_MARK)) {
    LLVMValueRef origin = mtlc_i32(c->kernel->context, it.site);
    if (root.space != MTLI_CHECK_DEVICE) {
      origin = mtlc_checking_call(c, "mettle.check.origin", NULL, 0);
    }
    mtlc_set_shadow(c->shadows, load,
                    mtlc_shadow_of_bytes(c->shadows, type, it.unset, origin));
  }
}

void mtlc_check_store(mtlc_checking *c, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  LLVMTypeRef type = LLVMTypeOf(value);
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(store, 1));
  mtlc_check_use(c, store, LLVMGetOperand(store, 1), MTLI_CHECK_ADDRESS);
  if (is_free(c, &root)) {
    return;
  }
  const bool is_atomic = LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic;
  mtlc_checking_before(c, store);
  LLVMValueRef asked = LLVMGetOperand(store, 1);
  LLVMValueRef unset = c->shadows ? mtlc_unset_bytes(c->shadows, value) : NULL;
  if (unset && !mtlc_is_set(c->shadows, value)) {
    LLVMValueRef origin = mtlc_shadow_of(c->shadows, value).origin;
    mtlc_checking_call(c, "mettle.check.from", &origin, 1);
  }
  const checked it = check_address(
      c, store, 1, type, is_atomic ? MTLI_CHECK_ATOMIC_WRITE : MTLI_CHECK_WRITE,
      unset ? unset : mtlc_i64(c->kernel->context, 0), &root);
  LLVMSetOperand(store, 1, it.address);
  if (mtlc_checking_wants(c, MTLI_CHECK_RACES) &&
      root.space != MTLI_CHECK_PRIVATE) {
    LLVMValueRef arguments[] = {it.address, asked};
    mtlc_checking_behind(c, store);
    mtlc_checking_call(c, "mettle.check.settle", arguments, 2);
    mtlc_checking_before(c, store);
  }
  if (LLVMGetAlignment(store) > 1 && mtlc_checking_wants(c, MTLI_CHECK_ALIGN) &&
      !is_atomic) {
    LLVMSetAlignment(store, 1);
  }
  // The run-time part tells of a value that is not set where a host may read
  // it; the place where the value began is told by the use before it.
  if (c->shadows && unset && root.space == MTLI_CHECK_DEVICE &&
      !mtlc_is_set(c->shadows, value)) {
    LLVMValueRef arguments[] = {mtlc_i32(c->kernel->context, it.site),
                                mtlc_any_unset(c->shadows, value),
                                mtlc_shadow_of(c->shadows, value).origin};
    mtlc_checking_call(c, "mettle.check.use", arguments, 3);
  }
}

// Emits the check of an atomic update of uninitialised memory; its result is
// uninitialised, too.
static void check_changed(mtlc_checking *c, const checked *it,
                          const mtlc_root *root) {
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef origin = mtlc_i32(context, it->site);
  if (root->space != MTLI_CHECK_DEVICE) {
    origin = mtlc_checking_call(c, "mettle.check.origin", NULL, 0);
  }
  LLVMValueRef arguments[] = {
      mtlc_i32(context, it->site),
      LLVMBuildICmp(c->builder, LLVMIntNE, it->unset, mtlc_i64(context, 0), ""),
      origin};
  mtlc_checking_call(c, "mettle.check.use", arguments, 3);
}

void mtlc_check_atomic(mtlc_checking *c, LLVMValueRef atomic) {
  const bool is_exchange = LLVMIsAAtomicCmpXchgInst(atomic) != NULL;
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(atomic, 1));
  const mtlc_root root = mtlc_find_root(c->kernel, LLVMGetOperand(atomic, 0));
  mtlc_check_use(c, atomic, LLVMGetOperand(atomic, 0), MTLI_CHECK_ADDRESS);
  if (is_free(c, &root)) {
    return;
  }
  mtlc_checking_before(c, atomic);
  const bool sets = LLVMIsAAtomicRMWInst(atomic) &&
                    LLVMGetAtomicRMWBinOp(atomic) == LLVMAtomicRMWBinOpXchg;
  const checked it =
      check_address(c, atomic, 0, type,
                    sets ? MTLI_CHECK_ATOMIC_EXCHANGE : MTLI_CHECK_ATOMIC_BOTH,
                    mtlc_i64(c->kernel->context, 0), &root);
  LLVMSetOperand(atomic, 0, it.address);
  if (c->shadows && !sets) {
    check_changed(c, &it, &root);
  }
  // A comparison uses memory that other threads are about to read.
  for (unsigned i = 1; c->shadows && i <= (is_exchange ? 2u : 1u); ++i) {
    mtlc_check_use_at(c, atomic, LLVMGetOperand(atomic, i), it.site);
  }
  if (c->shadows && !is_exchange && mtlc_has_shadow(type)) {
    mtlc_set_shadow(
        c->shadows, atomic,
        mtlc_shadow_of_bytes(c->shadows, type, it.unset,
                             mtlc_i32(c->kernel->context, it.site)));
  }
}

void mtlc_check_piece(mtlc_checking *c, LLVMValueRef piece, unsigned operand,
                      mtli_check_access access) {
  const mtlc_root root =
      mtlc_find_root(c->kernel, LLVMGetOperand(piece, operand));
  if (is_free(c, &root)) {
    return;
  }
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef null = LLVMConstNull(c->types.pointer);
  mtli_check_site site = mtlc_check_site_of(c, &root, access);
  LLVMValueRef length = LLVMGetOperand(piece, 2);
  site.size_bytes = LLVMIsAConstantInt(length)
                        ? (uint32_t)LLVMConstIntGetZExtValue(length)
                        : 0;
  mtlc_checking_before(c, piece);
  LLVMValueRef wide =
      LLVMBuildZExtOrBitCast(c->builder, length, c->types.i64, "");
  LLVMValueRef arguments[] = {
      LLVMGetOperand(piece, operand),
      mtlc_i32(context, mtlc_sites_add(&c->sites, piece, &site)), wide,
      root.base ? root.base : null,
      root.space == MTLI_CHECK_PRIVATE
          ? mtlc_private_bytes_of(&c->private_bytes, root.base)
          : null};
  LLVMValueRef allowed =
      mtlc_checking_call(c, "mettle.check.range", arguments, 5);
  LLVMSetOperand(
      piece, 2,
      LLVMBuildTruncOrBitCast(c->builder, allowed, LLVMTypeOf(length), ""));
}

void mtlc_check_texel(mtlc_checking *c, LLVMValueRef function_call,
                      mtli_check_access access) {
  const mtlc_root root =
      mtlc_find_root(c->kernel, LLVMGetOperand(function_call, 1));
  if (is_free(c, &root)) {
    return;
  }
  LLVMContextRef context = c->kernel->context;
  LLVMValueRef null = LLVMConstNull(c->types.pointer);
  const mtli_check_site site = mtlc_check_site_of(c, &root, access);
  mtlc_checking_before(c, function_call);
  LLVMValueRef bytes = LLVMBuildLoad2(
      c->builder, c->types.i32,
      mtlc_offset(c->builder, LLVMGetOperand(function_call, 0),
                  offsetof(mtli_texture_descriptor, texel_bytes)),
      "");
  LLVMValueRef arguments[] = {
      LLVMGetOperand(function_call, 1),
      mtlc_i32(context, mtlc_sites_add(&c->sites, function_call, &site)),
      LLVMBuildZExt(c->builder, bytes, c->types.i64, ""), null, null};
  mtlc_checking_call(c, "mettle.check.range", arguments, 5);
}
