// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log_format.c: the text of a message: printf's conversions over recorded
// arguments, vectors by "v2", "v3" and "v4" as in "%v4f" (OpenCL
// C 3.0, 6.15.14).
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "code/log_abi.h"
#include "runtime/log.h"

enum { MOST_FLAGS = 5, MOST_DIGITS = 4, VALUE_BYTES = 512 };

typedef struct log_reader {
  const uint8_t *next;
  const uint8_t *end;
  const uint8_t *packed;  // where packed values begin, NULL for others
} log_reader;

typedef struct log_value {
  mtli_log_argument form;
  const uint8_t *elements;  // NULL for those in words
  uint64_t words[4];        // of a packed value, extended
} log_value;

// One conversion: the text between % and its letter.
typedef struct log_conversion {
  char options[MOST_FLAGS + 2 * MOST_DIGITS + 8];  // flags, width, precision
  unsigned elements;    // 1, or 2 to 4 by v2 to v4
  unsigned short_bits;  // 8 or 16 by hh and h, 0 without
  bool is_long;         // by l and its like
  char letter;
} log_conversion;

static bool is_one_of(char letter, const char *letters) {
  return letter && strchr(letters, letter);
}

// Bytes of an element that is packed.
static unsigned packed_bytes(const log_conversion *conversion) {
  const bool is_vector = conversion->elements > 1;
  if (is_one_of(conversion->letter, "sp")) {
    return 8;
  }
  if (is_vector && conversion->short_bits) {
    return conversion->short_bits / 8;
  }
  return conversion->is_long && !is_one_of(conversion->letter, "fFeEgGaAc")
             ? 8
             : 4;
}

static float half_number(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float fraction = (float)(bits & 1023) / 1024;
  const float size = exponent == 31  ? bits & 1023 ? NAN : INFINITY
                     : exponent == 0 ? ldexpf(fraction, -14)
                                     : ldexpf(1 + fraction, exponent - 15);
  return bits & 0x8000 ? -size : size;
}

static uint64_t extend(uint64_t bits, unsigned bytes, bool is_signed) {
  const unsigned drop = 64 - 8 * bytes;
  return is_signed ? (uint64_t)((int64_t)(bits << drop) >> drop) : bits;
}

// Reads a value as C packs it in a call, at a multiple of its size.
static bool read_packed(log_reader *reader, const log_conversion *conversion,
                        log_value *out) {
  const unsigned bytes = packed_bytes(conversion);
  const unsigned count = conversion->elements;
  const size_t size = (size_t)bytes * (count == 3 ? 4 : count);
  const size_t at =
      ((size_t)(reader->next - reader->packed) + size - 1) / size * size;
  const bool is_float = is_one_of(conversion->letter, "fFeEgGaA");
  if (at + size > (size_t)(reader->end - reader->packed)) {
    return false;
  }
  *out = (log_value){
      .form = {.kind = is_float                               ? MTLI_LOG_FLOAT
                       : conversion->letter == 's'            ? MTLI_LOG_STRING
                       : conversion->letter == 'p'            ? MTLI_LOG_POINTER
                       : is_one_of(conversion->letter, "dic") ? MTLI_LOG_SIGNED
                                                              : MTLI_LOG_UNSIGNED,
               .element_bytes = bytes == 8 ? 8 : 4,
               .elements = (uint16_t)count}};
  for (unsigned i = 0; i < count; i++) {
    uint64_t bits = 0;
    memcpy(&bits, reader->packed + at + (size_t)i * bytes, bytes);
    if (is_float && bytes == 2) {
      const float number = half_number((uint16_t)bits);
      memcpy(&bits, &number, sizeof number);
    }
    out->words[i] =
        extend(bits, bytes, out->form.kind == MTLI_LOG_SIGNED);
  }
  reader->next = reader->packed + at + size;
  return true;
}

static const uint8_t *element_at(const log_value *value, unsigned i) {
  return value->elements
             ? value->elements + (size_t)value->form.element_bytes * i
             : (const uint8_t *)&value->words[i];
}

