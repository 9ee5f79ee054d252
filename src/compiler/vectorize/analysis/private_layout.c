// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_layout.c: lays out private memory. If all accesses to an alloca have
// the same size, the lanes' copies are interleaved in units of it: an index
// that all threads share then makes one contiguous vector access. If all
// threads keep the same in it, there is one copy, and loads from it are
// uniform.
#include "compiler/vectorize/analysis/private_layout.h"

#include <llvm-c/Target.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

// What all accesses to one alloca have in common.
typedef struct private_survey {
  lanes_values *values;
  uint64_t unit_bytes;   // the smallest access, 0 if none yet
  uint64_t offset_bits;  // all offsets or-ed: their common alignment
  bool regular;          // only loads, stores and addresses of them
  lanes_list addresses;  // numbers of the addresses within it
} private_survey;

static void survey_uses(private_survey *survey, LLVMValueRef pointer);

static void survey_access(private_survey *survey, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    type = LLVMGetElementType(type);
  }
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  const uint64_t size = LLVMStoreSizeOfType(survey->values->data, type);
  const bool whole_bytes =
      kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) == size * 8;
  if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind || !whole_bytes ||
      size > 8 || (size & (size - 1))) {
    survey->regular = false;
    return;
  }
  if (!survey->unit_bytes || size < survey->unit_bytes) {
    survey->unit_bytes = size;
  }
}

static void survey_address(private_survey *survey, LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  const unsigned count = (unsigned)LLVMGetNumOperands(address);
  if (LLVMGetTypeKind(LLVMTypeOf(address)) != LLVMPointerTypeKind) {
    survey->regular = false;
    return;
  }
  for (unsigned i = 1; i < count; i++) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    LLVMTargetDataRef data = survey->values->data;
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      survey->offset_bits |= LLVMOffsetOfElement(data, type, field);
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    if (i > 1) {
      type = LLVMGetElementType(type);
    }
    const uint64_t size = LLVMABISizeOfType(data, type);
    survey->offset_bits |= LLVMIsAConstantInt(index)
                               ? size * LLVMConstIntGetZExtValue(index)
                               : size;
  }
  lanes_list_add(survey->values->arena, &survey->addresses,
                 lanes_map_get(&survey->values->numbers, address));
  survey_uses(survey, address);
}

static bool is_lifetime(LLVMValueRef call) {
  return LLVMGetInstructionOpcode(call) == LLVMCall &&
         LLVMGetIntrinsicID(LLVMGetCalledValue(call)) &&
         LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind &&
         LLVMGetNumArgOperands(call) == 2;
}

static void survey_uses(private_survey *survey, LLVMValueRef pointer) {
  for (LLVMUseRef use = LLVMGetFirstUse(pointer); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (lanes_map_get(&survey->values->numbers, user) == LANES_NONE) {
      continue;  // unreachable code
    }
    switch (LLVMGetInstructionOpcode(user)) {
      case LLVMLoad: survey_access(survey, LLVMTypeOf(user)); break;
      case LLVMStore:
        survey_access(survey, LLVMTypeOf(LLVMGetOperand(user, 0)));
        survey->regular &= LLVMGetOperand(user, 0) != pointer;
        break;
      case LLVMGetElementPtr: survey_address(survey, user); break;
      default: survey->regular &= is_lifetime(user); break;
    }
  }
}

static uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Returns the alignment of the copies: that of offsets in a frame.
static uint64_t alignment_of(LLVMValueRef alloca_instruction) {
  enum { LEAST = 16, MOST = 64 };
  const uint64_t own = LLVMGetAlignment(alloca_instruction);
  return own < LEAST ? LEAST : own > MOST ? MOST : own;
}

