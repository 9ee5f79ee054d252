// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// callees.c: classifies calls by the callee's name, and gives their results'
// shapes.
#include "compiler/vectorize/analysis/callees.h"

#include <stddef.h>
#include <string.h>

#include "code/code.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"

static bool starts_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

typedef struct known_callee {
  const char *start;
  lanes_callee callee;
} known_callee;

static const known_callee mettle_callees[] = {
    {"mettle.argument", LANES_CALLEE_ARGUMENT},
    {"mettle.apart", LANES_CALLEE_APART},
    {"mettle.all", LANES_CALLEE_ALL},
    {"mettle.first.", LANES_CALLEE_FIRST},
    {"mettle.demand", LANES_CALLEE_DEMAND},
    {"mettle.position", LANES_CALLEE_POSITION},
    {"mettle.threadgroup_memory", LANES_CALLEE_THREADGROUP_MEMORY},
    {"mettle.barrier.threadgroup", LANES_CALLEE_THREADGROUP_BARRIER},
    {"mettle.barrier.simdgroup", LANES_CALLEE_SIMDGROUP_BARRIER},
    {"mettle.simd.shuffle.", LANES_CALLEE_SHUFFLE},
    {"mettle.simd.ballot", LANES_CALLEE_BALLOT},
    {"mettle.simd.reduce.", LANES_CALLEE_REDUCE},
    {"mettle.simd.scan.", LANES_CALLEE_SCAN},
    {"mettle.tile.", LANES_CALLEE_TILE},
    {"mettle.trap", LANES_CALLEE_TRAP},
    {"mettle.check.must", LANES_CALLEE_MUST},
    {"mettle.check.shared", LANES_CALLEE_SHARED},
    {"mettle.check.context", LANES_CALLEE_CHECK_MEMORY},
    {"mettle.log_memory", LANES_CALLEE_LOG_MEMORY},
    {"mettle.parameter", LANES_CALLEE_PARAMETER},
    {MTLC_CALLED_PREFIX, LANES_CALLEE_CALLED},
    {"mettle.pairs.", LANES_CALLEE_ELEMENTWISE},
    {MTLC_OFFER_PREFIX, LANES_CALLEE_ELEMENTWISE},
    {"mettle.texel.", LANES_CALLEE_OTHER},  // a function with a body
    {"mettle.", LANES_CALLEE_UNKNOWN},
};

static const char *const markers[] = {
    "llvm.lifetime.",  "llvm.dbg.",
    "llvm.assume",     "llvm.invariant",
    "llvm.annotation", "llvm.var.annotation",
    "llvm.donothing",  "llvm.experimental.noalias.scope.decl",
    "llvm.sideeffect", "llvm.pseudoprobe",
};

static const char *const elementwise[] = {
    "fma",
    "fmuladd",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "roundeven",
    "fabs",
    "copysign",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "bitreverse",
    "fshl",
    "fshr",
    "abs",
    "smax",
    "smin",
    "umax",
    "umin",
    "sadd.sat",
    "uadd.sat",
    "ssub.sat",
    "usub.sat",
    "sshl.sat",
    "ushl.sat",
    "fptosi.sat",
    "fptoui.sat",
    "is.fpclass",
    "ldexp",
    "canonicalize",
    "arithmetic.fence",
    "sadd.with.overflow",
    "uadd.with.overflow",
    "ssub.with.overflow",
    "usub.with.overflow",
    "smul.with.overflow",
    "umul.with.overflow",
};

// Compares the part of a name between "llvm." and its types with a list.
static bool is_elementwise(const char *name) {
  name += strlen("llvm.");
  for (size_t i = 0; i < sizeof elementwise / sizeof *elementwise; i++) {
    const size_t length = strlen(elementwise[i]);
    if (strncmp(name, elementwise[i], length) == 0 && name[length] == '.' &&
        (name[length + 1] == 'f' || name[length + 1] == 'i' ||
         name[length + 1] == 'v' || name[length + 1] == 'b') &&
        strncmp(name + length, ".bf16", 5) != 0) {
      return true;
    }
  }
  return false;
}

