// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binding.h: what a command line binds to a kernel's arguments: reads the
// words INDEX=..., and makes their bytes.
#ifndef METTLE_CLI_BINDING_H
#define METTLE_CLI_BINDING_H

#include "cli/npy.h"

typedef enum binding_kind {
  BINDING_FILE = 0,  // INDEX=@file.npy
  BINDING_FILL,      // INDEX=zeros:TYPE:COUNT and the like
  BINDING_VALUES,    // INDEX=TYPE:V,V...
  BINDING_THREADGROUP,
} binding_kind;

typedef enum binding_fill {
  FILL_ZEROS = 0,
  FILL_ONES,
  FILL_IOTA,
  FILL_RAND,
} binding_fill;

typedef struct kernel_binding {
  binding_kind kind;
  uint32_t index;
  const char *path;  // of a FILE; borrowed from the command line
  binding_fill fill;
  uint64_t seed;
  uint64_t threadgroup_bytes;
  npy_array array;        // type and shape; a FILE's once it is open
  unsigned char *values;  // of VALUES: [values_bytes] malloc'ed
  size_t values_bytes;
  bool is_mixed;  // VALUES of several types: a struct
} kernel_binding;

// Tells a word like "3=..." or "tg0=..." from other positional arguments.
bool binding_is_one(const char *word);

// Reads one word. Files are not opened.
//
// Ownership  End *out_binding with binding_clear, also after a failure.
bool binding_parse(const char *word, kernel_binding *out_binding,
                   cli_error *error);
void binding_clear(kernel_binding *binding);

// Writes what a FILL binding says into target [array.data_bytes].
void binding_fill_bytes(const kernel_binding *binding, void *target);

// Reads "INDEX=TYPE:V[,V...]" or "NAME=TYPE:V...", the value of a function
// constant of 1 to 4 components.
typedef struct constant_value {
  const char *name;  // [name_length]; NULL if the constant goes by index
  size_t name_length;
  uint32_t index;
  value_type type;
  uint32_t components;
  unsigned char bytes[32];
} constant_value;
bool constant_value_parse(const char *word, constant_value *out_value,
                          cli_error *error);

// Reads X[,Y[,Z]] of 32-bit counts; what is missing is 1.
bool size_parse(const char *option, const char *word, uint32_t out_size[3],
                cli_error *error);

// Reads the index of a buffer, [length] digits.
bool index_parse(const char *word, size_t length, uint32_t *out_index,
                 cli_error *error);

#endif
