// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shadows.h: what the files of shadows share; the passes use check.h.
//
//   shadows.c       the table of shadows, and which values can have one
//   shadow_bits.c   types of shadows, and tests and conversions of them
//   shadow_rules.c  an instruction's shadow out of its operands' shadows
#ifndef MTLC_SHADOWS_H
#define MTLC_SHADOWS_H

#include "compiler/check/check.h"

typedef struct mtlc_shadow_entry {
  LLVMValueRef value;  // NULL: a free slot
  mtlc_shadow shadow;
} mtlc_shadow_entry;

struct mtlc_shadows {
  mtlc_kernel *kernel;
  mtlc_sites *sites;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  mtlc_shadow_entry *entries;  // [capacity], a power of two
  size_t capacity;
  size_t count;
  mtlc_values phis;
  // A set of the values that may have an unset bit: entries without shadows.
  mtlc_shadow_entry *maybe;  // [maybe_capacity], a power of two
  size_t maybe_capacity;
  size_t maybe_count;
};

// --- shadow_bits.c ----------------------------------------------------------

bool mtlc_is_aggregate(LLVMTypeRef type);
// Returns the type of a shadow's bits; NULL if the type has no shadow. A
// floating-point number has one bit: it is set or unset as a whole.
LLVMTypeRef mtlc_shadow_type(const mtlc_shadows *s, LLVMTypeRef type);
unsigned mtlc_shadow_width(const mtlc_shadows *s, LLVMTypeRef type);
// Returns the shadow of a value all of whose bits are set.
mtlc_shadow mtlc_shadow_all_set(const mtlc_shadows *s, LLVMTypeRef type);
LLVMValueRef mtlc_all_ones(LLVMTypeRef type);
// Returns an i1: bits, no aggregate, are not all 0.
LLVMValueRef mtlc_any_bit(mtlc_shadows *s, LLVMValueRef bits);
// Converts bits to another type of shadow. Vectors of as many elements convert
// element by element. In every other case, one unset bit makes all unset.
LLVMValueRef mtlc_reshape_shadow(mtlc_shadows *s, LLVMValueRef bits,
                                 LLVMTypeRef to);

// --- shadow_rules.c ---------------------------------------------------------

// Returns the shadow of a mark of a variable without a value: all unset.
mtlc_shadow mtlc_shadow_of_mark(mtlc_shadows *s, LLVMValueRef call);
// Makes the shadow of an instruction that is no phi, load, store or atomic.
// False if its type has none.
bool mtlc_make_shadow(mtlc_shadows *s, LLVMValueRef instruction,
                      mtlc_shadow *out);

#endif
