// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_rows.c: loads of lanes that are anywhere in memory, where each lane
// reads several elements side by side: a row of a matrix, a structure chosen by
// an index, one vector of four. Each lane's 16 bytes are one load, and four
// words of 32 lanes are made of them in registers: a fifth of what it takes to
// gather the words.
#include "compiler/vectorize/accesses.h"

enum {
  UNIT_BYTES = 16,  // of one lane
  WORD_BYTES = 4,
  UNIT_WORDS = UNIT_BYTES / WORD_BYTES,
  ROW_BYTES = 32,  // at a time: eight words of 32 lanes are 16 registers
  ROW_WORDS = ROW_BYTES / WORD_BYTES,
  MOST_LOADS = ROW_BYTES,
  LEAST_RUN = 4,
};

// --- What is loaded at once --------------------------------------------------

typedef struct member {
  lanes_access access;
  int64_t start;     // bytes behind the first load's, then behind the row's
  int64_t constant;  // of its place
  int64_t bytes;     // of its place
} member;

static int64_t end_of(const member *m) {
  return m->start + (int64_t)(m->access.count * m->access.size_bytes);
}

// What each lane reads, a part of it for each member.
typedef struct lane_row {
  lanes_linear at;  // of the row: its constant is the least of the members'
  int64_t most_constant;
  member members[MOST_LOADS];
  uint32_t member_count;
  uint32_t bytes;  // whole words
  uint32_t alignment;
} lane_row;

// Numbers of whole bytes.
static bool is_whole(const lanes_access *a) {
  return LLVMGetTypeKind(a->type) != LLVMPointerTypeKind &&
         a->element == a->type && a->pitch_bytes == a->size_bytes &&
         a->size_bytes <= 8 && a->count * a->size_bytes <= ROW_BYTES;
}

static void add_member(lanes_emitter *e, lane_row *row, LLVMValueRef load) {
  lanes_linear at;
  lanes_linear_find(e->values, LLVMGetOperand(load, 0), &at);
  if (!lanes_linear_like(&row->at, &at) || row->member_count == MOST_LOADS ||
      lanes_width(e, load) != LANES || lanes_is_loaded_ahead(e, load)) {
    return;
  }
  member m = {.access = lanes_access_of(e, load, LLVMGetOperand(load, 0),
                                        LLVMTypeOf(load)),
              .constant = at.constant,
              .bytes = at.bytes};
  const int64_t far = (int64_t)ROW_BYTES;
  const int64_t apart = at.constant - row->at.constant;
  m.start = apart * (int64_t)at.scale + at.bytes - row->at.bytes;
  if (apart > -far && apart < far && m.start > -far && m.start < far &&
      is_whole(&m.access)) {
    row->members[row->member_count++] = m;
  }
}

// All loads from around an access's place up to the next write, itself first.
static void collect(lanes_emitter *e, const lanes_access *a, lane_row *row) {
  lanes_linear_find(e->values, a->pointer, &row->at);
  for (LLVMValueRef i = a->instruction; i && !lanes_may_write(i);
       i = LLVMGetNextInstruction(i)) {
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
    if (LLVMGetInstructionOpcode(i) == LLVMLoad && kind != LLVMStructTypeKind &&
        kind != LLVMArrayTypeKind) {
      add_member(e, row, i);
    }
  }
}

