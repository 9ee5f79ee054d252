// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// values.h: the element types of the command line: their names, how text
// becomes a value and a value becomes text.
#ifndef METTLE_CLI_VALUES_H
#define METTLE_CLI_VALUES_H

#include <stdint.h>

#include "cli/base/cli.h"
#include "mettle/library.h"

typedef enum value_type {
  VALUE_F32 = 0,
  VALUE_F16,
  VALUE_BF16,
  VALUE_I8,
  VALUE_U8,
  VALUE_I16,
  VALUE_U16,
  VALUE_I32,
  VALUE_U32,
  VALUE_I64,
  VALUE_U64,
  VALUE_BOOL,
  VALUE_TYPE_COUNT,
} value_type;

typedef struct value_type_info {
  const char *name;   // on the command line
  const char *descr;  // .npy's name; NumPy has no bfloat16: its bits, '<u2'
  mtl_data_type metal;
  uint32_t size_bytes;
  bool is_float;
  bool is_signed;
} value_type_info;

const value_type_info *value_type_get_info(value_type type);

// Finds a type by the [length] characters of its name, ours or Metal's.
bool value_type_by_name(const char *name, size_t length, value_type *out_type);
// Fails with the list of types, and the type that was probably meant.
bool value_fail_type(const char *name, size_t length, cli_error *error);

// Returns the type of Metal's scalar, which must not be MTL_TYPE_NONE.
value_type value_type_of(mtl_data_type metal);

#define VALUE_TYPE_NAMES "f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool"

// Reads the [length] characters of text as one value of type into target
// [size of type]. The whole text must be a number that the type can hold.
bool value_parse(value_type type, const char *text, size_t length, void *target,
                 cli_error *error);

// Writes number as a value of type: integers wrap, bool is number != 0.
void value_from_integer(value_type type, uint64_t number, void *target);

// Writes a random value: in [0, 1) for floating point, any value of the type
// for integers. random is 64 random bits.
void value_from_random(value_type type, uint64_t random, void *target);

// Enough for any value's text, its terminator included.
#define VALUE_TEXT_SIZE 40

// Writes the shortest text that reads back as the same value; "nan", "inf",
// "-inf" for what is no number.
void value_format(value_type type, const void *value,
                  char target[VALUE_TEXT_SIZE]);

// Reads an unsigned decimal or 0x number that fills text [length] and is at
// most maximum.
bool value_parse_count(const char *text, size_t length, uint64_t maximum,
                       uint64_t *out_number);

// Reads X[,Y[,Z]] of 32-bit counts for option; what is missing is 1.
bool size_parse(const char *option, const char *word, uint32_t out_size[3],
                cli_error *error);

// IEEE binary16 and bfloat16, rounded to nearest even.
uint16_t value_half_from_double(double number);
double value_half_to_double(uint16_t bits);
uint16_t value_bfloat_from_double(double number);
double value_bfloat_to_double(uint16_t bits);

#endif
