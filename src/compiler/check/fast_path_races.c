// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fast_path_races.c: finds an access free of races by the cells of its words:
// no other thread has accessed them since something ordered it before. The
// access is noted there as src/check/races.c would.
#include "compiler/check/fast_path.h"

_Static_assert(sizeof(mtli_check_cell) == 16, "check_abi.h");
_Static_assert(offsetof(mtli_check_cell, write_site) == 12, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, cells) == 16, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, coarse) == 24, "check_abi.h");
_Static_assert(offsetof(mtli_check, segment) == 96, "check_abi.h");
_Static_assert(offsetof(mtli_check, device_floor) == 104, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_floor) == 112, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_cells) == 136, "check_abi.h");
_Static_assert(offsetof(mtli_check, part) == 144, "check_abi.h");

enum {
  CELL_BYTES = 16,
  ALL_BYTES_READ = 0xf000,  // of a cell's read_site
};

static void load_floors(mtlc_fast_path_code *e) {
  const bool is_device = e->access->space == MTLI_CHECK_DEVICE;
  const size_t floor = is_device ? offsetof(mtli_check, device_floor)
                                 : offsetof(mtli_check, threadgroup_floor);
  LLVMValueRef check = mtlc_fast_parameter(e, MTLC_FAST_CHECK);
  e->segment =
      mtlc_fast_load(e, e->types.i32, check, offsetof(mtli_check, segment));
  e->floor = mtlc_fast_load(e, e->types.i32, check, floor);
  e->shared = mtlc_fast_load(e, e->types.i32, check, floor + sizeof(uint32_t));
}

static void store_at(const mtlc_fast_path_code *e, LLVMValueRef value,
                     LLVMValueRef to, size_t offset) {
  LLVMBuildStore(e->builder, value, mtlc_fast_at(e, to, offset));
}

static LLVMValueRef field(const mtlc_fast_path_code *e, LLVMValueRef cell,
                          size_t offset) {
  return mtlc_fast_load(e, e->types.i32, cell, offset);
}

