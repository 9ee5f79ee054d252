// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_format.c: formats strings as printf does, with %@ for an object's
// description.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

typedef struct text {
  char *bytes;
  size_t count;
  size_t capacity;
} text;

static void text_add(text *out, const char *bytes, size_t count) {
  if (out->count + count + 1 > out->capacity) {
    out->capacity = 2 * (out->count + count + 1);
    char *grown = realloc(out->bytes, out->capacity);
    if (!grown) {
      runtime_fail("no memory for a string of %zu bytes", out->capacity);
    }
    out->bytes = grown;
  }
  memcpy(out->bytes + out->count, bytes, count);
  out->count += count;
}

// Arguments may be named by position (%2$@); a format does so for all of them
// or for none, and for all up to the last.
typedef struct directive {
  const char *first;  // the %
  const char *flags;  // behind the % and the position
  const char *end;    // behind the conversion
  char conversion;
  char length[3];  // "", "h", "hh", "l", "ll", "q", "z", "t", "j", "L"
  int stars;       // of width and precision
  int position;    // from 1; 0: the next argument
} directive;

static directive directive_read(const char *percent) {
  directive read = {.first = percent};
  const char *at = percent + 1;
  const size_t digits = strspn(at, "0123456789");
  if (digits && at[digits] == '$') {
    read.position = atoi(at);
    at += digits + 1;
  }
  read.flags = at;
  while (*at && strchr("-+ #0'123456789.*", *at)) {
    read.stars += *at++ == '*';
  }
  for (size_t i = 0; i < 2 && *at && strchr("hlqztjL", *at); ++i) {
    read.length[i] = *at++;
  }
  read.conversion = *at;
  read.end = *at ? at + 1 : at;
  return read;
}

// Prints value by the directive's own text, with its stars filled in.
#define PRINT(value)                                                          \
  do {                                                                        \
    char *printed = NULL;                                                     \
    const int count =                                                         \
        read.stars == 2   ? asprintf(&printed, form, star[0], star[1], value) \
        : read.stars == 1 ? asprintf(&printed, form, star[0], value)          \
                          : asprintf(&printed, form, value);                  \
    if (count > 0) {                                                          \
      text_add(out, printed, (size_t)count);                                  \
    }                                                                         \
    free(printed);                                                            \
  } while (0)

// clang and gcc alike pass a va_list on by pointer only inside a struct.
typedef struct argument_list {
  va_list list;
} argument_list;

// Adds UTF-8 in a field: a width of UTF-16 units, and at most so many.
static void add_field(text *out, const char *utf8, const directive *read,
                      const int *star) {
  const char *at = read->flags;
  bool is_left = false;
  for (; *at && strchr("-+ #0'", *at); ++at) {
    is_left = is_left || *at == '-';
  }
  long width = *at == '*' ? star[0] : strtol(at, NULL, 10);
  at += strspn(at, "*0123456789");
  size_t bytes = strlen(utf8);
  size_t units = utf16_length(utf8, bytes);
  if (*at == '.') {
    const long most =
        at[1] == '*' ? star[read->stars - 1] : strtol(at + 1, NULL, 10);
    if (most >= 0 && (size_t)most < units) {
      units = (size_t)most;
      bytes = utf8_offset(utf8, bytes, units);
    }
  }
  if (width < 0) {
    is_left = true;
    width = -width;
  }
  const size_t spaces = (size_t)width > units ? (size_t)width - units : 0;
  for (size_t i = 0; !is_left && i < spaces; ++i) {
    text_add(out, " ", 1);
  }
  text_add(out, utf8, bytes);
  for (size_t i = 0; is_left && i < spaces; ++i) {
    text_add(out, " ", 1);
  }
}

static void add_object(text *out, id object, const directive *read,
                       const int *star) {
  add_field(out,
            object ? string_utf8(SEND(id(*)(id, SEL), object, "description"))
                   : "(null)",
            read, star);
}

static void add_units(text *out, const unichar *units, const directive *read,
                      const int *star) {
  size_t count = 0;
  while (units && units[count]) {
    ++count;
  }
  char *utf8 = malloc(3 * count + 8);
  if (!utf8) {
    runtime_fail("no memory for a string of %zu units", count);
  }
  utf8[units ? utf8_from_utf16(units, count, utf8) : 0] = 0;
  add_field(out, units ? utf8 : "(null)", read, star);
  free(utf8);
}

