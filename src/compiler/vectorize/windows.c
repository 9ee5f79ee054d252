// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// windows.c: loads and stores whose lanes are in no order that the compiler
// knows but turn out to be near each other: the halves that a step of a sort or
// of a Fourier transform compares, positions divided or with bits exchanged.
// Where those of a register are within two registers, these are loaded and
// picked from; a gather takes four times as long. A table of so few entries
// that it is a window needs no question of where its lanes are. Stores to a
// worker's own memory put their lanes among what is there, which takes much
// less time than one lane after another.
#include "compiler/vectorize/accesses.h"

enum { MOST_STEPS = 12 };

static bool is_near(const lanes_emitter *e, LLVMValueRef value, uint32_t steps);

static bool are_near(const lanes_emitter *e, LLVMValueRef value, unsigned from,
                     unsigned count, uint32_t steps) {
  for (unsigned i = from; i < count; i++) {
    if (!is_near(e, LLVMGetOperand(value, i), steps)) {
      return false;
    }
  }
  return true;
}

static bool is_at_most(LLVMValueRef value, uint64_t most) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) <= most;
}

// Says whether all lanes' values may well lie close together: not if memory has
// a part in them, nor if they are multiples of what nobody knows.
static bool is_near(const lanes_emitter *e, LLVMValueRef value,
                    uint32_t steps) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  if (shape.row == LANES) {
    return shape.stride >= -2 && shape.stride <= 2;
  }
  if (!LLVMIsAInstruction(value) || steps == 0) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return are_near(e, value, 0, 2, steps - 1);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return are_near(e, value, 0, 1, steps - 1);
    case LLVMShl:
      return is_at_most(LLVMGetOperand(value, 1), 1) &&
             are_near(e, value, 0, 1, steps - 1);
    case LLVMMul:
      return is_at_most(LLVMGetOperand(value, 1), 2) &&
             are_near(e, value, 0, 1, steps - 1);
    case LLVMSelect: return are_near(e, value, 1, 3, steps - 1);
    default: return false;
  }
}

bool lanes_may_be_near(const lanes_emitter *e, const lanes_access *a) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  if (type == NULL || e->uncached || a->count != 1 || a->size_bytes != 4 ||
      LLVMABISizeOfType(e->values->data, type) != 4 ||
      !lanes_register_words(e)) {
    return false;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  return (LLVMIsAZExtInst(index) || LLVMIsASExtInst(index)) &&
         LLVMTypeOf(LLVMGetOperand(index, 0)) == e->types.i32 &&
         is_near(e, index, MOST_STEPS);
}

// --- Where the windows are ---------------------------------------------------

// An access's indices, in 32 bits. What is added to those of all lanes is left
// out: several accesses that differ in nothing else share what is found out
// about the rest.
typedef struct window_indices {
  LLVMValueRef all;    // <32 x i32>
  LLVMValueRef added;  // i32, or NULL
  bool is_signed;      // all and added together, as they become an address
} window_indices;

static bool may_part(lanes_emitter *e, LLVMValueRef value, unsigned uniform) {
  LLVMValueRef added = LLVMGetOperand(value, uniform);
  LLVMValueRef rest = LLVMGetOperand(value, 1 - uniform);
  return lanes_is_uniform(lanes_shape_of(e->values, added)) &&
         !lanes_is_uniform(lanes_shape_of(e->values, rest)) &&
         lanes_is_at_hand(e, added) && lanes_is_at_hand(e, rest);
}

static window_indices indices_of(lanes_emitter *e, const lanes_access *a) {
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  LLVMValueRef narrow = LLVMGetOperand(index, 0);
  window_indices indices = {.is_signed = LLVMIsASExtInst(index) != NULL};
  while (!e->machine.has_avx512 && mtlc_is_opcode(narrow, LLVMAdd)) {
    const unsigned uniform = may_part(e, narrow, 1) ? 1 : 0;
    if (!may_part(e, narrow, uniform)) {
      break;
    }
    LLVMValueRef one = lanes_scalar(e, LLVMGetOperand(narrow, uniform), 0);
    indices.added = indices.added
                        ? LLVMBuildAdd(e->builder, indices.added, one, "")
                        : one;
    narrow = LLVMGetOperand(narrow, 1 - uniform);
  }
  indices.all = LLVMBuildFreeze(e->builder, lanes_vector(e, narrow, 0), "");
  return indices;
}

