// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_accesses.c: has a thread stop where the checked tier might find
// something, by comparisons that the vectoriser makes vectors of. It may stop
// for nothing, and never goes on past a finding: what has stopped is undone and
// run again by the checked tier, which tells (src/check/screen.c).
//
// Requires  simplify_checked
// Leaves    mettle.thread with calls of mettle.check.must and .context
//           (docs/ir.md); or fails with MTL_UNSUPPORTED, where too little is
//           known of what the kernel accesses
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/check/check.h"
#include "compiler/ir/analysis/cycles.h"

_Static_assert(sizeof(mtli_check_view) == 88, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, bytes) == 8, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, writes) == 48, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, reads) == 56, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, writes_again) == 64, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, reads_again) == 72, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, least) == 80, "check_abi.h");
_Static_assert(offsetof(mtli_check, views) == 120, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_memory) == 128, "check_abi.h");
_Static_assert(offsetof(mtli_check, stamp) == 164, "check_abi.h");
_Static_assert(offsetof(mtli_check, group_stamp) == 168, "check_abi.h");
_Static_assert(offsetof(mtli_check, arrived) == 172, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_writes) == 176, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_reads_again) == 200,
               "check_abi.h");

enum { WORD_BYTES = 4, FLAG_THREADGROUP = 2 };

// What the kernel does to a parameter's memory.
typedef struct slot_use {
  bool is_read;
  bool is_written;
} slot_use;

typedef struct screening {
  mtlc_kernel *kernel;
  mtlc_types types;
  mtlc_sites sites;       // only for shadows, and not kept
  mtlc_shadows *shadows;  // NULL if nothing is unset
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  mtlc_private_bytes private_bytes;
  slot_use *slots;  // [parameter_count]
  mtlc_intervals intervals;
  const mtlc_flow *flow;
  // In the entry block; those that are needed:
  LLVMValueRef check;
  LLVMValueRef views;
  LLVMValueRef thread;         // i32, in the threadgroup
  LLVMValueRef own;            // i32: stamp in device memory
  LLVMValueRef stamp;          // i32: the dispatch's
  LLVMValueRef group_stamp;    // i32
  LLVMValueRef group_threads;  // i32
  LLVMValueRef memory;         // i64, of threadgroups
  LLVMValueRef group_arrays[4];
  LLVMValueRef epoch;   // alloca i32: stamps since the last barrier
  LLVMValueRef passed;  // alloca i32: as mtli_check.arrived should be
  // Of the block at hand: what has been looked at, and is to hold at its end.
  LLVMValueRef pending;
  mtlc_values inside;  // addresses whose bounds have been looked at
  mtl_status status;
} screening;

static bool wants(const screening *s, unsigned checks) {
  return (s->kernel->checks & checks) != 0;
}

static void refuse(screening *s, const char *why) {
  if (s->status == MTL_OK) {
    s->status = mtli_fail(MTL_UNSUPPORTED, "not screened: %s", why);
  }
}

static LLVMValueRef number(const screening *s, uint64_t value) {
  return mtlc_i64(s->kernel->context, value);
}

static LLVMValueRef u32(const screening *s, uint32_t value) {
  return mtlc_i32(s->kernel->context, value);
}

static void go_before(screening *s, LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(s->builder, instruction);
  LLVMSetCurrentDebugLocation2(s->builder,
                               LLVMInstructionGetDebugLoc(instruction));
}

// --- what must hold ------------------------------------------------------------

static void must(screening *s, LLVMValueRef holds) {
  if (!LLVMIsAConstantInt(holds) || LLVMIsNull(holds)) {
    LLVMValueRef function =
        LLVMGetNamedFunction(s->kernel->module, "mettle.check.must");
    mtlc_call(s->builder, function, &holds, 1);
  }
}

// A little later: nothing hangs on it before.
static void must_later(screening *s, LLVMValueRef holds) {
  s->pending = s->pending ? LLVMBuildAnd(s->builder, s->pending, holds, "")
                          : holds;
}

static void flush(screening *s) {
  if (s->pending) {
    must(s, s->pending);
  }
  s->pending = NULL;
}

