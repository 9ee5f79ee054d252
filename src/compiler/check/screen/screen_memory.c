// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_memory.c: screens one access of memory: its offset against the bounds,
// its stamps against other threads, and the bytes of a private variable.
#include "compiler/check/screen/screening.h"

_Static_assert(sizeof(mtli_check_view) == 80, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, bytes) == 8, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, writes) == 40, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, reads) == 48, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, writes_again) == 56, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, reads_again) == 64, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, least) == 72, "check_abi.h");

enum { WORD_BYTES = 4 };

// --- where an access is -----------------------------------------------------

// Adds to sum the bytes that one getelementptr adds to an address.
static LLVMValueRef add_step(mtlc_screening *s, LLVMValueRef sum,
                             LLVMValueRef step) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(step);
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(step); ++i) {
    LLVMValueRef index = LLVMGetOperand(step, i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned n = (unsigned)LLVMConstIntGetZExtValue(index);
      sum = LLVMBuildAdd(
          s->builder, sum,
          mtlc_screen_i64(s, LLVMOffsetOfElement(s->layout, type, n)), "");
      type = LLVMStructGetTypeAtIndex(type, n);
      continue;
    }
    type = i > 1 ? LLVMGetElementType(type) : type;
    LLVMValueRef wide =
        LLVMBuildSExtOrBitCast(s->builder, index, s->types.i64, "");
    LLVMValueRef bytes = LLVMBuildMul(
        s->builder, wide,
        mtlc_screen_i64(s, LLVMABISizeOfType(s->layout, type)), "");
    sum = LLVMBuildAdd(s->builder, sum, bytes, "");
  }
  return sum;
}

static bool is_step(LLVMValueRef address) {
  return mtlc_is_opcode(address, LLVMGetElementPtr) ||
         (LLVMIsAConstantExpr(address) &&
          LLVMGetConstOpcode(address) == LLVMGetElementPtr);
}

static LLVMValueRef argument(mtlc_screening *s, uint32_t slot) {
  LLVMTypeRef type = s->types.i32;
  LLVMValueRef operand = mtlc_screen_i32(s, slot);
  return mtlc_call(s->builder,
                   mtlc_screen_declare_pure(s, "mettle.argument",
                                            s->types.pointer, &type, 1),
                   &operand, 1);
}

// Returns the i64 offset of an address from the first byte of its root.
static LLVMValueRef offset_of(mtlc_screening *s, const mtlc_root *root,
                              LLVMValueRef address) {
  LLVMValueRef sum = mtlc_screen_i64(s, 0);
  LLVMValueRef at = address;
  for (; is_step(at); at = LLVMGetOperand(at, 0)) {
    sum = add_step(s, sum, at);
  }
  LLVMValueRef callee = mtlc_callee(at);
  const bool is_argument =
      callee && strcmp(mtlc_name(callee), "mettle.argument") == 0;
  if (is_argument || at == root->base) {
    return sum;
  }
  LLVMValueRef base = root->base ? root->base : argument(s, root->slot);
  LLVMTypeRef i64 = s->types.i64;
  return LLVMBuildSub(s->builder,
                      LLVMBuildPtrToInt(s->builder, address, i64, ""),
                      LLVMBuildPtrToInt(s->builder, base, i64, ""), "");
}

static LLVMValueRef view_at(mtlc_screening *s, uint32_t slot, LLVMTypeRef type,
                            size_t field) {
  return mtlc_screen_load(s, type, s->views,
                          slot * sizeof(mtli_check_view) + field, true);
}

// --- bounds -----------------------------------------------------------------

// Returns the lowest offset that is out of bounds for an access of this size. A
// buffer bound to a reference counts as as large as the type that it refers to:
// a dispatch with a smaller one is not screened.
static LLVMValueRef limit_of(mtlc_screening *s, const mtlc_root *root,
                             uint64_t size) {
  if (root->bytes) {
    return mtlc_screen_i64(s, root->bytes >= size ? root->bytes - size + 1 : 0);
  }
  LLVMTypeRef i64 = s->types.i64;
  LLVMValueRef arguments[] = {
      view_at(s, root->slot, i64, offsetof(mtli_check_view, bytes)),
      mtlc_screen_i64(s, size - 1)};
  return mtlc_call_intrinsic(s->builder, "llvm.usub.sat", &i64, 1, arguments,
                             2);
}