// A register's window begins at its first lane's element or just before it, at
// an index that is a multiple of its lanes. Returns all registers'.
static LLVMValueRef begins_of(lanes_emitter *e, LLVMValueRef all) {
  const uint32_t each = lanes_register_words(e);
  const uint32_t count = LANES / each;
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = (int)(i * each);
  }
  return LLVMBuildAnd(
      e->builder, lanes_shuffle(e, all, NULL, lanes, count),
      lanes_splat_to(e, e->builder, mtlc_i32(e->context, ~(each - 1)), count),
      "");
}

// The same in all elements of one register.
static LLVMValueRef begin_of(lanes_emitter *e, LLVMValueRef own) {
  static const int firsts[MOST_LANES];
  const uint32_t each = lanes_register_words(e);
  return LLVMBuildAnd(
      e->builder, lanes_shuffle(e, own, NULL, firsts, each),
      lanes_splat_to(e, e->builder, mtlc_i32(e->context, ~(each - 1)), each),
      "");
}

// Registers of AVX-512 are few, and their begins found together.
static LLVMValueRef places_in_few(lanes_emitter *e, LLVMValueRef all,
                                  LLVMValueRef *out_begins) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef begins = begins_of(e, all);
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    lanes[i] = (int)(i / each);
  }
  for (uint32_t i = 0; i < LANES / each; i++) {
    out_begins[i] = LLVMBuildExtractElement(e->builder, begins,
                                            mtlc_i32(e->context, i), "");
  }
  return LLVMBuildSub(e->builder, all,
                      lanes_shuffle(e, begins, NULL, lanes, LANES), "");
}

// Each lane's place in its register's window, if it has one.
static LLVMValueRef places_in(lanes_emitter *e, LLVMValueRef all,
                              LLVMValueRef *out_begins) {
  if (e->machine.has_avx512) {
    return places_in_few(e, all, out_begins);
  }
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef places[MOST_LANES];
  for (uint32_t i = 0; i < LANES / each; i++) {
    LLVMValueRef own = lanes_piece(e, all, i * each, each);
    LLVMValueRef begins = begin_of(e, own);
    places[i] = LLVMBuildSub(e->builder, own, begins, "");
    out_begins[i] = LLVMBuildExtractElement(e->builder, begins,
                                            mtlc_i32(e->context, 0), "");
  }
  return lanes_concatenated(e, places, LANES / each);
}

// The address at which a window begins, given where without what is added.
static LLVMValueRef address_in(lanes_emitter *e, const lanes_access *a,
                               const window_indices *indices,
                               LLVMValueRef *begin, bool is_signed) {
  if (indices->added) {
    *begin = LLVMBuildAdd(e->builder, *begin, indices->added, "");
  }
  LLVMValueRef wide =
      LLVMBuildIntCast2(e->builder, *begin, e->types.i64, is_signed, "");
  return LLVMBuildGEP2(e->builder, e->types.i32,
                       lanes_base_indexed(e, a->pointer), &wide, 1, "");
}

// --- Loads -------------------------------------------------------------------

// A window can be read whole if it does not leave the page, nor may an index
// wrap within it. Around a worker's own memory there is enough of it, and an
// index that wraps is no index into it.
static LLVMValueRef is_there(lanes_emitter *e, LLVMValueRef begin,
                             LLVMValueRef address, bool is_signed) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef end = mtlc_i32(
      e->context, (is_signed ? INT32_MAX : UINT32_MAX) - (2 * each - 1));
  LLVMValueRef is_below = LLVMBuildICmp(
      e->builder, is_signed ? LLVMIntSLE : LLVMIntULE, begin, end, "");
  return LLVMBuildAnd(e->builder, is_below,
                      lanes_is_in_page(e, address, 8 * each), "");
}

// Says whether words of AVX2's registers have bits in common with none of a
// pattern's: one instruction, where the registers are joined.
static LLVMValueRef have_no_bits(lanes_emitter *e, LLVMValueRef words,
                                 uint32_t pattern) {
  LLVMBuilderRef b = e->builder;
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef all = lanes_piece(e, words, 0, each);
  for (uint32_t i = each; i < LLVMGetVectorSize(LLVMTypeOf(words)); i += each) {
    all = LLVMBuildOr(b, all, lanes_piece(e, words, i, each), "");
  }
  all = LLVMBuildAnd(
      b, all, lanes_splat_to(e, b, mtlc_i32(e->context, pattern), each), "");
  LLVMTypeRef whole = LLVMIntTypeInContext(e->context, 32 * each);
  return LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildBitCast(b, all, whole, ""),
                       LLVMConstNull(whole), "");
}