static void must_be_set(screening *s, LLVMValueRef value) {
  if (s->shadows && !mtlc_is_set(s->shadows, value) &&
      mtlc_has_shadow(LLVMTypeOf(value))) {
    must_later(s, LLVMBuildNot(s->builder, mtlc_any_unset(s->shadows, value),
                               ""));
  }
}

// --- what is known before ------------------------------------------------------

// LLVM's encoding of what a function may do to memory.
enum { NO_MEMORY = 0, ITS_OWN_MEMORY = 12 };

static LLVMValueRef declared(screening *s, const char *name, LLVMTypeRef result,
                             LLVMTypeRef *parameters, unsigned count) {
  return mtlc_declare(s->kernel->module, name,
                      LLVMFunctionType(result, parameters, count, false));
}

// A function without effects.
static LLVMValueRef declared_pure(screening *s, const char *name,
                                  LLVMTypeRef result, LLVMTypeRef *parameters,
                                  unsigned count) {
  LLVMValueRef function = declared(s, name, result, parameters, count);
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "willreturn", 0);
  mtlc_set_attribute(function, "memory", NO_MEMORY);
  return function;
}

static LLVMValueRef position(screening *s, mtli_builtin builtin,
                             uint32_t dimension) {
  LLVMTypeRef types[] = {s->types.i32, s->types.i32};
  LLVMValueRef arguments[] = {u32(s, builtin), u32(s, dimension)};
  return mtlc_call(
      s->builder,
      declared_pure(s, "mettle.position", s->types.i32, types, 2), arguments, 2);
}

// Of three dimensions.
static LLVMValueRef product(screening *s, mtli_builtin builtin) {
  LLVMValueRef all = position(s, builtin, 0);
  for (uint32_t i = 1; i < 3; ++i) {
    all = LLVMBuildMul(s->builder, all, position(s, builtin, i), "");
  }
  return all;
}

static LLVMValueRef load_from(screening *s, LLVMTypeRef type,
                              LLVMValueRef base, uint64_t offset,
                              bool is_fixed) {
  LLVMValueRef value = LLVMBuildLoad2(
      s->builder, type, mtlc_offset(s->builder, base, offset), "");
  if (is_fixed) {
    mtlc_mark_invariant(value);
  }
  return value;
}

// The thread's place in the grid, by threadgroups.
static LLVMValueRef place(screening *s) {
  LLVMValueRef group = position(s, MTLI_THREADGROUP_POSITION_IN_GRID, 2);
  for (uint32_t i = 2; i-- > 0;) {
    group = LLVMBuildMul(s->builder, group,
                         position(s, MTLI_THREADGROUPS_PER_GRID, i), "");
    group = LLVMBuildAdd(
        s->builder, group, position(s, MTLI_THREADGROUP_POSITION_IN_GRID, i),
        "");
  }
  LLVMValueRef first = LLVMBuildMul(
      s->builder, group, product(s, MTLI_DISPATCH_THREADS_PER_THREADGROUP),
      "");
  return LLVMBuildAdd(s->builder, first, s->thread, "");
}

static bool has_stamps(const screening *s) {
  return wants(s, MTLI_CHECK_RACES | MTLI_CHECK_INIT);
}

static bool has_waits(const screening *s) {
  return has_stamps(s) || wants(s, MTLI_CHECK_SYNC);
}

static void load_group(screening *s) {
  static const size_t arrays[] = {
      offsetof(mtli_check, threadgroup_writes),
      offsetof(mtli_check, threadgroup_reads),
      offsetof(mtli_check, threadgroup_writes_again),
      offsetof(mtli_check, threadgroup_reads_again)};
  for (int i = 0; i < 4; ++i) {
    s->group_arrays[i] =
        load_from(s, s->types.pointer, s->check, arrays[i], true);
  }
  s->memory = load_from(s, s->types.i64, s->check,
                        offsetof(mtli_check, threadgroup_memory), true);
}

static LLVMValueRef variable(screening *s, LLVMValueRef value) {
  LLVMValueRef at = LLVMBuildAlloca(s->builder, s->types.i32, "");
  LLVMBuildStore(s->builder, value, at);
  return at;
}

