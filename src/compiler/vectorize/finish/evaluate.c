// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// evaluate.c: evaluates an integer or address, lane by lane, for a known
// simdgroup of a known threadgroup.
#include "compiler/vectorize/finish/evaluate.h"

#include <stddef.h>

#include "code/cpu_abi.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum { DEPTH = 24 };  // operations behind one another

static bool find_value(const lanes_known_place *p, LLVMValueRef value,
                       uint32_t lane, uint32_t depth, uint64_t *out);
static bool find_offset(const lanes_known_place *p, LLVMValueRef address,
                        uint32_t lane, LLVMValueRef root, uint32_t depth,
                        int64_t *out);

static bool is_vector(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

// Returns the bits of an integer or of a vector's elements; 0 for other types.
static unsigned bits_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  type = is_vector(type) ? LLVMGetElementType(type) : type;
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
             ? LLVMGetIntTypeWidth(type)
             : 0;
}

static uint64_t cut(uint64_t value, unsigned bits) {
  return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static uint64_t extend(uint64_t value, unsigned bits) {
  const uint64_t sign = UINT64_C(1) << (bits - 1);
  return (cut(value, bits) ^ sign) - sign;
}

// Follows shuffles and insertions to a lane's source value.
static LLVMValueRef follow_lane(LLVMValueRef value, uint32_t *lane) {
  for (;;) {
    if (LLVMIsAShuffleVectorInst(value)) {
      const int from = LLVMGetMaskValue(value, *lane);
      LLVMValueRef left = LLVMGetOperand(value, 0);
      const int width = (int)LLVMGetVectorSize(LLVMTypeOf(left));
      if (from < 0) {
        return NULL;
      }
      *lane = (uint32_t)(from < width ? from : from - width);
      value = from < width ? left : LLVMGetOperand(value, 1);
    } else if (LLVMIsAInsertElementInst(value)) {
      LLVMValueRef at = LLVMIsAConstantInt(LLVMGetOperand(value, 2));
      if (!at) {
        return NULL;
      }
      if (LLVMConstIntGetZExtValue(at) == *lane) {
        return LLVMGetOperand(value, 1);
      }
      value = LLVMGetOperand(value, 0);
    } else {
      return value;
    }
  }
}

static bool find_parameter(const lanes_known_place *p, LLVMValueRef value,
                           uint64_t *out) {
  if (LLVMCountParams(p->function) <= LANES_Z) {
    return false;
  }
  *out = p->first;
  if (value == LLVMGetParam(p->function, LANES_FIRST)) {
    return true;
  }
  // The other parameters are known if rows are simdgroups.
  *out = value == LLVMGetParam(p->function, LANES_X) ? p->first : 0;
  return p->row == p->threads && (value == LLVMGetParam(p->function, LANES_X) ||
                                  value == LLVMGetParam(p->function, LANES_Y) ||
                                  value == LLVMGetParam(p->function, LANES_Z));
}

static bool find_load(const lanes_known_place *p, LLVMValueRef load,
                      uint32_t depth, uint64_t *out) {
  enum { SIZE = offsetof(mtli_cpu_group, size) };
  int64_t offset;
  if (LLVMCountParams(p->function) <= LANES_Z || p->threads == 0 ||
      !find_offset(p, LLVMGetOperand(load, 0), 0,
                   LLVMGetParam(p->function, LANES_GROUP), depth, &offset)) {
    return false;
  }
  *out = offset == SIZE       ? p->row
         : offset == SIZE + 4 ? p->threads / p->row
         : offset == SIZE + 8 ? 1
                              : p->threads;
  return offset == SIZE || offset == SIZE + 4 || offset == SIZE + 8 ||
         offset == offsetof(mtli_cpu_group, threads);
}

static bool compute(LLVMOpcode opcode, unsigned bits, uint64_t a, uint64_t b,
                    uint64_t *out) {
  switch (opcode) {
    case LLVMAdd: *out = a + b; return true;
    case LLVMSub: *out = a - b; return true;
    case LLVMMul: *out = a * b; return true;
    case LLVMAnd: *out = a & b; return true;
    case LLVMOr: *out = a | b; return true;
    case LLVMXor: *out = a ^ b; return true;
    case LLVMShl: *out = b < bits ? a << b : 0; return b < bits;
    case LLVMLShr: *out = b < bits ? a >> b : 0; return b < bits;
    case LLVMAShr:
      *out = b < bits ? (uint64_t)((int64_t)extend(a, bits) >> b) : 0;
      return b < bits;
    case LLVMUDiv: *out = b ? a / b : 0; return b != 0;
    case LLVMURem: *out = b ? a % b : 0; return b != 0;
    default: return false;
  }
}

static bool compare(LLVMIntPredicate predicate, unsigned bits, uint64_t a,
                    uint64_t b, uint64_t *out) {
  const int64_t left = (int64_t)extend(a, bits);
  const int64_t right = (int64_t)extend(b, bits);
  switch (predicate) {
    case LLVMIntEQ: *out = a == b; return true;
    case LLVMIntNE: *out = a != b; return true;
    case LLVMIntUGT: *out = a > b; return true;
    case LLVMIntUGE: *out = a >= b; return true;
    case LLVMIntULT: *out = a < b; return true;
    case LLVMIntULE: *out = a <= b; return true;
    case LLVMIntSGT: *out = left > right; return true;
    case LLVMIntSGE: *out = left >= right; return true;
    case LLVMIntSLT: *out = left < right; return true;
    case LLVMIntSLE: *out = left <= right; return true;
    default: return false;
  }
}

// Evaluates a cast between a mask and an integer.
static bool find_cast_bits(const lanes_known_place *p, LLVMValueRef value,
                           uint32_t lane, uint32_t depth, uint64_t *out) {
  LLVMValueRef from = LLVMGetOperand(value, 0);
  LLVMTypeRef type = LLVMTypeOf(from);
  uint64_t bit;
  *out = 0;
  if (bits_of(from) == 0) {
    return false;
  }
  if (is_vector(LLVMTypeOf(value))) {
    const bool found = bits_of(value) == 1 && !is_vector(type) &&
                       find_value(p, from, 0, depth, &bit);
    *out = found ? bit >> lane & 1 : 0;
    return found;
  }
  if (!is_vector(type) || bits_of(from) != 1) {
    return false;
  }
  for (uint32_t k = 0; k < LLVMGetVectorSize(type); k++) {
    if (!find_value(p, from, k, depth, &bit)) {
      return false;
    }
    *out |= bit << k;
  }
  return true;
}

static bool find_selected(const lanes_known_place *p, LLVMValueRef value,
                          uint32_t lane, uint32_t depth, uint64_t *out) {
  uint64_t chosen;
  return find_value(p, LLVMGetOperand(value, 0), lane, depth, &chosen) &&
         find_value(p, LLVMGetOperand(value, chosen ? 1 : 2), lane, depth, out);
}

// Evaluates an `and` with an operand 0.
static bool find_nothing(const lanes_known_place *p, LLVMValueRef value,
                         uint32_t lane, uint32_t depth, uint64_t *out) {
  *out = 0;
  for (unsigned k = 0; k < 2; k++) {
    uint64_t a;
    if (find_value(p, LLVMGetOperand(value, k), lane, depth, &a) && a == 0) {
      return true;
    }
  }
  return false;
}

static bool find_result(const lanes_known_place *p, LLVMValueRef value,
                        uint32_t lane, uint32_t depth, uint64_t *out) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  LLVMValueRef left = LLVMGetOperand(value, 0);
  uint64_t a, b;
  switch (opcode) {
    case LLVMLoad: return find_load(p, value, depth, out);
    case LLVMBitCast: return find_cast_bits(p, value, lane, depth, out);
    case LLVMSelect: return find_selected(p, value, lane, depth, out);
    case LLVMFreeze:
    case LLVMZExt:
    case LLVMTrunc: return find_value(p, left, lane, depth, out);
    case LLVMSExt:
      if (!find_value(p, left, lane, depth, &a)) {
        return false;
      }
      *out = extend(a, bits_of(left));
      return true;
    case LLVMExtractElement: {
      LLVMValueRef at = LLVMIsAConstantInt(LLVMGetOperand(value, 1));
      return at && find_value(p, left, (uint32_t)LLVMConstIntGetZExtValue(at),
                              depth, out);
    }
    default: break;
  }
  if (LLVMGetNumOperands(value) != 2 ||
      (opcode != LLVMICmp && !mtlc_is_plain_arithmetic(opcode) &&
       opcode != LLVMUDiv && opcode != LLVMURem)) {
    return false;
  }
  if (!find_value(p, left, lane, depth, &a) ||
      !find_value(p, LLVMGetOperand(value, 1), lane, depth, &b)) {
    return opcode == LLVMAnd && find_nothing(p, value, lane, depth, out);
  }
  return opcode == LLVMICmp
             ? compare(LLVMGetICmpPredicate(value), bits_of(left), a, b, out)
             : compute(opcode, bits_of(value), a, b, out);
}