// Continues if a cell's segment is ordered before the running one, or is the
// running one. With is_plain_write, the running segment's write must not be an
// atomic's.
static void must_be_past(const mtlc_fast_path_code *e, LLVMValueRef segment,
                         LLVMValueRef cell, bool is_plain_write) {
  LLVMBasicBlockRef other = mtlc_fast_add_block(e),
                    next = mtlc_fast_add_block(e);
  LLVMBuildCondBr(e->builder,
                  mtlc_fast_compare(e, LLVMIntULT, segment, e->floor), next,
                  other);
  LLVMPositionBuilderAtEnd(e->builder, other);
  LLVMValueRef is_clean = mtlc_fast_compare(e, LLVMIntEQ, segment, e->segment);
  if (is_plain_write) {
    LLVMValueRef site = mtlc_fast_load(e, e->types.i16, cell,
                                       offsetof(mtli_check_cell, write_site));
    is_clean = mtlc_fast_and(
        e, is_clean,
        mtlc_fast_compare(e, LLVMIntSGE, site, LLVMConstNull(e->types.i16)));
  }
  LLVMBuildCondBr(e->builder, is_clean, next, e->slow);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

static void check_written(const mtlc_fast_path_code *e, LLVMValueRef cell) {
  static const size_t fields[] = {offsetof(mtli_check_cell, write),
                                  offsetof(mtli_check_cell, read),
                                  offsetof(mtli_check_cell, other_read)};
  for (int i = 0; i < 3; ++i) {
    must_be_past(e, field(e, cell, fields[i]), cell, false);
  }
}

static void note_write(const mtlc_fast_path_code *e, LLVMValueRef cell) {
  LLVMValueRef site = LLVMBuildZExt(
      e->builder, mtlc_fast_parameter(e, MTLC_FAST_SITE), e->types.i64, "");
  store_at(e, LLVMBuildZExt(e->builder, e->segment, e->types.i64, ""), cell,
           offsetof(mtli_check_cell, write));
  store_at(e, LLVMBuildShl(e->builder, site, mtlc_fast_i64(e, 32), ""), cell,
           offsetof(mtli_check_cell, other_read));
}

// Tests and notes a read, as look_at_read of src/check/races.c does. A cell
// names up to two unordered readers and counts further ones as shared.
//
//   bytes  i16: the bytes that are read, as in read_site
static void check_read(const mtlc_fast_path_code *e, LLVMValueRef cell,
                       LLVMValueRef bytes) {
  LLVMBasicBlockRef taken = mtlc_fast_add_block(e),
                    done = mtlc_fast_add_block(e),
                    others = mtlc_fast_add_block(e),
                    third = mtlc_fast_add_block(e),
                    known = mtlc_fast_add_block(e);
  must_be_past(e, field(e, cell, offsetof(mtli_check_cell, write)), cell, true);
  LLVMValueRef read = field(e, cell, offsetof(mtli_check_cell, read));
  LLVMValueRef other = field(e, cell, offsetof(mtli_check_cell, other_read));
  LLVMValueRef site = LLVMBuildTrunc(
      e->builder, mtlc_fast_parameter(e, MTLC_FAST_SITE), e->types.i16, "");
  LLVMValueRef is_other_free =
      mtlc_fast_compare(e, LLVMIntULT, other, e->floor);
  mtlc_fast_go_on_if(e, mtlc_fast_compare(e, LLVMIntULT, read, e->floor),
                     taken);
  mtlc_fast_must(e, is_other_free);
  store_at(e, e->segment, cell, offsetof(mtli_check_cell, read));
  store_at(e, LLVMBuildOr(e->builder, site, bytes, ""), cell,
           offsetof(mtli_check_cell, read_site));
  LLVMBuildBr(e->builder, done);
  // A segment has read here: it must have read at least these bytes.
  LLVMPositionBuilderAtEnd(e->builder, taken);
  LLVMValueRef had = mtlc_fast_load(e, e->types.i16, cell,
                                    offsetof(mtli_check_cell, read_site));
  mtlc_fast_must(
      e, mtlc_fast_compare(e, LLVMIntEQ,
                           LLVMBuildAnd(e->builder, had, bytes, ""), bytes));
  LLVMBuildCondBr(e->builder, mtlc_fast_compare(e, LLVMIntEQ, read, e->segment),
                  done, others);
  LLVMPositionBuilderAtEnd(e->builder, others);
  mtlc_fast_must(e, mtlc_fast_compare(e, LLVMIntUGE, read, e->shared));
  LLVMBuildCondBr(e->builder, is_other_free, known, third);
  // A second read from the same place.
  LLVMPositionBuilderAtEnd(e->builder, known);
  LLVMValueRef had_site = LLVMBuildAnd(
      e->builder, had,
      LLVMConstInt(e->types.i16, (uint16_t)~ALL_BYTES_READ, false), "");
  mtlc_fast_must(e, mtlc_fast_compare(e, LLVMIntEQ, had_site, site));
  store_at(e, e->segment, cell, offsetof(mtli_check_cell, other_read));
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, third);
  LLVMBuildCondBr(e->builder,
                  mtlc_fast_compare(e, LLVMIntUGE, other, e->shared), done,
                  e->slow);
  LLVMPositionBuilderAtEnd(e->builder, done);
}

// Tests count cells and notes the access in them. A read that fails in a later
// cell is already noted in the earlier ones; the run-time part tests it again.
static void check_cells(const mtlc_fast_path_code *e, LLVMValueRef cells,
                        unsigned count, LLVMValueRef bytes) {
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef cell = mtlc_fast_at(e, cells, (uint64_t)CELL_BYTES * i);
    if (e->access->is_write) {
      check_written(e, cell);
    } else {
      check_read(e, cell, bytes);
    }
  }
  for (unsigned i = 0; e->access->is_write && i < count; ++i) {
    note_write(e, mtlc_fast_at(e, cells, (uint64_t)CELL_BYTES * i));
  }
}

static LLVMValueRef all_bytes(const mtlc_fast_path_code *e) {
  return LLVMConstInt(e->types.i16, ALL_BYTES_READ, false);
}

// Returns the cell of the word that contains the offset.
static LLVMValueRef word_cell(const mtlc_fast_path_code *e,
                              LLVMValueRef cells) {
  LLVMValueRef word =
      LLVMBuildAnd(e->builder, e->offset,
                   mtlc_fast_i64(e, ~(uint64_t)(MTLC_WORD_BYTES - 1)), "");
  return mtlc_fast_at_number(
      e, cells,
      LLVMBuildMul(e->builder, word,
                   mtlc_fast_i64(e, CELL_BYTES / MTLC_WORD_BYTES), ""));
}