static void load_all(screening *s) {
  mtlc_position_at_entry(s->builder, s->kernel->thread);
  s->check = mtlc_call(
      s->builder,
      declared_pure(s, "mettle.check.context", s->types.pointer, NULL, 0), NULL,
      0);
  s->views = load_from(s, s->types.pointer, s->check,
                       offsetof(mtli_check, views), true);
  s->thread = position(s, MTLI_THREAD_INDEX_IN_THREADGROUP, 0);
  if (has_stamps(s)) {
    s->stamp = load_from(s, s->types.i32, s->check,
                         offsetof(mtli_check, stamp), true);
    s->own = LLVMBuildAdd(s->builder, s->stamp, place(s), "");
    load_group(s);
  }
  if (!has_waits(s)) {
    return;
  }
  s->group_threads = product(s, MTLI_THREADS_PER_THREADGROUP);
  s->group_stamp = load_from(s, s->types.i32, s->check,
                             offsetof(mtli_check, group_stamp), false);
  s->epoch = variable(s, s->group_stamp);
  s->passed = variable(s, s->group_stamp);
}

// --- where an access is --------------------------------------------------------

// Adds what one getelementptr adds to an address, in bytes.
static LLVMValueRef add_step(screening *s, LLVMValueRef sum,
                             LLVMValueRef step) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(step);
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(step); ++i) {
    LLVMValueRef index = LLVMGetOperand(step, i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned n = (unsigned)LLVMConstIntGetZExtValue(index);
      sum = LLVMBuildAdd(s->builder, sum,
                         number(s, LLVMOffsetOfElement(s->layout, type, n)),
                         "");
      type = LLVMStructGetTypeAtIndex(type, n);
      continue;
    }
    type = i > 1 ? LLVMGetElementType(type) : type;
    LLVMValueRef wide =
        LLVMBuildSExtOrBitCast(s->builder, index, s->types.i64, "");
    LLVMValueRef bytes = LLVMBuildMul(
        s->builder, wide, number(s, LLVMABISizeOfType(s->layout, type)), "");
    sum = LLVMBuildAdd(s->builder, sum, bytes, "");
  }
  return sum;
}

static bool is_step(LLVMValueRef address) {
  return mtlc_is_opcode(address, LLVMGetElementPtr) ||
         (LLVMIsAConstantExpr(address) &&
          LLVMGetConstOpcode(address) == LLVMGetElementPtr);
}

static LLVMValueRef argument(screening *s, uint32_t slot) {
  LLVMTypeRef type = s->types.i32;
  LLVMValueRef operand = u32(s, slot);
  return mtlc_call(
      s->builder,
      declared_pure(s, "mettle.argument", s->types.pointer, &type, 1), &operand,
      1);
}

// i64: from the first byte of the root on.
static LLVMValueRef offset_of(screening *s, const mtlc_root *root,
                              LLVMValueRef address) {
  LLVMValueRef sum = number(s, 0);
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
  LLVMValueRef base =
      root->base ? root->base : argument(s, root->slot);
  LLVMTypeRef i64 = s->types.i64;
  return LLVMBuildSub(s->builder,
                      LLVMBuildPtrToInt(s->builder, address, i64, ""),
                      LLVMBuildPtrToInt(s->builder, base, i64, ""), "");
}

static LLVMValueRef view_at(screening *s, uint32_t slot, LLVMTypeRef type,
                            size_t field) {
  return load_from(s, type, s->views,
                   slot * sizeof(mtli_check_view) + field, true);
}

// --- bounds --------------------------------------------------------------------

// A reference's buffer is as large as its type, or nothing is screened.
static LLVMValueRef limit_of(screening *s, const mtlc_root *root,
                             uint64_t size) {
  if (root->bytes) {
    return number(s, root->bytes >= size ? root->bytes - size + 1 : 0);
  }
  LLVMTypeRef i64 = s->types.i64;
  LLVMValueRef arguments[] = {
      view_at(s, root->slot, i64, offsetof(mtli_check_view, bytes)),
      number(s, size - 1)};
  return mtlc_call_intrinsic(s->builder, "llvm.usub.sat", &i64, 1, arguments,
                             2);
}

