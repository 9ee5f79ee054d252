// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// references.c: the functions, their references and the specification's bounds.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "accuracy.h"

const number_format format_float = {24, -126, 0x1p128};
const number_format format_half = {11, -14, 0x1p16};

double ulp_of(const number_format *format, double value) {
  enum { BIAS = 1023, DIGITS = 52 };
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int own = (int)(bits >> DIGITS & 0x7ff) - BIAS;
  const int exponent =
      own > format->least_exponent ? own : format->least_exponent;
  bits = (uint64_t)(exponent - format->digits + 1 + BIAS) << DIGITS;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double ulp_error(const number_format *format, double got, double wanted) {
  if (isnan(got) || isnan(wanted)) {
    return isnan(got) && isnan(wanted) ? 0 : INFINITY;
  }
  const double limit = format->limit;
  got = fmax(-limit, fmin(limit, got));
  wanted = fmax(-limit, fmin(limit, wanted));
  const double scale = fabs(wanted) >= limit ? limit / 2 : wanted;
  return fabs(got - wanted) / ulp_of(format, scale);
}

// --- References that the C library has not -----------------------------------

static double exp10_of(double x) { return pow(10, x); }
static double rsqrt_of(double x) { return 1 / sqrt(x); }
static double fract_of(double x) {
  // The specification's cap: the largest float below 1.
  const double rest = x - floor(x);
  return rest > 0x1.fffffep-1 ? 0x1.fffffep-1 : rest;
}

static const double pi = 3.14159265358979323846;

// x = 2 k + quarter / 2 + rest, all exact.
static int split_turns(double x, double *out_rest) {
  const double turn = fmod(x, 2);
  const double quarter = rint(2 * turn);
  *out_rest = (turn - quarter / 2) * pi;
  return (int)quarter & 3;
}
static double sinpi_of(double x) {
  double rest;
  if (x == 0 || !isfinite(x)) {
    return x == 0 ? x : NAN;
  }
  switch (split_turns(x, &rest)) {
    case 0: return sin(rest);
    case 1: return cos(rest);
    case 2: return -sin(rest);
    default: return -cos(rest);
  }
}
static double cospi_of(double x) {
  double rest;
  if (!isfinite(x)) {
    return NAN;
  }
  switch (split_turns(x, &rest)) {
    case 0: return cos(rest);
    case 1: return -sin(rest);
    case 2: return -cos(rest);
    default: return sin(rest);
  }
}
static double tanpi_of(double x) { return sinpi_of(x) / cospi_of(x); }

// --- One argument ------------------------------------------------------------
//
// Bounds: Metal Shading Language Specification, "Numerical Compliance", the
// tables of single precision without and with fast math.

#define PRECISE(name, reference, exact, bound) \
  {#name, "precise", reference, exact, bound, BOUND_ULPS, 0, 0}
#define FAST(name, reference, exact, bound, kind, low, high) \
  {#name, "fast", reference, exact, bound, kind, low, high}
#define BOTH(name, reference, exact, precise_bound, fast_bound) \
  PRECISE(name, reference, exact, precise_bound),               \
      FAST(name, reference, exact, fast_bound, BOUND_ULPS, 0, 0)

const subject subjects[] = {
    PRECISE(exp, exp, mpfr_exp, 4),
    PRECISE(exp2, exp2, mpfr_exp2, 4),
    PRECISE(exp10, exp10_of, mpfr_exp10, 4),
    PRECISE(log, log, mpfr_log, 4),
    PRECISE(log2, log2, mpfr_log2, 4),
    PRECISE(log10, log10, mpfr_log10, 4),
    PRECISE(sin, sin, mpfr_sin, 4),
    PRECISE(cos, cos, mpfr_cos, 4),
    PRECISE(tan, tan, mpfr_tan, 6),
    FAST(exp, exp, mpfr_exp, 3, BOUND_GROWING, 0, 0),
    FAST(exp2, exp2, mpfr_exp2, 3, BOUND_GROWING, 0, 0),
    FAST(exp10, exp10_of, mpfr_exp10, 3, BOUND_GROWING, 0, 0),
    FAST(log, log, mpfr_log, 0x1p-21, BOUND_ABSOLUTE, 0.5, 2),
    FAST(log, log, mpfr_log, 3, BOUND_ULPS, 2, INFINITY),
    FAST(log, log, mpfr_log, 3, BOUND_ULPS, 0x1p-126, 0.5),
    FAST(log2, log2, mpfr_log2, 0x1p-21, BOUND_ABSOLUTE, 0.5, 2),
    FAST(log2, log2, mpfr_log2, 3, BOUND_ULPS, 2, INFINITY),
    FAST(log2, log2, mpfr_log2, 3, BOUND_ULPS, 0x1p-126, 0.5),
    FAST(log10, log10, mpfr_log10, 0x1p-21, BOUND_ABSOLUTE, 0.5, 2),
    FAST(log10, log10, mpfr_log10, 3, BOUND_ULPS, 2, INFINITY),
    FAST(log10, log10, mpfr_log10, 3, BOUND_ULPS, 0x1p-126, 0.5),
    FAST(sin, sin, mpfr_sin, 0x1p-13, BOUND_ABSOLUTE, 0, 3.14159274),
    FAST(cos, cos, mpfr_cos, 0x1p-13, BOUND_ABSOLUTE, 0, 3.14159274),
    // sin(x) / cos(x) as the specification has it; ours is bounded as tan.
    FAST(tan, tan, mpfr_tan, 6, BOUND_ULPS, 0, 1e5),
    BOTH(acos, acos, mpfr_acos, 4, 5),
    BOTH(acosh, acosh, mpfr_acosh, 4, 5),
    BOTH(asin, asin, mpfr_asin, 4, 5),
    BOTH(asinh, asinh, mpfr_asinh, 4, 5),
    BOTH(atan, atan, mpfr_atan, 5, 5),
    BOTH(atanh, atanh, mpfr_atanh, 5, 5),
    BOTH(cosh, cosh, mpfr_cosh, 4, 5),
    BOTH(sinh, sinh, mpfr_sinh, 4, 5),
    BOTH(tanh, tanh, mpfr_tanh, 5, 5),
    PRECISE(cospi, cospi_of, mpfr_cospi, 4),
    PRECISE(sinpi, sinpi_of, mpfr_sinpi, 4),
    PRECISE(tanpi, tanpi_of, mpfr_tanpi, 6),
    BOTH(rsqrt, rsqrt_of, mpfr_rec_sqrt, 0.5, 2),
    PRECISE(sqrt, sqrt, mpfr_sqrt, 0.5),
    PRECISE(fract, fract_of, NULL, 0.5),
    PRECISE(ceil, ceil, NULL, 0),
    PRECISE(floor, floor, NULL, 0),
    PRECISE(trunc, trunc, NULL, 0),
    PRECISE(rint, rint, NULL, 0),
    PRECISE(round, round, NULL, 0),
    PRECISE(fabs, fabs, NULL, 0),
};
const size_t subject_count = sizeof subjects / sizeof *subjects;

// --- Two arguments -----------------------------------------------------------

static double powr_of(double x, double y) { return x < 0 ? NAN : pow(x, y); }
static double divide_of(double x, double y) { return x / y; }
static double fdim_of(double x, double y) { return x <= y ? 0 : x - y; }

// Fast math: exp2(y * log2(x)) of numbers whose results are normal.
static bool is_plain_power(double x, double y) {
  return x >= 0x1p-60 && x <= 0x1p60 && fabs(y) < 2;
}
static bool is_positive_base(double x, double y) {
  // What powr makes of zeros and infinities is for the table of edge cases.
  return x > 0 && isfinite(x) && isfinite(y);
}
static bool is_fast_divisor(double x, double y) {
  const double quotient = fabs(x / y);
  return fabs(y) >= 0x1p-126 && fabs(y) <= 0x1p126 && quotient >= 0x1p-126 &&
         quotient < 0x1p127;
}
static bool is_number_pair(double x, double y) {
  return !isnan(x) && !isnan(y);
}

const pair_subject pair_subjects[] = {
    {"pow", "precise", pow, mpfr_pow, 16, NULL},
    {"powr", "precise", powr_of, mpfr_pow, 16, is_positive_base},
    {"atan2", "precise", atan2, mpfr_atan2, 6, NULL},
    {"fmod", "precise", fmod, mpfr_fmod, 0, NULL},
    {"divide", "precise", divide_of, mpfr_div, 0.5, NULL},
    {"fdim", "precise", fdim_of, NULL, 0.5, is_number_pair},
    {"fmin", "precise", fmin, NULL, 0, NULL},
    {"fmax", "precise", fmax, NULL, 0, NULL},
    {"copysign", "precise", copysign, NULL, 0, NULL},
    {"pow", "fast", pow, mpfr_pow, 16, is_plain_power},
    {"powr", "fast", powr_of, mpfr_pow, 16, is_plain_power},
    {"divide", "fast", divide_of, mpfr_div, 2.5, is_fast_divisor},
};
const size_t pair_subject_count = sizeof pair_subjects / sizeof *pair_subjects;