// Tests an offset against the bounds. In a counted loop it tests the offset's
// least and greatest value once, in front of the loop.
static void look_at_offset(mtlc_screening *s, const mtlc_root *root,
                           LLVMValueRef access, LLVMValueRef offset,
                           uint64_t size) {
  mtlc_extreme_offsets extremes;
  LLVMValueRef checked[] = {offset, NULL};
  const bool is_hoisted =
      mtlc_extremes(s->flow, s->builder, access, offset, &extremes);
  if (!is_hoisted) {
    mtlc_screen_go_before(s, access);
  } else {
    checked[0] = extremes.most;
    checked[1] = extremes.least;
    if (extremes.holds) {
      mtlc_screen_must(s, extremes.holds);
    }
  }
  LLVMValueRef limit = limit_of(s, root, size);
  for (int i = 0; i < 2 && checked[i]; ++i) {
    mtlc_screen_must(
        s, LLVMBuildICmp(s->builder, LLVMIntULT, checked[i], limit, ""));
  }
  if (is_hoisted) {
    mtlc_screen_go_before(s, access);
  }
}

static void look_at_bounds(mtlc_screening *s, const mtlc_root *root,
                           LLVMValueRef access, LLVMValueRef address,
                           LLVMValueRef offset, uint64_t size, uint64_t align,
                           bool is_stamped) {
  for (size_t i = 0; i + 1 < s->inside.count; i += 2) {
    if (s->inside.items[i] == address &&
        LLVMConstIntGetZExtValue(s->inside.items[i + 1]) >= size) {
      return;
    }
  }
  mtlc_values_add(&s->inside, address);
  mtlc_values_add(&s->inside, mtlc_screen_i64(s, size));
  uint64_t mask = mtlc_screen_wants(s, MTLI_CHECK_ALIGN) ? align - 1 : 0;
  mask |= is_stamped ? WORD_BYTES - 1 : 0;
  if (mask) {
    LLVMValueRef low =
        LLVMBuildAnd(s->builder, offset, mtlc_screen_i64(s, mask), "");
    mtlc_screen_must(s, LLVMBuildICmp(s->builder, LLVMIntEQ, low,
                                      mtlc_screen_i64(s, 0), ""));
  }
  look_at_offset(s, root, access, offset, size);
}

static void look_inside(mtlc_screening *s, const mtlc_member *inside,
                        LLVMValueRef address, const mtlc_root *of,
                        uint64_t size) {
  if (!inside->base || mtlc_is_all_of(inside, of) || inside->bytes < size) {
    return;
  }
  const mtlc_root root = {.base = inside->base};
  mtlc_screen_must(
      s, LLVMBuildICmp(s->builder, LLVMIntULE, offset_of(s, &root, address),
                       mtlc_screen_i64(s, inside->bytes - size), ""));
}

static void look_at_member(mtlc_screening *s, LLVMValueRef address,
                           const mtlc_root *of, uint64_t size) {
  const mtlc_member inside = mtlc_find_member(s->builder, s->layout, address);
  const mtlc_member row = mtlc_find_row(s->layout, address);
  look_inside(s, &inside, address, of, size);
  if (row.base != inside.base) {
    look_inside(s, &row, address, of, size);
  }
}

// --- stamps -----------------------------------------------------------------

static void stamp_device(mtlc_screening *s, const mtlc_root *root,
                         mtlc_stamped *it) {
  LLVMTypeRef pointer = s->types.pointer;
  const mtlc_slot_use *use = &s->slots[root->slot];
  it->is_also_read = use->is_read;
  it->is_also_written = use->is_written;
  it->writes =
      view_at(s, root->slot, pointer, offsetof(mtli_check_view, writes));
  it->reads = view_at(s, root->slot, pointer, offsetof(mtli_check_view, reads));
  it->writes_again =
      view_at(s, root->slot, pointer, offsetof(mtli_check_view, writes_again));
  it->reads_again =
      view_at(s, root->slot, pointer, offsetof(mtli_check_view, reads_again));
  it->own = s->own;
  it->floor = s->stamp;
  it->least = mtlc_screen_wants(s, MTLI_CHECK_INIT)
                  ? view_at(s, root->slot, s->types.i32,
                            offsetof(mtli_check_view, least))
                  : mtlc_screen_i32(s, 0);
}

static void stamp_threadgroup(mtlc_screening *s, LLVMValueRef access,
                              const mtlc_root *root, mtlc_stamped *it) {
  const mtlc_group_use beside = mtlc_interval_use(&s->intervals, access);
  LLVMValueRef *arrays[] = {&it->writes, &it->reads, &it->writes_again,
                            &it->reads_again};
  LLVMValueRef first = LLVMBuildSub(
      s->builder, LLVMBuildPtrToInt(s->builder, root->base, s->types.i64, ""),
      s->memory, "");
  for (int i = 0; i < 4; ++i) {
    *arrays[i] = LLVMBuildGEP2(s->builder, s->types.i8, s->group_arrays[i],
                               &first, 1, "");
  }
  it->is_also_read = beside.is_read;
  it->is_also_written = beside.is_written;
  it->floor = LLVMBuildLoad2(s->builder, s->types.i32, s->epoch, "");
  it->own = LLVMBuildAdd(s->builder, it->floor, s->thread, "");
  it->least = mtlc_screen_wants(s, MTLI_CHECK_INIT) ? s->group_stamp
                                                    : mtlc_screen_i32(s, 0);
}