// Looks at an offset, or, in counted loops, at its extremes in front of them.
static void look_at_offset(screening *s, const mtlc_root *root,
                           LLVMValueRef access, LLVMValueRef offset,
                           uint64_t size) {
  mtlc_extreme_offsets extremes;
  LLVMValueRef checked[] = {offset, NULL};
  const bool is_hoisted =
      mtlc_extremes(s->flow, s->builder, access, offset, &extremes);
  if (!is_hoisted) {
    go_before(s, access);
  } else {
    checked[0] = extremes.most;
    checked[1] = extremes.least;
    if (extremes.holds) {
      must(s, extremes.holds);
    }
  }
  LLVMValueRef limit = limit_of(s, root, size);
  for (int i = 0; i < 2 && checked[i]; ++i) {
    must(s, LLVMBuildICmp(s->builder, LLVMIntULT, checked[i], limit, ""));
  }
  if (is_hoisted) {
    go_before(s, access);
  }
}

static void look_at_bounds(screening *s, const mtlc_root *root,
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
  mtlc_values_add(&s->inside, number(s, size));
  uint64_t mask = wants(s, MTLI_CHECK_ALIGN) ? align - 1 : 0;
  mask |= is_stamped ? WORD_BYTES - 1 : 0;
  if (mask) {
    LLVMValueRef low = LLVMBuildAnd(s->builder, offset, number(s, mask), "");
    must(s, LLVMBuildICmp(s->builder, LLVMIntEQ, low, number(s, 0), ""));
  }
  look_at_offset(s, root, access, offset, size);
}

static void look_at_member(screening *s, LLVMValueRef address,
                           LLVMValueRef base, uint64_t size) {
  const mtlc_member inside =
      mtlc_find_member(s->builder, s->layout, address);
  if (!inside.base || inside.base == base || inside.bytes < size) {
    return;
  }
  const mtlc_root root = {.base = inside.base};
  must(s, LLVMBuildICmp(s->builder, LLVMIntULE,
                        offset_of(s, &root, address),
                        number(s, inside.bytes - size), ""));
}

// --- stamps --------------------------------------------------------------------

static void stamp_device(screening *s, const mtlc_root *root,
                         mtlc_stamped *it) {
  LLVMTypeRef pointer = s->types.pointer;
  const slot_use *use = &s->slots[root->slot];
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
  it->least = wants(s, MTLI_CHECK_INIT)
                  ? view_at(s, root->slot, s->types.i32,
                            offsetof(mtli_check_view, least))
                  : u32(s, 0);
}

static void stamp_threadgroup(screening *s, LLVMValueRef access,
                              const mtlc_root *root, mtlc_stamped *it) {
  const mtlc_group_use beside = mtlc_interval_use(&s->intervals, access);
  LLVMValueRef *arrays[] = {&it->writes, &it->reads, &it->writes_again,
                            &it->reads_again};
  LLVMValueRef first = LLVMBuildSub(
      s->builder,
      LLVMBuildPtrToInt(s->builder, root->base, s->types.i64, ""), s->memory,
      "");
  for (int i = 0; i < 4; ++i) {
    *arrays[i] = LLVMBuildGEP2(s->builder, s->types.i8, s->group_arrays[i],
                               &first, 1, "");
  }
  it->is_also_read = beside.is_read;
  it->is_also_written = beside.is_written;
  it->floor = LLVMBuildLoad2(s->builder, s->types.i32, s->epoch, "");
  it->own = LLVMBuildAdd(s->builder, it->floor, s->thread, "");
  it->least = wants(s, MTLI_CHECK_INIT) ? s->group_stamp : u32(s, 0);
}

// Memory that nothing in the kernel writes cannot be raced for, and is set:
// else nothing is screened.
static bool is_stamped(const screening *s, const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE:
      return has_stamps(s) && s->slots[root->slot].is_written;
    case MTLI_CHECK_THREADGROUP: return has_stamps(s);
    default: return false;
  }
}

