// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dot_products.c: recognises dot products of small integers. Bytes come in
// words of four, as char4, and x.x * y.x + x.y * y.y + ... would widen each to
// 32 bits. x86 multiplies 16-bit halves of words and adds the two products
// (vpmaddwd): so a word's even bytes form one operand, its odd ones another.
// Modulo 2^32 the order of a sum does not matter.
#include "compiler/vectorize/prepare/dot_products.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_TERMS = 160,  // of one sum
  MOST_ROWS = 8,     // rows of memory that a sum loads single bytes from
  WORD_BITS = 32,
  HALF_BITS = 16,
};

// --- What is summed up -------------------------------------------------------

// A component of a vector of small integers, widened to 32 bits; or one of
// several adjacent loads.
typedef struct piece {
  LLVMValueRef source;  // <n x i8> or <n x i16>, or the first load
  uint32_t index;
  uint32_t bits;
  bool is_signed;
} piece;

typedef struct term {
  LLVMValueRef value;
  bool is_product;
  bool is_done;
  piece sides[2];
} term;

typedef struct sum_finder {
  const lanes_values *values;  // used where bytes are loaded one by one; else
                               // NULL
  mtlc_types types;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  term terms[MOST_TERMS];
  uint32_t term_count;
  LLVMValueRef rows[MOST_ROWS];  // [row_count] the sum's first load of each row
  uint32_t row_count;
} sum_finder;

static bool is_extension(LLVMValueRef value) {
  return mtlc_is_opcode(value, LLVMSExt) || mtlc_is_opcode(value, LLVMZExt);
}

// True for a vector of whole words of bytes or 16-bit integers.
static bool is_packed(LLVMValueRef value, uint32_t *out_bits) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
      LLVMGetTypeKind(LLVMGetElementType(type)) != LLVMIntegerTypeKind) {
    return false;
  }
  *out_bits = LLVMGetIntTypeWidth(LLVMGetElementType(type));
  return (*out_bits == 8 || *out_bits == HALF_BITS) &&
         *out_bits * LLVMGetVectorSize(type) % WORD_BITS == 0;
}

// Describes element `index` of a packed vector of narrow integers that an
// extension widens: before the element is extracted, or after.
static bool find_component(LLVMValueRef vector, LLVMValueRef index,
                           LLVMValueRef extension, piece *out_piece) {
  if (!LLVMIsAConstantInt(index) || !is_packed(vector, &out_piece->bits)) {
    return false;
  }
  out_piece->source = vector;
  out_piece->index = (uint32_t)LLVMConstIntGetZExtValue(index);
  out_piece->is_signed = mtlc_is_opcode(extension, LLVMSExt);
  return out_piece->bits == 8 || out_piece->is_signed;
}

// True if the load of the later of two instructions would read the same at the
// earlier one.
static bool is_same_from(LLVMValueRef from, LLVMValueRef to) {
  while (from && from != to && !lanes_may_write(from)) {
    from = LLVMGetNextInstruction(from);
  }
  return from == to;
}

// Returns how many bytes a load's address is after that of an earlier one;
// negative if unknown.
static int64_t distance(const sum_finder *f, LLVMValueRef from,
                        LLVMValueRef to) {
  lanes_affine at, at_from;
  lanes_affine_find(f->values, LLVMGetOperand(to, 0), &at);
  lanes_affine_find(f->values, LLVMGetOperand(from, 0), &at_from);
  return lanes_affine_like(&at_from, &at) &&
                 !lanes_affine_may_wrap(f->values, &at_from, &at) &&
                 is_same_from(from, to)
             ? lanes_affine_distance(&at_from, &at)
             : -1;
}

// Finds a byte of a row, counted from the first byte that the sum loads of it.
static bool find_byte(sum_finder *f, LLVMValueRef extension,
                      piece *out_piece) {
  enum { MOST_BYTES = 64 };
  LLVMValueRef load = LLVMGetOperand(extension, 0);
  if (!f->values || !mtlc_is_opcode(load, LLVMLoad) ||
      LLVMTypeOf(load) != f->types.i8 || !lanes_is_plain(load)) {
    return false;
  }
  *out_piece = (piece){.bits = 8,
                       .is_signed = mtlc_is_opcode(extension, LLVMSExt)};
  for (uint32_t r = 0; r < f->row_count && !out_piece->source; r++) {
    const int64_t behind = distance(f, f->rows[r], load);
    if (behind >= 0 && behind < MOST_BYTES) {
      out_piece->source = f->rows[r];
      out_piece->index = (uint32_t)behind;
    }
  }
  if (!out_piece->source && f->row_count < MOST_ROWS) {
    out_piece->source = f->rows[f->row_count++] = load;
  }
  return out_piece->source != NULL;
}