// Drops the arguments before the one at position. What the format says of them
// tells whether they are floating-point numbers.
static void skip_to(argument_list *arguments, const char *format,
                    int position) {
  for (int i = 1; i < position; ++i) {
    bool is_real = false, is_long = false;
    for (const char *at = strchr(format, '%'); at; at = strchr(at, '%')) {
      const directive each = directive_read(at);
      if (each.position == i) {
        is_real = each.conversion && strchr("aAeEfFgG", each.conversion);
        is_long = each.length[0] == 'L';
      }
      at = each.end;
    }
    if (is_real && is_long) {
      (void)va_arg(arguments->list, long double);
    } else if (is_real) {
      (void)va_arg(arguments->list, double);
    } else {
      (void)va_arg(arguments->list, void *);
    }
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_directive(text *out, const directive *given,
                          argument_list *arguments) {
  const directive read = *given;
  char form[64];
  const size_t bytes = (size_t)(read.end - read.flags) + 1;
  if (bytes >= sizeof form || read.stars > 2) {
    text_add(out, read.first, (size_t)(read.end - read.first));
    return;
  }
  form[0] = '%';
  memcpy(form + 1, read.flags, bytes - 1);
  form[bytes] = 0;
  int star[2] = {0, 0};
  if (read.conversion != '%' && read.conversion) {
    for (int i = 0; i < read.stars; ++i) {
      star[i] = va_arg(arguments->list, int);
    }
  }
  const bool is_long = read.length[0] && strchr("lqztj", read.length[0]);
  switch (read.conversion) {
    case '@': add_object(out, va_arg(arguments->list, id), &read, star); break;
    case 'S':
      add_units(out, va_arg(arguments->list, const unichar *), &read, star);
      break;
    case '%': text_add(out, "%", 1); break;
    case 'D':
    case 'U':
    case 'O':
      form[bytes - 1] = (char)(read.conversion + ('a' - 'A'));
      PRINT(va_arg(arguments->list, int));
      break;
    case 'C': {
      const unichar unit = (unichar)va_arg(arguments->list, int);
      char utf8[4];
      text_add(out, utf8, utf8_from_utf16(&unit, 1, utf8));
      break;
    }
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
    case 'c':
      if (is_long) {
        PRINT(va_arg(arguments->list, long));
      } else {
        PRINT(va_arg(arguments->list, int));
      }
      break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (read.length[0] == 'L') {
        PRINT(va_arg(arguments->list, long double));
      } else {
        PRINT(va_arg(arguments->list, double));
      }
      break;
    case 's': PRINT(va_arg(arguments->list, const char *)); break;
    case 'p': {
      // nil is "0x0" to Apple's, and "(nil)" to glibc
      void *pointer = va_arg(arguments->list, void *);
      if (pointer) {
        PRINT(pointer);
      } else {
        text_add(out, "0x0", 3);
      }
      break;
    }
    default: text_add(out, read.first, (size_t)(read.end - read.first));
  }
}

#pragma GCC diagnostic pop

id string_create_format(const char *format, va_list arguments) {
  text out = {0};
  const char *whole = format;
  argument_list list;
  va_copy(list.list, arguments);
  while (*format) {
    const char *percent = strchrnul(format, '%');
    text_add(&out, format, (size_t)(percent - format));
    if (!*percent) {
      break;
    }
    const directive read = directive_read(percent);
    if (read.position) {
      argument_list from;
      va_copy(from.list, arguments);
      skip_to(&from, whole, read.position);
      add_directive(&out, &read, &from);
      va_end(from.list);
    } else {
      add_directive(&out, &read, &list);
    }
    format = read.end;
  }
  va_end(list.list);
  const id string = string_create_bytes(out.bytes, out.count);
  free(out.bytes);
  return string;
}

OBJC_EXPORT void NSLogv(id format, va_list arguments) {
  const id line = string_create_format(string_utf8(format), arguments);
  fprintf(stderr, "%s\n", string_utf8(line));
  objc_release(line);
}

OBJC_EXPORT void NSLog(id format, ...) {
  va_list arguments;
  va_start(arguments, format);
  NSLogv(format, arguments);
  va_end(arguments);
}