static void look_at_stamps(screening *s, LLVMValueRef access,
                           const mtlc_root *root, LLVMValueRef offset, uint64_t size,
                           mtli_check_access kind) {
  mtlc_stamped it = {.kind = kind,
                     .words = (uint32_t)(size / WORD_BYTES),
                     .offset = offset};
  if (size % WORD_BYTES || it.words > MTLC_MOST_STAMPED_WORDS || !size) {
    refuse(s, "an access of a part of a word");
    return;
  }
  if (root->space == MTLI_CHECK_DEVICE) {
    stamp_device(s, root, &it);
  } else {
    stamp_threadgroup(s, access, root, &it);
  }
  must_later(s, mtlc_stamp(s->kernel, s->builder, &it));
}

// --- private memory -------------------------------------------------------------

static void look_at_private(screening *s, const mtlc_root *root,
                            LLVMValueRef offset, uint64_t size,
                            mtli_check_access kind) {
  LLVMValueRef bytes = s->shadows
                           ? mtlc_private_bytes_of(&s->private_bytes, root->base)
                           : NULL;
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
  must_later(s, LLVMBuildICmp(s->builder, LLVMIntEQ, unset,
                              LLVMConstNull(type), ""));
}

// --- accesses ------------------------------------------------------------------

// True if nothing is asked of such memory.
static bool is_free(const screening *s, const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE:
    case MTLI_CHECK_THREADGROUP: return false;
    case MTLI_CHECK_PRIVATE:
    case MTLI_CHECK_CONSTANT:
      return !root->base || root->bytes == 0 ||
             !wants(s, MTLI_CHECK_BOUNDS | MTLI_CHECK_INIT);
    default: return true;
  }
}

static bool is_known(const mtlc_root *root) {
  switch (root->space) {
    case MTLI_CHECK_DEVICE: return root->slot != MTLI_CHECK_NO_SLOT;
    case MTLI_CHECK_THREADGROUP:
      return root->base &&
             (root->bytes || root->slot != MTLI_CHECK_NO_SLOT);
    case MTLI_CHECK_PRIVATE:
    case MTLI_CHECK_CONSTANT: return root->base && root->bytes;
    default: return false;
  }
}

static void look_at_access(screening *s, LLVMValueRef access, unsigned operand,
                           LLVMTypeRef type, mtli_check_access kind) {
  LLVMValueRef address = LLVMGetOperand(access, operand);
  const mtlc_root root = mtlc_find_root(s->kernel, address);
  go_before(s, access);
  must_be_set(s, address);
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
  if (wants(s, MTLI_CHECK_BOUNDS)) {
    look_at_member(s, address, root.base, size);
  }
  if (stamped) {
    look_at_stamps(s, access, &root, offset, size, kind);
  } else if (root.space == MTLI_CHECK_PRIVATE) {
    look_at_private(s, &root, offset, size, kind);
  }
}

static void look_at_load(screening *s, LLVMValueRef load) {
  const bool is_atomic = LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic;
  look_at_access(s, load, 0, LLVMTypeOf(load),
                 is_atomic ? MTLI_CHECK_ATOMIC_READ : MTLI_CHECK_READ);
}

static void look_at_store(screening *s, LLVMValueRef store) {
  const bool is_atomic = LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic;
  LLVMValueRef value = LLVMGetOperand(store, 0);
  go_before(s, store);
  must_be_set(s, value);
  look_at_access(s, store, 1, LLVMTypeOf(value),
                 is_atomic ? MTLI_CHECK_ATOMIC_WRITE : MTLI_CHECK_WRITE);
}

// --- waits ---------------------------------------------------------------------

// i32: a bit for each.
static LLVMValueRef active_threads(screening *s) {
  LLVMTypeRef i1 = s->types.i1;
  LLVMValueRef yes = LLVMConstInt(i1, 1, false);
  LLVMValueRef function =
      declared(s, "mettle.simd.ballot", s->types.i32, &i1, 1);
  mtlc_set_attribute(function, "convergent", 0);
  mtlc_set_attribute(function, "nounwind", 0);
  return mtlc_call(s->builder, function, &yes, 1);
}