// Says whether members read all bytes from first to before end.
static bool is_covered(const lane_row *row, int64_t first, int64_t end) {
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

static bool is_inside(const lane_row *row, const member *m) {
  const uint64_t size = m->access.size_bytes;
  return m->start >= 0 && end_of(m) <= row->bytes &&
         m->start % (int64_t)(size < WORD_BYTES ? size : WORD_BYTES) == 0;
}

// Leaves the members that lie in one row with the first: nothing is read that
// none of them reads.
static void choose_row(lane_row *row) {
  const member own = row->members[0];
  int64_t first = own.start;
  for (uint32_t i = 0; i < row->member_count; i++) {
    const int64_t start = row->members[i].start;
    if (start < first && end_of(&own) - start <= ROW_BYTES &&
        is_covered(row, start, own.start)) {
      first = start;
    }
  }
  while (row->bytes < ROW_BYTES &&
         is_covered(row, first + row->bytes, first + row->bytes + WORD_BYTES)) {
    row->bytes += WORD_BYTES;
  }
  uint32_t kept = 0;
  row->at.bytes += first;  // and for constants, below
  int64_t least = own.constant;
  row->most_constant = own.constant;
  for (uint32_t i = 0; i < row->member_count; i++) {
    member m = row->members[i];
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

// How many gathers of words and longs it takes to read bytes of each lane; 16
// are one load a lane, and some work behind it.
static uint32_t cost_of(uint32_t bytes) {
  const uint32_t rest = bytes % UNIT_BYTES;
  return bytes / UNIT_BYTES * 2 + rest / 8 + rest % 8 / WORD_BYTES;
}

static bool is_worth_it(const lane_row *row, LLVMValueRef load) {
  uint32_t elements = 0;
  bool has_own = false;
  for (uint32_t i = 0; i < row->member_count; i++) {
    elements += row->members[i].access.count;
    has_own |= row->members[i].access.instruction == load;
  }
  return has_own && elements > cost_of(row->bytes);
}

// --- Lanes' addresses --------------------------------------------------------

// Where lanes' rows are. Either what differs between lanes apart from what does
// not, so that in a loop along rows the first stays; or, of lanes that are a
// stride apart, the first of each run.
typedef struct addresses {
  LLVMValueRef lanes;          // <32 x ptr>
  LLVMValueRef offset;         // i64, of all lanes
  LLVMValueRef holds;          // i1: all that may be read so
  const lanes_shape *strided;  // or NULL
  LLVMValueRef firsts[LANES];  // [LANES / strided->row]
} addresses;

static LLVMValueRef sum_of(lanes_emitter *e, const lanes_linear *at,
                           bool uniform) {
  LLVMValueRef sum = NULL;
  for (uint32_t i = 0; i < at->term_count; i++) {
    if (lanes_is_uniform(lanes_shape_of(e->values, at->terms[i])) != uniform) {
      continue;
    }
    LLVMTypeRef type =
        uniform ? at->index_type : lanes_vector_of(at->index_type);
    LLVMValueRef term =
        LLVMBuildTruncOrBitCast(e->builder,
                                uniform ? lanes_scalar(e, at->terms[i], 0)
                                        : lanes_vector(e, at->terms[i], 0),
                                type, "");
    sum = sum ? LLVMBuildAdd(e->builder, sum, term, "") : term;
  }
  return sum;
}

static LLVMValueRef extended(lanes_emitter *e, const lanes_linear *at,
                             LLVMValueRef value) {
  const bool is_vector =
      LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
  return LLVMBuildIntCast2(
      e->builder, value,
      is_vector ? lanes_vector_of(e->types.i64) : e->types.i64, at->is_signed,
      "");
}

// The last value of an index before it is extended.
static uint64_t last_index(const lanes_linear *at) {
  const unsigned bits = LLVMGetIntTypeWidth(at->index_type) - at->is_signed;
  return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

// Says whether lanes + uniform .. lanes + uniform + span are what they are
// before the index is extended: not negative, and not beyond the last.
static LLVMValueRef sums_hold(lanes_emitter *e, const lane_row *row,
                              LLVMValueRef lanes, LLVMValueRef uniform) {
  LLVMTypeRef type = row->at.index_type;
  LLVMBuilderRef b = e->builder;
  const uint64_t span = (uint64_t)(row->most_constant - row->at.constant);
  LLVMValueRef last = LLVMConstInt(type, last_index(&row->at) - span, false);
  LLVMValueRef room = LLVMBuildSub(b, last, uniform, "");
  LLVMValueRef holds = LLVMBuildICmp(b, LLVMIntULE, uniform, last, "");
  if (lanes == NULL) {
    return holds;
  }
  LLVMValueRef beyond =
      LLVMBuildICmp(b, row->at.is_signed ? LLVMIntSGT : LLVMIntUGT, lanes,
                    lanes_splat(e, b, room), "");
  // Lanes that do not run may hold poison, which must not spread.
  beyond = LLVMBuildSelect(b, e->mask, beyond,
                           LLVMConstNull(LLVMTypeOf(beyond)), "");
  return LLVMBuildAnd(b, holds, LLVMBuildNot(b, lanes_any(e, beyond), ""), "");
}

// Lanes that do not run read where the first does that runs.
static LLVMValueRef first_for_idle(lanes_emitter *e, LLVMValueRef pointers) {
  LLVMValueRef arguments[] = {lanes_bits(e, e->mask),
                              LLVMConstInt(e->types.i1, 0, false)};
  LLVMValueRef lane = LLVMBuildAnd(
      e->builder,
      lanes_intrinsic(e, "llvm.cttz", &e->types.i32, 1, arguments, 2),
      mtlc_i32(e->context, LANES - 1), "");
  LLVMValueRef first = LLVMBuildExtractElement(e->builder, pointers, lane, "");
  return LLVMBuildSelect(e->builder, e->mask, pointers,
                         lanes_splat(e, e->builder, first), "");
}

// From the first index of a run of lanes a stride apart to its last.
static uint64_t span_of(const lane_row *row, const lanes_shape *shape) {
  return (uint64_t)(row->most_constant - row->at.constant) +
         (shape->row - 1) * ((uint64_t)shape->stride / row->at.scale);
}

// Of such lanes: what is read is so only if no index wraps on the way.
static LLVMValueRef run_holds(lanes_emitter *e, const lane_row *row,
                              const lanes_shape *shape, uint32_t run) {
  const lanes_linear *at = &row->at;
  return LLVMBuildICmp(
      e->builder, at->is_signed ? LLVMIntSLE : LLVMIntULE,
      lanes_index_of_run(e, at, lanes_width_of(*shape), run),
      LLVMConstInt(at->index_type, last_index(at) - span_of(row, shape), false),
      "");
}

// All lanes have to run: those that do not could lie behind the end.
static addresses strided_addresses(lanes_emitter *e, const lane_row *row,
                                   const lanes_shape *shape) {
  const uint32_t width = lanes_width_of(*shape);
  addresses result = {
      .strided = shape,
      .holds = lanes_all(e, e->mask)};
  for (uint32_t r = 0; r < width; r++) {
    if (row->at.is_extended) {
      result.holds =
          LLVMBuildSelect(e->builder, result.holds, run_holds(e, row, shape, r),
                          LLVMConstNull(e->types.i1), "");
    }
    result.firsts[r] = lanes_address_of_run(e, &row->at, width, r);
  }
  return result;
}

// Says whether lanes of the row are a stride apart, as far as only the row's
// own index can tell.
static bool is_strided(const lanes_emitter *e, const lane_row *row,
                       const lanes_shape *shape) {
  bool fits = shape->row >= LEAST_RUN && shape->stride >= 0 && row->at.scale &&
              shape->stride % (int64_t)row->at.scale == 0 &&
              row->bytes % UNIT_BYTES == 0 &&
              lanes_is_sum_of_runs(e, &row->at, lanes_width_of(*shape)) &&
              span_of(row, shape) <= last_index(&row->at) &&
              !lanes_shape_of(e->values, row->at.base).conditional;
  for (uint32_t i = 0; i < row->at.term_count; i++) {
    fits &= !lanes_shape_of(e->values, row->at.terms[i]).conditional;
  }
  return fits;
}

static addresses addresses_of(lanes_emitter *e, const lane_row *row) {
  LLVMBuilderRef b = e->builder;
  const lanes_linear *at = &row->at;
  addresses result = {.offset = mtlc_i64(e->context, (uint64_t)at->bytes),
                      .holds = lanes_any(e, e->mask)};
  LLVMValueRef pointers = lanes_vector(e, at->base, 0);
  if (at->index_type) {
    LLVMTypeRef step = LLVMArrayType2(e->types.i8, at->scale);
    LLVMValueRef lanes = sum_of(e, at, false);
    LLVMValueRef constant =
        LLVMConstInt(at->index_type, (uint64_t)at->constant, true);
    LLVMValueRef terms = sum_of(e, at, true);
    LLVMValueRef uniform =
        terms ? LLVMBuildAdd(b, terms, constant, "") : constant;
    if (at->is_extended) {
      // What is the same for all lanes may be poison if none runs.
      result.holds =
          LLVMBuildSelect(b, result.holds, sums_hold(e, row, lanes, uniform),
                          LLVMConstNull(e->types.i1), "");
    }
    if (lanes) {
      LLVMValueRef wide = extended(e, at, lanes);
      pointers = LLVMBuildGEP2(b, step, pointers, &wide, 1, "");
    }
    LLVMValueRef by = LLVMBuildMul(b, extended(e, at, uniform),
                                   mtlc_i64(e->context, at->scale), "");
    result.offset = LLVMBuildAdd(b, by, result.offset, "");
  }
  result.lanes = first_for_idle(e, pointers);
  return result;
}

// --- Loads -------------------------------------------------------------------

static LLVMValueRef address_of(lanes_emitter *e, const addresses *where,
                               uint32_t lane, uint64_t offset) {
  if (where->strided) {
    const uint32_t row = where->strided->row;
    const int64_t in_run = lane % row * where->strided->stride;
    return lanes_address_at(e, where->firsts[lane / row],
                            (uint64_t)in_run + offset);
  }
  LLVMValueRef base = LLVMBuildExtractElement(e->builder, where->lanes,
                                              mtlc_i32(e->context, lane), "");
  LLVMValueRef address = LLVMBuildGEP2(e->builder, e->types.i8, base,
                                       (LLVMValueRef *)&where->offset, 1, "");
  return lanes_address_at(e, address, offset);
}

// Four lanes' units, of lanes 4 apart.
static LLVMValueRef load_units(lanes_emitter *e, const lane_row *row,
                               const addresses *where, uint32_t first,
                               uint64_t offset) {
  LLVMValueRef units[4];
  for (uint32_t i = 0; i < 4; i++) {
    units[i] =
        LLVMBuildLoad2(e->builder, LLVMVectorType(e->types.i32, UNIT_WORDS),
                       address_of(e, where, first + 4 * i, offset), "");
    LLVMSetAlignment(units[i], lanes_common_alignment(row->alignment, offset));
  }
  return lanes_concatenated(e, units, 4);
}

// In each four elements of two vectors of 16: two of the first and two of the
// second, by turns if by single ones; from the lower or the upper half.
static LLVMValueRef zip(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                        bool by_pairs, bool upper) {
  int lanes[16];
  for (int i = 0; i < 16; i++) {
    const int in = i % 4, of = i - in + 2 * upper;
    lanes[i] =
        by_pairs ? of + in % 2 + (in / 2) * 16 : of + in / 2 + in % 2 * 16;
  }
  return lanes_shuffle(e, a, b, lanes, 16);
}

void lanes_transpose(lanes_emitter *e, LLVMValueRef parts[4],
                     LLVMValueRef out_words[4]) {
  for (uint32_t upper = 0; upper < 2; upper++) {
    LLVMValueRef low = zip(e, parts[0], parts[1], false, upper);
    LLVMValueRef high = zip(e, parts[2], parts[3], false, upper);
    out_words[2 * upper] = zip(e, low, high, true, false);
    out_words[2 * upper + 1] = zip(e, low, high, true, true);
  }
}

static void load_unit(lanes_emitter *e, const lane_row *row,
                      const addresses *where, uint64_t offset,
                      LLVMValueRef *out_words) {
  LLVMValueRef halves[UNIT_WORDS][2];
  for (uint32_t half = 0; half < 2; half++) {
    LLVMValueRef parts[4], words[UNIT_WORDS];
    for (uint32_t i = 0; i < 4; i++) {
      parts[i] = load_units(e, row, where, 16 * half + i, offset);
    }
    lanes_transpose(e, parts, words);
    for (uint32_t w = 0; w < UNIT_WORDS; w++) {
      halves[w][half] = words[w];
    }
  }
  for (uint32_t w = 0; w < UNIT_WORDS; w++) {
    out_words[w] = lanes_concatenated(e, halves[w], 2);
  }
}

static LLVMValueRef gather(lanes_emitter *e, const lane_row *row,
                           const addresses *where, LLVMTypeRef type,
                           uint64_t offset) {
  LLVMValueRef pointers = LLVMBuildGEP2(
      e->builder, e->types.i8, lanes_address_at(e, where->lanes, offset),
      (LLVMValueRef *)&where->offset, 1, "");
  LLVMTypeRef wide = lanes_vector_of(type);
  LLVMValueRef arguments[] = {
      pointers,
      mtlc_i32(e->context, lanes_common_alignment(row->alignment, offset)),
      LLVMConstAllOnes(lanes_vector_of(e->types.i1)), LLVMGetPoison(wide)};
  LLVMTypeRef overloads[] = {wide, LLVMTypeOf(pointers)};
  return lanes_intrinsic(e, "llvm.masked.gather", overloads, 2, arguments, 4);
}

static void load_words(lanes_emitter *e, const lane_row *row,
                       const addresses *where,
                       LLVMValueRef out_words[ROW_WORDS]) {
  LLVMTypeRef words = lanes_vector_of(e->types.i32);
  uint32_t at = 0;
  for (; row->bytes - at >= UNIT_BYTES; at += UNIT_BYTES) {
    load_unit(e, row, where, at, out_words + at / WORD_BYTES);
  }
  for (; row->bytes - at >= 8; at += 8) {
    LLVMValueRef both = gather(e, row, where, e->types.i64, at);
    out_words[at / WORD_BYTES] = LLVMBuildTrunc(e->builder, both, words, "");
    out_words[at / WORD_BYTES + 1] = LLVMBuildTrunc(
        e->builder,
        LLVMBuildLShr(e->builder, both, lanes_steps(e->types.i64, 32, 0), ""),
        words, "");
  }
  if (at < row->bytes) {
    out_words[at / WORD_BYTES] = gather(e, row, where, e->types.i32, at);
  }
}

static LLVMValueRef element_at(lanes_emitter *e, LLVMValueRef *words,
                               uint64_t offset, const lanes_access *a) {
  LLVMValueRef value = words[offset / WORD_BYTES];
  if (a->size_bytes == 8) {
    value = lanes_interleave(e, value, words[offset / WORD_BYTES + 1]);
  } else if (a->size_bytes < WORD_BYTES) {
    const uint64_t by = offset % WORD_BYTES * 8;
    LLVMTypeRef type =
        LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8);
    value = LLVMBuildTrunc(
        e->builder,
        LLVMBuildLShr(e->builder, value, lanes_steps(e->types.i32, by, 0), ""),
        lanes_vector_of(type), "");
  }
  return LLVMBuildBitCast(e->builder, value, lanes_vector_of(a->type), "");
}

// The other way: sets a part of a word, or all of one or two.
static void put_element(lanes_emitter *e, LLVMValueRef *words, uint64_t offset,
                        const lanes_access *a, LLVMValueRef value) {
  LLVMTypeRef type = lanes_vector_of(e->types.i32);
  LLVMValueRef *word = &words[offset / WORD_BYTES];
  if (a->size_bytes == 8) {
    LLVMValueRef both = LLVMBuildBitCast(
        e->builder, value, LLVMVectorType(e->types.i32, 2 * LANES), "");
    word[0] = lanes_deinterleave(e, both, 0);
    word[1] = lanes_deinterleave(e, both, 1);
  } else if (a->size_bytes == WORD_BYTES) {
    *word = LLVMBuildBitCast(e->builder, value, type, "");
  } else {
    LLVMTypeRef bits =
        LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8);
    LLVMValueRef part = LLVMBuildZExt(
        e->builder,
        LLVMBuildBitCast(e->builder, value, lanes_vector_of(bits), ""), type,
        "");
    part = LLVMBuildShl(
        e->builder, part,
        lanes_steps(e->types.i32, offset % WORD_BYTES * 8, 0), "");
    *word = LLVMBuildOr(e->builder, *word, part, "");
  }
}

// A member's own addresses: of the terms alone, for what is behind the first
// load in the block is not computed yet.
static LLVMValueRef own_addresses(lanes_emitter *e, const lane_row *row,
                                  const member *m) {
  lanes_linear at = row->at;
  LLVMValueRef pointers = lanes_vector(e, at.base, 0);
  if (at.index_type) {
    LLVMValueRef index =
        lanes_splat(e, e->builder,
                    LLVMConstInt(at.index_type, (uint64_t)m->constant, true));
    LLVMValueRef lanes = sum_of(e, &at, false);
    LLVMValueRef uniform = sum_of(e, &at, true);
    if (lanes) {
      index = LLVMBuildAdd(e->builder, index, lanes, "");
    }
    if (uniform) {
      index = LLVMBuildAdd(e->builder, index,
                           lanes_splat(e, e->builder, uniform), "");
    }
    LLVMValueRef wide = extended(e, &at, index);
    pointers = LLVMBuildGEP2(e->builder, LLVMArrayType2(e->types.i8, at.scale),
                             pointers, &wide, 1, "");
  }
  return lanes_address_at(e, pointers, (uint64_t)m->bytes);
}

// The words of which lanes' elements are parts, of a gather for each element.
static void load_apart(lanes_emitter *e, const lane_row *row,
                       LLVMValueRef out_words[ROW_WORDS]) {
  LLVMTypeRef words = lanes_vector_of(e->types.i32);
  for (uint32_t w = 0; w < ROW_WORDS; w++) {
    out_words[w] = LLVMConstNull(words);
  }
  for (uint32_t i = 0; i < row->member_count; i++) {
    lanes_access a = row->members[i].access;
    LLVMValueRef pointers = own_addresses(e, row, &row->members[i]);
    a.pointer = NULL;  // the vector alone counts
    for (uint32_t c = 0; c < a.count; c++) {
      const uint64_t by = c * a.size_bytes;
      put_element(e, out_words, (uint64_t)row->members[i].start + by, &a,
                  lanes_gather(e, &a, pointers, by));
    }
  }
}

static void set_results(lanes_emitter *e, const lane_row *row,
                        LLVMValueRef words[ROW_WORDS]) {
  for (uint32_t i = 0; i < row->member_count; i++) {
    const lanes_access *a = &row->members[i].access;
    for (uint32_t c = 0; c < a->count; c++) {
      const uint64_t at = (uint64_t)row->members[i].start + c * a->size_bytes;
      lanes_set_result(e, a->instruction, c, element_at(e, words, at, a));
    }
    lanes_map_set(e->arena, &e->loaded_ahead, a->instruction, 1);
  }
}

// One vector for both ways of a word: elements that are less than one are taken
// out of it behind them, where they are used.
static LLVMValueRef either_word(lanes_emitter *e, LLVMValueRef words[2],
                                LLVMBasicBlockRef from[2]) {
  LLVMValueRef phi =
      LLVMBuildPhi(e->builder, lanes_vector_of(e->types.i32), "");
  LLVMAddIncoming(phi, words, from, 2);
  return phi;
}

bool lanes_load_lane_rows(lanes_emitter *e, const lanes_access *a) {
  lane_row row = {0};
  if (e->uncached || !is_whole(a)) {
    return false;
  }
  collect(e, a, &row);
  choose_row(&row);
  if (!is_worth_it(&row, a->instruction)) {
    return false;
  }
  const addresses where = is_strided(e, &row, &a->shape)
                              ? strided_addresses(e, &row, &a->shape)
                              : addresses_of(e, &row);
  LLVMBasicBlockRef blocks[] = {lanes_block(e, "rows"),
                                lanes_block(e, "apart")};
  LLVMBasicBlockRef loaded = lanes_block(e, "loaded");
  lanes_mark_question(
      e, LLVMBuildCondBr(e->builder, where.holds, blocks[0], blocks[1]));
  LLVMValueRef words[2][ROW_WORDS], both[ROW_WORDS];
  e->uncached = true;
  for (uint32_t way = 0; way < 2; way++) {
    LLVMPositionBuilderAtEnd(e->builder, blocks[way]);
    if (way == 0) {
      load_words(e, &row, &where, words[way]);
    } else {
      load_apart(e, &row, words[way]);
    }
    blocks[way] = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, loaded);
  }
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, loaded);
  for (uint32_t w = 0; w < row.bytes / WORD_BYTES; w++) {
    LLVMValueRef ways[] = {words[0][w], words[1][w]};
    both[w] = either_word(e, ways, blocks);
  }
  set_results(e, &row, both);
  return true;
}
