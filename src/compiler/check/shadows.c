// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shadows.c: for each value that may be made of what was never set, integers
// that tell which of its bits are, and the place where such a value began. A
// value that is only chosen away, masked or shifted out does not count.
#include <stdio.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "compiler/check/check.h"

typedef struct entry {
  LLVMValueRef value;  // NULL: a free slot
  mtlc_shadow shadow;
} entry;

struct mtlc_shadows {
  mtlc_kernel *kernel;
  mtlc_sites *sites;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  entry *entries;  // [capacity], a power of two
  size_t capacity;
  size_t count;
  mtlc_values phis;
  // Values that may be made of what was never set, as a table of entries
  // without shadows.
  entry *maybe;
  size_t maybe_capacity;
  size_t maybe_count;
};

static void find_maybe(mtlc_shadows *s);

mtlc_shadows *mtlc_shadows_begin(mtlc_kernel *kernel, mtlc_sites *sites,
                                 LLVMBuilderRef builder) {
  mtlc_shadows *s = calloc(1, sizeof *s);
  if (!s) {
    abort();  // as mtlc_values_add
  }
  *s = (mtlc_shadows){.kernel = kernel,
                      .sites = sites,
                      .types = mtlc_types_of(kernel->context),
                      .builder = builder,
                      .layout = LLVMGetModuleDataLayout(kernel->module),
                      .capacity = 1024};
  s->entries = calloc(s->capacity, sizeof *s->entries);
  if (!s->entries) {
    abort();
  }
  find_maybe(s);
  return s;
}

void mtlc_shadows_end(mtlc_shadows *s) {
  free(s->entries);
  free(s->maybe);
  free(s->phis.items);
  free(s);
}

// --- the table ---------------------------------------------------------------

static entry *slot_of(const mtlc_shadows *s, LLVMValueRef value) {
  size_t at = ((uintptr_t)value >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    entry *e = &s->entries[at & (s->capacity - 1)];
    if (!e->value || e->value == value) {
      return e;
    }
  }
}

void mtlc_set_shadow(mtlc_shadows *s, LLVMValueRef value, mtlc_shadow shadow) {
  if (2 * s->count > s->capacity) {
    entry *old = s->entries;
    const size_t old_capacity = s->capacity;
    s->capacity *= 2;
    s->entries = calloc(s->capacity, sizeof *s->entries);
    if (!s->entries) {
      abort();
    }
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i].value) {
        *slot_of(s, old[i].value) = old[i];
      }
    }
    free(old);
  }
  entry *e = slot_of(s, value);
  s->count += e->value == NULL;
  *e = (entry){value, shadow};
}

// --- what to follow -----------------------------------------------------------

static entry *maybe_slot(const mtlc_shadows *s, LLVMValueRef value) {
  size_t at = ((uintptr_t)value >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    entry *e = &s->maybe[at & (s->maybe_capacity - 1)];
    if (!e->value || e->value == value) {
      return e;
    }
  }
}

// False if it is there.
static bool add_maybe(mtlc_shadows *s, LLVMValueRef value) {
  entry *e = maybe_slot(s, value);
  if (e->value) {
    return false;
  }
  e->value = value;
  ++s->maybe_count;
  return true;
}

// A load of what the host has written, once for all threads.
static bool is_of_constants(const mtlc_shadows *s, LLVMValueRef load) {
  const mtlc_root root = mtlc_find_root(s->kernel, LLVMGetOperand(load, 0));
  return root.space == MTLI_CHECK_CONSTANT ||
         root.space == MTLI_CHECK_ANYWHERE ||
         (root.slot != MTLI_CHECK_NO_SLOT &&
          s->kernel->kernel->parameters[root.slot].is_constant);
}