static bool read_value(log_reader *reader, const log_conversion *conversion,
                       log_value *out_value) {
  if (reader->packed) {
    return read_packed(reader, conversion, out_value);
  }
  if ((size_t)(reader->end - reader->next) < sizeof(mtli_log_argument)) {
    return false;
  }
  memcpy(&out_value->form, reader->next, sizeof out_value->form);
  const mtli_log_argument *form = &out_value->form;
  const size_t bytes =
      ((size_t)form->element_bytes * form->elements + 7) / 8 * 8;
  reader->next += sizeof *form;
  if ((form->element_bytes != 4 && form->element_bytes != 8) ||
      (size_t)(reader->end - reader->next) < bytes) {
    reader->next = reader->end;
    return false;
  }
  out_value->elements = reader->next;
  reader->next += bytes;
  return true;
}

// Returns an integer element, extended as its kind says.
static uint64_t integer_of(const log_value *value, unsigned i) {
  if (value->form.element_bytes == 8) {
    uint64_t bits;
    memcpy(&bits, element_at(value, i), sizeof bits);
    return bits;
  }
  uint32_t bits;
  memcpy(&bits, element_at(value, i), sizeof bits);
  return value->form.kind == MTLI_LOG_SIGNED ? (uint64_t)(int32_t)bits : bits;
}

static double number_of(const log_value *value, unsigned i) {
  if (value->form.kind == MTLI_LOG_FLOAT) {
    float number;
    memcpy(&number, element_at(value, i), sizeof number);
    return (double)number;
  }
  const uint64_t bits = integer_of(value, i);
  return value->form.kind == MTLI_LOG_SIGNED ? (double)(int64_t)bits
                                             : (double)bits;
}

// Reads "12" or "*" behind a flag or a point into options. Longer numbers than
// a message has room for are cut.
static const char *read_size(const char *at, log_reader *reader, char *options,
                             size_t capacity) {
  const size_t length = strlen(options);
  if (*at == '*') {
    log_value value;
    const log_conversion whole = {.elements = 1, .letter = 'd'};
    const int size =
        read_value(reader, &whole, &value) ? (int)(int16_t)integer_of(&value, 0) : 0;
    snprintf(options + length, capacity - length, "%d", size % 1000);
    return at + 1;
  }
  const size_t digits = strspn(at, "0123456789");
  snprintf(options + length, capacity - length, "%.*s",
           (int)(digits < 3 ? digits : 3), at);
  return at + digits;
}

// Reads a conversion from behind its %; returns the text behind it, or NULL if
// it is none.
static const char *read_conversion(const char *at, log_reader *reader,
                                   log_conversion *out) {
  *out = (log_conversion){.elements = 1};
  const size_t flags = strspn(at, "-+ #0");
  if (flags > MOST_FLAGS) {
    return NULL;
  }
  memcpy(out->options, at, flags);
  at = read_size(at + flags, reader, out->options, sizeof out->options);
  if (*at == '.') {
    strcat(out->options, ".");
    at = read_size(at + 1, reader, out->options, sizeof out->options);
  }
  if (*at == 'v') {
    const bool is_known = at[1] >= '2' && at[1] <= '4';
    out->elements = is_known ? (unsigned)(at[1] - '0') : 1;
    at += 1 + strspn(at + 1, "0123456789");
  }
  for (; is_one_of(*at, "hlqjztL"); at++) {
    // hl is a vector's length of 4 bytes
    const bool is_whole = at[0] == 'h' && at[1] == 'l';
    if (at[0] == 'h' && !is_whole) {
      out->short_bits = out->short_bits ? 8 : 16;
    }
    out->is_long |= !is_whole && at[0] != 'h';
    at += is_whole;
  }
  out->letter = *at;
  return is_one_of(*at, "diouxXfFeEgGaAcsp%") ? at + 1 : NULL;
}

// Returns the letter that shows a value of the kind, if the one asked for does
// not.
static char letter_for(const log_value *value, char letter) {
  switch ((mtli_log_kind)value->form.kind) {
    case MTLI_LOG_FLOAT: return is_one_of(letter, "fFeEgGaA") ? letter : 'f';
    case MTLI_LOG_STRING: return letter == 'p' ? 'p' : 's';
    case MTLI_LOG_POINTER: return 'p';
    case MTLI_LOG_SIGNED: return letter == 's' ? 'd' : letter;
    case MTLI_LOG_UNSIGNED: case MTLI_LOG_PACKED: break;
  }
  return letter == 's' ? 'u' : letter;
}

static uint64_t cut(const log_value *value, unsigned short_bits,
                    uint64_t bits) {
  const unsigned width =
      short_bits ? short_bits : value->form.element_bytes * 8u;
  return width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
}

