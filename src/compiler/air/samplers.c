// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// samplers.c: translates constexpr samplers. In AIR one is a variable of 64
// bits, or of 128 with the fields in the first half, that air.sampler_states
// lists; or an address that is these bits. In portable IR it is the word of
// bits of code/texture_abi.h.
#include <string.h>

#include "code/texture_abi.h"
#include "compiler/air/air.h"

// Bit positions of the fields in AIR.
enum {
  AIR_S = 0,  // 3 bits each
  AIR_T = 3,
  AIR_R = 6,
  AIR_MAG = 9,  // 2 bits each, as the next two
  AIR_MIN = 11,
  AIR_MIP = 13,
  AIR_PIXEL = 15,
  AIR_COMPARE = 16,     // 4 bits
  AIR_ANISOTROPY = 20,  // 4 bits, less 1
  AIR_LOD_MIN = 24,     // a half
  AIR_LOD_MAX = 40,     // a half
  AIR_BORDER = 56,      // 2 bits
  AIR_SET = 63,         // of an address, and of variables until AIR 2.6
};

static const uint64_t infinite_half = 0x7c00;

static unsigned field(uint64_t bits, unsigned place, unsigned width) {
  return (unsigned)(bits >> place) & ((1u << width) - 1);
}

// AIR's clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat,
// clamp_to_border as mtl_address_mode.
static uint64_t address_mode(unsigned mode) {
  static const uint8_t modes[8] = {4, 0, 2, 3, 5};
  return modes[mode];
}

// AIR's none, less, less_equal, greater, greater_equal, equal, not_equal,
// always, never as mtl_compare_function.
static uint64_t comparison(unsigned function) {
  static const uint8_t functions[16] = {0, 1, 3, 4, 6, 2, 5, 7, 0};
  return functions[function];
}

uint64_t air_sampler_bits(uint64_t state) {
  uint64_t low = field(state, AIR_LOD_MIN, 16);
  uint64_t high = field(state, AIR_LOD_MAX, 16);
  if (low == 0 && high == 0) {
    high = infinite_half;  // old versions have no limits
  }
  return UINT64_C(1) << MTLI_SAMPLER_SET_SHIFT |
         (uint64_t)field(state, AIR_PIXEL, 1) << MTLI_SAMPLER_PIXEL_SHIFT |
         address_mode(field(state, AIR_S, 3)) << MTLI_SAMPLER_S_SHIFT |
         address_mode(field(state, AIR_T, 3)) << MTLI_SAMPLER_T_SHIFT |
         address_mode(field(state, AIR_R, 3)) << MTLI_SAMPLER_R_SHIFT |
         (uint64_t)(field(state, AIR_MAG, 2) != 0) << MTLI_SAMPLER_MAG_SHIFT |
         (uint64_t)(field(state, AIR_MIN, 2) != 0) << MTLI_SAMPLER_MIN_SHIFT |
         (uint64_t)field(state, AIR_MIP, 2) << MTLI_SAMPLER_MIP_SHIFT |
         comparison(field(state, AIR_COMPARE, 4))
             << MTLI_SAMPLER_COMPARE_SHIFT |
         (uint64_t)field(state, AIR_BORDER, 2) << MTLI_SAMPLER_BORDER_SHIFT |
         (uint64_t)field(state, AIR_ANISOTROPY, 4)
             << MTLI_SAMPLER_ANISOTROPY_SHIFT |
         low << MTLI_SAMPLER_LOD_MIN_SHIFT | high << MTLI_SAMPLER_LOD_MAX_SHIFT;
}

static LLVMValueRef as_address(air_translation *t, uint64_t bits) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(t->context);
  return LLVMConstIntToPtr(LLVMConstInt(i64, bits, false),
                           LLVMPointerTypeInContext(t->context, 0));
}

LLVMValueRef air_sampler_address(air_translation *t, LLVMValueRef address) {
  enum { SPACE_CONSTANT = 2 };
  LLVMValueRef bits = LLVMGetOperand(address, 0);
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) != SPACE_CONSTANT ||
      !LLVMIsAConstantInt(bits)) {
    return NULL;
  }
  const uint64_t state = LLVMConstIntGetZExtValue(bits);
  return state >> AIR_SET ? as_address(t, air_sampler_bits(state)) : NULL;
}

static bool find_state(LLVMValueRef variable, uint64_t *out) {
  LLVMValueRef value = LLVMGetInitializer(variable);
  if (value && LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind) {
    value = LLVMGetAggregateElement(value, 0);
  }
  if (!value || !LLVMIsAConstantInt(value) ||
      LLVMGetIntTypeWidth(LLVMTypeOf(value)) != 64) {
    return false;
  }
  *out = LLVMConstIntGetZExtValue(value);
  return true;
}

void air_declare_samplers(air_translation *t) {
  unsigned count, operand_count;
  LLVMValueRef *nodes = air_named_nodes(t, "air.sampler_states", &count);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef *operands = air_node(t, nodes[i], &operand_count);
    LLVMValueRef variable = operand_count > 1 ? operands[1] : NULL;
    while (variable && LLVMIsAConstantExpr(variable)) {
      variable = LLVMGetOperand(variable, 0);
    }
    uint64_t state;
    if (!variable || !LLVMIsAGlobalVariable(variable)) {
      continue;  // nothing uses it
    }
    if (!find_state(variable, &state)) {
      air_fail(t, MTL_BAD_DATA, "a sampler's state is no number of 64 bits");
      return;
    }
    air_map_set(&t->values, variable, as_address(t, air_sampler_bits(state)));
  }
}