static bool find_piece(sum_finder *f, LLVMValueRef value, piece *out_piece) {
  if (is_extension(value)) {
    LLVMValueRef part = LLVMGetOperand(value, 0);
    return mtlc_is_opcode(part, LLVMExtractElement)
               ? find_component(LLVMGetOperand(part, 0),
                                LLVMGetOperand(part, 1), value, out_piece)
               : find_byte(f, value, out_piece);
  }
  if (!mtlc_is_opcode(value, LLVMExtractElement) ||
      !is_extension(LLVMGetOperand(value, 0))) {
    return false;
  }
  LLVMValueRef wide = LLVMGetOperand(value, 0);
  return find_component(LLVMGetOperand(wide, 0), LLVMGetOperand(value, 1), wide,
                        out_piece);
}

// Finds a product of two components with the same number, which may be one of a
// product of vectors.
static bool find_product(sum_finder *f, LLVMValueRef value,
                         piece out_sides[2]) {
  if (mtlc_is_opcode(value, LLVMMul)) {
    return find_piece(f, LLVMGetOperand(value, 0), &out_sides[0]) &&
           find_piece(f, LLVMGetOperand(value, 1), &out_sides[1]) &&
           out_sides[0].index == out_sides[1].index &&
           out_sides[0].bits == out_sides[1].bits;
  }
  if (!mtlc_is_opcode(value, LLVMExtractElement) ||
      !mtlc_is_opcode(LLVMGetOperand(value, 0), LLVMMul)) {
    return false;
  }
  LLVMValueRef all = LLVMGetOperand(value, 0);
  for (unsigned side = 0; side < 2; side++) {
    LLVMValueRef wide = LLVMGetOperand(all, side);
    if (!is_extension(wide) ||
        !find_component(LLVMGetOperand(wide, 0), LLVMGetOperand(value, 1), wide,
                        &out_sides[side])) {
      return false;
    }
  }
  return out_sides[0].bits == out_sides[1].bits;
}

// True if a value is a partial sum with one use, in another sum of its block.
static bool is_part_of_sum(LLVMValueRef value) {
  LLVMUseRef use = LLVMGetFirstUse(value);
  return mtlc_is_opcode(value, LLVMAdd) && use && !LLVMGetNextUse(use) &&
         mtlc_is_opcode(LLVMGetUser(use), LLVMAdd) &&
         LLVMGetInstructionParent(LLVMGetUser(use)) ==
             LLVMGetInstructionParent(value);
}

static void collect(sum_finder *f, LLVMValueRef sum) {
  for (unsigned i = 0; i < 2; i++) {
    LLVMValueRef value = LLVMGetOperand(sum, i);
    if (is_part_of_sum(value)) {
      collect(f, value);
    } else if (f->term_count < MOST_TERMS) {
      term *t = &f->terms[f->term_count];
      *t = (term){.value = value};
      t->is_product = find_product(f, value, t->sides);
      f->term_count++;
    } else {
      f->term_count = MOST_TERMS + 1;
      return;
    }
  }
}

// --- Products of one word ----------------------------------------------------

static uint32_t pieces_per_word(const term *t) {
  return WORD_BITS / t->sides[0].bits;
}

static bool is_like(const piece *a, const piece *b) {
  return a->source == b->source && a->bits == b->bits &&
         a->is_signed == b->is_signed;
}

// Returns the product of other components of the same two vectors; or NULL.
static term *find_partner(sum_finder *f, const term *first, uint32_t index) {
  for (uint32_t i = 0; i < f->term_count; i++) {
    term *t = &f->terms[i];
    const bool fits = t->is_product && !t->is_done &&
                      t->sides[0].index == index &&
                      ((is_like(&t->sides[0], &first->sides[0]) &&
                        is_like(&t->sides[1], &first->sides[1])) ||
                       (is_like(&t->sides[0], &first->sides[1]) &&
                        is_like(&t->sides[1], &first->sides[0])));
    if (fits) {
      return t;
    }
  }
  return NULL;
}

// Returns a word of a vector; if the vector is loaded, loads the word.
static LLVMValueRef load_word(sum_finder *f, LLVMValueRef load,
                              uint32_t number) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(f->context);
  LLVMPositionBuilderBefore(b, load);
  const uint64_t offset = number * (WORD_BITS / 8);
  LLVMValueRef by = LLVMConstInt(f->types.i64, offset, false);
  LLVMValueRef address = LLVMGetOperand(load, 0);
  if (offset) {
    address = LLVMBuildGEP2(b, f->types.i8, address, &by, 1, "");
  }
  LLVMValueRef word = LLVMBuildLoad2(b, f->types.i32, address, "");
  LLVMSetAlignment(word,
                   lanes_common_alignment(LLVMGetAlignment(load), offset));
  LLVMDisposeBuilder(b);
  return word;
}

