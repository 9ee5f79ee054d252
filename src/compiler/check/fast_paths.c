// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fast_paths.c: functions that find an access clean without a call: inside of
// its memory, aligned, of a word that nobody else has accessed since all that
// is ordered, and set. What they cannot tell, or is not clean, they ask the
// run-time part (src/check/accesses.c), which sees the same cells.
#include <stdio.h>
#include <stdlib.h>

#include "compiler/check/check.h"

_Static_assert(sizeof(mtli_check_cell) == 16, "check_abi.h");
_Static_assert(offsetof(mtli_check_cell, write_site) == 12, "check_abi.h");
_Static_assert(sizeof(mtli_check_view) == 88, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, cells) == 16, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, quarters) == 24, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, coarse) == 32, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, set) == 40, "check_abi.h");
_Static_assert(offsetof(mtli_check, device) == 8, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup) == 16, "check_abi.h");
_Static_assert(offsetof(mtli_check, variable) == 24, "check_abi.h");
_Static_assert(offsetof(mtli_check, settle) == 88, "check_abi.h");
_Static_assert(offsetof(mtli_check, segment) == 96, "check_abi.h");
_Static_assert(offsetof(mtli_check, device_floor) == 104, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_floor) == 112, "check_abi.h");
_Static_assert(offsetof(mtli_check, views) == 120, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_memory) == 128, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_cells) == 136, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_set) == 152, "check_abi.h");

enum {
  CELL_BYTES = 16,
  WORD_BYTES = 4,
  MOST_BYTES = 16,
  ALL_BYTES_READ = 0xf000,  // of a cell's read_site
};

// Parameters of such a function.
enum { CHECK, ADDRESS, SITE, UNSET, BASE, SHADOW, PLACE, PARAMETER_COUNT };

typedef struct emitter {
  mtlc_kernel *kernel;
  const mtlc_fast_access *access;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  LLVMBasicBlockRef slow;
  LLVMValueRef address;  // as a number
  LLVMValueRef offset;   // in what cells and set bytes are of
  // i32, of the checker:
  LLVMValueRef segment;
  LLVMValueRef floor;
  LLVMValueRef shared;
} emitter;

static LLVMValueRef parameter(const emitter *e, unsigned which) {
  return LLVMGetParam(e->function, which);
}

static LLVMValueRef number(const emitter *e, uint64_t value) {
  return mtlc_i64(e->kernel->context, value);
}

static LLVMValueRef at(const emitter *e, LLVMValueRef base, uint64_t offset) {
  return mtlc_offset(e->builder, base, offset);
}

static LLVMValueRef at_number(const emitter *e, LLVMValueRef base,
                              LLVMValueRef offset) {
  return LLVMBuildGEP2(e->builder, e->types.i8, base, &offset, 1, "");
}

static LLVMValueRef load(const emitter *e, LLVMTypeRef type, LLVMValueRef base,
                         uint64_t offset) {
  return LLVMBuildLoad2(e->builder, type, at(e, base, offset), "");
}

// Of the dispatch, so always the same.
static LLVMValueRef load_fixed(const emitter *e, LLVMTypeRef type,
                               LLVMValueRef base, uint64_t offset) {
  LLVMValueRef value = load(e, type, base, offset);
  mtlc_mark_invariant(value);
  return value;
}

static LLVMBasicBlockRef add_block(const emitter *e) {
  return LLVMAppendBasicBlockInContext(e->kernel->context, e->function, "");
}