lanes_callee lanes_callee_of(LLVMValueRef call) {
  const char *name = mtlc_callee_name(call);
  if (starts_with(name, "llvm.")) {
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
      if (starts_with(name, markers[i])) {
        return LANES_CALLEE_NOTHING;
      }
    }
    return is_elementwise(name) ? LANES_CALLEE_ELEMENTWISE : LANES_CALLEE_OTHER;
  }
  const size_t count = sizeof mettle_callees / sizeof *mettle_callees;
  for (size_t i = 0; i < count; i++) {
    if (starts_with(name, mettle_callees[i].start)) {
      return mettle_callees[i].callee;
    }
  }
  return LANES_CALLEE_OTHER;
}

unsigned lanes_operand_count(LLVMValueRef i) {
  return LLVMIsACallInst(i) ? LLVMGetNumArgOperands(i)
                            : (unsigned)LLVMGetNumOperands(i);
}

bool lanes_limit_find(LLVMValueRef value, lanes_limit *out_limit) {
  static const struct {
    const char *name;
    lanes_limit limit;
  } limits[] = {{"llvm.smin.i32", {false, true}},
                {"llvm.smax.i32", {true, true}},
                {"llvm.umin.i32", {false, false}},
                {"llvm.umax.i32", {true, false}}};
  const char *name = LLVMIsACallInst(value) ? mtlc_callee_name(value) : "";
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    if (strcmp(name, limits[i].name) == 0) {
      *out_limit = limits[i].limit;
      return true;
    }
  }
  return false;
}

bool lanes_is_convergent(LLVMValueRef call) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_THREADGROUP_BARRIER:
    case LANES_CALLEE_SIMDGROUP_BARRIER:
    case LANES_CALLEE_SHUFFLE:
    case LANES_CALLEE_BALLOT:
    case LANES_CALLEE_REDUCE:
    case LANES_CALLEE_SCAN: return true;
    default: return false;
  }
}

bool lanes_operand_is_flag(LLVMValueRef call, uint32_t operand) {
  const char *name = mtlc_callee_name(call);
  return operand == 1 &&
         (starts_with(name, "llvm.ctlz.") || starts_with(name, "llvm.cttz.") ||
          starts_with(name, "llvm.abs.") ||
          starts_with(name, "llvm.is.fpclass."));
}

static const char *behind(const char *text, const char *prefix) {
  return starts_with(text, prefix) ? text + strlen(prefix) : text;
}

lanes_collective lanes_collective_of(LLVMValueRef call) {
  static const char *const names[] = {"add.", "mul.", "min.", "max.",
                                      "and.", "or.",  "xor."};
  const char *rest = behind(mtlc_callee_name(call), "mettle.simd.");
  lanes_collective result = {.is_scan = starts_with(rest, "scan."),
                             .operation = LANES_NO_OPERATION};
  if (result.is_scan) {
    rest = behind(rest, "scan.");
    result.is_exclusive = starts_with(rest, "exclusive.");
    rest = behind(behind(rest, "exclusive."), "inclusive.");
  } else {
    rest = behind(rest, "reduce.");
  }
  for (uint32_t i = 0; i < LANES_NO_OPERATION; i++) {
    if (starts_with(rest, names[i])) {
      result.operation = (lanes_operation)i;
      result.is_unsigned = rest[strlen(names[i])] == 'u';
    }
  }
  return result;
}

// --- Shapes ------------------------------------------------------------------

