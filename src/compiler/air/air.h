// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// air.h: what the files of this room share: a function of a compiled Metal
// library on its way from AIR, Apple's intermediate representation, to portable
// IR (docs/ir.md). The README beside this has the order of the files.
#ifndef MTLC_AIR_H
#define MTLC_AIR_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "base/memory/arena.h"
#include "base/status.h"
#include "code/code.h"

// A hash map of addresses: of types, values and metadata.
typedef struct air_map {
  const void **keys;  // [capacity] NULL where there is none
  void **values;
  size_t count;
  size_t capacity;  // 0, or a power of two
} air_map;

void air_map_set(air_map *map, const void *key, void *value);
void *air_map_get(const air_map *map, const void *key);  // NULL for none
void air_map_clear(air_map *map);

typedef struct air_translation {
  LLVMContextRef context;
  LLVMModuleRef source;  // AIR, as read
  LLVMModuleRef target;    // portable IR: the support library's functions that
                           // are needed, to which the translation is added
  LLVMBuilderRef builder;  // of target
  mtli_arena *arena;  // memory that code points to
  mtli_code *code;         // the container, without blobs
  air_map types;  // from values of source to those of target
  air_map values;          // functions, variables, instructions, blocks
  // Debug lines: from files of source to a scope in the current function.
  LLVMDIBuilderRef debug;
  LLVMMetadataRef debug_unit;
  LLVMMetadataRef subprogram;  // of the current function
  air_map scopes;              // by a file's metadata
  bool is_fast_math;
  // The first undefined functions, for the error's text.
  char missing[512];
  size_t missing_count;
  mtl_status status;  // the first failure
} air_translation;

