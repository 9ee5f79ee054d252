// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runs.c: addresses of which the compiler knows nothing and that are, most of
// the time, one behind the other all the same: positions clamped to an image's
// edge, wrapped around it, chosen between two. A comparison at run time costs
// a small part of what a gather does.
#include <string.h>

#include "compiler/vectorize/accesses.h"

enum { MOST_STEPS = 12, MOST_LOOKS = 100, MOST_PHIS = 8 };

// What an index is made of. In a loop, what a factor or a loop has a part in is
// seldom a run: a thread walks through a row of its own. Elsewhere it is where
// an element of a tensor is, whose strides and sizes the program knows.
typedef struct run_finder {
  const lanes_emitter *e;
  bool is_tensor;   // factors and loops may have a part in it
  bool has_factor;  // one has: lanes may have the same number
  uint32_t looks;
  LLVMValueRef phis[MOST_PHIS];  // on the way
  uint32_t phi_count;
} run_finder;

static bool is_run(run_finder *f, LLVMValueRef value, uint32_t steps);

static bool are_runs(run_finder *f, LLVMValueRef value, int from,
                     uint32_t steps) {
  for (int i = from; i < LLVMGetNumOperands(value); i++) {
    if (!is_run(f, LLVMGetOperand(value, (unsigned)i), steps)) {
      return false;
    }
  }
  return true;
}

// The smaller or larger of two.
static bool is_bound(LLVMValueRef call) {
  size_t length = 0;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
  return !strncmp(name, "llvm.smin.", 10) || !strncmp(name, "llvm.smax.", 10) ||
         !strncmp(name, "llvm.umin.", 10) || !strncmp(name, "llvm.umax.", 10);
}

static bool is_same(const run_finder *f, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(f->e->values, value);
  return shape.row >= f->e->values->row && shape.stride == 0 &&
         !shape.conditional;
}

static bool is_multiple(run_finder *f, LLVMValueRef value, uint32_t steps) {
  for (unsigned k = 0; k < 2; k++) {
    if (is_same(f, LLVMGetOperand(value, 1 - k)) &&
        !LLVMIsAConstantInt(LLVMGetOperand(value, 1 - k))) {
      f->has_factor = true;
      return is_run(f, LLVMGetOperand(value, k), steps);
    }
  }
  return false;
}

static bool is_run_phi(run_finder *f, LLVMValueRef phi, uint32_t steps) {
  for (uint32_t i = 0; i < f->phi_count; i++) {
    if (f->phis[i] == phi) {
      return true;
    }
  }
  if (f->phi_count == MOST_PHIS) {
    return false;
  }
  f->phis[f->phi_count++] = phi;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    if (!is_run(f, LLVMGetIncomingValue(phi, k), steps)) {
      return false;
    }
  }
  return true;
}

static bool is_run_of_tensor(run_finder *f, LLVMValueRef value,
                             uint32_t steps) {
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMMul: return is_multiple(f, value, steps);
    case LLVMPHI: return is_run_phi(f, value, steps);
    case LLVMUDiv:
    case LLVMSDiv:
      return is_same(f, LLVMGetOperand(value, 1)) &&
             is_run(f, LLVMGetOperand(value, 0), steps);
    case LLVMLoad:  // a thread's own coordinates
      return LLVMIsAAllocaInst(mtlc_root_of(LLVMGetOperand(value, 0)));
    default: return false;
  }
}

// Says whether a value may go up by one from lane to lane, or stay, where no
// condition that it depends on changes: not if memory has a part in it.
static bool is_run(run_finder *f, LLVMValueRef value, uint32_t steps) {
  const lanes_shape shape = lanes_shape_of(f->e->values, value);
  if (shape.row >= f->e->values->row && shape.row > 1) {
    return shape.stride == 0 || shape.stride == 1;
  }
  if (!LLVMIsAInstruction(value) || steps == 0 || f->looks == 0) {
    return false;
  }
  f->looks--;
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
    case LLVMFreeze: return are_runs(f, value, 0, steps - 1);
    case LLVMSelect: return are_runs(f, value, 1, steps - 1);
    case LLVMCall:
      return is_bound(value) &&
             is_run(f, LLVMGetArgOperand(value, 0), steps - 1) &&
             is_run(f, LLVMGetArgOperand(value, 1), steps - 1);
    default: return f->is_tensor && is_run_of_tensor(f, value, steps - 1);
  }
}

