// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// diff.h: compares what two runs have left in an argument.
#ifndef METTLE_CLI_DIFF_H
#define METTLE_CLI_DIFF_H

#include "cli/run/run.h"

// The first value that differs, and how many do.
typedef struct diff_result {
  uint64_t element;       // its number
  uint64_t scalar;        // in the element, of scalars
  uint64_t scalars;
  uint64_t offset_bytes;
  value_type type;
  bool is_float;
  uint64_t ulps;  // UINT64_MAX if one value is NaN
  uint64_t most_ulps;  // of all that differ
  uint64_t different;
  uint64_t values;
} diff_result;

// Units in the last place between two values of a floating-point type; +0 and
// -0 are 0 apart, numbers of no kind too; UINT64_MAX if one alone is NaN.
uint64_t diff_ulps(value_type type, const void *left, const void *right);

// True if some value of what is bound differs: integers at all, floats by more
// than most_ulps.
bool diff_contents(const kernel_binding *binding, const void *left,
                   const void *right, uint64_t most_ulps, diff_result *out);

#endif
