// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// npy.h: reads and writes NumPy's .npy files, formats 1.0 to 3.0.
//
// An array's bytes are kept in the order of the file: a Fortran-ordered array
// stays Fortran-ordered, in memory and when it is written again.
#ifndef METTLE_CLI_NPY_H
#define METTLE_CLI_NPY_H

#include <stdint.h>
#include <stdio.h>

#include "cli/values/values.h"

#define NPY_MAX_DIMENSIONS 64  // NumPy 2; NumPy 1 has 32

// The contents of a .npy header.
typedef struct npy_array {
  char descr[8];  // NumPy's type string, "<f4" for instance
  value_type type;
  bool fortran_order;
  uint32_t dimension_count;  // 0 for a scalar
  uint64_t shape[NPY_MAX_DIMENSIONS];
  uint64_t element_count;  // the product of shape; 1 for a scalar
  uint64_t data_bytes;     // at most PTRDIFF_MAX
  // Of structs: the text of descr in the header; NULL for none.
  const char *fields;
  // Of a file of structs: how long each is; type is then VALUE_U8, and
  // element_count that of structs. 0 for none.
  uint32_t struct_bytes;
} npy_array;

// Reads the text of a header: everything behind the length field.
//
//   name   the file's name, for errors
//   text   [length], no terminator needed; any bytes are safe
bool npy_parse_header(const char *name, const char *text, size_t length,
                      npy_array *out_array, cli_error *error);

// Opens a .npy file and reads its header; the stream stands at the data. Finds
// out at once that a regular file is too short or too long for its shape.
//
//   out_file   yours: fclose it
bool npy_open(const char *path, npy_array *out_array, FILE **out_file,
              cli_error *error);

// Reads the data, all of it, and nothing may follow.
//
//   target   [array->data_bytes]
bool npy_read_data(const char *path, FILE *file, const npy_array *array,
                   void *target, cli_error *error);

// Describes a one-dimensional array. False if its size in bytes overflows.
bool npy_describe(value_type type, uint64_t element_count,
                  npy_array *out_array);

// Writes a file with a 64-byte aligned header.
//
//   data   [array->data_bytes]
bool npy_write(const char *path, const npy_array *array, const void *data,
               cli_error *error);

#endif
