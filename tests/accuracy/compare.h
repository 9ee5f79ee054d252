// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare.h: results against references, in units in the last place.
#ifndef ACCURACY_COMPARE_H
#define ACCURACY_COMPARE_H

#include <stdint.h>

#include "accuracy.h"

// A format of floating-point numbers.
typedef struct number_format {
  int digits;          // of the significand, in bits
  int least_exponent;  // of a normal number
  int most_exponent;   // of a finite number
} number_format;

extern const number_format format_float;
extern const number_format format_half;

typedef struct worst {
  double error, x, y, got;
} worst;

// The subject of a comparison, and its findings.
typedef struct comparison {
  const subject *one;  // or
  const pair_subject *two;
  const number_format *format;
  const void *got;
  const float *x, *y;  // two's arguments; one's are counted, as in device_run
  uint32_t first, step;
  uint32_t check_every;    // argument the reference itself, by MPFR
  worst result;            // error -INFINITY at the beginning
  double reference_error;  // the largest that was found, in ULP
} comparison;

// Compares count results on all processors.
void compare_all(comparison *whole, uint32_t count);

#endif
