// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// values.c: element types: text to value and back.
#include "cli/values/values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/suggest.h"

static const value_type_info value_types[VALUE_TYPE_COUNT] = {
    [VALUE_F32] = {"f32", "<f4", MTL_TYPE_FLOAT, 4, true, true},
    [VALUE_F16] = {"f16", "<f2", MTL_TYPE_HALF, 2, true, true},
    [VALUE_BF16] = {"bf16", "<u2", MTL_TYPE_BFLOAT, 2, true, true},
    [VALUE_I8] = {"i8", "|i1", MTL_TYPE_CHAR, 1, false, true},
    [VALUE_U8] = {"u8", "|u1", MTL_TYPE_UCHAR, 1, false, false},
    [VALUE_I16] = {"i16", "<i2", MTL_TYPE_SHORT, 2, false, true},
    [VALUE_U16] = {"u16", "<u2", MTL_TYPE_USHORT, 2, false, false},
    [VALUE_I32] = {"i32", "<i4", MTL_TYPE_INT, 4, false, true},
    [VALUE_U32] = {"u32", "<u4", MTL_TYPE_UINT, 4, false, false},
    [VALUE_I64] = {"i64", "<i8", MTL_TYPE_LONG, 8, false, true},
    [VALUE_U64] = {"u64", "<u8", MTL_TYPE_ULONG, 8, false, false},
    [VALUE_BOOL] = {"bool", "|b1", MTL_TYPE_BOOL, 1, false, false},
};

// Metal's names of types, accepted beside short ones such as f32.
static const char *const metal_names[VALUE_TYPE_COUNT] = {
    [VALUE_F32] = "float",  [VALUE_F16] = "half",  [VALUE_BF16] = "bfloat",
    [VALUE_I8] = "char",    [VALUE_U8] = "uchar",  [VALUE_I16] = "short",
    [VALUE_U16] = "ushort", [VALUE_I32] = "int",   [VALUE_U32] = "uint",
    [VALUE_I64] = "long",   [VALUE_U64] = "ulong",
};

const value_type_info *value_type_get_info(value_type type) {
  return &value_types[type];
}

bool value_type_by_name(const char *name, size_t length, value_type *out_type) {
  for (int i = 0; i < VALUE_TYPE_COUNT; ++i) {
    const char *const names[] = {value_types[i].name, metal_names[i]};
    for (size_t j = 0; j < 2; ++j) {
      if (names[j] != NULL && strlen(names[j]) == length &&
          memcmp(names[j], name, length) == 0) {
        *out_type = (value_type)i;
        return true;
      }
    }
  }
  return false;
}

value_type value_type_of(mtl_data_type metal) {
  for (int i = 0; i < VALUE_TYPE_COUNT; ++i) {
    if (value_types[i].metal == metal) {
      return (value_type)i;
    }
  }
  return VALUE_U8;
}

bool value_fail_type(const char *name, size_t length, cli_error *error) {
  const int shown = length > 40 ? 40 : (int)length;
  if ((length == 3 && memcmp(name, "f64", 3) == 0) ||
      (length == 6 && memcmp(name, "double", 6) == 0)) {
    return cli_fail(error, CLI_USAGE,
                    "'%.*s' is no type: Metal has no double; f32 is float",
                    shown, name);
  }
  const char *names[2 * VALUE_TYPE_COUNT];
  for (int i = 0; i < VALUE_TYPE_COUNT; ++i) {
    names[2 * i] = value_types[i].name;
    names[2 * i + 1] = metal_names[i];
  }
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, name, length, names, 2 * VALUE_TYPE_COUNT);
  return cli_fail(error, CLI_USAGE,
                  "'%.*s' is no type: " VALUE_TYPE_NAMES " are%s", shown, name,
                  suggestion);
}

// A binary float with the given count of stored mantissa bits and exponent
// range, made from a double, which holds every such number exactly. Rounds
// once, to nearest even.
static double round_to_precision(double number, int mantissa_bits,
                                 int least_exponent) {
  if (number == 0 || !isfinite(number)) {
    return number;
  }
  int exponent = ilogb(number);
  if (exponent < least_exponent) {
    exponent = least_exponent;  // subnormal: a fixed step
  }
  const double step = ldexp(1.0, exponent - mantissa_bits);
  return nearbyint(number / step) * step;
}

uint16_t value_half_from_double(double number) {
  const uint16_t sign = signbit(number) ? 0x8000 : 0;
  if (isnan(number)) {
    return (uint16_t)(sign | 0x7e00);
  }
  const double rounded = fabs(round_to_precision(number, 10, -14));
  if (rounded > 65504) {  // the largest half
    return (uint16_t)(sign | 0x7c00);
  }
  if (rounded < 0x1p-14) {
    return (uint16_t)(sign | (uint16_t)(rounded * 0x1p24));
  }
  const int exponent = ilogb(rounded);
  const uint16_t mantissa = (uint16_t)((ldexp(rounded, -exponent) - 1) * 1024);
  return (uint16_t)(sign | (exponent + 15) << 10 | mantissa);
}

