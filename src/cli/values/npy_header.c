// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// npy_header.c: the header of a .npy file: a Python dictionary literal with
// the keys 'descr', 'fortran_order' and 'shape', each once, in any order.
//
// Source: NumPy Enhancement Proposal 1 and numpy.lib.format's documentation.
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "cli/values/npy.h"

typedef struct header_reader {
  const char *name;
  const char *next;
  const char *end;
  cli_error *error;
} header_reader;

static bool fail_header(const header_reader *reader, const char *what) {
  return cli_fail(reader->error, CLI_FAILED, "%s: bad .npy header: %s",
                  reader->name, what);
}

static void skip_spaces(header_reader *reader) {
  while (reader->next < reader->end &&
         (*reader->next == ' ' || *reader->next == '\t' ||
          *reader->next == '\n' || *reader->next == '\r')) {
    ++reader->next;
  }
}

// Skips letter, after any spaces; false if it does not come next.
static bool take(header_reader *reader, char letter) {
  skip_spaces(reader);
  if (reader->next == reader->end || *reader->next != letter) {
    return false;
  }
  ++reader->next;
  return true;
}

// Skips a word; false if it does not come next.
static bool take_word(header_reader *reader, const char *word) {
  skip_spaces(reader);
  const size_t length = strlen(word);
  if ((size_t)(reader->end - reader->next) < length ||
      memcmp(reader->next, word, length) != 0) {
    return false;
  }
  reader->next += length;
  return true;
}

// Reads a quoted string without escapes into target.
static bool read_string(header_reader *reader, char *target, size_t size) {
  skip_spaces(reader);
  if (reader->next == reader->end ||
      (*reader->next != '\'' && *reader->next != '"')) {
    return fail_header(reader, "a quoted text is missing");
  }
  const char quote = *reader->next++;
  const char *close =
      memchr(reader->next, quote, (size_t)(reader->end - reader->next));
  if (close == NULL) {
    return fail_header(reader, "a quote is not closed");
  }
  const size_t length = (size_t)(close - reader->next);
  if (length >= size || memchr(reader->next, 0, length) != NULL) {
    return fail_header(reader, "a quoted text is too long");
  }
  memcpy(target, reader->next, length);
  target[length] = '\0';
  reader->next = close + 1;
  return true;
}

static bool read_dimension(header_reader *reader, uint64_t *out_dimension) {
  skip_spaces(reader);
  const char *first = reader->next;
  while (reader->next < reader->end && isdigit((unsigned char)*reader->next)) {
    ++reader->next;
  }
  if (!value_parse_count(first, (size_t)(reader->next - first), UINT64_MAX,
                         out_dimension)) {
    return fail_header(reader, "a dimension is no 64-bit count");
  }
  if (reader->next < reader->end && *reader->next == 'L') {
    ++reader->next;  // Python 2's long integers
  }
  return true;
}

static bool read_shape(header_reader *reader, npy_array *array) {
  if (!take(reader, '(')) {
    return fail_header(reader, "the shape is no tuple");
  }
  bool has_comma = true;  // whether another dimension may follow
  array->dimension_count = 0;
  while (!take(reader, ')')) {
    if (!has_comma) {
      return fail_header(reader, "the shape's dimensions need commas");
    }
    if (array->dimension_count == NPY_MAX_DIMENSIONS) {
      return fail_header(reader, "more than 64 dimensions");
    }
    if (!read_dimension(reader, &array->shape[array->dimension_count])) {
      return false;
    }
    ++array->dimension_count;
    has_comma = take(reader, ',');
  }
  if (array->dimension_count == 1 && !has_comma) {
    return fail_header(reader, "the shape is no tuple");  // (3) is a number
  }
  return true;
}

static bool fail_type(const header_reader *reader, const char *descr,
                      const char *why) {
  return cli_fail(reader->error, CLI_FAILED, "%s: type '%s' %s", reader->name,
                  descr, why);
}

// Structs in structs lie no deeper than this.
enum { MOST_NESTING = 16 };

static bool read_fields(header_reader *reader, int depth,
                        uint64_t *out_size_bytes);

