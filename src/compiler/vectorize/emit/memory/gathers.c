// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gathers.c: gathers and scatters: every lane has an address of its own.
#include "compiler/vectorize/emit/memory/gathers.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/kept_values.h"

enum { MOST_INDICES = 6 };  // of one address, beside its base

// True if an element is gathered as a part of a word: machines gather words
// only. The aligned word around an element is in the same page, so reading it
// is harmless.
static bool is_part_of_word(const lanes_access *a, uint64_t offset) {
  return a->size_bytes < 4 &&
         lanes_common_alignment(a->alignment, offset) >= a->size_bytes;
}

LLVMValueRef lanes_base_indexed(lanes_emitter *e, LLVMValueRef address) {
  LLVMValueRef base = lanes_scalar(e, LLVMGetOperand(address, 0), 0);
  LLVMValueRef outer[MOST_INDICES];
  const unsigned count = (unsigned)LLVMGetNumOperands(address) - 2;
  for (unsigned i = 0; i < count; i++) {
    outer[i] = lanes_scalar(e, LLVMGetOperand(address, i + 1), 0);
  }
  return count == 0
             ? base
             : LLVMBuildGEP2(e->builder, LLVMGetGEPSourceElementType(address),
                             base, outer, count, "");
}

// Returns how many lanes are gathered, from the first on: fewer than all where
// the others never run, and at least a 16-byte register's words.
static uint32_t lanes_gathered(const lanes_emitter *e) {
  enum { LEAST = 4 };
  const uint32_t count = lanes_narrow_count(e);
  return count < LEAST ? LEAST : count;
}

// Returns a signed 32-bit index if there is one. An unsigned one becomes signed
// by subtracting *bias, which the base then adds.
static LLVMValueRef narrow_index(lanes_emitter *e, LLVMValueRef index,
                                 uint64_t *out_bias) {
  const uint32_t count = lanes_gathered(e);
  *out_bias = 0;
  LLVMValueRef narrow = LLVMIsAZExtInst(index) && lanes_is_rematerialised(e->values, index)
                            ? LLVMGetOperand(index, 0)
                            : NULL;
  if (narrow == NULL || LLVMTypeOf(narrow) != e->types.i32) {
    return lanes_subvector(e, lanes_vector(e, index, 0), 0, count);
  }
  LLVMTypeRef wide = LLVMVectorType(e->types.i64, count);
  LLVMValueRef low = lanes_subvector(e, lanes_vector(e, narrow, 0), 0, count);
  if (lanes_shape_of(e->values, narrow).bits < 32) {
    return LLVMBuildSExt(e->builder, low, wide, "");
  }
  *out_bias = UINT64_C(1) << 31;
  low = LLVMBuildXor(
      e->builder, low,
      lanes_splat_to(e, e->builder, mtlc_i32(e->context, 1u << 31), count), "");
  return LLVMBuildSExt(e->builder, low, wide, "");
}

// Returns the addresses offset bytes after those of consecutive lanes.
static LLVMValueRef behind_first(lanes_emitter *e, LLVMValueRef address,
                                 uint64_t offset) {
  const lanes_shape shape = lanes_shape_of(e->values, address);
  LLVMValueRef first = lanes_address_at(e, lanes_scalar(e, address, 0), offset);
  LLVMValueRef steps =
      lanes_subvector(e, lanes_steps(e->lanes, e->types.i64, 0, (uint64_t)shape.stride), 0,
                  lanes_gathered(e));
  return LLVMBuildGEP2(e->builder, e->types.i8, first, &steps, 1, "");
}

// Returns addresses offset bytes after pointers, as one base and an index for
// each lane where possible: x86 gathers by signed 32-bit indices twice as fast
// as by 64-bit ones (vpgatherdd, vpgatherqd).
static LLVMValueRef addresses_of(lanes_emitter *e, const lanes_access *a,
                                 LLVMValueRef pointers, uint64_t offset) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e->values, a->pointer) : NULL;
  if (type == NULL) {
    return lanes_address_at(e, lanes_subvector(e, pointers, 0, lanes_gathered(e)),
                            offset);
  }
  if (!lanes_is_rematerialised(e->values, a->pointer)) {
    return behind_first(e, a->pointer, offset);
  }
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  uint64_t bias = 0;
  LLVMValueRef index = narrow_index(e, LLVMGetOperand(a->pointer, last), &bias);
  bias *= LLVMABISizeOfType(e->values->data, type);
  return LLVMBuildGEP2(e->builder, type,
                       lanes_address_at(e, base, bias + offset), &index, 1, "");
}

