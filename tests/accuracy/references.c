// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// references.c: the functions, their references and the specification's bounds.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "accuracy.h"

// --- References --------------------------------------------------------------
//
// The C library's functions, of several numbers at once where it has such
// (libmvec: errors below 4 ULP of a double).

#ifdef METTLE_HAS_LIBMVEC
#define OF_SEVERAL(name) \
  _Pragma("omp declare simd notinbranch") extern double name(double)
OF_SEVERAL(exp);
OF_SEVERAL(exp2);
OF_SEVERAL(exp10);
OF_SEVERAL(log);
OF_SEVERAL(log2);
OF_SEVERAL(log10);
OF_SEVERAL(sin);
OF_SEVERAL(cos);
OF_SEVERAL(tan);
OF_SEVERAL(asin);
OF_SEVERAL(acos);
OF_SEVERAL(atan);
OF_SEVERAL(sinh);
OF_SEVERAL(cosh);
OF_SEVERAL(tanh);
OF_SEVERAL(asinh);
OF_SEVERAL(acosh);
OF_SEVERAL(atanh);
#endif

#define REFERENCE(name, result)                                          \
  SEVERAL_TARGETS                                                        \
  static void name(const double *restrict xs, const double *restrict ys, \
                   double *restrict results, uint32_t count) {           \
    (void)ys;                                                            \
    _Pragma("omp simd") for (uint32_t i = 0; i < count; i++) {           \
      const double x = xs[i];                                            \
      results[i] = result;                                               \
    }                                                                    \
  }

#define REFERENCE_OF_TWO(name, result)                                  \
  static void name(const double *xs, const double *ys, double *results, \
                   uint32_t count) {                                    \
    for (uint32_t i = 0; i < count; i++) {                              \
      const double x = xs[i], y = ys[i];                                \
      results[i] = result;                                              \
    }                                                                   \
  }

// x = n + rest, both exact, also of the sign of 0; n gives (-1)^n.
static inline double sine_of_pi_times(double x) {
  static const double pi = 3.14159265358979323846;
  const double n = rint(x);
  const double rest = fabs(x) < 0.5 ? x : x - n;
  return (1 - 2 * (n - 2 * floor(n / 2))) * sin(rest * pi);
}
static inline double cosine_of_pi_times(double x) {
  return sine_of_pi_times(0.5 - (fabs(x) - 2 * floor(fabs(x) / 2)));
}

// The largest float below 1: the specification's cap of fract.
static inline double below_one(double rest) {
  return rest > 0x1.fffffep-1 ? 0x1.fffffep-1 : rest;
}

REFERENCE(exp_of, exp(x))
REFERENCE(exp2_of, exp2(x))
REFERENCE(exp10_of, exp10(x))
REFERENCE(log_of, log(x))
REFERENCE(log2_of, log2(x))
REFERENCE(log10_of, log10(x))
REFERENCE(sin_of, sin(x))
REFERENCE(cos_of, cos(x))
REFERENCE(tan_of, tan(x))
REFERENCE(asin_of, asin(x))
REFERENCE(acos_of, acos(x))
REFERENCE(atan_of, atan(x))
REFERENCE(sinh_of, sinh(x))
REFERENCE(cosh_of, cosh(x))
REFERENCE(tanh_of, tanh(x))
REFERENCE(asinh_of, asinh(x))
REFERENCE(acosh_of, acosh(x))
REFERENCE(atanh_of, atanh(x))
REFERENCE(sinpi_of, sine_of_pi_times(x))
REFERENCE(cospi_of, cosine_of_pi_times(x))
REFERENCE(tanpi_of, sine_of_pi_times(x) / cosine_of_pi_times(x))
REFERENCE(rsqrt_of, 1 / sqrt(x))
REFERENCE(sqrt_of, sqrt(x))
REFERENCE(fract_of, below_one(x - floor(x)))
REFERENCE(ceil_of, ceil(x))
REFERENCE(floor_of, floor(x))
REFERENCE(trunc_of, trunc(x))
REFERENCE(rint_of, rint(x))
REFERENCE(round_of, round(x))
REFERENCE(fabs_of, fabs(x))

REFERENCE_OF_TWO(pow_of, pow(x, y))
REFERENCE_OF_TWO(powr_of, x < 0 ? (double)NAN : pow(x, y))
REFERENCE_OF_TWO(atan2_of, atan2(x, y))
REFERENCE_OF_TWO(fmod_of, fmod(x, y))
REFERENCE_OF_TWO(divide_of, x / y)
REFERENCE_OF_TWO(fdim_of, x <= y ? 0 : x - y)
REFERENCE_OF_TWO(fmin_of, fmin(x, y))
REFERENCE_OF_TWO(fmax_of, fmax(x, y))
REFERENCE_OF_TWO(copysign_of, copysign(x, y))

// --- One argument ------------------------------------------------------------
//
// Bounds: Metal Shading Language Specification, "Numerical Compliance", the
// tables of single precision without and with fast math.

