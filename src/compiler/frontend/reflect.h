// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflect.h: checks a kernel's parameters against Metal's rules and builds the
// argument table. The front end reads the facts off the syntax tree.
#ifndef MTLC_REFLECT_H
#define MTLC_REFLECT_H

#include "code/code.h"

#ifdef __cplusplus
extern "C" {
#endif

// Source     Metal feature set tables: buffers per compute function
#define MTLC_BUFFER_INDEX_COUNT 31
#define MTLC_THREADGROUP_INDEX_COUNT 31
#define MTLC_TEXTURE_INDEX_COUNT 128
#define MTLC_SAMPLER_INDEX_COUNT 16

typedef enum mtlc_space {
  MTLC_SPACE_THREAD = 0,
  MTLC_SPACE_DEVICE,
  MTLC_SPACE_CONSTANT,
  MTLC_SPACE_THREADGROUP,
} mtlc_space;

// One declared parameter.
typedef struct mtlc_parameter_facts {
  const char *name;       // "" if it has none
  const char *attribute;  // "buffer", "thread_position_in_grid"; NULL for none
  bool has_index;         // the attribute has an argument
  int64_t index;          // its value
  bool is_pointer;
  bool is_reference;
  bool has_open_end;      // as mtli_parameter
  mtlc_space space;       // of the pointee
  bool is_const;          // the pointee is
  const char *type_name;  // of the pointee, or of the value
  mtl_data_type type;     // MTL_TYPE_NONE for a struct
  uint32_t components;    // 0 for a struct
  uint32_t size_bytes;    // 0 if unknown
  uint32_t alignment_bytes;
  int32_t enabling_constant;  // as mtli_parameter
  const char *condition;      // likewise; NULL for none
  const char *layout;         // likewise; NULL or "" for none
  const mtl_member *members;  // as mtl_argument
  uint32_t member_count;
  // Of a texture, a sampler, a table of visible functions, or an array of
  // them, passed by value; type is then a texture's component.
  bool is_texture;
  bool is_sampler;
  bool is_function_table;
  bool is_depth_texture;
  mtl_texture_type texture_type;
  mtl_access access;
  uint32_t array_length;  // 1 if it is no array
  // Of a tensor that the host binds, passed by value; type and space are then
  // those of its elements.
  uint32_t tensor_rank;                       // 0 if it is none
  int64_t tensor_extents[MTL_MAX_TENSOR_RANK];  // [rank]; -1 if dynamic; where
                                                // the parameters' are, too
} mtlc_parameter_facts;

// An error in a parameter.
typedef struct mtlc_parameter_error {
  size_t parameter;
  char text[256];
} mtlc_parameter_error;

// Builds the argument table of a kernel: built-in inputs, buffers, threadgroup
// memory, textures and samplers. Arguments without an index get one.
//
//   facts           [count]
//   out_parameters  [count]; the texts stay those of facts
//
// Returns false with the first error in *out_error.
bool mtlc_reflect_parameters(const mtlc_parameter_facts *facts, size_t count,
                             mtli_parameter *out_parameters,
                             mtlc_parameter_error *out_error);

// Returns the built-in input that an attribute names, or MTLI_BUILTIN_NONE.
mtli_builtin mtlc_find_builtin(const char *attribute);

// Sets the texture type of facts, and whether it is a depth texture, by the name
// [length] of a texture class ("texture2d_array"). False if it names none.
bool mtlc_find_texture_class(const char *name, size_t length,
                             mtlc_parameter_facts *facts);

// Returns Metal's name for a scalar or a vector ("float4"), or NULL.
const char *mtlc_type_name(mtl_data_type type, uint32_t components);

#ifdef __cplusplus
}
#endif
#endif