// Goes on where is_clean, i1, says so.
static void must_be(const emitter *e, LLVMValueRef is_clean) {
  LLVMBasicBlockRef next = add_block(e);
  LLVMBuildCondBr(e->builder, is_clean, next, e->slow);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

static LLVMValueRef compare(const emitter *e, LLVMIntPredicate how,
                            LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildICmp(e->builder, how, a, b, "");
}

static LLVMValueRef both(const emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildAnd(e->builder, a, b, "");
}

static LLVMValueRef one_of(const emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildOr(e->builder, a, b, "");
}

static bool wants(const emitter *e, unsigned checks) {
  return (e->kernel->checks & checks) != 0;
}

// --- bounds --------------------------------------------------------------------

static LLVMValueRef view_of(const emitter *e) {
  LLVMValueRef views =
      load_fixed(e, e->types.pointer, parameter(e, CHECK),
                 offsetof(mtli_check, views));
  LLVMValueRef offset =
      LLVMBuildMul(e->builder, parameter(e, PLACE),
                   number(e, sizeof(mtli_check_view)), "");
  return at_number(e, views, offset);
}

// How many bytes may be accessed.
static LLVMValueRef limit_of(const emitter *e, LLVMValueRef view) {
  const uint64_t object = e->access->object_bytes;
  if (!e->access->has_slot) {
    return number(e, object);
  }
  LLVMValueRef bytes = load_fixed(e, e->types.i64, view,
                                  offsetof(mtli_check_view, bytes));
  if (!object) {
    return bytes;
  }
  LLVMTypeRef i64 = e->types.i64;
  LLVMValueRef arguments[] = {bytes, number(e, object)};
  return mtlc_call_intrinsic(e->builder, "llvm.umin", &i64, 1, arguments, 2);
}

// i1: an offset is inside. One of a multiple of the size never wraps around.
static LLVMValueRef is_inside(const emitter *e, LLVMValueRef view) {
  const uint64_t size = e->access->size_bytes;
  LLVMTypeRef i64 = e->types.i64;
  LLVMValueRef bytes = limit_of(e, view);
  if (wants(e, MTLI_CHECK_ALIGN) && e->access->align_bytes % size == 0 &&
      e->access->space == MTLI_CHECK_DEVICE) {
    LLVMValueRef last =
        LLVMBuildAdd(e->builder, e->offset, number(e, size - 1), "");
    return compare(e, LLVMIntULT, last, bytes);
  }
  LLVMValueRef arguments[] = {bytes, number(e, size - 1)};
  LLVMValueRef limit =
      mtlc_call_intrinsic(e->builder, "llvm.usub.sat", &i64, 1, arguments, 2);
  return compare(e, LLVMIntULT, e->offset, limit);
}

static void check_bounds(emitter *e, LLVMValueRef first, LLVMValueRef view) {
  e->offset = LLVMBuildSub(e->builder, e->address, first, "");
  LLVMValueRef is_clean = is_inside(e, view);
  // Words lie as their cells do, and no part of one reaches into the next.
  uint64_t mask = wants(e, MTLI_CHECK_ALIGN) ? e->access->align_bytes - 1 : 0;
  if (wants(e, MTLI_CHECK_RACES) && e->access->space != MTLI_CHECK_PRIVATE &&
      e->access->space != MTLI_CHECK_CONSTANT) {
    mask |= e->access->size_bytes % WORD_BYTES ? e->access->size_bytes - 1
                                               : WORD_BYTES - 1;
  }
  if (mask) {
    LLVMValueRef low =
        LLVMBuildAnd(e->builder, e->address, number(e, mask), "");
    must_be(e, compare(e, LLVMIntEQ, low, number(e, 0)));
  }
  must_be(e, is_clean);
}

// --- set bytes --------------------------------------------------------------------

static LLVMTypeRef bytes_type(const emitter *e) {
  return LLVMIntTypeInContext(e->kernel->context, 8 * e->access->size_bytes);
}

// Bytes of a value that is read are all as all_set says, else it is slow.
static void check_set(const emitter *e, LLVMValueRef bytes, bool all_set) {
  LLVMTypeRef type = bytes_type(e);
  LLVMValueRef found = LLVMBuildLoad2(e->builder, type, bytes, "");
  LLVMSetAlignment(found, 1);
  must_be(e, compare(e, LLVMIntEQ, found,
                     all_set ? LLVMConstAllOnes(type) : LLVMConstNull(type)));
}

static void write_set(const emitter *e, LLVMValueRef bytes, bool all_set) {
  LLVMTypeRef type = bytes_type(e);
  LLVMValueRef store = LLVMBuildStore(
      e->builder, all_set ? LLVMConstAllOnes(type) : LLVMConstNull(type),
      bytes);
  LLVMSetAlignment(store, 1);
}

static void check_unset_is_zero(const emitter *e) {
  must_be(e, compare(e, LLVMIntEQ, parameter(e, UNSET), number(e, 0)));
}

// Does `what` if there are set bytes.
static void if_any(const emitter *e, LLVMValueRef set,
                   void what(const emitter *, LLVMValueRef, bool)) {
  LLVMBasicBlockRef some = add_block(e), next = add_block(e);
  LLVMBuildCondBr(e->builder,
                  compare(e, LLVMIntEQ, set, LLVMConstNull(e->types.pointer)),
                  next, some);
  LLVMPositionBuilderAtEnd(e->builder, some);
  what(e, at_number(e, set, e->offset), true);
  LLVMBuildBr(e->builder, next);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

// --- cells -------------------------------------------------------------------------

static void load_floors(emitter *e) {
  const bool is_device = e->access->space == MTLI_CHECK_DEVICE;
  const size_t floor = is_device ? offsetof(mtli_check, device_floor)
                                 : offsetof(mtli_check, threadgroup_floor);
  LLVMValueRef check = parameter(e, CHECK);
  e->segment = load(e, e->types.i32, check, offsetof(mtli_check, segment));
  e->floor = load(e, e->types.i32, check, floor);
  e->shared = load(e, e->types.i32, check, floor + sizeof(uint32_t));
}

static void store_at(const emitter *e, LLVMValueRef value, LLVMValueRef to,
                     size_t offset) {
  LLVMBuildStore(e->builder, value, at(e, to, offset));
}

static LLVMValueRef field(const emitter *e, LLVMValueRef cell, size_t offset) {
  return load(e, e->types.i32, cell, offset);
}

// Goes on here if is_likely, i1, else elsewhere.
static void go_on_if(const emitter *e, LLVMValueRef is_likely,
                     LLVMBasicBlockRef elsewhere) {
  LLVMBasicBlockRef next = add_block(e);
  LLVMBuildCondBr(e->builder, is_likely, next, elsewhere);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

// Segment, of a cell, is ordered before the running one, or is it and, if it
// has to be, no atomic's; else it is slow.
static void must_be_past(const emitter *e, LLVMValueRef segment,
                         LLVMValueRef cell, bool is_plain_write) {
  LLVMBasicBlockRef other = add_block(e), next = add_block(e);
  LLVMBuildCondBr(e->builder, compare(e, LLVMIntULT, segment, e->floor), next,
                  other);
  LLVMPositionBuilderAtEnd(e->builder, other);
  LLVMValueRef is_clean = compare(e, LLVMIntEQ, segment, e->segment);
  if (is_plain_write) {
    LLVMValueRef site =
        load(e, e->types.i16, cell, offsetof(mtli_check_cell, write_site));
    is_clean = both(
        e, is_clean,
        compare(e, LLVMIntSGE, site, LLVMConstNull(e->types.i16)));
  }
  LLVMBuildCondBr(e->builder, is_clean, next, e->slow);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

static void check_written(const emitter *e, LLVMValueRef cell) {
  static const size_t fields[] = {offsetof(mtli_check_cell, write),
                                  offsetof(mtli_check_cell, read),
                                  offsetof(mtli_check_cell, other_read)};
  for (int i = 0; i < 3; ++i) {
    must_be_past(e, field(e, cell, fields[i]), cell, false);
  }
}

static void note_write(const emitter *e, LLVMValueRef cell) {
  LLVMValueRef site =
      LLVMBuildZExt(e->builder, parameter(e, SITE), e->types.i64, "");
  store_at(e, LLVMBuildZExt(e->builder, e->segment, e->types.i64, ""), cell,
           offsetof(mtli_check_cell, write));
  store_at(e, LLVMBuildShl(e->builder, site, number(e, 32), ""), cell,
           offsetof(mtli_check_cell, other_read));
}

// As look_at_read of src/check/races.c has it: the first of two reads that
// nothing orders, the second, or one of more. bytes: i16, as in read_site.
static void check_read(const emitter *e, LLVMValueRef cell,
                       LLVMValueRef bytes) {
  LLVMBasicBlockRef taken = add_block(e), done = add_block(e),
                    others = add_block(e), third = add_block(e),
                    known = add_block(e);
  must_be_past(e, field(e, cell, offsetof(mtli_check_cell, write)), cell, true);
  LLVMValueRef read = field(e, cell, offsetof(mtli_check_cell, read));
  LLVMValueRef other = field(e, cell, offsetof(mtli_check_cell, other_read));
  LLVMValueRef is_other_free = compare(e, LLVMIntULT, other, e->floor);
  go_on_if(e, compare(e, LLVMIntULT, read, e->floor), taken);
  must_be(e, is_other_free);
  LLVMValueRef site =
      LLVMBuildTrunc(e->builder, parameter(e, SITE), e->types.i16, "");
  store_at(e, e->segment, cell, offsetof(mtli_check_cell, read));
  store_at(e, one_of(e, site, bytes), cell,
           offsetof(mtli_check_cell, read_site));
  LLVMBuildBr(e->builder, done);
  // Somebody else's, or its own, of the same bytes at least.
  LLVMPositionBuilderAtEnd(e->builder, taken);
  LLVMValueRef had =
      load(e, e->types.i16, cell, offsetof(mtli_check_cell, read_site));
  must_be(e, compare(e, LLVMIntEQ,
                     LLVMBuildAnd(e->builder, had, bytes, ""), bytes));
  LLVMBuildCondBr(e->builder, compare(e, LLVMIntEQ, read, e->segment), done,
                  others);
  LLVMPositionBuilderAtEnd(e->builder, others);
  must_be(e, compare(e, LLVMIntUGE, read, e->shared));
  LLVMBuildCondBr(e->builder, is_other_free, known, third);
  LLVMPositionBuilderAtEnd(e->builder, known);
  store_at(e, e->segment, cell, offsetof(mtli_check_cell, other_read));
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, third);
  LLVMBuildCondBr(e->builder, compare(e, LLVMIntUGE, other, e->shared), done,
                  e->slow);
  LLVMPositionBuilderAtEnd(e->builder, done);
}

// Looks at count cells, and notes the access in them. A read may be noted in
// some of them and then be slow: it is looked at once more there.
static void check_cells(const emitter *e, LLVMValueRef cells, unsigned count,
                        LLVMValueRef bytes) {
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef cell = at(e, cells, (uint64_t)CELL_BYTES * i);
    if (e->access->is_write) {
      check_written(e, cell);
    } else {
      check_read(e, cell, bytes);
    }
  }
  for (unsigned i = 0; e->access->is_write && i < count; ++i) {
    note_write(e, at(e, cells, (uint64_t)CELL_BYTES * i));
  }
}

static LLVMValueRef all_bytes(const emitter *e) {
  return LLVMConstInt(e->types.i16, ALL_BYTES_READ, false);
}

// The cell of the word at or around the offset.
static LLVMValueRef word_cell(const emitter *e, LLVMValueRef cells) {
  LLVMValueRef word = LLVMBuildAnd(e->builder, e->offset,
                                   number(e, ~(uint64_t)(WORD_BYTES - 1)), "");
  return at_number(
      e, cells,
      LLVMBuildMul(e->builder, word, number(e, CELL_BYTES / WORD_BYTES), ""));
}

// A part of a word whose bytes have cells of their own.
static void check_quarters(const emitter *e, LLVMValueRef cells,
                           LLVMValueRef quarters) {
  LLVMValueRef word = word_cell(e, cells);
  LLVMValueRef write = load(e, e->types.i32, word, 0);
  must_be(e, compare(e, LLVMIntEQ, write,
                     mtlc_i32(e->kernel->context, MTLI_CHECK_SPLIT)));
  LLVMValueRef first = at_number(
      e, quarters,
      LLVMBuildMul(e->builder, e->offset, number(e, CELL_BYTES), ""));
  check_cells(e, first, e->access->size_bytes, all_bytes(e));
}

// A read of a part of a word that counts for the word.
static void check_coarse(const emitter *e, LLVMValueRef cells) {
  LLVMTypeRef i16 = e->types.i16;
  LLVMValueRef within = LLVMBuildAnd(
      e->builder, LLVMBuildTrunc(e->builder, e->offset, i16, ""),
      LLVMConstInt(i16, WORD_BYTES - 1, false), "");
  LLVMValueRef bytes = LLVMBuildShl(
      e->builder,
      LLVMConstInt(i16, ((1u << e->access->size_bytes) - 1) << 12, false),
      within, "");
  check_cells(e, word_cell(e, cells), 1, bytes);
}

static void check_device_part(const emitter *e, LLVMValueRef view) {
  LLVMValueRef cells = load_fixed(e, e->types.pointer, view,
                                  offsetof(mtli_check_view, cells));
  LLVMValueRef quarters = load_fixed(e, e->types.pointer, view,
                                     offsetof(mtli_check_view, quarters));
  if (e->access->is_write) {
    check_quarters(e, cells, quarters);
    return;
  }
  LLVMValueRef coarse = load_fixed(e, e->types.pointer, view,
                                   offsetof(mtli_check_view, coarse));
  LLVMBasicBlockRef whole = add_block(e), parts = add_block(e),
                    next = add_block(e);
  LLVMBuildCondBr(
      e->builder,
      compare(e, LLVMIntEQ, coarse, LLVMConstNull(e->types.pointer)), parts,
      whole);
  LLVMPositionBuilderAtEnd(e->builder, whole);
  check_coarse(e, coarse);
  LLVMBuildBr(e->builder, next);
  LLVMPositionBuilderAtEnd(e->builder, parts);
  check_quarters(e, cells, quarters);
  LLVMBuildBr(e->builder, next);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

static void check_device_races(emitter *e, LLVMValueRef view) {
  load_floors(e);
  if (e->access->size_bytes % WORD_BYTES) {
    check_device_part(e, view);
    return;
  }
  LLVMValueRef cells = load_fixed(e, e->types.pointer, view,
                                  offsetof(mtli_check_view, cells));
  check_cells(e, word_cell(e, cells), e->access->size_bytes / WORD_BYTES,
              all_bytes(e));
}

static void check_threadgroup_races(emitter *e) {
  load_floors(e);
  LLVMValueRef check = parameter(e, CHECK);
  LLVMValueRef cells = load(e, e->types.pointer, check,
                            offsetof(mtli_check, threadgroup_cells));
  if (e->access->size_bytes % WORD_BYTES) {
    check_quarters(e, cells,
                   load(e, e->types.pointer, check,
                        offsetof(mtli_check, threadgroup_quarters)));
    return;
  }
  check_cells(e, word_cell(e, cells), e->access->size_bytes / WORD_BYTES,
              all_bytes(e));
}

// --- the kinds of memory ---------------------------------------------------------------

static void check_device(emitter *e) {
  LLVMValueRef view = view_of(e);
  check_bounds(e, load_fixed(e, e->types.i64, view, 0), view);
  LLVMValueRef set = NULL;
  if (wants(e, MTLI_CHECK_INIT)) {
    set = load_fixed(e, e->types.pointer, view, offsetof(mtli_check_view, set));
    if (e->access->is_write) {
      check_unset_is_zero(e);
    } else {
      if_any(e, set, check_set);
    }
  }
  if (wants(e, MTLI_CHECK_RACES)) {
    check_device_races(e, view);
  }
  if (set && e->access->is_write) {
    if_any(e, set, write_set);
  }
}

static LLVMValueRef base_number(const emitter *e) {
  return LLVMBuildPtrToInt(e->builder, parameter(e, BASE), e->types.i64, "");
}

static void check_threadgroup(emitter *e) {
  LLVMValueRef view = e->access->has_slot ? view_of(e) : NULL;
  check_bounds(e, base_number(e), view);
  LLVMValueRef check = parameter(e, CHECK);
  LLVMValueRef memory = load(e, e->types.i64, check,
                             offsetof(mtli_check, threadgroup_memory));
  e->offset = LLVMBuildSub(e->builder, e->address, memory, "");
  LLVMValueRef set = NULL;
  if (wants(e, MTLI_CHECK_INIT)) {
    set = at_number(e,
                    load(e, e->types.pointer, check,
                         offsetof(mtli_check, threadgroup_set)),
                    e->offset);
    if (e->access->is_write) {
      check_unset_is_zero(e);
    } else {
      check_set(e, set, true);
    }
  }
  if (wants(e, MTLI_CHECK_RACES)) {
    check_threadgroup_races(e);
  }
  if (set && e->access->is_write) {
    write_set(e, set, true);
  }
}

static void check_variable(emitter *e) {
  check_bounds(e, base_number(e), NULL);
  if (!e->access->has_shadow) {
    return;
  }
  LLVMValueRef bytes = at_number(e, parameter(e, SHADOW), e->offset);
  if (e->access->is_write) {
    check_unset_is_zero(e);
    write_set(e, bytes, false);
  } else {
    check_set(e, bytes, false);
  }
}

// --- the function ----------------------------------------------------------------------

static LLVMValueRef ask(const emitter *e) {
  const mtli_check_space space = e->access->space;
  const bool is_device = space == MTLI_CHECK_DEVICE;
  const size_t slot =
      is_device                         ? offsetof(mtli_check, device)
      : space == MTLI_CHECK_THREADGROUP ? offsetof(mtli_check, threadgroup)
                                        : offsetof(mtli_check, variable);
  LLVMValueRef arguments[] = {parameter(e, CHECK), parameter(e, ADDRESS),
                              parameter(e, SITE),  parameter(e, UNSET),
                              parameter(e, BASE),  parameter(e, SHADOW)};
  LLVMTypeRef parameters[6];
  for (int i = 0; i < 6; ++i) {
    parameters[i] = LLVMTypeOf(arguments[i]);
  }
  const unsigned count = is_device ? 4 : 6;
  LLVMValueRef function =
      load_fixed(e, e->types.pointer, parameter(e, CHECK), slot);
  LLVMValueRef result = LLVMBuildCall2(
      e->builder,
      LLVMFunctionType(e->types.pointer, parameters, count, false), function,
      arguments, count, "");
  LLVMAddCallSiteAttribute(
      result, LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(e->kernel->context,
                              LLVMGetEnumAttributeKindForName("cold", 4), 0));
  return result;
}

static void add_result(const emitter *e) {
  LLVMBasicBlockRef done = add_block(e);
  LLVMBuildBr(e->builder, done);
  LLVMBasicBlockRef from_clean = LLVMGetInsertBlock(e->builder);
  LLVMPositionBuilderAtEnd(e->builder, e->slow);
  LLVMValueRef asked = ask(e);
  LLVMValueRef unset = load(e, e->types.i64, parameter(e, CHECK), 0);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, done);
  LLVMBasicBlockRef blocks[] = {from_clean, e->slow};
  LLVMValueRef addresses[] = {parameter(e, ADDRESS), asked};
  LLVMValueRef unsets[] = {number(e, 0), unset};
  LLVMValueRef address = LLVMBuildPhi(e->builder, e->types.pointer, "");
  LLVMValueRef bits = LLVMBuildPhi(e->builder, e->types.i64, "");
  LLVMAddIncoming(address, addresses, blocks, 2);
  LLVMAddIncoming(bits, unsets, blocks, 2);
  LLVMValueRef both_values[] = {address, bits};
  LLVMBuildAggregateRet(e->builder, both_values, 2);
}

static LLVMTypeRef function_type(const mtlc_types *types,
                                 LLVMContextRef context) {
  LLVMTypeRef fields[] = {types->pointer, types->i64};
  LLVMTypeRef parameters[PARAMETER_COUNT] = {
      [CHECK] = types->pointer, [ADDRESS] = types->pointer,
      [SITE] = types->i32,      [UNSET] = types->i64,
      [BASE] = types->pointer,  [SHADOW] = types->pointer,
      [PLACE] = types->i64};
  return LLVMFunctionType(LLVMStructTypeInContext(context, fields, 2, false),
                          parameters, PARAMETER_COUNT, false);
}

static LLVMValueRef make_function(mtlc_kernel *kernel, const char *name,
                                  const mtlc_fast_access *access,
                                  bool is_inline) {
  emitter e = {.kernel = kernel,
               .access = access,
               .types = mtlc_types_of(kernel->context),
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  e.function = LLVMAddFunction(kernel->module, name,
                               function_type(&e.types, kernel->context));
  LLVMSetLinkage(e.function, LLVMInternalLinkage);
  mtlc_set_attribute(e.function, "nounwind", 0);
  mtlc_set_attribute(e.function, is_inline ? "alwaysinline" : "noinline", 0);
  LLVMBasicBlockRef enter = add_block(&e);
  e.slow = add_block(&e);
  LLVMPositionBuilderAtEnd(e.builder, enter);
  e.address = LLVMBuildPtrToInt(e.builder, parameter(&e, ADDRESS),
                                e.types.i64, "");
  switch (access->space) {
    case MTLI_CHECK_DEVICE: check_device(&e); break;
    case MTLI_CHECK_THREADGROUP: check_threadgroup(&e); break;
    default: check_variable(&e); break;
  }
  add_result(&e);
  LLVMDisposeBuilder(e.builder);
  return e.function;
}

// What has a fast path: whole words, and parts that lie in one.
static bool is_plain(const mtlc_kernel *kernel, const mtlc_fast_access *a) {
  const uint32_t size = a->size_bytes;
  const bool is_size = size == 1 || size == 2 ||
                       (size % WORD_BYTES == 0 && size <= MOST_BYTES && size);
  switch (a->space) {
    case MTLI_CHECK_DEVICE: return a->has_slot && is_size;
    case MTLI_CHECK_THREADGROUP:
      return (a->has_slot || a->object_bytes) && is_size;
    case MTLI_CHECK_PRIVATE:
      return a->object_bytes > 0 &&
             (!(kernel->checks & MTLI_CHECK_INIT) ||
              (size > 0 && size <= 4 * MOST_BYTES));
    case MTLI_CHECK_CONSTANT: return a->object_bytes > 0;
    default: return false;
  }
}

LLVMValueRef mtlc_fast_path(mtlc_kernel *kernel, const mtlc_fast_access *access,
                            bool is_inline) {
  if (!is_plain(kernel, access)) {
    return NULL;
  }
  char name[128];
  snprintf(name, sizeof name, MTLC_FAST_PATH_PREFIX "%u.%u.%u.%u.%u.%u.%llu",
           (unsigned)access->space, access->is_write, access->size_bytes,
           access->align_bytes, access->has_slot, access->has_shadow,
           (unsigned long long)access->object_bytes);
  LLVMValueRef function = LLVMGetNamedFunction(kernel->module, name);
  return function ? function
                  : make_function(kernel, name, access, is_inline);
}
