// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// emitter.c: records why a kernel is not vectorised.
#include "compiler/vectorize/emit/values/emitter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lanes_refuse(lanes_emitter *e, const char *format, ...) {
  if (e->refusal[0]) {
    return;  // the first reason is kept
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->refusal, sizeof e->refusal, format, arguments);
  va_end(arguments);
}