static bool is_source(const mtlc_shadows *s, LLVMValueRef i) {
  LLVMValueRef callee = mtlc_callee(i);
  if (callee) {
    return mtlc_starts_with(mtlc_name(callee), MTLC_UNSET_PREFIX) ||
           mtlc_starts_with(mtlc_name(callee), "mettle.simd.");
  }
  return (LLVMIsALoadInst(i) && !is_of_constants(s, i)) ||
         LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

// Sources, and what is made of them.
static void find_maybe(mtlc_shadows *s) {
  s->maybe_capacity = 1024;
  while (s->maybe_capacity <
         4 * (size_t)mtlc_count_instructions(s->kernel->thread)) {
    s->maybe_capacity *= 2;
  }
  s->maybe = calloc(s->maybe_capacity, sizeof *s->maybe);
  if (!s->maybe) {
    abort();
  }
  mtlc_values work = {0};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(s->kernel->thread);
       block; block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (is_source(s, i) && add_maybe(s, i)) {
        mtlc_values_add(&work, i);
      }
    }
  }
  while (work.count) {
    LLVMValueRef value = work.items[--work.count];
    for (LLVMUseRef use = LLVMGetFirstUse(value); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (!LLVMIsALoadInst(user) && !LLVMIsAStoreInst(user) &&
          add_maybe(s, user)) {
        mtlc_values_add(&work, user);
      }
    }
  }
  free(work.items);
}

// --- types -------------------------------------------------------------------

// Of an element of a vector.
static LLVMTypeRef element_type(const mtlc_shadows *s, LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: return type;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return s->types.i16;
    case LLVMFloatTypeKind: return s->types.i32;
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind: return s->types.i64;
    default: return NULL;
  }
}

// A number in floating point is set or not, all of it.
static LLVMTypeRef shadow_type(const mtlc_shadows *s, LLVMTypeRef type) {
  LLVMContextRef context = s->kernel->context;
  switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return s->types.i1;
    case LLVMIntegerTypeKind:
    case LLVMPointerTypeKind: return element_type(s, type);
    case LLVMVectorTypeKind: {
      LLVMTypeRef element = element_type(s, LLVMGetElementType(type));
      return element ? LLVMVectorType(element, LLVMGetVectorSize(type)) : NULL;
    }
    case LLVMArrayTypeKind: {
      LLVMTypeRef element = shadow_type(s, LLVMGetElementType(type));
      return element ? LLVMArrayType2(element, LLVMGetArrayLength2(type))
                     : NULL;
    }
    case LLVMStructTypeKind: {
      const unsigned count = LLVMCountStructElementTypes(type);
      LLVMTypeRef *fields = calloc(count + 1, sizeof *fields);
      bool is_known = fields != NULL;
      for (unsigned i = 0; is_known && i < count; ++i) {
        fields[i] = shadow_type(s, LLVMStructGetTypeAtIndex(type, i));
        is_known = fields[i] != NULL;
      }
      LLVMTypeRef result =
          is_known ? LLVMStructTypeInContext(context, fields, count,
                                             LLVMIsPackedStruct(type))
                   : NULL;
      free(fields);
      return result;
    }
    default: return NULL;
  }
}

static bool is_aggregate(LLVMTypeRef type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind;
}

bool mtlc_has_shadow(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind: return true;
    case LLVMVectorTypeKind: return mtlc_has_shadow(LLVMGetElementType(type));
    default: return false;
  }
}

static unsigned bits_of(const mtlc_shadows *s, LLVMTypeRef type) {
  return (unsigned)LLVMSizeOfTypeInBits(s->layout, type);
}

static mtlc_shadow all_set(const mtlc_shadows *s, LLVMTypeRef type) {
  LLVMTypeRef shadow = shadow_type(s, type);
  return (mtlc_shadow){.bits = shadow ? LLVMConstNull(shadow) : NULL,
                       .origin = mtlc_i32(s->kernel->context, 0)};
}