static LLVMValueRef are_inside(lanes_emitter *e, LLVMValueRef places) {
  LLVMBuilderRef b = e->builder;
  const uint32_t within = 2 * lanes_register_words(e);
  if (!e->machine.has_avx512) {
    LLVMValueRef running =
        LLVMBuildSelect(b, e->mask, places,
                        LLVMConstNull(LLVMTypeOf(places)), "");
    return have_no_bits(e, running, ~(within - 1));
  }
  LLVMValueRef outside = LLVMBuildICmp(
      b, LLVMIntUGE, places, lanes_steps(e->types.i32, within, 0), "");
  outside = LLVMBuildSelect(b, e->mask, outside,
                            LLVMConstNull(LLVMTypeOf(outside)), "");
  return LLVMBuildNot(b, lanes_any(e, outside), "");
}

LLVMValueRef lanes_is_in_window(lanes_emitter *e, lanes_access *a,
                                LLVMValueRef *out_firsts) {
  LLVMBuilderRef b = e->builder;
  const uint32_t each = lanes_register_words(e);
  const bool is_own = lanes_is_workers_own(e, a);
  const window_indices indices = indices_of(e, a);
  LLVMValueRef begins[MOST_LANES];
  // Lanes that do not run may be anywhere.
  a->places = places_in(e, lanes_filled(e, indices.all), begins);
  LLVMValueRef holds = are_inside(e, a->places);
  holds = LLVMBuildAnd(b, holds, lanes_any(e, e->mask), "");
  for (uint32_t i = 0; i < LANES / each; i++) {
    out_firsts[i] = address_in(e, a, &indices, &begins[i],
                               is_own || indices.is_signed);
    if (!is_own) {
      holds = LLVMBuildAnd(
          b, holds, is_there(e, begins[i], out_firsts[i], indices.is_signed),
          "");
    }
  }
  return holds;
}

static LLVMValueRef half_of(lanes_emitter *e, const lanes_access *a,
                            uint32_t window, uint32_t half) {
  return lanes_address_at(e, a->firsts[window],
                          half * 4 * lanes_register_words(e));
}

static LLVMValueRef load_half(lanes_emitter *e, const lanes_access *a,
                              uint32_t window, uint32_t half) {
  LLVMTypeRef words = LLVMVectorType(e->types.i32, lanes_register_words(e));
  LLVMValueRef loaded =
      LLVMBuildLoad2(e->builder, words, half_of(e, a, window, half), "");
  LLVMSetAlignment(loaded, lanes_common_alignment(a->alignment, 4));
  return loaded;
}

LLVMValueRef lanes_load_window(lanes_emitter *e, const lanes_access *a) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef parts[MOST_LANES];
  for (uint32_t i = 0; i < LANES / each; i++) {
    LLVMValueRef halves[] = {load_half(e, a, i, 0), load_half(e, a, i, 1)};
    parts[i] = lanes_pick_words(e, halves, 2,
                                lanes_piece(e, a->places, i * each, each));
  }
  return LLVMBuildBitCast(e->builder,
                          lanes_concatenated(e, parts, LANES / each),
                          lanes_vector_of(a->element), "");
}

// --- Tables ------------------------------------------------------------------

// What an index of few bits counts from one place for all lanes.
static LLVMValueRef table_index(const lanes_emitter *e, const lanes_access *a) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  const uint32_t each = lanes_register_words(e);
  if (type == NULL || e->uncached || a->count != 1 || a->size_bytes != 4 ||
      LLVMABISizeOfType(e->values->data, type) != 4 || !each) {
    return NULL;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  const lanes_shape shape = lanes_shape_of(e->values, index);
  return shape.row < LANES && shape.bits < 32 &&
                 UINT32_C(1) << shape.bits <= 2 * each
             ? index
             : NULL;
}

bool lanes_may_be_table(const lanes_emitter *e, const lanes_access *a) {
  return table_index(e, a) != NULL;
}

LLVMValueRef lanes_is_table(lanes_emitter *e, lanes_access *a,
                            LLVMValueRef *out_firsts) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  a->places =
      LLVMBuildIntCast2(e->builder, lanes_vector(e, table_index(e, a), 0),
                        lanes_vector_of(e->types.i32), false, "");
  for (uint32_t i = 0; i < LANES / each; i++) {
    out_firsts[i] = base;
  }
  LLVMValueRef any = lanes_any(e, e->mask);
  return lanes_is_workers_own(e, a)
             ? any
             : LLVMBuildSelect(e->builder, any,
                               lanes_is_in_page(e, base, 8 * each),
                               LLVMConstNull(e->types.i1), "");
}

