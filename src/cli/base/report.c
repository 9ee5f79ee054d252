// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.c: makes the errors of the command line and prints them.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"

bool cli_fail(cli_error *error, cli_exit exit_code, const char *format, ...) {
  error->exit_code = exit_code;
  va_list values;
  va_start(values, format);
  vsnprintf(error->text, sizeof error->text, format, values);
  va_end(values);
  return false;
}

static bool fail_with(cli_error *error, cli_exit exit_code, mtl_status status,
                      const char *what) {
  const char *text = mtl_last_error();
  return cli_fail(error, exit_code, "%s: %s", what,
                  text[0] ? text : mtl_status_name(status));
}

bool cli_fail_status(cli_error *error, mtl_status status, const char *what) {
  return fail_with(error, CLI_FAILED, status, what);
}

// A source that uses an unsupported feature counts as not compiled. A compiler
// that is missing, crashes or passes its limits is trouble of the machine.
bool cli_fail_compile(cli_error *error, mtl_status status, const char *what) {
  if (status == MTL_COMPILE_FAILED) {
    // Kept in full: the next call of the library may end the text's life.
    error->diagnostics = strdup(mtl_last_error());
    return cli_fail(error, CLI_NOT_COMPILED, "%s does not compile", what);
  }
  return fail_with(
      error, status == MTL_UNSUPPORTED ? CLI_NOT_COMPILED : CLI_FAILED, status,
      what);
}

static void print_diagnostics(const char *text) {
  const size_t length = strlen(text);
  fputs(text, stderr);
  if (length == 0 || text[length - 1] != '\n') {
    fputc('\n', stderr);
  }
}

int cli_report(const char *verb, cli_error *error) {
  if (error->is_told) {
    return error->exit_code;
  }
  if (error->diagnostics != NULL) {
    print_diagnostics(error->diagnostics);
    free(error->diagnostics);
    error->diagnostics = NULL;
    return error->exit_code;
  }
  fprintf(stderr, "mettle %s: %s\n", verb, error->text);
  if (error->exit_code == CLI_USAGE) {
    fprintf(stderr, "Try 'mettle %s --help'.\n", verb);
  }
  return error->exit_code;
}

void cli_list_names(char *target, size_t size, const char *const *names,
                    size_t count) {
  size_t used = 0;
  target[0] = '\0';
  for (size_t i = 0; i < count; ++i) {
    const char *separator = i == 0 ? "; there are: " : ", ";
    const size_t needed = strlen(separator) + strlen(names[i]);
    if (used + needed + sizeof ", ..." > size) {
      snprintf(target + used, size - used, ", ...");
      return;
    }
    used += (size_t)snprintf(target + used, size - used, "%s%s", separator,
                             names[i]);
  }
}