static bool read_field_type(header_reader *reader, int depth,
                            uint64_t *out_size_bytes) {
  char descr[32];
  skip_spaces(reader);
  if (reader->next < reader->end && *reader->next == '[') {
    return read_fields(reader, depth + 1, out_size_bytes);
  }
  if (!read_string(reader, descr, sizeof descr)) {
    return false;
  }
  if (strlen(descr) < 3 || strchr("<>|=", descr[0]) == NULL ||
      strchr("biufV", descr[1]) == NULL || strcmp(descr + 1, "f8") == 0 ||
      !value_parse_count(descr + 2, strlen(descr + 2), UINT32_MAX,
                         out_size_bytes)) {
    return fail_type(reader, descr, "cannot be a member's");
  }
  return descr[0] != '>' || *out_size_bytes == 1 ||
         fail_type(reader, descr, "is big-endian");
}

// Reads "('name', type)" or "('name', type, shape)".
static bool read_field(header_reader *reader, int depth,
                       uint64_t *out_size_bytes) {
  char name[256];
  npy_array sides;
  if (!take(reader, '(')) {
    return fail_header(reader, "a field is no tuple");
  }
  if (!read_string(reader, name, sizeof name)) {
    return false;
  }
  if (!take(reader, ',')) {
    return fail_header(reader, "a field has no type");
  }
  if (!read_field_type(reader, depth, out_size_bytes)) {
    return false;
  }
  if (take(reader, ',')) {
    if (!read_shape(reader, &sides)) {
      return false;
    }
    for (uint32_t i = 0; i < sides.dimension_count; ++i) {
      if (__builtin_mul_overflow(*out_size_bytes, sides.shape[i],
                                 out_size_bytes)) {
        return fail_header(reader, "a field is larger than memory can be");
      }
    }
  }
  return take(reader, ')') || fail_header(reader, "a field does not end");
}

// Reads a list of fields; only their room matters here.
static bool read_fields(header_reader *reader, int depth,
                        uint64_t *out_size_bytes) {
  uint64_t total = 0;
  bool has_comma = true;
  if (depth > MOST_NESTING || !take(reader, '[')) {
    return fail_header(reader, "structs nest too deep");
  }
  while (!take(reader, ']')) {
    uint64_t size_bytes;
    if (!has_comma) {
      return fail_header(reader, "fields need commas");
    }
    if (!read_field(reader, depth, &size_bytes)) {
      return false;
    }
    if (__builtin_add_overflow(total, size_bytes, &total)) {
      return fail_header(reader, "a struct is larger than memory can be");
    }
    has_comma = take(reader, ',');
  }
  *out_size_bytes = total;
  return (total > 0 && total <= UINT32_MAX) ||
         fail_header(reader, "a struct of no bytes, or of too many");
}

static bool read_struct_type(header_reader *reader, npy_array *array) {
  uint64_t size_bytes;
  if (!read_fields(reader, 0, &size_bytes)) {
    return false;
  }
  array->type = VALUE_U8;
  array->struct_bytes = (uint32_t)size_bytes;
  memcpy(array->descr, "|u1", sizeof "|u1");
  return true;
}

// Maps descr to a type's name on the command line, by byte order and NumPy's
// letter.
static bool read_type(header_reader *reader, npy_array *array) {
  skip_spaces(reader);
  if (reader->next < reader->end && *reader->next == '[') {
    return read_struct_type(reader, array);
  }
  char descr[32];
  if (!read_string(reader, descr, sizeof descr)) {
    return false;
  }
  const char order = descr[0];
  if (order == '\0' || strchr("<>|=", order) == NULL) {
    return fail_type(reader, descr, "is none of NumPy's");
  }
  if (strcmp(descr + 1, "V2") == 0 && order != '>') {
    // NumPy's form of other packages' bfloat16 types.
    array->type = VALUE_BF16;
    memcpy(array->descr, descr, sizeof "<V2");
    return true;
  }
  for (int i = 0; i < VALUE_TYPE_COUNT; ++i) {
    const value_type_info *info = value_type_get_info((value_type)i);
    if (i == VALUE_BF16 || strcmp(info->descr + 1, descr + 1) != 0) {
      continue;
    }
    if (order == '>' && info->size_bytes > 1) {
      return fail_type(
          reader, descr,
          "is big-endian: convert to little-endian, astype('<f4') say");
    }
    array->type = (value_type)i;
    memcpy(array->descr, info->descr, sizeof "<f4");
    return true;
  }
  if (strcmp(descr + 1, "f8") == 0) {
    return fail_type(reader, descr,
                     "is double, which Metal has not: convert with "
                     "astype('<f4')");
  }
  return fail_type(reader, descr,
                   "cannot be a buffer's: f2 f4 i1 i2 i4 i8 u1 u2 u4 u8 b1 "
                   "and V2 (bfloat) can");
}

