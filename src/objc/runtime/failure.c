// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// failure.c: prints messages to stderr and reads METTLE_OBJC_DEBUG.
#include "objc/runtime/failure.h"

#include <execinfo.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(const char *format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  fprintf(stderr, "mettle objc: %s\n", text);
}

void runtime_warn(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tell(format, arguments);
  va_end(arguments);
}

void runtime_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tell(format, arguments);
  va_end(arguments);
  if (getenv("METTLE_OBJC_DEBUG")) {
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
  }
  abort();
}

// The words that METTLE_OBJC_DEBUG may have.
static const char *const words[] = {
    "all",      "zombies",    "leaks",        "messages",
    "pools",    "exceptions", "unrecognized", "errors", "log",
    NULL,
};

static bool is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && !strncmp(text, word, length);
}

static void check_word(const char *text, size_t length) {
  for (const char *const *each = words; *each; ++each) {
    if (is_word(text, length, *each)) {
      return;
    }
  }
  runtime_fail("METTLE_OBJC_DEBUG: '%.*s' is none of all, zombies, leaks, "
               "messages, pools, exceptions, unrecognized, errors and log",
               (int)length, text);
}

bool runtime_debugs(const char *word) {
  const char *list = getenv("METTLE_OBJC_DEBUG");
  bool found = false;
  while (list && *list) {
    const size_t length = strcspn(list, ",");
    check_word(list, length);
    found = found || is_word(list, length, word) ||
            is_word(list, length, "all");
    list += length + (list[length] == ',');
  }
  return found;
}

bool runtime_raises_assertions(void) {
  const char *wish = getenv("METTLE_OBJC_EXCEPTIONS");
  if (wish && strcmp(wish, "0") != 0 && strcmp(wish, "1") != 0) {
    runtime_fail("METTLE_OBJC_EXCEPTIONS: '%s' is neither 0 nor 1", wish);
  }
  return wish && *wish == '1';
}