// The format is put together here, of parts that were read one by one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void append_element(mtli_bytes *text, const log_conversion *conversion,
                           const log_value *value, unsigned i) {
  char format[sizeof conversion->options + 8];
  char shown[VALUE_BYTES + 1000];
  const char letter = letter_for(value, conversion->letter);
  const bool is_number = is_one_of(letter, "fFeEgGaA");
  snprintf(format, sizeof format, "%%%s%s%c", conversion->options,
           is_number || letter == 'c' ? "" : "ll", letter);
  const uint64_t bits = is_number ? 0 : integer_of(value, i);
  int length = 0;
  if (is_number) {
    length = snprintf(shown, sizeof shown, format, number_of(value, i));
  } else if (letter == 'c') {
    length = snprintf(shown, sizeof shown, format, (int)(unsigned char)bits);
  } else if (letter == 'p') {
    length = snprintf(shown, sizeof shown, "0x%" PRIx64, bits);
  } else if (is_one_of(letter, "di")) {
    const unsigned drop =
        conversion->short_bits ? 64 - conversion->short_bits : 0;
    length = snprintf(shown, sizeof shown, format,
                      (long long)((int64_t)(bits << drop) >> drop));
  } else {
    length =
        snprintf(shown, sizeof shown, format,
                 (unsigned long long)cut(value, conversion->short_bits, bits));
  }
  if (length > 0) {
    const size_t most = sizeof shown - 1;
    mtli_bytes_append(text, shown,
                      (size_t)length < most ? (size_t)length : most);
  }
}

static void append_string(mtli_bytes *text, const log_conversion *conversion,
                          const log_value *value,
                          mtli_log_string_fn *find_string, void *context) {
  size_t length = 0;
  const char *string = find_string(context, integer_of(value, 0), &length);
  if (!string) {
    mtli_bytes_append(text, "(null)", 6);
    return;
  }
  char copy[1024];
  char shown[2048];
  char format[sizeof conversion->options + 4];
  length = length < sizeof copy - 1 ? length : sizeof copy - 1;
  memcpy(copy, string, length);
  copy[length] = '\0';
  snprintf(format, sizeof format, "%%%ss", conversion->options);
  const int count = snprintf(shown, sizeof shown, format, copy);
  if (count > 0) {
    const size_t most = sizeof shown - 1;
    mtli_bytes_append(text, shown, (size_t)count < most ? (size_t)count : most);
  }
}
#pragma GCC diagnostic pop

// Where all values are packed into one argument, goes into it.
static void begin_packed(log_reader *reader) {
  mtli_log_argument form;
  if ((size_t)(reader->end - reader->next) < sizeof form) {
    return;
  }
  memcpy(&form, reader->next, sizeof form);
  const size_t bytes = (size_t)(reader->end - reader->next) - sizeof form;
  if (form.kind == MTLI_LOG_PACKED) {
    reader->packed = reader->next + sizeof form;
    reader->next = reader->packed;
    reader->end = reader->packed + (form.reserved < bytes ? form.reserved
                                                          : bytes);
  }
}

void mtli_log_format(mtli_bytes *text, const char *format,
                     const uint8_t *arguments, size_t size_bytes,
                     mtli_log_string_fn *find_string, void *context) {
  log_reader reader = {.next = arguments, .end = arguments + size_bytes};
  begin_packed(&reader);
  while (*format) {
    const size_t plain = strcspn(format, "%");
    mtli_bytes_append(text, format, plain);
    format += plain;
    if (!*format) {
      return;
    }
    log_conversion conversion;
    const char *behind = read_conversion(format + 1, &reader, &conversion);
    log_value value;
    if (behind && conversion.letter == '%') {
      mtli_bytes_append(text, "%", 1);
    } else if (!behind || !read_value(&reader, &conversion, &value)) {
      // Appends the text unchanged: it is no conversion, or has no argument.
      behind = behind ? behind : format + 1;
      mtli_bytes_append(text, format, (size_t)(behind - format));
    } else if (value.form.kind == MTLI_LOG_STRING && conversion.letter != 'p') {
      append_string(text, &conversion, &value, find_string, context);
    } else {
      for (unsigned i = 0; i < value.form.elements; i++) {
        mtli_bytes_append(text, ",", i > 0);
        append_element(text, &conversion, &value, i);
      }
    }
    format = behind;
  }
}