static void add_private(lanes_values *values, uint32_t number) {
  LLVMValueRef alloca_instruction = values->items[number];
  private_survey survey = {.values = values, .regular = true};
  survey_uses(&survey, alloca_instruction);
  uint64_t size =
      LLVMABISizeOfType(values->data, LLVMGetAllocatedType(alloca_instruction));
  LLVMValueRef count = LLVMGetOperand(alloca_instruction, 0);
  if (LLVMIsAConstantInt(count)) {
    size *= LLVMConstIntGetZExtValue(count);
  }
  const uint64_t unit = survey.unit_bytes;
  const bool interleave =
      survey.regular && unit && survey.offset_bits % unit == 0;
  const uint32_t index = values->private_count++;
  values->privates[index] =
      (lanes_private){.alloca_instruction = alloca_instruction,
                      .size_bytes =
                          round_up(size, interleave
                                             ? unit
                                             : alignment_of(alloca_instruction)),
                      .unit_bytes = interleave ? (uint32_t)unit : 0};
  values->private_of[number] = index;
  for (uint32_t i = 0; interleave && i < survey.addresses.count; i++) {
    values->private_of[survey.addresses.items[i]] = index;
  }
}

static void lay_out(lanes_values *values) {
  values->private_bytes = 0;
  for (uint32_t i = 0; i < values->private_count; i++) {
    lanes_private *memory = &values->privates[i];
    memory->offset_bytes = values->private_bytes;
    values->private_bytes += round_up(
        memory->size_bytes * (memory->is_shared ? 1 : values->lanes), 64);
  }
}

void lanes_privates_find(lanes_values *values) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    values->private_of[i] = LANES_NONE;
    count += LLVMGetInstructionOpcode(values->items[i]) == LLVMAlloca;
  }
  values->privates =
      lanes_allocate(values->arena, count + 1, sizeof *values->privates);
  for (uint32_t i = 0; i < values->count; i++) {
    if (LLVMGetInstructionOpcode(values->items[i]) == LLVMAlloca) {
      add_private(values, i);
    }
  }
  lay_out(values);
}

// --- One copy for all --------------------------------------------------------

static bool is_uniform(const lanes_values *values, LLVMValueRef value) {
  return lanes_is_uniform(lanes_shape_of(values, value));
}

static bool is_uniform_address(const lanes_values *values,
                               LLVMValueRef address) {
  const unsigned count = (unsigned)LLVMGetNumOperands(address);
  bool uniform =
      LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMPointerTypeKind;
  for (unsigned i = 1; i < count; i++) {
    uniform &= is_uniform(values, LLVMGetOperand(address, i));
  }
  return uniform;
}

static bool is_kept_alike(const lanes_values *values, LLVMValueRef pointer);

static bool is_used_alike(const lanes_values *values, LLVMValueRef user,
                          LLVMValueRef pointer, uint32_t node) {
  switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad: return lanes_is_plain(user);
    case LLVMStore:
      // True if all threads that exist at the time run this store.
      return lanes_is_plain(user) && !values->masked[node] &&
             LLVMGetOperand(user, 0) != pointer &&
             is_uniform(values, LLVMGetOperand(user, 0));
    case LLVMGetElementPtr:
      return is_uniform_address(values, user) && is_kept_alike(values, user);
    default: return is_lifetime(user);
  }
}

static bool is_kept_alike(const lanes_values *values, LLVMValueRef pointer) {
  for (LLVMUseRef use = LLVMGetFirstUse(pointer); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    const uint32_t number = lanes_map_get(&values->numbers, user);
    if (number != LANES_NONE &&
        !is_used_alike(values, user, pointer, values->nodes[number])) {
      return false;
    }
  }
  return true;
}

bool lanes_privates_share(lanes_values *values) {
  bool any = false;
  for (uint32_t i = 0; i < values->private_count; i++) {
    lanes_private *memory = &values->privates[i];
    if (!memory->is_shared &&
        is_kept_alike(values, memory->alloca_instruction)) {
      memory->is_shared = true;
      memory->unit_bytes = 0;
      any = true;
    }
  }
  if (any) {
    lay_out(values);
  }
  return any;
}
