// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_format.c: printf's formats, and %@ for an object's description.
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
// or for none. vprintf does the same, but not for %@.
typedef struct directive {
  const char *first;  // the %
  const char *end;    // behind the conversion
  char conversion;
  char length[3];  // "", "h", "hh", "l", "ll", "q", "z", "t", "j", "L"
  int stars;       // of width and precision
} directive;

static directive directive_read(const char *percent) {
  directive read = {.first = percent};
  const char *at = percent + 1;
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

// Formats one directive; clang and gcc alike pass a va_list on by pointer only
// inside a struct.
typedef struct argument_list {
  va_list list;
} argument_list;

// Prints value by the directive's own text, with its stars filled in.
#define PRINT(value)                                                       \
  do {                                                                     \
    char *printed = NULL;                                                  \
    const int count =                                                      \
        read.stars == 2   ? asprintf(&printed, form, star[0], star[1], value) \
        : read.stars == 1 ? asprintf(&printed, form, star[0], value)       \
                          : asprintf(&printed, form, value);               \
    if (count > 0) {                                                       \
      text_add(out, printed, (size_t)count);                               \
    }                                                                      \
    free(printed);                                                         \
  } while (0)

static void add_object(text *out, id object) {
  const char *description =
      object ? string_utf8(SEND(id(*)(id, SEL), object, "description"))
             : "(null)";
  text_add(out, description, strlen(description));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_directive(text *out, const directive *given,
                          argument_list *arguments) {
  const directive read = *given;
  char form[64];
  const size_t bytes = (size_t)(read.end - read.first);
  if (bytes >= sizeof form || read.stars > 2) {
    text_add(out, read.first, bytes);
    return;
  }
  memcpy(form, read.first, bytes);
  form[bytes] = 0;
  int star[2] = {0, 0};
  if (read.conversion != '%' && read.conversion) {
    for (int i = 0; i < read.stars; ++i) {
      star[i] = va_arg(arguments->list, int);
    }
  }
  const bool is_long = read.length[0] && strchr("lqztj", read.length[0]);
  switch (read.conversion) {
    case '@': add_object(out, va_arg(arguments->list, id)); break;
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
    case 'p': PRINT(va_arg(arguments->list, void *)); break;
    default: text_add(out, read.first, bytes);
  }
}

#pragma GCC diagnostic pop

id string_create_format(const char *format, va_list arguments) {
  text out = {0};
  argument_list list;
  va_copy(list.list, arguments);
  while (*format) {
    const char *percent = strchrnul(format, '%');
    text_add(&out, format, (size_t)(percent - format));
    if (!*percent) {
      break;
    }
    const directive read = directive_read(percent);
    add_directive(&out, &read, &list);
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
