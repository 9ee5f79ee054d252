// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// element.h: values of a kernel's own types: scalars, vectors, matrices,
// arrays and structs as reflection describes them. Text becomes bytes with
// MSL's layout, bytes become text.
//
// An element is described by a mtl_member: that of a struct's member, or one
// made for what an argument points at.
#ifndef METTLE_CLI_ELEMENT_H
#define METTLE_CLI_ELEMENT_H

#include <stdint.h>
#include <stdio.h>

#include "cli/values/npy.h"

// Describes the element that an argument points to. The texts belong to the
// argument.
mtl_member element_of_argument(const mtl_argument *argument);

// True if values can be written for it: it is no pointer and no unknown type.
bool element_is_known(const mtl_member *element);

// True if the scalars in an element have names: it is a struct, or an array of
// structs.
bool element_is_struct(const mtl_member *element);

// True for the elements of an array of arrays: their one member has no name.
bool element_is_array(const mtl_member *element);

// Scalars in one element, padding left out.
uint64_t element_scalar_count(const mtl_member *element);

// Elements, one behind the other. Zero is none.
typedef struct element_values {
  unsigned char *bytes;  // [size_bytes] malloc'ed
  unsigned char *given;  // [size_bytes] 1 where a value was written; malloc'ed
  size_t size_bytes;
} element_values;
void element_values_clear(element_values *values);

// Makes room for count elements, the new ones zero.
bool element_values_grow(element_values *values, const mtl_member *element,
                         uint64_t count, cli_error *error);

// Reads text as elements, as an initialiser in C: values with commas between,
// {...}, [...] or (...) around what belongs together or not; a struct's
// members in order or as NAME:VALUE. What is not given is zero.
//
//   is_one  no more than one element can be meant
bool element_read(const mtl_member *element, bool is_one, const char *text,
                  element_values *values, cli_error *error);

// Reads text as the value of a part: path is "", "[3]", ".size",
// ".items[2].x", a component's number or letter at its end.
bool element_read_part(const mtl_member *element, bool is_one, const char *path,
                       size_t path_length, const char *text,
                       element_values *values, cli_error *error);

// Calls visit for every scalar of count elements, in order.
typedef void element_visit(void *context, value_type type, size_t offset_bytes);
void element_each_scalar(const mtl_member *element, uint64_t count,
                         element_visit *visit, void *context);

// Prints one element: 1.5, (1, 2), [1, 2], {width: 640, size: (1, 2)}; as
// JSON, lists and objects.
void element_print(FILE *file, const mtl_member *element,
                   const unsigned char *bytes, bool as_json);

// Returns the type of a struct as a .npy file names it, malloc'ed; NULL out of
// memory.
char *element_fields(const mtl_member *element);

// Prints one scalar; in JSON, infinities and NaN are quoted.
void element_print_scalar(FILE *file, value_type type, const void *value,
                          bool as_json);

#endif