static LLVMValueRef all_ones(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
    const unsigned count = LLVMCountStructElementTypes(type);
    LLVMValueRef *fields = calloc(count + 1, sizeof *fields);
    for (unsigned i = 0; i < count; ++i) {
      fields[i] = all_ones(LLVMStructGetTypeAtIndex(type, i));
    }
    LLVMValueRef result = LLVMConstStructInContext(
        LLVMGetTypeContext(type), fields, count, LLVMIsPackedStruct(type));
    free(fields);
    return result;
  }
  if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    const uint64_t count = LLVMGetArrayLength2(type);
    LLVMValueRef *items = calloc(count + 1, sizeof *items);
    LLVMValueRef one = all_ones(LLVMGetElementType(type));
    for (uint64_t i = 0; i < count; ++i) {
      items[i] = one;
    }
    LLVMValueRef result =
        LLVMConstArray2(LLVMGetElementType(type), items, count);
    free(items);
    return result;
  }
  return LLVMConstAllOnes(type);
}

// --- asking ------------------------------------------------------------------

mtlc_shadow mtlc_shadow_of(mtlc_shadows *s, LLVMValueRef value) {
  const entry *e = slot_of(s, value);
  return e->value ? e->shadow : all_set(s, LLVMTypeOf(value));
}

bool mtlc_is_set(mtlc_shadows *s, LLVMValueRef value) {
  const entry *e = slot_of(s, value);
  return !e->value || !e->shadow.bits || LLVMIsNull(e->shadow.bits);
}

// i1: bits, no aggregate, are not all 0.
static LLVMValueRef any_bit(mtlc_shadows *s, LLVMValueRef bits) {
  LLVMTypeRef type = LLVMTypeOf(bits);
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    type = LLVMIntTypeInContext(s->kernel->context, bits_of(s, type));
    bits = LLVMBuildBitCast(s->builder, bits, type, "");
  }
  if (type == s->types.i1) {
    return bits;
  }
  return LLVMBuildICmp(s->builder, LLVMIntNE, bits, LLVMConstNull(type), "");
}

LLVMValueRef mtlc_any_unset(mtlc_shadows *s, LLVMValueRef value) {
  return any_bit(s, mtlc_shadow_of(s, value).bits);
}

LLVMValueRef mtlc_unset_bytes(mtlc_shadows *s, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMContextRef context = s->kernel->context;
  if (!mtlc_has_shadow(type)) {
    return NULL;
  }
  const unsigned bits = bits_of(s, type);
  if (mtlc_is_set(s, value)) {
    return mtlc_i64(context, 0);
  }
  LLVMValueRef shadow = mtlc_shadow_of(s, value).bits;
  if (bits % 8 != 0 || bits / 8 > 64) {
    return LLVMBuildSelect(s->builder, any_bit(s, shadow),
                           LLVMConstAllOnes(s->types.i64),
                           mtlc_i64(context, 0), "");
  }
  const unsigned bytes = bits / 8;
  if (LLVMTypeOf(shadow) == s->types.i1) {
    return LLVMBuildSelect(s->builder, shadow,
                           mtlc_i64(context, ((uint64_t)1 << bytes) - 1),
                           mtlc_i64(context, 0), "");
  }
  LLVMTypeRef narrow = LLVMVectorType(s->types.i8, bytes);
  LLVMValueRef apart = LLVMBuildBitCast(s->builder, shadow, narrow, "");
  LLVMValueRef is_unset = LLVMBuildICmp(s->builder, LLVMIntNE, apart,
                                        LLVMConstNull(narrow), "");
  LLVMValueRef mask = LLVMBuildBitCast(
      s->builder, is_unset, LLVMIntTypeInContext(context, bytes), "");
  return LLVMBuildZExtOrBitCast(s->builder, mask, s->types.i64, "");
}

mtlc_shadow mtlc_shadow_if(mtlc_shadows *s, LLVMTypeRef type,
                           LLVMValueRef is_bad, LLVMValueRef origin) {
  LLVMTypeRef shadow = shadow_type(s, type);
  LLVMValueRef bits = LLVMBuildSelect(s->builder, is_bad, all_ones(shadow),
                                      LLVMConstNull(shadow), "");
  return (mtlc_shadow){bits, origin};
}

