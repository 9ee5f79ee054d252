// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accuracy.h: what the mathematical functions of the library are measured
// against, and errors in units in the last place.
#ifndef ACCURACY_H
#define ACCURACY_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum bound_kind {
  BOUND_ULPS,      // a constant
  BOUND_GROWING,   // bound + floor(|2 x|)
  BOUND_ABSOLUTE,  // of the difference
} bound_kind;

// One function in one variant. The reference is in double precision, far more
// than is measured; exact, by MPFR, decides where it matters.
typedef struct subject {
  const char *name;
  const char *space;  // precise or fast
  double (*reference)(double x);
  int (*exact)(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);  // or NULL
  double bound;  // the specification's, section "Numerical compliance"
  bound_kind kind;
  double low, high;  // |x| that the bound is for; 0, 0: all there are
} subject;

typedef struct pair_subject {
  const char *name;
  const char *space;
  double (*reference)(double x, double y);
  int (*exact)(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
  double bound;  // ULP
  bool (*holds_for)(double x, double y);  // NULL: all pairs
} pair_subject;

extern const subject subjects[];
extern const size_t subject_count;
extern const pair_subject pair_subjects[];
extern const size_t pair_subject_count;

// A format of floating-point numbers.
typedef struct number_format {
  int digits;          // of the significand, in bits
  int least_exponent;  // of a normal number
  double limit;        // where infinity would be, were it a number
} number_format;

extern const number_format format_float;
extern const number_format format_half;

// The distance between value's neighbours in a format.
double ulp_of(const number_format *format, double value);

// How far got is from the real number that wanted is, in ULP. Infinity stands
// at the format's limit, and all that is larger with it; INFINITY if one of
// the two alone is a NaN.
double ulp_error(const number_format *format, double got, double wanted);

#endif