// --- Stores ------------------------------------------------------------------

enum {
  WORDS = 8,      // of a register: AVX2
  FARTHEST = 64,  // elements from the first window to another
};

bool lanes_may_store_near(const lanes_emitter *e, const lanes_access *a) {
  return lanes_is_workers_own(e, a) && lanes_register_words(e) == WORDS &&
         lanes_may_be_near(e, a);
}

// Which lane is at each of four places of a window: its number and one more,
// none if there is none, a word each. vpsadbw adds up the eight lanes' bytes.
static LLVMValueRef lanes_at(lanes_emitter *e, LLVMValueRef places,
                             const uint32_t wanted[4]) {
  LLVMValueRef sought[4 * WORDS], numbers[4 * WORDS];
  for (uint32_t i = 0; i < 4 * WORDS; i++) {
    sought[i] = LLVMConstInt(e->types.i8, wanted[i / WORDS], false);
    numbers[i] = LLVMConstInt(e->types.i8, i % WORDS + 1, false);
  }
  LLVMValueRef is_it = LLVMBuildICmp(e->builder, LLVMIntEQ, places,
                                     LLVMConstVector(sought, 4 * WORDS), "");
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(places));
  LLVMValueRef found =
      LLVMBuildSelect(e->builder, is_it,
                      LLVMConstVector(numbers, 4 * WORDS), none, "");
  LLVMValueRef arguments[] = {found, none};
  LLVMValueRef sums = lanes_intrinsic(e, "llvm.x86.avx2.psad.bw", NULL, 0,
                                      arguments, 2);
  return LLVMBuildBitCast(e->builder, sums,
                          LLVMVectorType(e->types.i32, WORDS), "");
}

// Which lane is at each place of a half of a window: -1 if none is.
static LLVMValueRef lanes_in_half(lanes_emitter *e, LLVMValueRef places,
                                  uint32_t half) {
  const uint32_t from = half * WORDS;
  // In the order in which vshufps joins them.
  const uint32_t some[] = {from, from + 1, from + 4, from + 5};
  const uint32_t others[] = {from + 2, from + 3, from + 6, from + 7};
  static const int joined[WORDS] = {0, 2, 8, 10, 4, 6, 12, 14};
  LLVMValueRef numbers =
      lanes_shuffle(e, lanes_at(e, places, some), lanes_at(e, places, others),
                    joined, WORDS);
  return LLVMBuildAdd(e->builder, numbers,
                      LLVMConstAllOnes(LLVMTypeOf(numbers)), "");
}

static LLVMValueRef count_of(lanes_emitter *e, LLVMValueRef lanes) {
  LLVMValueRef is_one = LLVMBuildICmp(e->builder, LLVMIntSGE, lanes,
                                      LLVMConstNull(LLVMTypeOf(lanes)), "");
  return LLVMBuildZExt(
      e->builder, LLVMBuildBitCast(e->builder, is_one, e->types.i8, ""),
      e->types.i32, "");
}

// Says whether each lane of the first register has its place.
static LLVMValueRef have_places(lanes_emitter *e, const lanes_access *a) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef high = LLVMBuildShl(b, count_of(e, a->lanes[1]),
                                   mtlc_i32(e->context, WORDS), "");
  LLVMValueRef bits = LLVMBuildOr(b, count_of(e, a->lanes[0]), high, "");
  LLVMValueRef count =
      lanes_intrinsic(e, "llvm.ctpop", &e->types.i32, 1, &bits, 1);
  return LLVMBuildICmp(b, LLVMIntEQ, count, mtlc_i32(e->context, WORDS), "");
}

// Says whether all registers' lanes have the places that the first one's have,
// which are in the window.
static LLVMValueRef are_alike(lanes_emitter *e, LLVMValueRef places) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef first = lanes_piece(e, places, 0, WORDS);
  LLVMValueRef outside = lanes_splat_to(
      e, b, mtlc_i32(e->context, ~(2u * WORDS - 1)), WORDS);
  LLVMValueRef differ[MOST_LANES / WORDS];
  differ[0] = LLVMBuildAnd(b, first, outside, "");
  for (uint32_t i = 1; i < LANES / WORDS; i++) {
    LLVMValueRef own = lanes_piece(e, places, i * WORDS, WORDS);
    differ[i] = LLVMBuildXor(b, own, first, "");
  }
  return have_no_bits(e, lanes_concatenated(e, differ, LANES / WORDS),
                      UINT32_MAX);
}