// Fails the translation; the first failure stays. printf form.
void air_fail(air_translation *t, mtl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Records a function that has no definition here.
void air_miss(air_translation *t, const char *name);
// Returns zeroed memory of the arena; without memory the process ends.
void *air_allocate(air_translation *t, size_t size_bytes);
char *air_copy_text(air_translation *t, const char *text, size_t length);

// types.c: types and constants -------------------------------------------------

// Elements of a simdgroup's 8 x 8 matrix as AIR has it, of which two are the
// thread's own; portable IR has those alone.
enum { AIR_MATRIX_ELEMENTS = 64, AIR_OWN_ELEMENTS = 2 };
bool air_is_matrix(LLVMTypeRef type);

// Returns the type without address spaces, with matrices of two elements.
LLVMTypeRef air_type(air_translation *t, LLVMTypeRef type);
// A constant, or a value that was set in t->values; after a failure undef.
LLVMValueRef air_value(air_translation *t, LLVMValueRef value);
LLVMValueRef air_operand(air_translation *t, LLVMValueRef user, unsigned index);

// globals.c ---------------------------------------------------------------------

// Puts source's variables and functions into target: variables with their
// values, functions without bodies. Function constants become external.
void air_declare_globals(air_translation *t);

// samplers.c --------------------------------------------------------------------

// Returns a sampler's state of AIR as the bits of code/texture_abi.h.
uint64_t air_sampler_bits(uint64_t state);
// Sets the bits of the sampler variables that air.sampler_states lists.
void air_declare_samplers(air_translation *t);
// Returns the same for an inttoptr that is a sampler; NULL for any other.
LLVMValueRef air_sampler_address(air_translation *t, LLVMValueRef address);

// variadic.c --------------------------------------------------------------------

// Returns the portable type of a function with "...": a pointer to the packed
// values follows its parameters.
LLVMTypeRef air_packed_type(air_translation *t, LLVMTypeRef type);
// Calls such a function, with arguments [count].
LLVMValueRef air_call_packed(air_translation *t, LLVMValueRef function,
                             LLVMValueRef *arguments, unsigned count);
// Translates llvm.va_start, va_end and va_copy; false for any other name.
bool air_call_va(air_translation *t, LLVMValueRef call, const char *name);

// clone.c -----------------------------------------------------------------------

// Translates the bodies of all functions.
void air_translate_bodies(air_translation *t);

// lines.c -----------------------------------------------------------------------

void air_begin_lines(air_translation *t);
void air_begin_function_lines(air_translation *t, LLVMValueRef from,
                              LLVMValueRef to);
// Sets the line of code built from here on to that of an instruction of source.
void air_set_line(air_translation *t, LLVMValueRef from);
void air_end_lines(air_translation *t);

// functions.c -------------------------------------------------------------------

// Translates a call of an air.* function. NULL if its result is nothing.
LLVMValueRef air_call(air_translation *t, LLVMValueRef call, const char *name);
// Translates a call of one of LLVM's intrinsics.
LLVMValueRef air_call_intrinsic(air_translation *t, LLVMValueRef call,
                                const char *name);
// Appends the names that an air.* function may have in the support library.
void air_add_library_names(const char *name, mtli_arena *arena,
                           const char **names, size_t *count);
enum { AIR_LIBRARY_NAMES = 2 };  // of one function, at the most
// Returns an alloca in the current function's first block.
LLVMValueRef air_make_room(air_translation *t, LLVMTypeRef type);

// library_calls.c ---------------------------------------------------------------

// Calls the support library's function for name (without "air."), component by
// component where it has none for vectors. NULL and a miss if it has none.
LLVMValueRef air_call_library(air_translation *t, LLVMValueRef call,
                              const char *name);
// Returns the support library's function of a name without "lib."; NULL for
// none.
LLVMValueRef air_find_library(air_translation *t, const char *name);
// Calls a function of the target with arguments [count] of the source's types.
LLVMValueRef air_call_fitting(air_translation *t, LLVMValueRef function,
                              LLVMTypeRef result, LLVMValueRef *arguments,
                              size_t count);

// metadata.c --------------------------------------------------------------------

// Returns an MDNode's operands, *out_count of them, in the arena.
LLVMValueRef *air_node(air_translation *t, LLVMValueRef node,
                       unsigned *out_count);
LLVMValueRef *air_named_nodes(air_translation *t, const char *name,
                              unsigned *out_count);
// Returns the text of a metadata string, in the arena; NULL for other nodes.
const char *air_text(air_translation *t, LLVMValueRef value);
// Returns the value of a constant integer, otherwise the default.
int64_t air_integer(LLVMValueRef value, int64_t otherwise);

// parameters.c ------------------------------------------------------------------

// Makes the argument table of the kernel, or fails.
void air_describe_parameters(air_translation *t, LLVMValueRef arguments,
                             mtli_kernel *kernel);
// "float4" to its component and their number; false for any other name.
bool air_parse_type(const char *name, mtl_data_type *out_type,
                    uint32_t *out_components);

// members.c ---------------------------------------------------------------------

// Returns the members that an air.struct_type_info node lists.
const mtl_member *air_members(air_translation *t, LLVMValueRef node,
                              uint32_t *out_count);
// "atomic_uint" for a struct that holds what an atomic of Metal's does, a word
// called __s, whose type is *out_inner; NULL for any other.
const char *air_atomic_type(air_translation *t, const char *type_name,
                            LLVMValueRef members, const char **out_inner);
// Returns the layout of an argument buffer (mtli_parameter), or NULL for a
// plain struct.
const char *air_layout(air_translation *t, LLVMValueRef node,
                       uint32_t size_bytes, uint32_t alignment_bytes);

// constants.c -------------------------------------------------------------------

// Describes the function constants of the module in t->code.
void air_describe_constants(air_translation *t);
// True if a variable of source is a function constant.
bool air_is_constant(air_translation *t, LLVMValueRef variable);
// Finds the condition of an argument: predicate is the variable that the node
// of its air.function_constant names. Sets enabling_constant, or condition.
void air_describe_condition(air_translation *t, LLVMValueRef predicate,
                            int32_t *out_enabling, const char **out_condition);

// entry.c -----------------------------------------------------------------------

// Makes mettle.kernel.0 of docs/ir.md for the translated kernel.
void air_make_entry(air_translation *t, LLVMValueRef kernel,
                    const mtli_kernel *description);

#endif