// Returns the shape of a thread's index along a row of the threadgroup. Its
// range is that of the largest grid and threadgroup that the entry code admits.
static lanes_shape along_row(const lanes_values *values, uint8_t align,
                             uint8_t bits) {
  if (values->row == 1) {
    lanes_shape shape = lanes_shape_varying(values->lanes);
    shape.bits = bits;
    return shape;
  }
  lanes_shape shape = lanes_shape_strided(values->lanes, values->row, 1);
  shape.align = align;
  shape.bits = bits;
  shape.no_unsigned_wrap = true;
  shape.no_signed_wrap = true;
  return shape;
}

static lanes_shape across_rows(const lanes_values *values, uint8_t bits) {
  lanes_shape shape =
      values->row == 1 ? lanes_shape_varying(values->lanes) : lanes_shape_uniform(values->lanes);
  shape.row = values->row;
  shape.bits = bits;
  return shape;
}

enum {
  GRID_BITS = 31,   // the entry code vectorises rows only below 2^31 threads
  GROUP_BITS = 11,  // at most 1024 threads in a threadgroup
  SIMDGROUP_BITS = 5,  // and so 32 simdgroups
};

static lanes_shape shape_of_position(const lanes_values *values,
                                     LLVMValueRef call) {
  const uint64_t builtin = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
  const uint64_t dimension = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 1));
  lanes_values whole = *values;
  whole.row = values->lanes;
  const uint8_t row_align =
      (uint8_t)(values->row > 1 ? __builtin_ctz(values->row) : 0);
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID:
      return dimension == 0
                 ? along_row(values, values->is_even ? row_align : 0,
                             values->row > 1 ? GRID_BITS : 32)
                 : across_rows(values, 32);
    case MTLI_THREAD_POSITION_IN_THREADGROUP:
      if (values->is_exact && dimension == 0) {
        return along_row(values, LANES_ALIGN_ANY, row_align);
      }
      return dimension == 0 ? along_row(values, row_align, GROUP_BITS)
                            : across_rows(values, GROUP_BITS);
    case MTLI_THREAD_INDEX_IN_THREADGROUP:
      return along_row(&whole, (uint8_t)__builtin_ctz(values->lanes), GROUP_BITS);
    case MTLI_THREAD_INDEX_IN_SIMDGROUP:
      return along_row(&whole, LANES_ALIGN_ANY, 5);
    case MTLI_THREAD_INDEX_IN_QUADGROUP: {
      lanes_shape shape = lanes_shape_strided(values->lanes, 4, 1);
      shape.align = LANES_ALIGN_ANY;
      shape.bits = 2;
      shape.no_unsigned_wrap = shape.no_signed_wrap = true;
      return shape;
    }
    case MTLI_QUADGROUP_INDEX_IN_THREADGROUP: {
      lanes_shape shape = lanes_shape_uniform(values->lanes);
      shape.row = 4;
      shape.bits = GROUP_BITS;
      return shape;
    }
    case MTLI_THREADS_PER_THREADGROUP:
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
    case MTLI_SIMDGROUPS_PER_THREADGROUP:
    case MTLI_QUADGROUPS_PER_THREADGROUP: {
      lanes_shape shape = lanes_shape_uniform(values->lanes);
      shape.bits = GROUP_BITS;
      return shape;
    }
    case MTLI_SIMDGROUP_INDEX_IN_THREADGROUP: {
      lanes_shape shape = lanes_shape_uniform(values->lanes);
      shape.bits = SIMDGROUP_BITS;
      return shape;
    }
    default: {
      lanes_shape shape = lanes_shape_uniform(values->lanes);
      shape.bits = 32;
      return shape;
    }
  }
}

static lanes_shape shape_of_elementwise(uint8_t lanes,
                                        const lanes_shape *operands,
                                        uint32_t count) {
  lanes_shape result = lanes_shape_uniform(lanes);
  for (uint32_t i = 0; i < count; i++) {
    const bool same = operands[i].stride == 0 && !operands[i].conditional;
    const uint8_t row = same ? operands[i].row : 1;
    result.row = row < result.row ? row : result.row;
  }
  return result;
}