static bool read_order(header_reader *reader, npy_array *array) {
  if (take_word(reader, "True")) {
    array->fortran_order = true;
    return true;
  }
  array->fortran_order = false;
  return take_word(reader, "False") ||
         fail_header(reader, "'fortran_order' is neither True nor False");
}

// Sets the sizes that follow from type and shape; false if they overflow.
static bool measure(npy_array *array) {
  uint64_t count = 1;
  bool overflows = false;
  for (uint32_t i = 0; i < array->dimension_count; ++i) {
    if (array->shape[i] == 0) {
      array->element_count = 0;
      array->data_bytes = 0;
      return true;
    }
    overflows |= __builtin_mul_overflow(count, array->shape[i], &count);
  }
  const uint32_t size_bytes =
      array->struct_bytes ? array->struct_bytes
                          : value_type_get_info(array->type)->size_bytes;
  array->element_count = count;
  overflows |= __builtin_mul_overflow(count, size_bytes, &array->data_bytes);
  return !overflows && array->data_bytes <= PTRDIFF_MAX;
}

// One "key: value" of the dictionary. seen gets the key's bit.
static bool read_entry(header_reader *reader, npy_array *array,
                       unsigned *seen) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  char key[16];
  if (!read_string(reader, key, sizeof key)) {
    return false;
  }
  unsigned index = 0;
  while (index < 3 && strcmp(key, keys[index]) != 0) {
    ++index;
  }
  if (index == 3) {
    return fail_header(reader,
                       "a key that is none of 'descr', "
                       "'fortran_order', 'shape'");
  }
  if (*seen & 1u << index) {
    return fail_header(reader, "a key comes twice");
  }
  *seen |= 1u << index;
  if (!take(reader, ':')) {
    return fail_header(reader, "a colon is missing behind a key");
  }
  switch (index) {
    case 0: return read_type(reader, array);
    case 1: return read_order(reader, array);
    default: return read_shape(reader, array);
  }
}

bool npy_parse_header(const char *name, const char *text, size_t length,
                      npy_array *out_array, cli_error *error) {
  header_reader reader = {name, text, text + length, error};
  memset(out_array, 0, sizeof *out_array);
  if (!take(&reader, '{')) {
    return fail_header(&reader, "no dictionary");
  }
  unsigned seen = 0;
  bool has_comma = true;
  while (!take(&reader, '}')) {
    if (!has_comma) {
      return fail_header(&reader, "a comma or closing brace is missing");
    }
    if (!read_entry(&reader, out_array, &seen)) {
      return false;
    }
    has_comma = take(&reader, ',');
  }
  if (seen != 7) {
    return fail_header(&reader,
                       "a key is missing: 'descr', 'fortran_order' "
                       "and 'shape' must be there");
  }
  skip_spaces(&reader);
  if (reader.next != reader.end) {
    return fail_header(&reader, "something follows the dictionary");
  }
  return measure(out_array) ||
         fail_header(&reader, "the shape is larger than memory can be");
}

bool npy_describe(value_type type, uint64_t element_count,
                  npy_array *out_array) {
  memset(out_array, 0, sizeof *out_array);
  memcpy(out_array->descr, value_type_get_info(type)->descr, sizeof "<f4");
  out_array->type = type;
  out_array->dimension_count = 1;
  out_array->shape[0] = element_count;
  return measure(out_array);
}
