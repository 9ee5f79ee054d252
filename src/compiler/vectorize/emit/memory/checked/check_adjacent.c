// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_adjacent.c: tests at run time whether addresses that analysis cannot
// describe are adjacent: positions clamped to an image's edge, wrapped around
// it, chosen between two. The test costs a small part of what a gather does.
#include "compiler/vectorize/emit/memory/checked/check_adjacent.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"

static bool is_extended(LLVMValueRef index) {
  return LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
}

// Returns an index before its extension.
static LLVMValueRef narrow_index(lanes_emitter *e, const lanes_access *a) {
  LLVMValueRef index = lanes_index_of(a->pointer);
  return lanes_vector(e, is_extended(index) ? LLVMGetOperand(index, 0) : index,
                      0);
}

static LLVMValueRef address_of_lane(lanes_emitter *e, const lanes_access *a,
                                    LLVMValueRef base, LLVMValueRef narrow,
                                    LLVMValueRef lane) {
  LLVMValueRef index = lanes_index_of(a->pointer);
  LLVMValueRef one = LLVMBuildExtractElement(e->builder, narrow, lane, "");
  one = LLVMIsAZExtInst(index)
            ? LLVMBuildZExt(e->builder, one, e->types.i64, "")
            : LLVMBuildSExt(e->builder, one, e->types.i64, "");
  return LLVMBuildGEP2(e->builder, lanes_type_indexed(e->values, a->pointer), base,
                       &one, 1, "");
}

// Returns an i1: the condition holds for no lane that runs. The others may hold
// poison, which must not spread.
static LLVMValueRef is_none(lanes_emitter *e, LLVMValueRef mask) {
  LLVMValueRef running = LLVMBuildSelect(e->builder, e->mask, mask,
                                         LLVMConstNull(LLVMTypeOf(mask)), "");
  return LLVMBuildICmp(e->builder, LLVMIntEQ, lanes_mask_bits(e, running),
                       mtlc_i32(e->context, 0), "");
}

LLVMValueRef lanes_check_adjacent(lanes_emitter *e, const lanes_access *a,
                            lanes_shape shape, LLVMValueRef *out_firsts) {
  const uint32_t row = shape.row;
  const uint64_t size =
      LLVMABISizeOfType(e->values->data, lanes_type_indexed(e->values, a->pointer));
  const uint64_t stride = (uint64_t)shape.stride / size;
  LLVMValueRef index = lanes_index_of(a->pointer);
  LLVMValueRef narrow = narrow_index(e, a);
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(narrow));
  int starts[MOST_LANES];
  LLVMValueRef places[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    starts[i] = (int)(i - i % row);
    places[i] = LLVMConstInt(type, i % row * stride, false);
  }
  LLVMValueRef first = lanes_shuffle(e, narrow, NULL, starts, e->lanes);
  LLVMValueRef expected =
      LLVMBuildAdd(e->builder, first, LLVMConstVector(places, e->lanes), "");
  LLVMValueRef apart =
      LLVMBuildICmp(e->builder, LLVMIntNE, narrow, expected, "");
  if (is_extended(index)) {
    const LLVMIntPredicate below =
        LLVMIsAZExtInst(index) ? LLVMIntULT : LLVMIntSLT;
    LLVMValueRef wraps = LLVMBuildICmp(e->builder, below, expected, first, "");
    apart = LLVMBuildOr(e->builder, apart, wraps, "");
  }
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  for (uint32_t r = 0; r < e->lanes / row; r++) {
    out_firsts[r] =
        address_of_lane(e, a, base, narrow, mtlc_i32(e->context, r * row));
  }
  return is_none(e, apart);
}

LLVMValueRef lanes_check_equal(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef *out_address) {
  LLVMValueRef narrow = narrow_index(e, a);
  LLVMValueRef last = lanes_last(e);
  LLVMValueRef one = LLVMBuildExtractElement(e->builder, narrow, last, "");
  LLVMValueRef apart = LLVMBuildICmp(e->builder, LLVMIntNE, narrow,
                                     lanes_splat(e, e->builder, one), "");
  *out_address =
      address_of_lane(e, a, lanes_base_indexed(e, a->pointer), narrow, last);
  return is_none(e, apart);
}
