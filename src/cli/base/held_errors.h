// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// held_errors.h: holds back standard error for a while: foreign code prints
// what it also returns to its caller.
#ifndef METTLE_CLI_HELD_ERRORS_H
#define METTLE_CLI_HELD_ERRORS_H

#include <stdio.h>

typedef struct held_errors {
  FILE *file;    // NULL where nothing is held
  int original;  // a copy of standard error's descriptor
} held_errors;

// Nothing is held if there is no room for a file.
void held_errors_begin(held_errors *held);
// Prints what was held, but for empty lines and lines that begin with told.
void held_errors_end(held_errors *held, const char *told);

#endif