// True if accesses of this memory are stamped. Device memory that the kernel
// never writes needs none: no race is possible, and a dispatch that binds a
// buffer with unset bytes to it is not screened.
static bool is_stamped(const mtlc_screening *s, const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE:
      return mtlc_screen_has_stamps(s) && s->slots[root->slot].is_written;
    case MTLI_CHECK_THREADGROUP: return mtlc_screen_has_stamps(s);
    default: return false;
  }
}

static void look_at_stamps(mtlc_screening *s, LLVMValueRef access,
                           const mtlc_root *root, LLVMValueRef offset,
                           uint64_t size, mtli_check_access kind) {
  mtlc_stamped it = {
      .kind = kind, .words = (uint32_t)(size / WORD_BYTES), .offset = offset};
  if (size % WORD_BYTES || it.words > MTLC_MOST_STAMPED_WORDS || !size) {
    mtlc_screen_refuse(s, "an access of a part of a word");
    return;
  }
  if (root->space == MTLI_CHECK_DEVICE) {
    stamp_device(s, root, &it);
  } else {
    stamp_threadgroup(s, access, root, &it);
  }
  mtlc_screen_must_later(s, mtlc_stamp(s->kernel, s->builder, &it));
}

// --- private memory ---------------------------------------------------------

static void look_at_private(mtlc_screening *s, const mtlc_root *root,
                            LLVMValueRef offset, uint64_t size,
                            mtli_check_access kind) {
  LLVMValueRef bytes =
      s->shadows ? mtlc_private_bytes_of(&s->private_bytes, root->base) : NULL;
  if (!bytes || LLVMIsNull(bytes)) {
    return;
  }
  LLVMTypeRef type =
      LLVMIntTypeInContext(s->kernel->context, (unsigned)(8 * size));
  LLVMValueRef at =
      LLVMBuildGEP2(s->builder, s->types.i8, bytes, &offset, 1, "");
  if (kind == MTLI_CHECK_WRITE) {
    LLVMSetAlignment(LLVMBuildStore(s->builder, LLVMConstNull(type), at), 1);
    return;
  }
  LLVMValueRef unset = LLVMBuildLoad2(s->builder, type, at, "");
  LLVMSetAlignment(unset, 1);
  mtlc_screen_must_later(
      s, LLVMBuildICmp(s->builder, LLVMIntEQ, unset, LLVMConstNull(type), ""));
}

// --- accesses ---------------------------------------------------------------

// True if no check applies to this memory.
static bool is_free(const mtlc_screening *s, const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE:
    case MTLI_CHECK_THREADGROUP: return false;
    case MTLI_CHECK_PRIVATE:
    case MTLI_CHECK_CONSTANT:
      return !root->base || root->bytes == 0 ||
             !mtlc_screen_wants(s, MTLI_CHECK_BOUNDS | MTLI_CHECK_INIT);
    default: return true;
  }
}

bool mtlc_screen_is_known(const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE: return root->slot != MTLI_CHECK_NO_SLOT;
    case MTLI_CHECK_THREADGROUP:
      return root->base && (root->bytes || root->slot != MTLI_CHECK_NO_SLOT);
    case MTLI_CHECK_PRIVATE:
    case MTLI_CHECK_CONSTANT: return root->base && root->bytes;
    default: return false;
  }
}

void mtlc_screen_access(mtlc_screening *s, LLVMValueRef access,
                        unsigned operand, LLVMTypeRef type,
                        mtli_check_access kind) {
  LLVMValueRef address = LLVMGetOperand(access, operand);
  const mtlc_root root = mtlc_find_root(s->kernel, address);
  mtlc_screen_go_before(s, access);
  mtlc_screen_must_be_set(s, address);
  if (is_free(s, &root)) {
    return;
  }
  const uint64_t size = LLVMStoreSizeOfType(s->layout, type);
  if (root.space == MTLI_CHECK_CONSTANT &&
      mtlc_is_constant_inside(s->layout, &root, address, size)) {
    return;
  }
  const bool stamped = is_stamped(s, &root);
  const bool is_plain = LLVMIsALoadInst(access) || LLVMIsAStoreInst(access);
  LLVMValueRef offset = offset_of(s, &root, address);
  look_at_bounds(s, &root, access, address, offset, size,
                 is_plain ? LLVMGetAlignment(access)
                          : LLVMABIAlignmentOfType(s->layout, type),
                 stamped);
  if (mtlc_screen_wants(s, MTLI_CHECK_BOUNDS)) {
    look_at_member(s, address, &root, size);
  }
  if (stamped) {
    look_at_stamps(s, access, &root, offset, size, kind);
  } else if (root.space == MTLI_CHECK_PRIVATE) {
    look_at_private(s, &root, offset, size, kind);
  }
}