// Tests an access of a part of a word, whose bytes may have been accessed by
// different threads: a call.
static void check_part(const mtlc_fast_path_code *e, LLVMValueRef cells) {
  LLVMTypeRef i32 = e->types.i32;
  LLVMValueRef check = mtlc_fast_parameter(e, MTLC_FAST_CHECK);
  LLVMValueRef first =
      LLVMBuildAnd(e->builder, LLVMBuildTrunc(e->builder, e->offset, i32, ""),
                   LLVMConstInt(i32, MTLC_WORD_BYTES - 1, false), "");
  LLVMValueRef end = LLVMBuildAdd(
      e->builder, first, LLVMConstInt(i32, e->access->size_bytes, false), "");
  const unsigned flags =
      (e->access->is_write ? MTLI_CHECK_PART_WRITE : 0) |
      (e->access->space == MTLI_CHECK_THREADGROUP ? MTLI_CHECK_PART_THREADGROUP
                                                  : 0);
  LLVMValueRef arguments[] = {check,
                              word_cell(e, cells),
                              first,
                              end,
                              LLVMConstInt(i32, flags, false),
                              mtlc_fast_parameter(e, MTLC_FAST_SITE)};
  LLVMTypeRef parameters[] = {
      e->types.pointer, e->types.pointer, i32, i32, i32, i32};
  LLVMValueRef function = mtlc_fast_load_fixed(e, e->types.pointer, check,
                                               offsetof(mtli_check, part));
  LLVMValueRef is_clean =
      LLVMBuildCall2(e->builder, LLVMFunctionType(i32, parameters, 6, false),
                     function, arguments, 6, "");
  mtlc_fast_must(e,
                 mtlc_fast_compare(e, LLVMIntNE, is_clean, LLVMConstNull(i32)));
}

// Tests a read of a part of a word whose bytes share the word's cell.
static void check_coarse(const mtlc_fast_path_code *e, LLVMValueRef cells) {
  LLVMTypeRef i16 = e->types.i16;
  LLVMValueRef within =
      LLVMBuildAnd(e->builder, LLVMBuildTrunc(e->builder, e->offset, i16, ""),
                   LLVMConstInt(i16, MTLC_WORD_BYTES - 1, false), "");
  LLVMValueRef bytes = LLVMBuildShl(
      e->builder,
      LLVMConstInt(i16, ((1u << e->access->size_bytes) - 1) << 12, false),
      within, "");
  check_cells(e, word_cell(e, cells), 1, bytes);
}

static void check_device_part(const mtlc_fast_path_code *e, LLVMValueRef view) {
  LLVMValueRef cells = mtlc_fast_load_fixed(e, e->types.pointer, view,
                                            offsetof(mtli_check_view, cells));
  if (e->access->is_write) {
    check_part(e, cells);
    return;
  }
  LLVMValueRef coarse = mtlc_fast_load_fixed(e, e->types.pointer, view,
                                             offsetof(mtli_check_view, coarse));
  LLVMBasicBlockRef whole = mtlc_fast_add_block(e),
                    parts = mtlc_fast_add_block(e),
                    next = mtlc_fast_add_block(e);
  LLVMBuildCondBr(
      e->builder,
      mtlc_fast_compare(e, LLVMIntEQ, coarse, LLVMConstNull(e->types.pointer)),
      parts, whole);
  LLVMPositionBuilderAtEnd(e->builder, whole);
  check_coarse(e, coarse);
  LLVMBuildBr(e->builder, next);
  LLVMPositionBuilderAtEnd(e->builder, parts);
  check_part(e, cells);
  LLVMBuildBr(e->builder, next);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

void mtlc_fast_device_races(mtlc_fast_path_code *e, LLVMValueRef view) {
  load_floors(e);
  if (e->access->size_bytes % MTLC_WORD_BYTES) {
    check_device_part(e, view);
    return;
  }
  LLVMValueRef cells = mtlc_fast_load_fixed(e, e->types.pointer, view,
                                            offsetof(mtli_check_view, cells));
  check_cells(e, word_cell(e, cells), e->access->size_bytes / MTLC_WORD_BYTES,
              all_bytes(e));
}

void mtlc_fast_threadgroup_races(mtlc_fast_path_code *e) {
  load_floors(e);
  LLVMValueRef check = mtlc_fast_parameter(e, MTLC_FAST_CHECK);
  LLVMValueRef cells = mtlc_fast_load(e, e->types.pointer, check,
                                      offsetof(mtli_check, threadgroup_cells));
  if (e->access->size_bytes % MTLC_WORD_BYTES) {
    check_part(e, cells);
    return;
  }
  check_cells(e, word_cell(e, cells), e->access->size_bytes / MTLC_WORD_BYTES,
              all_bytes(e));
}