static LLVMValueRef word_of(sum_finder *f, const piece *p) {
  LLVMTypeRef word = f->types.i32;
  const uint32_t bits = p->bits * LLVMGetVectorSize(LLVMTypeOf(p->source));
  const uint32_t number = p->index * p->bits / WORD_BITS;
  if (mtlc_is_opcode(p->source, LLVMLoad) && lanes_is_plain(p->source)) {
    return load_word(f, p->source, number);
  }
  if (bits == WORD_BITS) {
    return LLVMBuildBitCast(f->builder, p->source, word, "");
  }
  LLVMValueRef words = LLVMBuildBitCast(
      f->builder, p->source, LLVMVectorType(word, bits / WORD_BITS), "");
  return LLVMBuildExtractElement(f->builder, words,
                                 LLVMConstInt(word, number, false), "");
}

static LLVMValueRef call(sum_finder *f, const char *name, LLVMValueRef *words,
                         uint32_t count) {
  LLVMTypeRef types[] = {f->types.i32, f->types.i32};
  LLVMTypeRef type = LLVMFunctionType(f->types.i32, types, count, false);
  return LLVMBuildCall2(f->builder, type, mtlc_declare(f->module, name, type),
                        words, count, "");
}

// Returns a word's even or odd bytes as two 16-bit integers.
static LLVMValueRef half_of(sum_finder *f, const piece *p, LLVMValueRef word,
                            bool odd) {
  if (p->is_signed) {
    return call(f, odd ? "mettle.pairs.odd" : "mettle.pairs.even", &word, 1);
  }
  if (odd) {
    word = LLVMBuildLShr(f->builder, word, LLVMConstInt(f->types.i32, 8, false),
                         "");
  }
  return LLVMBuildAnd(f->builder, word,
                      LLVMConstInt(f->types.i32, 0xff00ff, false), "");
}

static LLVMValueRef dot_of(sum_finder *f, const term *t) {
  LLVMValueRef words[] = {word_of(f, &t->sides[0]), word_of(f, &t->sides[1])};
  if (t->sides[0].bits == HALF_BITS) {
    return call(f, "mettle.pairs.dot", words, 2);
  }
  LLVMValueRef sums[2];
  for (uint32_t odd = 0; odd < 2; odd++) {
    LLVMValueRef halves[] = {half_of(f, &t->sides[0], words[0], odd),
                             half_of(f, &t->sides[1], words[1], odd)};
    sums[odd] = call(f, "mettle.pairs.dot", halves, 2);
  }
  return LLVMBuildAdd(f->builder, sums[0], sums[1], "");
}

// Takes all products of a term's words, if every component has one.
static bool take_products(sum_finder *f, const term *first,
                          LLVMValueRef *out_dot) {
  term *partners[WORD_BITS / 8];
  const uint32_t count = pieces_per_word(first);
  const uint32_t start = first->sides[0].index / count * count;
  for (uint32_t i = 0; i < count; i++) {
    partners[i] = find_partner(f, first, start + i);
    if (!partners[i]) {
      return false;
    }
  }
  *out_dot = dot_of(f, first);
  for (uint32_t i = 0; i < count; i++) {
    partners[i]->is_done = true;
  }
  return true;
}

// Replaces the products by the sum of pairs. The loop-carried operand is added
// last, so that nothing else waits for it.
static bool rewrite(sum_finder *f, LLVMValueRef root) {
  LLVMValueRef sum = NULL;
  f->term_count = f->row_count = 0;
  collect(f, root);
  if (f->term_count > MOST_TERMS) {
    return false;
  }
  LLVMPositionBuilderBefore(f->builder, root);
  for (uint32_t i = 0; i < f->term_count; i++) {
    const term *t = &f->terms[i];
    LLVMValueRef dot = NULL;
    if (t->is_product && !t->is_done && take_products(f, t, &dot)) {
      sum = sum ? LLVMBuildAdd(f->builder, sum, dot, "") : dot;
    }
  }
  for (uint32_t i = 0; sum && i < f->term_count; i++) {
    if (!f->terms[i].is_done) {
      sum = LLVMBuildAdd(f->builder, sum, f->terms[i].value, "");
    }
  }
  if (sum) {
    LLVMReplaceAllUsesWith(root, sum);
  }
  return sum != NULL;
}

static bool is_sum(const sum_finder *f, LLVMValueRef value) {
  return mtlc_is_opcode(value, LLVMAdd) && LLVMTypeOf(value) == f->types.i32 &&
         !is_part_of_sum(value);
}

bool lanes_find_dot_products(mtlc_kernel *kernel, LLVMValueRef function,
                      const lanes_values *values) {
  if (lanes_machine_of(kernel->target).dot_words == 0) {
    return false;
  }
  sum_finder f = {.values = values,
                  .types = mtlc_types_of(kernel->context),
                  .context = kernel->context,
                  .module = kernel->module,
                  .builder = LLVMCreateBuilderInContext(kernel->context)};
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      any |= is_sum(&f, i) && rewrite(&f, i);
    }
  }
  LLVMDisposeBuilder(f.builder);
  return any;
}
