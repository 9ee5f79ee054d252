// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.c: finds several loads or stores of a block that access adjacent
// elements for each lane, where lanes may be anywhere in memory: a row of a
// matrix, a structure chosen by an index, a float4.
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/prepare/hoist_loads.h"

enum {
  FARTHEST = 1000,  // instructions searched after an access
  LEAST_RUN = 4,
};

// --- What lies beside an access ----------------------------------------------

// True if components are numbers of whole bytes.
static bool is_whole(const lanes_access *a) {
  return LLVMGetTypeKind(a->type) != LLVMPointerTypeKind &&
         a->element == a->type && a->pitch_bytes == a->size_bytes &&
         a->size_bytes <= 8 &&
         a->count * a->size_bytes <= LANES_LANE_VECTOR_BYTES;
}

static int64_t end_of(const lanes_lane_vector_member *m) {
  return m->start + (int64_t)(m->access.count * m->access.size_bytes);
}

static bool add(lanes_planning *p, lanes_lane_vector *row,
                LLVMValueRef instruction, LLVMValueRef pointer,
                LLVMTypeRef type) {
  lanes_affine at;
  lanes_affine_find(p->values, pointer, &at);
  if (!lanes_affine_like(&row->at, &at) ||
      row->member_count == LANES_LANE_VECTOR_MEMBERS) {
    return false;
  }
  lanes_lane_vector_member m = {
      .access = lanes_access_of(p->values, instruction, pointer, type),
      .constant = at.constant,
      .bytes = at.bytes};
  const int64_t far = (int64_t)LANES_LANE_VECTOR_BYTES;
  const int64_t apart = at.constant - row->at.constant;
  m.start = lanes_affine_distance(&row->at, &at);
  const bool is_near = apart > -far && apart < far && m.start > -far &&
                       m.start < far && is_whole(&m.access);
  if (is_near) {
    row->members[row->member_count++] = m;
  }
  return is_near;
}

// Collects the loads near an access's address, itself first, up to the next
// write that may change that memory.
static void collect_loads(lanes_planning *p, const lanes_access *a,
                          lanes_lane_vector *row) {
  lanes_affine_find(p->values, a->pointer, &row->at);
  LLVMValueRef i = a->instruction;
  for (uint32_t n = 0; n < FARTHEST && i && !lanes_may_change(i, a->pointer);
       n++, i = LLVMGetNextInstruction(i)) {
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
    if (LLVMGetInstructionOpcode(i) == LLVMLoad && kind != LLVMStructTypeKind &&
        kind != LLVMArrayTypeKind &&
        lanes_width_of(lanes_shape_of(p->values, i)) == p->values->lanes &&
        !p->ahead[lanes_map_get(&p->values->numbers, i)]) {
      add(p, row, i, LLVMGetOperand(i, 0), LLVMTypeOf(i));
    }
  }
}

// True if members read all bytes from first to before end.
static bool is_covered(const lanes_lane_vector *row, int64_t first,
                       int64_t end) {
  for (int64_t at = first; at < end; at++) {
    bool any = false;
    for (uint32_t i = 0; i < row->member_count && !any; i++) {
      any = row->members[i].start <= at && at < end_of(&row->members[i]);
    }
    if (!any) {
      return false;
    }
  }
  return true;
}

static bool is_inside(const lanes_lane_vector *row,
                      const lanes_lane_vector_member *m) {
  const uint64_t size = m->access.size_bytes;
  return m->start >= 0 && end_of(m) <= row->bytes &&
         m->start %
                 (int64_t)(size < LANES_WORD_BYTES ? size : LANES_WORD_BYTES) ==
             0;
}

static void choose_members(lanes_lane_vector *row) {
  const lanes_lane_vector_member own = row->members[0];
  int64_t first = own.start;
  for (uint32_t i = 0; i < row->member_count; i++) {
    const int64_t start = row->members[i].start;
    if (start < first && end_of(&own) - start <= LANES_LANE_VECTOR_BYTES &&
        is_covered(row, start, own.start)) {
      first = start;
    }
  }
  while (row->bytes < LANES_LANE_VECTOR_BYTES &&
         is_covered(row, first + row->bytes,
                    first + row->bytes + LANES_WORD_BYTES)) {
    row->bytes += LANES_WORD_BYTES;
  }
  uint32_t kept = 0;
  row->at.bytes += first;  // and for constants, see below
  int64_t least = own.constant;
  row->most_constant = own.constant;
  for (uint32_t i = 0; i < row->member_count; i++) {
    lanes_lane_vector_member m = row->members[i];
    m.start -= first;
    if (is_inside(row, &m)) {
      least = m.constant < least ? m.constant : least;
      row->most_constant =
          m.constant > row->most_constant ? m.constant : row->most_constant;
      row->alignment = kept == 0 || m.access.alignment < row->alignment
                           ? m.access.alignment
                           : row->alignment;
      row->members[kept++] = m;
    }
  }
  row->member_count = kept;
  row->at.bytes -= (least - own.constant) * (int64_t)row->at.scale;
  row->at.constant = least;
}