// Says whether windows without a lane that runs are no farther from one with
// such a lane than the memory around a worker's own goes.
static LLVMValueRef are_close(lanes_emitter *e, LLVMValueRef *begins) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef apart = mtlc_i32(e->context, 0);
  for (uint32_t i = 1; i < LANES / WORDS; i++) {
    LLVMValueRef behind = LLVMBuildAdd(
        b, LLVMBuildSub(b, begins[i], begins[0], ""),
        mtlc_i32(e->context, FARTHEST), "");
    apart = LLVMBuildOr(b, apart, behind, "");
  }
  return LLVMBuildICmp(b, LLVMIntULT, apart,
                       mtlc_i32(e->context, 2 * FARTHEST), "");
}

LLVMValueRef lanes_fill_windows(lanes_emitter *e, lanes_access *a,
                                LLVMValueRef *out_firsts) {
  LLVMBuilderRef b = e->builder;
  const window_indices indices = indices_of(e, a);
  LLVMValueRef begins[MOST_LANES];
  a->places = places_in(e, indices.all, begins);
  LLVMValueRef bytes = LLVMBuildTrunc(
      b, lanes_piece(e, a->places, 0, WORDS),
      LLVMVectorType(e->types.i8, WORDS), "");
  int again[4 * WORDS];
  for (uint32_t i = 0; i < 4 * WORDS; i++) {
    again[i] = (int)(i % WORDS);
  }
  bytes = lanes_shuffle(e, bytes, NULL, again, 4 * WORDS);
  a->lanes[0] = lanes_in_half(e, bytes, 0);
  a->lanes[1] = lanes_in_half(e, bytes, 1);
  LLVMValueRef holds = LLVMBuildAnd(b, are_alike(e, a->places),
                                    have_places(e, a), "");
  holds = LLVMBuildAnd(b, holds, lanes_any(e, e->mask), "");
  holds = LLVMBuildAnd(b, holds, are_close(e, begins), "");
  for (uint32_t i = 0; i < LANES / WORDS; i++) {
    out_firsts[i] = address_in(e, a, &indices, &begins[i], true);
  }
  return holds;
}

static void store_half(lanes_emitter *e, const lanes_access *a, uint32_t window,
                       uint32_t half, LLVMValueRef words, LLVMValueRef runs) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef lanes = a->lanes[half];
  LLVMValueRef is_new = LLVMBuildAnd(
      b, LLVMBuildNot(b, lanes, ""), lanes_pick_words(e, &runs, 1, lanes), "");
  is_new = LLVMBuildICmp(b, LLVMIntSLT, is_new,
                         LLVMConstNull(LLVMTypeOf(is_new)), "");
  LLVMValueRef both =
      LLVMBuildSelect(b, is_new, lanes_pick_words(e, &words, 1, lanes),
                      load_half(e, a, window, half), "");
  LLVMSetAlignment(LLVMBuildStore(b, both, half_of(e, a, window, half)),
                   lanes_common_alignment(a->alignment, 4));
}

// One register behind another, for windows may overlap: what a later one stores
// stays.
static void store_halves(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef words, LLVMValueRef runs,
                         uint32_t count) {
  for (uint32_t i = 0; i < LANES / WORDS; i++) {
    LLVMValueRef own = lanes_piece(e, words, i * WORDS, WORDS);
    LLVMValueRef own_runs = lanes_piece(e, runs, i * WORDS, WORDS);
    for (uint32_t half = 0; half < count; half++) {
      store_half(e, a, i, half, own, own_runs);
    }
  }
}

void lanes_store_window(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value) {
  LLVMTypeRef type = lanes_vector_of(e->types.i32);
  LLVMValueRef words = LLVMBuildBitCast(e->builder, value, type, "");
  LLVMValueRef runs = LLVMBuildSExt(e->builder, e->mask, type, "");
  // Neighbours, most of all.
  LLVMValueRef is_half =
      LLVMBuildICmp(e->builder, LLVMIntEQ, count_of(e, a->lanes[1]),
                    mtlc_i32(e->context, 0), "");
  const lanes_whole_question question = lanes_ask(e, is_half);
  store_halves(e, a, words, runs, 1);
  lanes_ask_rest(e, &question, question.some);
  store_halves(e, a, words, runs, 2);
  lanes_ask_rest(e, &question, question.done);
}
