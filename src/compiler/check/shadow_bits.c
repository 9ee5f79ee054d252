// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shadow_bits.c: types of shadows, tests and conversions of their bits, and the
// bytes in memory that stand for them.
#include "compiler/check/shadows.h"

#include <stdlib.h>

// Returns the type of a vector element's bits.
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

LLVMTypeRef mtlc_shadow_type(const mtlc_shadows *s, LLVMTypeRef type) {
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
      LLVMTypeRef element = mtlc_shadow_type(s, LLVMGetElementType(type));
      return element ? LLVMArrayType2(element, LLVMGetArrayLength2(type))
                     : NULL;
    }
    case LLVMStructTypeKind: {
      const unsigned count = LLVMCountStructElementTypes(type);
      LLVMTypeRef *fields = calloc(count + 1, sizeof *fields);
      bool is_known = fields != NULL;
      for (unsigned i = 0; is_known && i < count; ++i) {
        fields[i] = mtlc_shadow_type(s, LLVMStructGetTypeAtIndex(type, i));
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

bool mtlc_is_aggregate(LLVMTypeRef type) {
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

unsigned mtlc_shadow_width(const mtlc_shadows *s, LLVMTypeRef type) {
  return (unsigned)LLVMSizeOfTypeInBits(s->layout, type);
}

mtlc_shadow mtlc_shadow_all_set(const mtlc_shadows *s, LLVMTypeRef type) {
  LLVMTypeRef shadow = mtlc_shadow_type(s, type);
  return (mtlc_shadow){.bits = shadow ? LLVMConstNull(shadow) : NULL,
                       .origin = mtlc_i32(s->kernel->context, 0)};
}

LLVMValueRef mtlc_all_ones(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
    const unsigned count = LLVMCountStructElementTypes(type);
    LLVMValueRef *fields = calloc(count + 1, sizeof *fields);
    for (unsigned i = 0; i < count; ++i) {
      fields[i] = mtlc_all_ones(LLVMStructGetTypeAtIndex(type, i));
    }
    LLVMValueRef result = LLVMConstStructInContext(
        LLVMGetTypeContext(type), fields, count, LLVMIsPackedStruct(type));
    free(fields);
    return result;
  }
  if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    const uint64_t count = LLVMGetArrayLength2(type);
    LLVMValueRef *items = calloc(count + 1, sizeof *items);
    LLVMValueRef one = mtlc_all_ones(LLVMGetElementType(type));
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

LLVMValueRef mtlc_any_bit(mtlc_shadows *s, LLVMValueRef bits) {
  LLVMTypeRef type = LLVMTypeOf(bits);
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    type = LLVMIntTypeInContext(s->kernel->context, mtlc_shadow_width(s, type));
    bits = LLVMBuildBitCast(s->builder, bits, type, "");
  }
  if (type == s->types.i1) {
    return bits;
  }
  return LLVMBuildICmp(s->builder, LLVMIntNE, bits, LLVMConstNull(type), "");
}

LLVMValueRef mtlc_any_unset(mtlc_shadows *s, LLVMValueRef value) {
  return mtlc_any_bit(s, mtlc_shadow_of(s, value).bits);
}

LLVMValueRef mtlc_unset_bytes(mtlc_shadows *s, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMContextRef context = s->kernel->context;
  if (!mtlc_has_shadow(type)) {
    return NULL;
  }
  const unsigned bits = mtlc_shadow_width(s, type);
  if (mtlc_is_set(s, value)) {
    return mtlc_i64(context, 0);
  }
  LLVMValueRef shadow = mtlc_shadow_of(s, value).bits;
  if (bits % 8 != 0 || bits / 8 > 64) {
    return LLVMBuildSelect(s->builder, mtlc_any_bit(s, shadow),
                           LLVMConstAllOnes(s->types.i64), mtlc_i64(context, 0),
                           "");
  }
  const unsigned bytes = bits / 8;
  if (LLVMTypeOf(shadow) == s->types.i1) {
    return LLVMBuildSelect(s->builder, shadow,
                           mtlc_i64(context, ((uint64_t)1 << bytes) - 1),
                           mtlc_i64(context, 0), "");
  }
  LLVMTypeRef narrow = LLVMVectorType(s->types.i8, bytes);
  LLVMValueRef apart = LLVMBuildBitCast(s->builder, shadow, narrow, "");
  LLVMValueRef is_unset =
      LLVMBuildICmp(s->builder, LLVMIntNE, apart, LLVMConstNull(narrow), "");
  LLVMValueRef mask = LLVMBuildBitCast(
      s->builder, is_unset, LLVMIntTypeInContext(context, bytes), "");
  return LLVMBuildZExtOrBitCast(s->builder, mask, s->types.i64, "");
}

mtlc_shadow mtlc_shadow_if(mtlc_shadows *s, LLVMTypeRef type,
                           LLVMValueRef is_bad, LLVMValueRef origin) {
  LLVMTypeRef shadow = mtlc_shadow_type(s, type);
  LLVMValueRef bits = LLVMBuildSelect(s->builder, is_bad, mtlc_all_ones(shadow),
                                      LLVMConstNull(shadow), "");
  return (mtlc_shadow){bits, origin};
}

mtlc_shadow mtlc_shadow_of_bytes(mtlc_shadows *s, LLVMTypeRef type,
                                 LLVMValueRef bytes, LLVMValueRef origin) {
  LLVMContextRef context = s->kernel->context;
  const unsigned bits = mtlc_shadow_width(s, type);
  if (bits % 8 != 0 || bits / 8 > 64 ||
      mtlc_shadow_type(s, type) == s->types.i1) {
    LLVMValueRef is_bad =
        LLVMBuildICmp(s->builder, LLVMIntNE, bytes, mtlc_i64(context, 0), "");
    return mtlc_shadow_if(s, type, is_bad, origin);
  }
  const unsigned count = bits / 8;
  LLVMValueRef mask = LLVMBuildTruncOrBitCast(
      s->builder, bytes, LLVMIntTypeInContext(context, count), "");
  LLVMValueRef apart = LLVMBuildBitCast(s->builder, mask,
                                        LLVMVectorType(s->types.i1, count), "");
  LLVMValueRef wide =
      LLVMBuildSExt(s->builder, apart, LLVMVectorType(s->types.i8, count), "");
  return (mtlc_shadow){
      LLVMBuildBitCast(s->builder, wide, mtlc_shadow_type(s, type), ""),
      origin};
}

LLVMValueRef mtlc_reshape_shadow(mtlc_shadows *s, LLVMValueRef bits,
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
           : mtlc_any_bit(s, bits);
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