// Returns how many gathers of words and longs it takes to read that many bytes
// of each lane. 16 bytes are one load a lane and some shuffles.
static uint32_t cost_of(uint32_t bytes) {
  const uint32_t rest = bytes % LANES_UNIT_BYTES;
  return bytes / LANES_UNIT_BYTES * 2 + rest / 8 + rest % 8 / LANES_WORD_BYTES;
}

static const lanes_lane_vector_member *member_of(const lanes_lane_vector *row,
                                                 LLVMValueRef load) {
  for (uint32_t i = 0; i < row->member_count; i++) {
    if (row->members[i].access.instruction == load) {
      return &row->members[i];
    }
  }
  return NULL;
}

static bool is_worth_it(const lanes_lane_vector *row, LLVMValueRef load) {
  uint32_t elements = 0;
  for (uint32_t i = 0; i < row->member_count; i++) {
    elements += row->members[i].access.count;
  }
  return member_of(row, load) && elements > cost_of(row->bytes);
}

// --- Where the rows are ------------------------------------------------------

uint64_t lanes_last_index(const lanes_affine *at) {
  const unsigned bits = LLVMGetIntTypeWidth(at->index_type) - at->is_signed;
  return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

uint64_t lanes_lane_vector_span(const lanes_lane_vector *row,
                                const lanes_shape *shape) {
  return (uint64_t)(row->most_constant - row->at.constant) +
         (shape->row - 1) * ((uint64_t)shape->stride / row->at.scale);
}

// True if each lane's elements are one or two words and adjacent to the next
// lane's.
static bool do_rows_touch(const lanes_lane_vector *row,
                          const lanes_shape *shape) {
  return shape->row >= LEAST_RUN && shape->stride == row->bytes &&
         (row->bytes == 8 || row->bytes == LANES_WORD_BYTES);
}

// True if the index itself is all that keeps lanes from being a stride apart.
static bool has_stride(const lanes_planning *p, const lanes_lane_vector *row,
                       const lanes_shape *shape) {
  const uint32_t width = lanes_width_of(*shape);
  bool fits = shape->row >= LEAST_RUN && shape->stride >= 0 &&
              !lanes_shape_of(p->values, row->at.base).conditional;
  if (!row->at.index_type) {
    return fits &&
           width % lanes_width_of(lanes_shape_of(p->values, row->at.base)) == 0;
  }
  fits = fits && row->at.scale && shape->stride % (int64_t)row->at.scale == 0 &&
         lanes_is_sum_of_segments(p->values, &row->at, width) &&
         lanes_lane_vector_span(row, shape) <= lanes_last_index(&row->at);
  for (uint32_t i = 0; i < row->at.term_count; i++) {
    fits &= !lanes_shape_of(p->values, row->at.terms[i]).conditional;
  }
  return fits;
}

static bool is_strided(const lanes_planning *p, const lanes_lane_vector *row,
                       const lanes_shape *shape) {
  return (row->bytes % LANES_UNIT_BYTES == 0 || do_rows_touch(row, shape)) &&
         has_stride(p, row, shape);
}

static bool is_dense(const lanes_planning *p, const lanes_lane_vector *row) {
  const lanes_shape *shape = &row->members[0].access.shape;
  return shape->row == p->values->lanes && shape->stride == row->bytes &&
         has_stride(p, row, shape);
}

bool lanes_lane_vector_may_wrap(const lanes_lane_vector *row) {
  return row->at.is_extended && !row->at.is_unwrapped;
}

// Returns how far the last lane's index is above the first lane's, which is the
// lowest; UINT64_MAX if that is not known.
static uint64_t pattern_span(lanes_planning *p, const lanes_lane_vector *row) {
  const lanes_pattern pattern = lanes_pattern_here(p, row->at.sum);
  if (!lanes_pattern_is_whole(&pattern) ||
      !lanes_is_sum_of_segments(p->values, &row->at, p->values->lanes)) {
    return UINT64_MAX;
  }
  uint64_t span = (uint64_t)(row->most_constant - row->at.constant);
  for (uint32_t b = 0; 1u << b < p->values->lanes; b++) {
    if (pattern.by_bit[b] < 0) {
      return UINT64_MAX;
    }
    span += (uint64_t)pattern.by_bit[b];
  }
  return span <= lanes_last_index(&row->at) ? span : UINT64_MAX;
}

// True if lanes are constants apart in a simdgroup whose lanes all run.
static bool has_pattern(lanes_planning *p, const lanes_lane_vector *row,
                        const lanes_lane_vector_member *own, bool whole) {
  if (!own->access.pointer || (!whole && p->values->masked[p->node]) ||
      (lanes_lane_vector_may_wrap(row) && pattern_span(p, row) == UINT64_MAX)) {
    return false;
  }
  const lanes_pattern pattern = lanes_pattern_here(p, own->access.pointer);
  return lanes_pattern_is_whole(&pattern);
}

// all lanes run; otherwise the other arm is taken
static void find_rows(lanes_planning *p, lanes_lane_vector *row, bool whole) {
  const lanes_lane_vector_member *own = &row->members[row->own];
  row->lie = is_strided(p, row, &own->access.shape) ? LANES_ROWS_STRIDED
             : has_pattern(p, row, own, whole)      ? LANES_ROWS_IN_PATTERN
                                                    : LANES_ROWS_ANYWHERE;
  if (row->lie == LANES_ROWS_IN_PATTERN) {
    row->pattern = lanes_pattern_here(p, own->access.pointer);
    row->pattern_span =
        lanes_lane_vector_may_wrap(row) ? pattern_span(p, row) : 0;
  }
}

// --- Loads and stores --------------------------------------------------------

// True if an instruction may read memory that a group of stores writes.
static bool may_find(LLVMValueRef i, LLVMValueRef pointer) {
  return mtlc_is_opcode(i, LLVMLoad)
             ? !mtlc_is_invariant(i) &&
                   (!lanes_is_plain(i) ||
                    !lanes_lie_apart(LLVMGetOperand(i, 0), pointer))
             : lanes_may_write(i);
}

// Collects the stores after an access, up to any instruction that may touch the
// same memory: it must find the stored values.
static void collect_stores(lanes_planning *p, const lanes_access *a,
                           lanes_lane_vector *row) {
  lanes_affine_find(p->values, a->pointer, &row->at);
  for (LLVMValueRef i = a->instruction; i; i = LLVMGetNextInstruction(i)) {
    if (mtlc_is_opcode(i, LLVMStore)) {
      LLVMValueRef value = LLVMGetOperand(i, 0);
      if (!lanes_is_plain(i) ||
          !add(p, row, i, LLVMGetOperand(i, 1), LLVMTypeOf(value))) {
        return;
      }
    } else if (may_find(i, a->pointer) || LLVMIsATerminatorInst(i)) {
      return;
    }
  }
}

// Keeps the first members that fill whole units, or words where lanes' elements
// are adjacent, without overlap. False if there are none.
static bool choose_stores(const lanes_planning *p, lanes_lane_vector *row) {
  const lanes_lane_vector all = *row;
  for (uint32_t count = all.member_count; count > 1; count--) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
      bytes += all.members[i].access.count * all.members[i].access.size_bytes;
    }
    if (bytes % LANES_WORD_BYTES || bytes > LANES_LANE_VECTOR_BYTES) {
      continue;
    }
    *row = all;
    row->member_count = count;
    choose_members(row);
    if (row->member_count == count && row->bytes == bytes &&
        (bytes % LANES_UNIT_BYTES == 0 || is_dense(p, row))) {
      return true;
    }
  }
  return false;
}

const lanes_lane_vector *lanes_find_lane_vectors(lanes_planning *p,
                                                 const lanes_access *a) {
  if (!is_whole(a)) {
    return NULL;
  }
  lanes_lane_vector row = {0};
  collect_loads(p, a, &row);
  choose_members(&row);
  if (!is_worth_it(&row, a->instruction)) {
    return NULL;
  }
  row.own = (uint32_t)(member_of(&row, a->instruction) - row.members);
  find_rows(p, &row, false);
  lanes_lane_vector *kept = lanes_allocate(p->arena, 1, sizeof row);
  *kept = row;
  return kept;
}

const lanes_lane_vector *lanes_find_store_group(lanes_planning *p,
                                                const lanes_access *a) {
  if (lanes_stride_elements(a) == a->count || lanes_is_by_segments(a)) {
    return NULL;
  }
  lanes_lane_vector row = {0};
  collect_stores(p, a, &row);
  if (row.member_count < 2 || !choose_stores(p, &row)) {
    return NULL;
  }
  row.is_dense = is_dense(p, &row);
  if (!row.is_dense) {
    find_rows(p, &row, true);
  }
  lanes_lane_vector *kept = lanes_allocate(p->arena, 1, sizeof row);
  *kept = row;
  return kept;
}