// Returns the shape of a minimum or maximum of a consecutive index, as code
// clamps it at an edge. It stays consecutive if no lane is clamped, which
// wrap_checks.c tests at run time.
static lanes_shape shape_of_limited(lanes_limit limit,
                                    const lanes_shape operands[2]) {
  enum { WIDTH = 32, MOST_STRIDE = 4096 };
  const uint32_t number = operands[0].stride ? 0 : 1;
  const lanes_shape run = operands[number], bound = operands[1 - number];
  if (run.row == 1 || run.stride <= 0 || run.stride >= MOST_STRIDE ||
      !lanes_is_uniform(bound)) {
    return shape_of_elementwise(run.lanes, operands, 2);
  }
  // A signed number that is known not to be negative is below 2^31.
  const uint8_t run_bits = run.bits < WIDTH ? run.bits : WIDTH;
  const uint8_t bound_bits = bound.bits < WIDTH ? bound.bits : WIDTH;
  const bool either = run_bits < WIDTH || bound_bits < WIDTH;
  const bool both = run_bits < WIDTH && bound_bits < WIDTH;
  const uint8_t less = run_bits < bound_bits ? run_bits : bound_bits;
  const uint8_t more = run_bits < bound_bits ? bound_bits : run_bits;
  lanes_shape result = {.lanes = run.lanes, .row = run.row, .stride = run.stride};
  result.conditional = true;
  if (limit.is_max) {
    result.bits = both                         ? more
                  : limit.is_signed && either ? WIDTH - 1
                                               : WIDTH;
  } else {
    result.bits = both || !limit.is_signed ? less : WIDTH;
  }
  result.no_signed_wrap = limit.is_signed || result.bits < WIDTH;
  result.no_unsigned_wrap = !limit.is_signed || result.bits < WIDTH;
  return result;
}

lanes_shape lanes_shape_of_call(const lanes_values *values, LLVMValueRef call,
                                const lanes_shape *operands) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_POSITION: return shape_of_position(values, call);
    case LANES_CALLEE_ARGUMENT:
    case LANES_CALLEE_APART:
    case LANES_CALLEE_ALL:
    case LANES_CALLEE_FIRST:
    case LANES_CALLEE_THREADGROUP_MEMORY:
    case LANES_CALLEE_LOG_MEMORY:
    case LANES_CALLEE_CHECK_MEMORY:
    case LANES_CALLEE_SHARED:
    case LANES_CALLEE_BALLOT:
    case LANES_CALLEE_REDUCE: return lanes_shape_uniform(values->lanes);
    case LANES_CALLEE_SHUFFLE: {
      const bool one_source =
          lanes_is_uniform(operands[0]) || lanes_is_uniform(operands[1]);
      return one_source ? lanes_shape_uniform(values->lanes) : lanes_shape_varying(values->lanes);
    }
    case LANES_CALLEE_ELEMENTWISE: {
      lanes_limit limit;
      return lanes_limit_find(call, &limit)
                 ? shape_of_limited(limit, operands)
                 : shape_of_elementwise(values->lanes, operands,
                                        LLVMGetNumArgOperands(call));
    }
    default: return lanes_shape_varying(values->lanes);
  }
}

bool lanes_has_barrier(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (LLVMGetInstructionOpcode(i) == LLVMCall &&
        lanes_callee_of(i) == LANES_CALLEE_THREADGROUP_BARRIER) {
      return true;
    }
  }
  return false;
}

bool lanes_is_product(LLVMValueRef instruction) {
  return instruction && LLVMGetInstructionOpcode(instruction) == LLVMCall &&
         (strcmp(mtlc_callee_name(instruction), "mettle.tile.multiply_add") ==
              0 ||
          lanes_is_byte_product(instruction));
}

bool lanes_is_byte_product(LLVMValueRef product) {
  return starts_with(mtlc_callee_name(product), "mettle.tile.dot.");
}