mtlc_shadow mtlc_shadow_of_bytes(mtlc_shadows *s, LLVMTypeRef type,
                                 LLVMValueRef bytes, LLVMValueRef origin) {
  LLVMContextRef context = s->kernel->context;
  const unsigned bits = bits_of(s, type);
  if (bits % 8 != 0 || bits / 8 > 64 || shadow_type(s, type) == s->types.i1) {
    LLVMValueRef is_bad = LLVMBuildICmp(s->builder, LLVMIntNE, bytes,
                                        mtlc_i64(context, 0), "");
    return mtlc_shadow_if(s, type, is_bad, origin);
  }
  const unsigned count = bits / 8;
  LLVMValueRef mask = LLVMBuildTruncOrBitCast(
      s->builder, bytes, LLVMIntTypeInContext(context, count), "");
  LLVMValueRef apart = LLVMBuildBitCast(
      s->builder, mask, LLVMVectorType(s->types.i1, count), "");
  LLVMValueRef wide = LLVMBuildSExt(
      s->builder, apart, LLVMVectorType(s->types.i8, count), "");
  return (mtlc_shadow){
      LLVMBuildBitCast(s->builder, wide, shadow_type(s, type), ""), origin};
}

// --- making ------------------------------------------------------------------

// The same bits in another shape: as they are where the sizes agree element by
// element, else all of an element, or of the value, if any is unset.
static LLVMValueRef reshape(mtlc_shadows *s, LLVMValueRef bits,
                            LLVMTypeRef to) {
  LLVMTypeRef from = LLVMTypeOf(bits);
  if (from == to) {
    return bits;
  }
  const bool both = LLVMGetTypeKind(from) == LLVMVectorTypeKind &&
                    LLVMGetTypeKind(to) == LLVMVectorTypeKind &&
                    LLVMGetVectorSize(from) == LLVMGetVectorSize(to);
  LLVMValueRef is_bad =
      both ? LLVMBuildICmp(s->builder, LLVMIntNE, bits, LLVMConstNull(from), "")
           : any_bit(s, bits);
  if (to == s->types.i1) {
    return is_bad;
  }
  if (both) {
    return LLVMTypeOf(is_bad) == to ? is_bad
                                    : LLVMBuildSExt(s->builder, is_bad, to, "");
  }
  return LLVMBuildSelect(s->builder, is_bad, LLVMConstAllOnes(to),
                         LLVMConstNull(to), "");
}

static mtlc_shadow either(mtlc_shadows *s, mtlc_shadow a, mtlc_shadow b) {
  if (LLVMIsNull(a.bits)) {
    return b;
  }
  if (LLVMIsNull(b.bits)) {
    return a;
  }
  return (mtlc_shadow){
      LLVMBuildOr(s->builder, a.bits, b.bits, ""),
      LLVMBuildSelect(s->builder, any_bit(s, a.bits), a.origin, b.origin, "")};
}

// Whatever is made of operands that are not set is not set.
static mtlc_shadow of_operands(mtlc_shadows *s, LLVMValueRef instruction,
                               unsigned count) {
  LLVMTypeRef type = shadow_type(s, LLVMTypeOf(instruction));
  mtlc_shadow result = all_set(s, LLVMTypeOf(instruction));
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef operand = LLVMGetOperand(instruction, i);
    if (mtlc_is_set(s, operand) || !mtlc_has_shadow(LLVMTypeOf(operand))) {
      continue;
    }
    mtlc_shadow shadow = mtlc_shadow_of(s, operand);
    shadow.bits = reshape(s, shadow.bits, type);
    result = either(s, result, shadow);
  }
  return result;
}

