// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// failure.c: messages to stderr, and the words of METTLE_OBJC_DEBUG.
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

bool runtime_debugs(const char *word) {
  const char *list = getenv("METTLE_OBJC_DEBUG");
  const size_t length = strlen(word);
  while (list && *list) {
    const size_t span = strcspn(list, ",");
    if ((span == length && !strncmp(list, word, span)) ||
        (span == 3 && !strncmp(list, "all", 3))) {
      return true;
    }
    list += span + (list[span] == ',');
  }
  return false;
}