// All threads of the threadgroup come to each barrier: whoever goes on from one
// finds that so many have.
static void look_at_barrier(screening *s, LLVMValueRef barrier) {
  LLVMTypeRef i32 = s->types.i32;
  LLVMValueRef flags = LLVMGetOperand(barrier, 0);
  if (!LLVMIsAConstantInt(flags)) {
    refuse(s, "a barrier whose flags are computed");
    return;
  }
  go_before(s, barrier);
  flush(s);
  LLVMValueRef mask = active_threads(s);
  LLVMValueRef count =
      mtlc_call_intrinsic(s->builder, "llvm.ctpop", &i32, 1, &mask, 1);
  const size_t arrived = offsetof(mtli_check, arrived);
  LLVMBuildStore(
      s->builder,
      LLVMBuildAdd(s->builder, load_from(s, i32, s->check, arrived, false),
                   count, ""),
      mtlc_offset(s->builder, s->check, arrived));
  go_before(s, LLVMGetNextInstruction(barrier));
  LLVMValueRef passed =
      LLVMBuildAdd(s->builder, LLVMBuildLoad2(s->builder, i32, s->passed, ""),
                   s->group_threads, "");
  LLVMBuildStore(s->builder, passed, s->passed);
  if (LLVMConstIntGetZExtValue(flags) & FLAG_THREADGROUP) {
    LLVMBuildStore(s->builder, passed, s->epoch);
  }
  must(s, LLVMBuildICmp(s->builder, LLVMIntUGE,
                        load_from(s, i32, s->check, arrived, false), passed,
                        ""));
}

// A value comes from any lane: all run.
static void look_at_shuffle(screening *s, LLVMValueRef shuffle) {
  go_before(s, shuffle);
  LLVMValueRef mask = active_threads(s);
  must_later(s, LLVMBuildICmp(s->builder, LLVMIntEQ, mask,
                              u32(s, UINT32_MAX), ""));
}

// --- all of it ------------------------------------------------------------------

static bool may_call(const char *name) {
  static const char *const known[] = {
      "llvm.",           "mettle.argument", "mettle.position",
      "mettle.barrier.", "mettle.simd.",    "mettle.screened.",
      "mettle.check.",   MTLC_UNSET_PREFIX, "mettle.math_mode",
      "mettle.constant_defined"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (mtlc_starts_with(name, known[i])) {
      return !mtlc_starts_with(name, "llvm.mem") &&
             !mtlc_starts_with(name, "llvm.trap");
    }
  }
  return false;
}

static void look_at_call(screening *s, LLVMValueRef i) {
  const char *name = mtlc_name(mtlc_callee(i));
  if (mtlc_starts_with(name, "llvm.lifetime.start")) {
    if (s->shadows) {
      mtlc_private_bytes_start(&s->private_bytes, i);
    }
  } else if (strcmp(name, "mettle.barrier.threadgroup") == 0) {
    if (has_waits(s)) {
      look_at_barrier(s, i);
    }
  } else if (mtlc_starts_with(name, "mettle.simd.")) {
    go_before(s, i);
    must_be_set(s, LLVMGetOperand(i, 0));
    if (mtlc_starts_with(name, "mettle.simd.shuffle.") &&
        wants(s, MTLI_CHECK_SYNC | MTLI_CHECK_INIT)) {
      look_at_shuffle(s, i);
    }
  }
}

static void look_at_branch(screening *s, LLVMValueRef branch) {
  if (LLVMIsABranchInst(branch) && LLVMIsConditional(branch)) {
    must_be_set(s, LLVMGetCondition(branch));
  } else if (LLVMIsASwitchInst(branch)) {
    must_be_set(s, LLVMGetOperand(branch, 0));
  }
}