static LLVMValueRef gather_words(lanes_emitter *e, const lanes_access *a,
                                 LLVMValueRef pointers, uint64_t offset) {
  LLVMTypeRef words = lanes_vector_of(e->lanes, e->types.i32);
  LLVMTypeRef longs = lanes_vector_of(e->lanes, e->types.i64);
  LLVMValueRef at = lanes_address_at(e, pointers, offset);
  LLVMValueRef low =
      LLVMBuildAnd(e->builder, LLVMBuildPtrToInt(e->builder, at, longs, ""),
                   lanes_steps(e->lanes, e->types.i64, 3, 0), "");
  LLVMValueRef back = LLVMBuildNeg(e->builder, low, "");
  LLVMValueRef aligned =
      LLVMBuildGEP2(e->builder, e->types.i8, at, &back, 1, "");
  LLVMValueRef word = lanes_gather_from(e, e->types.i32, aligned, 4, e->mask);
  LLVMValueRef shift =
      LLVMBuildMul(e->builder, LLVMBuildTrunc(e->builder, low, words, ""),
                   lanes_steps(e->lanes, e->types.i32, 8, 0), "");
  LLVMTypeRef narrow =
      LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8);
  LLVMValueRef value =
      LLVMBuildTrunc(e->builder, LLVMBuildLShr(e->builder, word, shift, ""),
                     lanes_vector_of(e->lanes, narrow), "");
  return LLVMBuildBitCast(e->builder, value, lanes_vector_of(e->lanes, a->element), "");
}

// A function for several simdgroups at once has no branch that depends on the
// simdgroup. There LLVM must emulate a gather that the machine lacks.
LLVMValueRef lanes_gather(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef pointers, uint64_t offset) {
  if (e->machine.has_gathers && is_part_of_word(a, offset)) {
    return gather_words(e, a, pointers, offset);
  }
  if ((!e->machine.has_gathers || a->size_bytes < 4) && !e->is_at_once) {
    return lanes_load_by_lane(e, a, pointers, offset);
  }
  const uint32_t count = lanes_gathered(e);
  return lanes_widened(
      e,
      lanes_gather_from(e, a->element, addresses_of(e, a, pointers, offset),
                        lanes_common_alignment(a->alignment, offset),
                        lanes_subvector(e, e->mask, 0, count)),
      count);
}

bool lanes_has_scatter(const lanes_emitter *e, const lanes_access *a) {
  return (e->machine.has_masks && a->size_bytes >= 4) || e->is_at_once;
}

void lanes_scatter(lanes_emitter *e, const lanes_access *a,
                   LLVMValueRef pointers, uint64_t offset, LLVMValueRef value) {
  // A Zen 4 takes 30 cycles for 16 lanes, however few run.
  const uint32_t few = e->is_at_once ? 0 : lanes_few_active(e);
  if (few) {
    lanes_store_few(e, a, pointers, offset, value, few);
    return;
  }
  if (!lanes_has_scatter(e, a)) {
    lanes_store_by_lane(e, a, pointers, offset, value);
    return;
  }
  const uint32_t alignment = lanes_common_alignment(a->alignment, offset);
  const uint32_t count = lanes_gathered(e);
  LLVMValueRef arguments[] = {
      lanes_subvector(e, value, 0, count), addresses_of(e, a, pointers, offset),
      mtlc_i32(e->context, alignment), lanes_subvector(e, e->mask, 0, count)};
  LLVMTypeRef overloads[] = {LLVMTypeOf(arguments[0]),
                             LLVMTypeOf(arguments[1])};
  lanes_intrinsic(e, "llvm.masked.scatter", overloads, 2, arguments, 4);
}