#define PRECISE(name, exact, bound) \
  {#name, "precise", name##_of, exact, bound, BOUND_ULPS, 0, 0}
#define FAST(name, exact, bound, kind, low, high) \
  {#name, "fast", name##_of, exact, bound, kind, low, high}
#define BOTH(name, exact, precise_bound, fast_bound) \
  PRECISE(name, exact, precise_bound),               \
      FAST(name, exact, fast_bound, BOUND_ULPS, 0, 0)

const subject subjects[] = {
    PRECISE(exp, mpfr_exp, 4),
    PRECISE(exp2, mpfr_exp2, 4),
    PRECISE(exp10, mpfr_exp10, 4),
    PRECISE(log, mpfr_log, 4),
    PRECISE(log2, mpfr_log2, 4),
    PRECISE(log10, mpfr_log10, 4),
    PRECISE(sin, mpfr_sin, 4),
    PRECISE(cos, mpfr_cos, 4),
    PRECISE(tan, mpfr_tan, 6),
    FAST(exp, mpfr_exp, 3, BOUND_GROWING, 0, 0),
    FAST(exp2, mpfr_exp2, 3, BOUND_GROWING, 0, 0),
    FAST(exp10, mpfr_exp10, 3, BOUND_GROWING, 0, 0),
    FAST(log, mpfr_log, 0x1p-21, BOUND_ABSOLUTE, 0.5, 2),
    FAST(log, mpfr_log, 3, BOUND_ULPS, 2, INFINITY),
    FAST(log, mpfr_log, 3, BOUND_ULPS, 0x1p-126, 0.5),
    FAST(log2, mpfr_log2, 0x1p-21, BOUND_ABSOLUTE, 0.5, 2),
    FAST(log2, mpfr_log2, 3, BOUND_ULPS, 2, INFINITY),
    FAST(log2, mpfr_log2, 3, BOUND_ULPS, 0x1p-126, 0.5),
    FAST(log10, mpfr_log10, 0x1p-21, BOUND_ABSOLUTE, 0.5, 2),
    FAST(log10, mpfr_log10, 3, BOUND_ULPS, 2, INFINITY),
    FAST(log10, mpfr_log10, 3, BOUND_ULPS, 0x1p-126, 0.5),
    FAST(sin, mpfr_sin, 0x1p-13, BOUND_ABSOLUTE, 0, 3.14159274),
    FAST(cos, mpfr_cos, 0x1p-13, BOUND_ABSOLUTE, 0, 3.14159274),
    // sin(x) / cos(x) as the specification has it; ours is bounded as tan.
    FAST(tan, mpfr_tan, 6, BOUND_ULPS, 0, 1e5),
    BOTH(acos, mpfr_acos, 4, 5),
    BOTH(acosh, mpfr_acosh, 4, 5),
    BOTH(asin, mpfr_asin, 4, 5),
    BOTH(asinh, mpfr_asinh, 4, 5),
    BOTH(atan, mpfr_atan, 5, 5),
    BOTH(atanh, mpfr_atanh, 5, 5),
    BOTH(cosh, mpfr_cosh, 4, 5),
    BOTH(sinh, mpfr_sinh, 4, 5),
    BOTH(tanh, mpfr_tanh, 5, 5),
    PRECISE(cospi, mpfr_cospi, 4),
    PRECISE(sinpi, mpfr_sinpi, 4),
    PRECISE(tanpi, mpfr_tanpi, 6),
    BOTH(rsqrt, mpfr_rec_sqrt, 0.5, 2),
    PRECISE(sqrt, mpfr_sqrt, 0.5),
    PRECISE(fract, NULL, 0.5),
    PRECISE(ceil, NULL, 0),
    PRECISE(floor, NULL, 0),
    PRECISE(trunc, NULL, 0),
    PRECISE(rint, NULL, 0),
    PRECISE(round, NULL, 0),
    PRECISE(fabs, NULL, 0),
};
const size_t subject_count = sizeof subjects / sizeof *subjects;

// --- Two arguments -----------------------------------------------------------

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
    {"pow", "precise", pow_of, mpfr_pow, 16, NULL},
    {"powr", "precise", powr_of, mpfr_pow, 16, is_positive_base},
    {"atan2", "precise", atan2_of, mpfr_atan2, 6, NULL},
    {"fmod", "precise", fmod_of, mpfr_fmod, 0, NULL},
    {"divide", "precise", divide_of, mpfr_div, 0.5, NULL},
    {"fdim", "precise", fdim_of, NULL, 0.5, is_number_pair},
    {"fmin", "precise", fmin_of, NULL, 0, NULL},
    {"fmax", "precise", fmax_of, NULL, 0, NULL},
    {"copysign", "precise", copysign_of, NULL, 0, NULL},
    {"pow", "fast", pow_of, mpfr_pow, 16, is_plain_power},
    {"powr", "fast", powr_of, mpfr_pow, 16, is_plain_power},
    {"divide", "fast", divide_of, mpfr_div, 2.5, is_fast_divisor},
};
const size_t pair_subject_count = sizeof pair_subjects / sizeof *pair_subjects;