// A bit of `a & b` is set where one that is set is 0; of `a | b` where it is 1.
static mtlc_shadow of_logic(mtlc_shadows *s, LLVMValueRef instruction,
                            bool is_and) {
  LLVMValueRef a = LLVMGetOperand(instruction, 0);
  LLVMValueRef b = LLVMGetOperand(instruction, 1);
  const mtlc_shadow sa = mtlc_shadow_of(s, a), sb = mtlc_shadow_of(s, b);
  LLVMBuilderRef builder = s->builder;
  if (!is_and) {
    a = LLVMBuildNot(builder, a, "");
    b = LLVMBuildNot(builder, b, "");
  }
  LLVMValueRef with_b = LLVMBuildAnd(builder, sa.bits, b, "");
  LLVMValueRef with_a = LLVMBuildAnd(builder, sb.bits, a, "");
  LLVMValueRef both = LLVMBuildAnd(builder, sa.bits, sb.bits, "");
  LLVMValueRef bits = LLVMBuildOr(
      builder, both, LLVMBuildOr(builder, with_a, with_b, ""), "");
  mtlc_shadow result = either(s, sa, sb);
  result.bits = bits;
  return result;
}

static mtlc_shadow of_shift(mtlc_shadows *s, LLVMValueRef instruction) {
  LLVMValueRef amount = LLVMGetOperand(instruction, 1);
  mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(instruction, 0));
  if (!LLVMIsNull(a.bits)) {
    a.bits = LLVMBuildBinOp(s->builder, LLVMGetInstructionOpcode(instruction),
                            a.bits, amount, "");
  }
  mtlc_shadow b = mtlc_shadow_of(s, amount);
  if (!LLVMIsNull(b.bits)) {
    LLVMTypeRef type = LLVMTypeOf(b.bits);
    LLVMValueRef is_bad = LLVMBuildICmp(s->builder, LLVMIntNE, b.bits,
                                        LLVMConstNull(type), "");
    b.bits = LLVMTypeOf(is_bad) == type
                 ? is_bad
                 : LLVMBuildSExt(s->builder, is_bad, type, "");
  }
  return either(s, a, b);
}

static mtlc_shadow of_cast(mtlc_shadows *s, LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(instruction, 0));
  LLVMTypeRef type = shadow_type(s, LLVMTypeOf(instruction));
  if (opcode == LLVMTrunc || opcode == LLVMZExt || opcode == LLVMSExt) {
    a.bits = LLVMBuildCast(s->builder, opcode, a.bits, type, "");
  } else if (bits_of(s, LLVMTypeOf(a.bits)) == bits_of(s, type) &&
             (opcode == LLVMBitCast || opcode == LLVMPtrToInt ||
              opcode == LLVMIntToPtr)) {
    a.bits = LLVMBuildBitCast(s->builder, a.bits, type, "");
  } else {
    a.bits = reshape(s, a.bits, type);
  }
  return a;
}

static mtlc_shadow of_select(mtlc_shadows *s, LLVMValueRef instruction) {
  LLVMValueRef condition = LLVMGetOperand(instruction, 0);
  const mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(instruction, 1));
  const mtlc_shadow b = mtlc_shadow_of(s, LLVMGetOperand(instruction, 2));
  const mtlc_shadow c = mtlc_shadow_of(s, condition);
  mtlc_shadow result = {
      LLVMBuildSelect(s->builder, condition, a.bits, b.bits, ""), NULL};
  if (LLVMTypeOf(condition) == s->types.i1) {
    result.origin =
        LLVMBuildSelect(s->builder, condition, a.origin, b.origin, "");
  } else {
    result.origin = is_aggregate(LLVMTypeOf(a.bits))
                        ? a.origin
                        : LLVMBuildSelect(s->builder, any_bit(s, a.bits),
                                          a.origin, b.origin, "");
  }
  if (LLVMIsNull(c.bits) || is_aggregate(LLVMTypeOf(result.bits))) {
    return result;
  }
  const mtlc_shadow all = {reshape(s, c.bits, LLVMTypeOf(result.bits)),
                           c.origin};
  return either(s, result, all);
}