static void look_at(screening *s, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: look_at_load(s, i); return;
    case LLVMStore: look_at_store(s, i); return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
      go_before(s, i);
      for (unsigned k = 1; k < (unsigned)LLVMGetNumOperands(i); ++k) {
        must_be_set(s, LLVMGetOperand(i, k));
      }
      look_at_access(s, i, 0, LLVMTypeOf(LLVMGetOperand(i, 1)),
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

static void look_at_block(screening *s, LLVMBasicBlockRef block) {
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
  go_before(s, end);
  look_at_branch(s, end);
  flush(s);
  free(work.items);
}

// Every block behind those that lead to it, but for the ways back of cycles.
static void look_at_thread(screening *s) {
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

// --- what can be screened ---------------------------------------------------------

static void note_access(screening *s, LLVMValueRef address, bool is_read,
                        bool is_written) {
  const mtlc_root root = mtlc_find_root(s->kernel, address);
  if (root.space == MTLI_CHECK_DEVICE && root.slot != MTLI_CHECK_NO_SLOT) {
    s->slots[root.slot].is_read |= is_read;
    s->slots[root.slot].is_written |= is_written;
  }
  if (!is_known(&root)) {
    refuse(s, "an access of memory that no parameter names");
  }
}

static void note_instruction(LLVMValueRef i, void *context) {
  screening *s = context;
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
      note_access(s, LLVMGetOperand(i, 0), true, false);
      return;
    case LLVMStore:
      note_access(s, LLVMGetOperand(i, 1), false, true);
      return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
      note_access(s, LLVMGetOperand(i, 0), true, true);
      return;
    case LLVMFence: refuse(s, "a fence"); return;
    case LLVMCall:
      if (!mtlc_callee(i) || !may_call(mtlc_name(mtlc_callee(i)))) {
        refuse(s, "a call of another function");
      }
      return;
    default: return;
  }
}

static void look_through(screening *s) {
  const mtli_kernel *kernel = s->kernel->kernel;
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    const mtl_argument_kind kind = kernel->parameters[i].argument.kind;
    if (kernel->parameters[i].builtin == MTLI_BUILTIN_NONE &&
        kind != MTL_ARGUMENT_BUFFER &&
        kind != MTL_ARGUMENT_THREADGROUP_MEMORY) {
      refuse(s, "a parameter that is no buffer");
    }
  }
  if (s->kernel->checks &
      ~(unsigned)(MTLI_CHECK_BOUNDS | MTLI_CHECK_RACES | MTLI_CHECK_INIT |
                  MTLI_CHECK_SYNC | MTLI_CHECK_ALIGN)) {
    refuse(s, "another check is asked for");
  }
  mtlc_for_each_instruction(s->kernel->thread, note_instruction, s);
}

static void screen(screening *s) {
  LLVMTypeRef i1 = s->types.i1;
  LLVMValueRef function =
      declared(s, "mettle.check.must", s->types.nothing, &i1, 1);
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "memory", ITS_OWN_MEMORY);
  mtlc_sites_begin(&s->sites, s->kernel);
  if (wants(s, MTLI_CHECK_INIT)) {
    s->shadows = mtlc_shadows_begin(s->kernel, &s->sites, s->builder);
    mtlc_private_bytes_make(&s->private_bytes, s->kernel, s->builder);
  }
  mtlc_intervals_make(&s->intervals, s->kernel);
  load_all(s);
  look_at_thread(s);
  mtlc_intervals_clear(&s->intervals);
  if (s->shadows) {
    mtlc_shadows_finish(s->shadows);
    mtlc_shadows_end(s->shadows);
  }
  mtlc_sites_end(&s->sites);
}

mtl_status mtlc_screen_accesses(mtlc_kernel *kernel) {
  screening s = {.kernel = kernel,
                 .types = mtlc_types_of(kernel->context),
                 .builder = LLVMCreateBuilderInContext(kernel->context),
                 .layout = LLVMGetModuleDataLayout(kernel->module),
                 .slots = calloc(kernel->kernel->parameter_count + 1,
                                 sizeof *s.slots)};
  if (!s.slots) {
    abort();
  }
  mtlc_drop_unset_stores(kernel);
  look_through(&s);
  if (s.status == MTL_OK) {
    screen(&s);
  }
  mtlc_drop_unset_marks(kernel);
  LLVMDisposeBuilder(s.builder);
  mtlc_private_bytes_clear(&s.private_bytes);
  free(s.inside.items);
  free(s.slots);
  return s.status;
}
