// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// families.h: families of AIR functions that become instructions or functions
// of docs/ir.md; functions.c has their table.
#ifndef MTLC_AIR_FAMILIES_H
#define MTLC_AIR_FAMILIES_H

#include "compiler/air/air.h"

// Translates a call of a function of the family. rest is what follows the
// family's name: "s.i32.f.f32" of air.convert.s.i32.f.f32. Returns the result;
// NULL for none, or after a miss.
typedef LLVMValueRef air_family(air_translation *t, LLVMValueRef call,
                                const char *rest);

air_family air_call_convert;  // convert.c
air_family air_call_atomic;   // atomics.c
air_family air_call_load;
air_family air_call_store;
air_family air_call_matrix;   // matrices.c
air_family air_call_texture;  // textures.c
air_family air_call_null;     // functions.c, as the next
air_family air_call_is_null;
air_family air_call_simdgroup_size;  // threads.c, as all that follow
air_family air_call_lane;
air_family air_call_is_uniform;
air_family air_call_normalize;
air_family air_call_simdgroup_barrier;
air_family air_call_threadgroup_barrier;

// Finds the support library's function (without "lib.") for a texture function;
// false if name is no texture function.
bool air_texture_library_name(const char *name, char out[64]);

// Records the callee of a call as one without a definition; returns NULL.
LLVMValueRef air_miss_callee(air_translation *t, LLVMValueRef call);
// Declares a function of docs/ir.md in target, convergent or not.
LLVMValueRef air_declare_known(air_translation *t, const char *name,
                               LLVMTypeRef type, bool is_convergent);

#endif
