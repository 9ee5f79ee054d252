// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// status.c: status names and the per-thread error text.
#include "base/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT_BYTES = 64 * 1024 };

static pthread_key_t text_key;
static pthread_once_t text_once = PTHREAD_ONCE_INIT;

static void text_key_create(void) { pthread_key_create(&text_key, free); }

// Replaces the thread's text; keeps "" when there is no memory for more.
static void text_replace(char *text) {
  pthread_once(&text_once, text_key_create);
  free(pthread_getspecific(text_key));
  pthread_setspecific(text_key, text);
}

const char *mtl_last_error(void) {
  pthread_once(&text_once, text_key_create);
  const char *text = pthread_getspecific(text_key);
  return text ? text : "";
}

mtl_status mtli_fail_text(mtl_status status, const char *text) {
  text_replace(strdup(text));
  return status;
}

static mtl_status fail_with(mtl_status status, const char *format,
                            va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int wanted = vsnprintf(NULL, 0, format, arguments);
  size_t size = wanted < 0 ? 1 : (size_t)wanted + 1;
  if (size > TEXT_LIMIT_BYTES) {
    size = TEXT_LIMIT_BYTES;
  }
  char *text = malloc(size);
  if (text) {
    text[0] = '\0';
    vsnprintf(text, size, format, again);
  }
  va_end(again);
  text_replace(text);
  return status;
}

mtl_status mtli_fail(mtl_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(status, format, arguments);
  va_end(arguments);
  return status;
}

mtl_status mtl_fail(mtl_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(status, format, arguments);
  va_end(arguments);
  return status;
}

const char *mtl_status_name(mtl_status status) {
  switch (status) {
    case MTL_OK: return "MTL_OK";
    case MTL_INVALID_ARGUMENT: return "MTL_INVALID_ARGUMENT";
    case MTL_INVALID_STATE: return "MTL_INVALID_STATE";
    case MTL_OUT_OF_MEMORY: return "MTL_OUT_OF_MEMORY";
    case MTL_NOT_FOUND: return "MTL_NOT_FOUND";
    case MTL_UNSUPPORTED: return "MTL_UNSUPPORTED";
    case MTL_COMPILE_FAILED: return "MTL_COMPILE_FAILED";
    case MTL_COMPILER_LOST: return "MTL_COMPILER_LOST";
    case MTL_BAD_DATA: return "MTL_BAD_DATA";
    case MTL_IO_ERROR: return "MTL_IO_ERROR";
    case MTL_TIMED_OUT: return "MTL_TIMED_OUT";
    case MTL_KERNEL_FAULT: return "MTL_KERNEL_FAULT";
    case MTL_CANCELLED: return "MTL_CANCELLED";
  }
  return "unknown status";
}