static LLVMValueRef origin_of_two(mtlc_shadows *s, mtlc_shadow into,
                                  mtlc_shadow part) {
  if (LLVMIsNull(part.bits)) {
    return into.origin;
  }
  if (LLVMIsNull(into.bits)) {
    return part.origin;
  }
  return is_aggregate(LLVMTypeOf(part.bits))
             ? part.origin
             : LLVMBuildSelect(s->builder, any_bit(s, part.bits), part.origin,
                               into.origin, "");
}

static mtlc_shadow of_part(mtlc_shadows *s, LLVMValueRef i) {
  const mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(i, 0));
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (opcode == LLVMExtractElement) {
    LLVMValueRef bits =
        LLVMBuildExtractElement(s->builder, a.bits, LLVMGetOperand(i, 1), "");
    return (mtlc_shadow){reshape(s, bits, shadow_type(s, LLVMTypeOf(i))),
                         a.origin};
  }
  if (opcode == LLVMExtractValue) {
    LLVMValueRef bits = a.bits;
    for (unsigned k = 0; k < LLVMGetNumIndices(i); ++k) {
      bits = LLVMBuildExtractValue(s->builder, bits, LLVMGetIndices(i)[k], "");
    }
    return (mtlc_shadow){bits, a.origin};
  }
  const mtlc_shadow b = mtlc_shadow_of(s, LLVMGetOperand(i, 1));
  mtlc_shadow result = {NULL, origin_of_two(s, a, b)};
  if (opcode == LLVMInsertElement) {
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(a.bits));
    result.bits =
        LLVMBuildInsertElement(s->builder, a.bits, reshape(s, b.bits, element),
                               LLVMGetOperand(i, 2), "");
  } else {
    const unsigned count = LLVMGetNumMaskElements(i);
    LLVMValueRef *mask = calloc(count + 1, sizeof *mask);
    for (unsigned k = 0; k < count; ++k) {
      const int from = LLVMGetMaskValue(i, k);
      // What no element is asked for does not count as unset.
      mask[k] = from < 0 ? LLVMGetPoison(s->types.i32)
                         : mtlc_i32(s->kernel->context, (uint32_t)from);
    }
    result.bits = LLVMBuildShuffleVector(s->builder, a.bits, b.bits,
                                         LLVMConstVector(mask, count), "");
    for (unsigned k = 0; k < count; ++k) {
      if (LLVMGetMaskValue(i, k) < 0) {
        result.bits = LLVMBuildInsertElement(
            s->builder, result.bits,
            LLVMConstNull(LLVMGetElementType(LLVMTypeOf(result.bits))),
            mtlc_i32(s->kernel->context, k), "");
      }
    }
    free(mask);
  }
  return result;
}

// Structures of several levels are left out: they count as set.
static bool of_insert_value(mtlc_shadows *s, LLVMValueRef i,
                            mtlc_shadow *out) {
  const mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(i, 0));
  const mtlc_shadow b = mtlc_shadow_of(s, LLVMGetOperand(i, 1));
  if (LLVMGetNumIndices(i) != 1 || !a.bits || !b.bits) {
    return false;
  }
  *out = (mtlc_shadow){LLVMBuildInsertValue(s->builder, a.bits, b.bits,
                                            LLVMGetIndices(i)[0], ""),
                       origin_of_two(s, a, b)};
  return true;
}

static mtlc_shadow of_unset(mtlc_shadows *s, LLVMValueRef call) {
  char name[256];
  mtli_check_site site = {.access = MTLI_CHECK_VARIABLE,
                          .space = MTLI_CHECK_PRIVATE,
                          .slot = MTLI_CHECK_NO_SLOT};
  const char *end = strchr(mtlc_name(call), '.');
  const size_t length =
      end ? (size_t)(end - mtlc_name(call)) : strlen(mtlc_name(call));
  snprintf(name, sizeof name, "%.*s", (int)length, mtlc_name(call));
  site.name = mtlc_sites_text(s->sites, name);
  const uint32_t number = mtlc_sites_add(s->sites, call, &site);
  LLVMTypeRef type = shadow_type(s, LLVMTypeOf(call));
  if (!type) {
    return all_set(s, LLVMTypeOf(call));
  }
  return (mtlc_shadow){all_ones(type), mtlc_i32(s->kernel->context, number)};
}