static bool find_value(const lanes_known_place *p, LLVMValueRef value,
                       uint32_t lane, uint32_t depth, uint64_t *out) {
  if (depth == 0 || *p->patience == 0) {
    return false;
  }
  --*p->patience;
  if (is_vector(LLVMTypeOf(value))) {
    value = follow_lane(value, &lane);
    if (value && LLVMIsConstant(value) && is_vector(LLVMTypeOf(value))) {
      value = LLVMGetAggregateElement(value, lane);
    }
  }
  const unsigned bits = value ? bits_of(value) : 0;
  if (bits == 0 || bits > 64) {
    return false;
  }
  if (LLVMIsAConstantInt(value)) {
    *out = LLVMConstIntGetZExtValue(value);
    return true;
  }
  if (!LLVMIsAInstruction(value)) {
    return find_parameter(p, value, out);
  }
  if (!find_result(p, value, lane, depth - 1, out)) {
    return false;
  }
  *out = cut(*out, bits);
  return true;
}

// Adds an index's offset to an address, and steps into its type.
static bool add_index(const lanes_known_place *p, LLVMValueRef index,
                      uint32_t lane, bool is_first, uint32_t depth,
                      LLVMTypeRef *type, int64_t *sum) {
  const LLVMTypeKind kind = LLVMGetTypeKind(*type);
  uint64_t at;
  if (!find_value(p, index, lane, depth, &at)) {
    return false;
  }
  const int64_t number = (int64_t)extend(at, bits_of(index));
  if (!is_first && kind == LLVMStructTypeKind) {
    *sum += (int64_t)LLVMOffsetOfElement(p->data, *type, (unsigned)number);
    *type = LLVMStructGetTypeAtIndex(*type, (unsigned)number);
    return true;
  }
  if (!is_first && kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind) {
    return false;
  }
  *type = is_first ? *type : LLVMGetElementType(*type);
  *sum += number * (int64_t)LLVMABISizeOfType(p->data, *type);
  return true;
}

static bool find_offset(const lanes_known_place *p, LLVMValueRef address,
                        uint32_t lane, LLVMValueRef root, uint32_t depth,
                        int64_t *out) {
  *out = 0;
  for (; depth > 0; depth--) {
    address =
        is_vector(LLVMTypeOf(address)) ? follow_lane(address, &lane) : address;
    if (!address || !LLVMIsAGetElementPtrInst(address)) {
      break;
    }
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    const int count = LLVMGetNumOperands(address);
    for (int k = 1; k < count; k++) {
      if (!add_index(p, LLVMGetOperand(address, (unsigned)k), lane, k == 1,
                     depth, &type, out)) {
        return false;
      }
    }
    address = LLVMGetOperand(address, 0);
  }
  return address == root;
}

bool lanes_evaluate(const lanes_known_place *place, LLVMValueRef value,
                    uint32_t lane, uint64_t *out) {
  return find_value(place, value, lane, DEPTH, out);
}

bool lanes_offset_at(const lanes_known_place *place, LLVMValueRef address,
                     uint32_t lane, LLVMValueRef root, int64_t *out) {
  return find_offset(place, address, lane, root, DEPTH, out);
}
