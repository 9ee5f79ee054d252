// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binding.h: what a command line binds to a kernel's arguments: reads the
// words NAME=... and INDEX=..., and makes their bytes.
#ifndef METTLE_CLI_BINDING_H
#define METTLE_CLI_BINDING_H

#include "cli/values/element.h"

typedef enum binding_kind {
  BINDING_FILE = 0,     // INDEX=@file.npy
  BINDING_FILL,         // INDEX=zeros:TYPE:COUNT and the like
  BINDING_VALUES,       // INDEX=TYPE:V,V...
  BINDING_ELEMENTS,     // of the argument's own type, in elements
  BINDING_THREADGROUP,  // tgINDEX=BYTES
  BINDING_TEXTURE,      // texINDEX=@file.npy[:FORMAT], =FORMAT:X[,Y[,Z]]
  BINDING_SAMPLER,      // samplerINDEX=WORD[,WORD...]
  BINDING_TABLE,        // tableINDEX=[FUNCTION][,[FUNCTION]...]
  BINDING_OPEN,         // what it means depends on the argument
} binding_kind;

typedef enum binding_fill {
  FILL_ZEROS = 0,
  FILL_ONES,
  FILL_IOTA,
  FILL_RAND,
} binding_fill;

typedef struct kernel_binding {
  binding_kind kind;
  // Of an OPEN one, parts of the word: the argument by name, or, without one,
  // by the table and index; what follows the name, as "[3].size"; the rest.
  const char *word, *name, *path, *text;
  size_t name_length, path_length;
  mtl_argument_kind table;
  uint32_t index;
  char *path_name;  // of a FILE, or of a TEXTURE that has one; malloc'ed
  binding_fill fill;
  uint64_t seed;
  uint64_t threadgroup_bytes;
  npy_array array;        // type and shape; a FILE's once it is open
  unsigned char *values;  // of VALUES: [values_bytes] malloc'ed
  size_t values_bytes;
  bool is_mixed;            // values of several types: a struct
  mtl_pixel_format format;  // of a texture; 0 if its file's type determines it
  uint32_t size[3];         // texels of a TEXTURE without a file
  const char *like;         // the texture whose size and format it copies; NULL
  mtl_sampler_desc sampler;
  // The type of its elements, known from the kernel, if that is no scalar;
  // size_bytes is 0 otherwise.
  mtl_member element;
  element_values elements;
  char *functions;  // of a TABLE: names between commas; malloc'ed
} kernel_binding;

// Returns the table of arguments that a binding is for, and how errors call it.
mtl_argument_kind binding_table(const kernel_binding *binding);
const char *binding_table_name(mtl_argument_kind table);
// Returns the prefix of an index in that table: "", "tg", "tex", "sampler" or
// "table".
const char *binding_table_prefix(mtl_argument_kind table);

// True for a word like "x=...", "3=..." or "tex1=...", unlike other positional
// arguments.
bool binding_is_one(const char *word);

// Reads one word as far as it can be without the kernel. Files are not opened.
//
// Ownership  End *out_binding with binding_clear, also after a failure. Borrows
//            word for as long.
bool binding_parse(const char *word, kernel_binding *out_binding,
                   cli_error *error);

// Sets the table and index of an OPEN binding that names argument.
bool binding_place(kernel_binding *binding, const mtl_argument *argument,
                   cli_error *error);

// Reads the rest of an OPEN binding that is for argument. Where an earlier
// binding of the same argument holds elements, the new ones go there, and
// binding is left without any.
//
//   earlier  NULL for none
bool binding_resolve(kernel_binding *binding, const mtl_argument *argument,
                     kernel_binding *earlier, cli_error *error);

// Makes VALUES of ELEMENTS, when no more words are to come.
bool binding_finish(kernel_binding *binding, cli_error *error);
void binding_clear(kernel_binding *binding);

// Writes what a FILL binding says into target [array.data_bytes].
void binding_fill_bytes(const kernel_binding *binding, void *target);

// Reads "INDEX=TYPE:V[,V...]" or "NAME=TYPE:V...", the value of a function
// constant of 1 to 4 components.
typedef struct constant_value {
  const char *name;  // [name_length]; NULL if the constant goes by index
  size_t name_length;
  uint32_t index;
  const char *text;  // without a TYPE; NULL once it has been read
  value_type type;
  uint32_t components;
  unsigned char bytes[32];
} constant_value;
bool constant_value_parse(const char *word, constant_value *out_value,
                          cli_error *error);
// Reads the text of one without TYPE, as that of the constant.
bool constant_value_resolve(constant_value *value,
                            const mtl_constant_info *info, cli_error *error);

// True if word [length] is an index with its prefix, good or too large: "3",
// "tex0".
bool index_is_one(const char *word, size_t length);
// True if word [length] is a name.
bool name_is_one(const char *word, size_t length);
// Reads an index with its prefix, [length] characters.
bool index_parse(const char *word, size_t length, mtl_argument_kind *out_table,
                 uint32_t *out_index, cli_error *error);

// texture_binding.c: what stands behind "texINDEX=" and "samplerINDEX=".
bool texture_binding_parse(const char *word, kernel_binding *binding,
                           cli_error *error);
bool sampler_binding_parse(const char *word, kernel_binding *binding,
                           cli_error *error);

// A pixel format as the command line and .npy files have it.
typedef struct texture_format {
  const char *name;  // Metal's, with a small first letter
  mtl_pixel_format format;
  value_type type;      // of a component, or of a packed texel
  uint32_t components;  // in an array; 1 for packed texels
} texture_format;
const texture_format *texture_format_find(mtl_pixel_format format);
// Returns the format of arrays of type with so many components, for a kernel
// that reads components of metal's type, or depths; NULL if there is none.
const texture_format *texture_format_for(value_type type, uint32_t components,
                                         mtl_data_type metal, bool is_depth);

#endif