bool lanes_may_be_runs(const lanes_emitter *e, const lanes_access *a,
                       lanes_shape *out_shape, bool *out_may_be_same) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  const uint8_t row = e->values->row;
  if (type == NULL || row < 8 || e->uncached) {
    return false;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  *out_shape = lanes_shape_strided(
      row, (int64_t)LLVMABISizeOfType(e->values->data, type));
  run_finder f = {.e = e,
                  .is_tensor = e->graph->nodes[e->node].loop == LANES_NONE,
                  .looks = MOST_LOOKS};
  const bool may_be = lanes_shape_of(e->values, index).row == 1 &&
                      is_run(&f, index, MOST_STEPS);
  *out_may_be_same = f.has_factor;
  return may_be;
}

static bool is_extended(LLVMValueRef index) {
  return LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
}

static LLVMValueRef index_of(const lanes_access *a) {
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  return LLVMGetOperand(a->pointer, last);
}

// Before it is extended.
static LLVMValueRef narrow_index(lanes_emitter *e, const lanes_access *a) {
  LLVMValueRef index = index_of(a);
  return lanes_vector(e, is_extended(index) ? LLVMGetOperand(index, 0) : index,
                      0);
}

static LLVMValueRef address_of_lane(lanes_emitter *e, const lanes_access *a,
                                    LLVMValueRef base, LLVMValueRef narrow,
                                    LLVMValueRef lane) {
  LLVMValueRef index = index_of(a);
  LLVMValueRef one = LLVMBuildExtractElement(e->builder, narrow, lane, "");
  one = LLVMIsAZExtInst(index)
            ? LLVMBuildZExt(e->builder, one, e->types.i64, "")
            : LLVMBuildSExt(e->builder, one, e->types.i64, "");
  return LLVMBuildGEP2(e->builder, lanes_type_indexed(e, a->pointer), base,
                       &one, 1, "");
}

// Returns i1: so it is of no lane that runs. Others may hold poison, which must
// not spread.
static LLVMValueRef is_none(lanes_emitter *e, LLVMValueRef mask) {
  LLVMValueRef running = LLVMBuildSelect(e->builder, e->mask, mask,
                                         LLVMConstNull(LLVMTypeOf(mask)), "");
  return LLVMBuildICmp(e->builder, LLVMIntEQ, lanes_bits(e, running),
                       mtlc_i32(e->context, 0), "");
}

LLVMValueRef lanes_are_runs(lanes_emitter *e, const lanes_access *a,
                            uint32_t row, LLVMValueRef *out_firsts) {
  LLVMValueRef index = index_of(a);
  LLVMValueRef narrow = narrow_index(e, a);
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(narrow));
  int starts[MOST_LANES];
  LLVMValueRef places[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    starts[i] = (int)(i - i % row);
    places[i] = LLVMConstInt(type, i % row, false);
  }
  LLVMValueRef first = lanes_shuffle(e, narrow, NULL, starts, LANES);
  LLVMValueRef expected =
      LLVMBuildAdd(e->builder, first, LLVMConstVector(places, LANES), "");
  LLVMValueRef apart =
      LLVMBuildICmp(e->builder, LLVMIntNE, narrow, expected, "");
  if (is_extended(index)) {
    const LLVMIntPredicate below =
        LLVMIsAZExtInst(index) ? LLVMIntULT : LLVMIntSLT;
    LLVMValueRef wraps = LLVMBuildICmp(e->builder, below, expected, first, "");
    apart = LLVMBuildOr(e->builder, apart, wraps, "");
  }
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  for (uint32_t r = 0; r < LANES / row; r++) {
    out_firsts[r] =
        address_of_lane(e, a, base, narrow, mtlc_i32(e->context, r * row));
  }
  return is_none(e, apart);
}

LLVMValueRef lanes_are_same(lanes_emitter *e, const lanes_access *a,
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