double value_half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = mantissa ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = ldexp(mantissa, -24);
  } else {
    magnitude = ldexp(1024 + mantissa, exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t value_bfloat_from_double(double number) {
  const uint16_t sign = signbit(number) ? 0x8000 : 0;
  if (isnan(number)) {
    return (uint16_t)(sign | 0x7fc0);
  }
  // A float now holds the number exactly, or is infinite.
  const float rounded = (float)fabs(round_to_precision(number, 7, -126));
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return (uint16_t)(sign | bits >> 16);
}

double value_bfloat_to_double(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float number;
  memcpy(&number, &wide, sizeof number);
  return number;
}

// Stores a double as a floating-point type; false if it overflows.
static bool store_float(value_type type, double number, void *target) {
  if (type == VALUE_F32) {
    const float narrow = (float)number;
    memcpy(target, &narrow, sizeof narrow);
    return !isinf(narrow) || isinf(number);
  }
  const uint16_t bits = type == VALUE_F16 ? value_half_from_double(number)
                                          : value_bfloat_from_double(number);
  memcpy(target, &bits, sizeof bits);
  const double stored = type == VALUE_F16 ? value_half_to_double(bits)
                                          : value_bfloat_to_double(bits);
  return !isinf(stored) || isinf(number);
}

static double load_float(value_type type, const void *value) {
  if (type == VALUE_F32) {
    float number;
    memcpy(&number, value, sizeof number);
    return number;
  }
  uint16_t bits;
  memcpy(&bits, value, sizeof bits);
  return type == VALUE_F16 ? value_half_to_double(bits)
                           : value_bfloat_to_double(bits);
}

static void store_integer(uint32_t size_bytes, uint64_t number, void *target) {
  // The low bytes come first on every machine that Mettle runs on.
  memcpy(target, &number, size_bytes);
}

static bool parse_float(value_type type, const char *text, void *target,
                        cli_error *error) {
  char *end;
  errno = 0;
  // Reading a float's text as double first would round twice.
  const double number =
      type == VALUE_F32 ? (double)strtof(text, &end) : strtod(text, &end);
  if (*end != '\0') {
    return cli_fail(error, CLI_USAGE, "'%s' is no number", text);
  }
  const bool overflowed = errno == ERANGE && isinf(number);
  if (!store_float(type, number, target) || overflowed) {
    return cli_fail(error, CLI_USAGE, "%s is out of range for %s", text,
                    value_types[type].name);
  }
  return true;
}

static bool parse_integer(value_type type, const char *text, void *target,
                          cli_error *error) {
  const value_type_info *info = &value_types[type];
  const bool negative = text[0] == '-';
  const char *digits = text + (negative || text[0] == '+');
  uint64_t magnitude;
  if (!isdigit((unsigned char)digits[0])) {
    return cli_fail(error, CLI_USAGE, "'%s' is no integer", text);
  }
  char *end;
  errno = 0;
  const bool hexadecimal = digits[0] == '0' && tolower(digits[1]) == 'x';
  magnitude = strtoull(digits, &end, hexadecimal ? 16 : 10);
  if (*end != '\0' || (hexadecimal && end == digits + 1)) {
    return cli_fail(error, CLI_USAGE, "'%s' is no integer", text);
  }
  const uint32_t bits = info->size_bytes * 8;
  const uint64_t largest = UINT64_MAX >> (64 - bits + info->is_signed);
  const uint64_t limit =
      negative ? (info->is_signed ? largest + 1 : 0) : largest;
  if (errno == ERANGE || magnitude > limit) {
    return cli_fail(error, CLI_USAGE, "%s is out of range for %s", text,
                    info->name);
  }
  store_integer(info->size_bytes, negative ? -magnitude : magnitude, target);
  return true;
}

static bool parse_bool(const char *text, void *target, cli_error *error) {
  const bool is_true = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  if (!is_true && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
    return cli_fail(error, CLI_USAGE, "'%s' is no bool: true, false, 1 or 0",
                    text);
  }
  memcpy(target, &is_true, 1);
  return true;
}

bool value_parse(value_type type, const char *text, size_t length, void *target,
                 cli_error *error) {
  char copy[128];  // longer than any number worth writing
  if (length == 0) {
    return cli_fail(error, CLI_USAGE, "a value is missing");
  }
  if (length >= sizeof copy || isspace((unsigned char)text[0])) {
    return cli_fail(error, CLI_USAGE, "'%.*s' is no number",
                    length > 100 ? 100 : (int)length, text);
  }
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (type == VALUE_BOOL) {
    return parse_bool(copy, target, error);
  }
  return value_types[type].is_float ? parse_float(type, copy, target, error)
                                    : parse_integer(type, copy, target, error);
}

void value_from_integer(value_type type, uint64_t number, void *target) {
  if (value_types[type].is_float) {
    (void)store_float(type, (double)number, target);
  } else if (type == VALUE_BOOL) {
    store_integer(1, number != 0, target);
  } else {
    store_integer(value_types[type].size_bytes, number, target);
  }
}

void value_from_random(value_type type, uint64_t random, void *target) {
  // As many bits as the significand holds: rounding could give 1.
  switch (type) {
    case VALUE_F32:
      (void)store_float(type, (double)(random >> 40) * 0x1p-24, target);
      break;
    case VALUE_F16:
      (void)store_float(type, (double)(random >> 53) * 0x1p-11, target);
      break;
    case VALUE_BF16:
      (void)store_float(type, (double)(random >> 56) * 0x1p-8, target);
      break;
    case VALUE_BOOL: store_integer(1, random >> 63, target); break;
    default: store_integer(value_types[type].size_bytes, random, target);
  }
}

// 9 digits tell any two floats apart.
enum { MOST_DIGITS = 9 };

// Writes number with so many digits; whether that reads back as value.
static bool try_digits(value_type type, const void *value, double number,
                       int digits, char *target) {
  unsigned char again[4];
  cli_error ignored;
  snprintf(target, VALUE_TEXT_SIZE, "%.*g",
           digits < MOST_DIGITS ? digits : MOST_DIGITS, number);
  return value_parse(type, target, strlen(target), again, &ignored) &&
         memcmp(again, value, value_types[type].size_bytes) == 0;
}

static void format_float(value_type type, const void *value, char *target) {
  const double number = load_float(type, value);
  if (!isfinite(number)) {
    const char *infinity = number < 0 ? "-inf" : "inf";
    snprintf(target, VALUE_TEXT_SIZE, "%s", isnan(number) ? "nan" : infinity);
    return;
  }
  int least = 1, enough = MOST_DIGITS;
  while (least < enough) {
    const int middle = (least + enough) / 2;
    if (try_digits(type, value, number, middle, target)) {
      enough = middle;
    } else {
      least = middle + 1;
    }
  }
  // 100000 reads better than 1e+05.
  if (fabs(number) >= 1 && fabs(number) < 1e9) {
    const int whole_digits = 1 + (int)log10(fabs(number));
    enough = enough > whole_digits ? enough : whole_digits;
  }
  snprintf(target, VALUE_TEXT_SIZE, "%.*g", enough, number);
}

void value_format(value_type type, const void *value,
                  char target[VALUE_TEXT_SIZE]) {
  const value_type_info *info = &value_types[type];
  if (info->is_float) {
    format_float(type, value, target);
    return;
  }
  uint64_t number = 0;
  memcpy(&number, value, info->size_bytes);
  if (type == VALUE_BOOL) {
    snprintf(target, VALUE_TEXT_SIZE, "%s", number ? "true" : "false");
  } else if (info->is_signed) {
    const int unused_bits = 64 - (int)info->size_bytes * 8;
    const int64_t extended = (int64_t)(number << unused_bits) >> unused_bits;
    snprintf(target, VALUE_TEXT_SIZE, "%" PRId64, extended);
  } else {
    snprintf(target, VALUE_TEXT_SIZE, "%" PRIu64, number);
  }
}

bool value_parse_count(const char *text, size_t length, uint64_t maximum,
                       uint64_t *out_number) {
  uint64_t number = 0;
  const bool hexadecimal =
      length > 2 && text[0] == '0' && tolower((unsigned char)text[1]) == 'x';
  const uint64_t base = hexadecimal ? 16 : 10;
  for (size_t i = hexadecimal ? 2 : 0; i < length; ++i) {
    const int letter = tolower((unsigned char)text[i]);
    const bool is_digit = hexadecimal ? isxdigit(letter) : isdigit(letter);
    const uint64_t digit =
        (uint64_t)(isdigit(letter) ? letter - '0' : letter - 'a' + 10);
    if (!is_digit || number > (UINT64_MAX - digit) / base) {
      return false;
    }
    number = number * base + digit;
  }
  *out_number = number;
  return length > 0 && number <= maximum;
}

bool size_parse(const char *option, const char *word, uint32_t out_size[3],
                cli_error *error) {
  const char *rest = word;
  for (int i = 0; i < 3; ++i) {
    out_size[i] = 1;
    if (rest == NULL) {
      continue;
    }
    const char *text = rest;
    const size_t length = strcspn(text, ",");
    rest = text[length] ? text + length + 1 : NULL;
    uint64_t number;
    if (!value_parse_count(text, length, UINT32_MAX, &number)) {
      return cli_fail(error, CLI_USAGE,
                      "%s %s: X[,Y[,Z]] must be numbers below 2^32", option,
                      word);
    }
    out_size[i] = (uint32_t)number;
  }
  return rest == NULL ||
         cli_fail(error, CLI_USAGE, "%s %s: there are three dimensions at most",
                  option, word);
}
