// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// items.c: the instructions of a tiled loop (register_tiling.c), and the start
// and next values of its phis.
#include "compiler/vectorize/finish/tiling/items.h"

#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"

lanes_item *lanes_item_of(const lanes_region *l, LLVMValueRef value) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&l->numbers, value)
                              : LANES_NONE;
  return number == LANES_NONE ? NULL : &l->items[number];
}

uint32_t lanes_in(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type)
                                                     : 1;
}

// True for intrinsics that compute each lane from the same lanes of their
// operands.
bool lanes_is_lanewise_call(LLVMValueRef call) {
  static const char *const known[] = {
      "llvm.fma.",    "llvm.fmuladd.", "llvm.sqrt.",    "llvm.fabs.",
      "llvm.minnum.", "llvm.maxnum.",  "llvm.umin.",    "llvm.umax.",
      "llvm.smin.",   "llvm.smax.",    "llvm.minimum.", "llvm.maximum."};
  LLVMValueRef callee = mtlc_callee(call);
  for (size_t k = 0; callee && k < sizeof known / sizeof *known; k++) {
    if (mtlc_starts_with(mtlc_name(callee), known[k])) {
      return true;
    }
  }
  return false;
}

bool lanes_is_lanewise(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCall: return lanes_is_lanewise_call(i);
    case LLVMPHI:
    case LLVMFNeg:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt: return true;
    default: return LLVMIsABinaryOperator(i) != NULL;
  }
}

bool lanes_is_prefetch(LLVMValueRef i) {
  return mtlc_is_call_of(i, "llvm.prefetch.");
}

LLVMValueRef lanes_start_of(const lanes_region *l, uint32_t phi) {
  LLVMValueRef value = l->items[phi].value;
  return LLVMGetIncomingValue(
      value, LLVMGetIncomingBlock(value, 0) == l->before ? 0 : 1);
}

LLVMValueRef lanes_next_of(const lanes_region *l, uint32_t phi) {
  LLVMValueRef value = l->items[phi].value;
  return LLVMGetIncomingValue(
      value, LLVMGetIncomingBlock(value, 0) == l->before ? 1 : 0);
}

void lanes_nexts_of(const lanes_region *l, const lanes_bundle *b,
                    LLVMValueRef *out) {
  for (uint32_t c = 0; c < b->count; c++) {
    out[c] = lanes_next_of(l, b->phis[c]);
  }
}

// Returns how many units from one on share a loop: as many as registers hold,
// in whole rows of units that use the same elements.
uint32_t lanes_units_together(const lanes_region *l, uint32_t from) {
  const uint32_t most = l->machine.vector_registers * LANES_PART_PERCENT / 100;
  uint32_t end = from, whole_rows = from;
  while (end < l->unit_count && end - from < most) {
    end++;
    if (end == l->unit_count || l->units[end].order / LANES_UNIT_ROW !=
                                    l->units[end - 1].order / LANES_UNIT_ROW) {
      whole_rows = end;
    }
  }
  return (whole_rows > from ? whole_rows : end) - from;
}