static bool all_operands_set(mtlc_shadows *s, LLVMValueRef instruction) {
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(instruction); ++i) {
    if (!mtlc_is_set(s, LLVMGetOperand(instruction, i))) {
      return false;
    }
  }
  return true;
}

static void visit_phi(mtlc_shadows *s, LLVMValueRef phi) {
  LLVMTypeRef type = shadow_type(s, LLVMTypeOf(phi));
  if (!type) {
    return;
  }
  LLVMPositionBuilderBefore(s->builder, phi);
  LLVMSetCurrentDebugLocation2(s->builder, NULL);
  const mtlc_shadow shadow = {LLVMBuildPhi(s->builder, type, "unset"),
                              LLVMBuildPhi(s->builder, s->types.i32, "origin")};
  mtlc_set_shadow(s, phi, shadow);
  mtlc_values_add(&s->phis, phi);
}

static bool make(mtlc_shadows *s, LLVMValueRef i, mtlc_shadow *out) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAnd: *out = of_logic(s, i, true); return true;
    case LLVMOr: *out = of_logic(s, i, false); return true;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: *out = of_shift(s, i); return true;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMSIToFP:
    case LLVMUIToFP: *out = of_cast(s, i); return true;
    case LLVMSelect: *out = of_select(s, i); return true;
    case LLVMExtractElement:
    case LLVMExtractValue:
    case LLVMInsertElement:
    case LLVMShuffleVector: *out = of_part(s, i); return true;
    case LLVMInsertValue: return of_insert_value(s, i, out);
    case LLVMCall: {
      LLVMValueRef callee = mtlc_callee(i);
      if (!callee || !mtlc_starts_with(mtlc_name(callee), "llvm.") ||
          !mtlc_has_shadow(LLVMTypeOf(i))) {
        return false;
      }
      *out = of_operands(s, i, LLVMGetNumArgOperands(i));
      return true;
    }
    default:
      if (!mtlc_has_shadow(LLVMTypeOf(i))) {
        return false;
      }
      *out = of_operands(s, i, (unsigned)LLVMGetNumOperands(i));
      return true;
  }
}

void mtlc_shadows_visit(mtlc_shadows *s, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if (!maybe_slot(s, i)->value) {
    return;
  }
  if (LLVMIsAPHINode(i)) {
    visit_phi(s, i);
    return;
  }
  LLVMValueRef callee = mtlc_callee(i);
  if (callee && mtlc_starts_with(mtlc_name(callee), MTLC_UNSET_PREFIX)) {
    mtlc_set_shadow(s, i, of_unset(s, i));
    return;
  }
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind || LLVMIsAAllocaInst(i) ||
      LLVMIsALoadInst(i) || LLVMIsAAtomicRMWInst(i) ||
      LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAStoreInst(i) ||
      all_operands_set(s, i)) {
    return;
  }
  mtlc_shadow shadow;
  LLVMPositionBuilderBefore(s->builder, LLVMGetNextInstruction(i));
  LLVMSetCurrentDebugLocation2(s->builder, LLVMInstructionGetDebugLoc(i));
  if (make(s, i, &shadow) && shadow.bits) {
    mtlc_set_shadow(s, i, shadow);
  }
}

// A phi of none but set values and itself is set.
void mtlc_shadows_finish(mtlc_shadows *s) {
  for (size_t i = 0; i < s->phis.count; ++i) {
    LLVMValueRef phi = s->phis.items[i];
    const mtlc_shadow shadow = mtlc_shadow_of(s, phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); ++k) {
      mtlc_shadow from = mtlc_shadow_of(s, LLVMGetIncomingValue(phi, k));
      LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
      LLVMAddIncoming(shadow.bits, &from.bits, &block, 1);
      LLVMAddIncoming(shadow.origin, &from.origin, &block, 1);
    }
  }
}
