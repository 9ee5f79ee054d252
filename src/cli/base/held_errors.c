// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// held_errors.c: holds back standard error, and then prints the part that is
// not reported otherwise.
#include "cli/base/held_errors.h"

#include <string.h>
#include <unistd.h>

void held_errors_begin(held_errors *held) {
  fflush(stderr);
  held->file = tmpfile();
  held->original = held->file ? dup(STDERR_FILENO) : -1;
  if (held->original < 0 || dup2(fileno(held->file), STDERR_FILENO) < 0) {
    held_errors_end(held, "");
  }
}

void held_errors_end(held_errors *held, const char *told) {
  if (held->original >= 0) {
    fflush(stderr);
    dup2(held->original, STDERR_FILENO);
    close(held->original);
  }
  if (held->file) {
    char line[1024];
    fseek(held->file, 0, SEEK_SET);
    while (fgets(line, sizeof line, held->file)) {
      if (line[0] != '\n' &&
          (!*told || strncmp(line, told, strlen(told)) != 0)) {
        fputs(line, stderr);
      }
    }
    fclose(held->file);
  }
  *held = (held_errors){NULL, -1};
}
