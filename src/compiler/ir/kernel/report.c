// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.c: the lines that `mettle compile --report` prints of a kernel.
#include "compiler/ir/kernel/report.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"

void mtlc_report(mtlc_kernel *kernel, const char *format, ...) {
  char *line = NULL;
  va_list arguments;
  va_start(arguments, format);
  const int line_length = vasprintf(&line, format, arguments);
  va_end(arguments);
  if (line_length < 0) {
    return;
  }
  const size_t length = kernel->report ? strlen(kernel->report) : 0;
  char *grown = realloc(kernel->report, length + (size_t)line_length + 2);
  if (grown) {
    sprintf(grown + length, "%s\n", line);
    kernel->report = grown;
  }
  free(line);
}
