// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare.c: PART results at a time are compared with the reference, all at
// once; only the few that may matter are looked at one by one, with MPFR.
#include "compare.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  PART = 1024,
  MPFR_BITS = 160,
  MOST_THREADS = 64,
  BIAS = 1023,  // of a double's exponent
  DIGITS = 52,
};
static const double nearly_ulp = 0x1p-20;

const number_format format_float = {24, -126, 127};
const number_format format_half = {11, -14, 15};

// --- Formats -----------------------------------------------------------------

static inline double float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static double half_of(uint32_t bits) {
  const uint16_t short_bits = (uint16_t)bits;
  _Float16 value;
  memcpy(&value, &short_bits, sizeof value);
  return (double)value;
}

static inline double power_of_two(int64_t exponent) {
  const int64_t bits = (exponent + BIAS) << DIGITS;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The distance between value's neighbours in a format.
static inline double ulp_of(const number_format *format, double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int64_t exponent = (bits >> DIGITS & 0x7ff) - BIAS;
  exponent = exponent < format->least_exponent  ? format->least_exponent
             : exponent > format->most_exponent ? format->most_exponent
                                                : exponent;
  return power_of_two(exponent - format->digits + 1);
}

// Infinity stands where the format's next number would, were there one, and
// all that is larger with it.
static inline double limited(const number_format *format, double value) {
  const double limit = power_of_two(format->most_exponent + 1);
  return value > limit ? limit : value < -limit ? -limit : value;
}

// --- Errors ------------------------------------------------------------------

// How far got is from the real number that wanted is, in the bound's unit; a
// NaN if one of the two is.
static inline double error_of(const number_format *format, bound_kind kind,
                              double x, double got, double wanted) {
  const double difference =
      fabs(limited(format, got) - limited(format, wanted));
  return kind == BOUND_ABSOLUTE
             ? difference
             : difference / ulp_of(format, wanted) -
                   (kind == BOUND_GROWING ? floor(fabs(2 * x)) : 0);
}

static bound_kind kind_of(const comparison *c) {
  return c->one ? c->one->kind : BOUND_ULPS;
}

static double bound_of(const comparison *c) {
  return c->one ? c->one->bound : c->two->bound;
}

static bool has_exact(const comparison *c) {
  return c->one ? c->one->exact != NULL : c->two->exact != NULL;
}

// Returns the error against MPFR's result; out_reference is the reference's own
// error, in ULP.
static double exact_error(const comparison *c, double x, double y, double got,
                          double reference, double *out_reference) {
  mpfr_t a, b, exact;
  mpfr_init2(a, 64);
  mpfr_init2(b, 64);
  mpfr_init2(exact, MPFR_BITS);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  if (c->one) {
    c->one->exact(exact, a, MPFR_RNDN);
  } else {
    c->two->exact(exact, a, b, MPFR_RNDN);
  }
  // Differences are exact to 160 bits, so that a double holds their error.
  const double nearest = mpfr_get_d(exact, MPFR_RNDN);
  double error = error_of(c->format, kind_of(c), x, got, nearest);
  *out_reference = error_of(c->format, BOUND_ULPS, x, reference, nearest);
  if (isfinite(got) && nearest != 0 &&
      fabs(nearest) < power_of_two(c->format->most_exponent + 1)) {
    mpfr_sub_d(exact, exact, got, MPFR_RNDN);
    error = error_of(c->format, kind_of(c), x, got, got);  // 0, less growth
    const double difference = fabs(mpfr_get_d(exact, MPFR_RNDN));
    error += kind_of(c) == BOUND_ABSOLUTE
                 ? difference
                 : difference / ulp_of(c->format, nearest);
  }
  mpfr_clears(a, b, exact, (mpfr_ptr)NULL);
  return error;
}

// --- What matters ------------------------------------------------------------

// Arguments, results and reference results.
typedef struct part {
  uint32_t count;
  double x[PART], y[PART], got[PART], wanted[PART];
  bool is_doubtful[PART];
} part;

SEVERAL_TARGETS
static void fill_floats(const comparison *c, part *p, uint32_t begin) {
  const float *got = (const float *)c->got + begin;
  const uint32_t first = c->first + begin * c->step;
  for (uint32_t i = 0; i < p->count; i++) {
    p->got[i] = (double)got[i];
  }
  if (c->x) {
    for (uint32_t i = 0; i < p->count; i++) {
      p->x[i] = (double)c->x[begin + i];
      p->y[i] = (double)c->y[begin + i];
    }
    return;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    p->x[i] = float_of(first + i * c->step);
  }
}

static void fill_halves(const comparison *c, part *p, uint32_t begin) {
  for (uint32_t i = 0; i < p->count; i++) {
    p->x[i] = half_of(c->first + (begin + i) * c->step);
    p->got[i] = (double)((const _Float16 *)c->got)[begin + i];
  }
}

static bool is_in_range(const comparison *c, double x) {
  const subject *s = c->one;
  return !s || s->high == 0 || (fabs(x) >= s->low && fabs(x) <= s->high);
}

static bool is_any_in_range(const comparison *c, const part *p) {
  for (uint32_t i = 0; i < p->count; i++) {
    if (is_in_range(c, p->x[i])) {
      return true;
    }
  }
  return false;
}

// Results are doubtful if they are worse than the worst so far, close to the
// bound, or NaN where the other is a number.
SEVERAL_TARGETS
static void find_doubtful(const comparison *c, part *p) {
  const number_format format = *c->format;
  const bound_kind kind = kind_of(c);
  const double least = has_exact(c) ? bound_of(c) - nearly_ulp : INFINITY;
  const double limit = fmax(0, fmin(least, c->result.error));
  for (uint32_t i = 0; i < p->count; i++) {
    const double got = p->got[i], wanted = p->wanted[i];
    const double error = error_of(&format, kind, p->x[i], got, wanted);
    p->is_doubtful[i] =
        !(error <= limit) & !((got != got) & (wanted != wanted));
  }
}

// True if the bound applies to an argument. Fast variants may flush subnormal
// numbers to zero and need not support infinities.
static bool is_bounded(const comparison *c, double x, double y, double wanted) {
  const subject *s = c->one;
  if (!s) {
    return !c->two->holds_for || c->two->holds_for(x, y);
  }
  if (s->space[0] == 'f' &&
      (!isfinite(x) || !isfinite(wanted) || fabs(wanted) < 0x1p-126 ||
       (x != 0 && fabs(x) < 0x1p-126))) {
    return false;
  }
  // The sign of tanpi's poles, and of 1 / -0, is unspecified.
  return !(isinf(wanted) && (strcmp(s->name, "tanpi") == 0 || x == 0));
}

static void compare_at(comparison *c, const part *p, uint32_t i, bool check) {
  const double x = p->x[i], y = c->two ? p->y[i] : 0;
  const double got = p->got[i], wanted = p->wanted[i];
  if (!is_in_range(c, x) || !is_bounded(c, x, y, wanted)) {
    return;
  }
  double error = error_of(c->format, kind_of(c), x, got, wanted);
  if (isnan(error)) {
    error = isnan(got) != isnan(wanted) ? INFINITY : 0;
  } else if (has_exact(c) && !isnan(x) &&
             (check || fabs(error - bound_of(c)) < nearly_ulp)) {
    double reference_error;
    error = exact_error(c, x, y, got, wanted, &reference_error);
    c->reference_error = fmax(c->reference_error, reference_error);
  }
  if (error > c->result.error) {
    c->result = (worst){error, x, y, got};
  }
}

static void compare_part(comparison *c, part *p, uint32_t begin) {
  (c->format == &format_half ? fill_halves : fill_floats)(c, p, begin);
  if (!is_any_in_range(c, p)) {
    return;
  }
  (c->one ? c->one->reference : c->two->reference)(p->x, p->y, p->wanted,
                                                   p->count);
  find_doubtful(c, p);
  for (uint32_t i = 0; i < p->count; i++) {
    const bool check = (begin + i) % c->check_every == 0;
    if (p->is_doubtful[i] || check) {
      compare_at(c, p, i, check);
    }
  }
}

// Settles the worst case by MPFR.
static void settle(comparison *c) {
  const worst *w = &c->result;
  if (has_exact(c) && isfinite(w->error)) {
    double ignored;
    c->result.error = exact_error(c, w->x, w->y, w->got, w->got, &ignored);
  }
}

// --- All ---------------------------------------------------------------------

typedef struct worker {
  pthread_t thread;
  comparison found;
  uint32_t begin, end;
} worker;

static void *run_worker(void *context) {
  worker *w = context;
  part p;
  for (uint32_t i = w->begin; i < w->end; i += p.count) {
    p.count = w->end - i < PART ? w->end - i : PART;
    compare_part(&w->found, &p, i);
  }
  settle(&w->found);
  mpfr_free_cache();
  return NULL;
}

void compare_all(comparison *whole, uint32_t count) {
  worker workers[MOST_THREADS];
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const uint32_t n = online < 1              ? 1
                     : online > MOST_THREADS ? MOST_THREADS
                                             : (uint32_t)online;
  for (uint32_t t = 0; t < n; t++) {
    worker *w = &workers[t];
    w->found = *whole;
    w->begin = (uint32_t)((uint64_t)count * t / n);
    w->end = (uint32_t)((uint64_t)count * (t + 1) / n);
    if (pthread_create(&w->thread, NULL, run_worker, w) != 0) {
      perror("pthread_create");
      exit(2);
    }
  }
  for (uint32_t t = 0; t < n; t++) {
    const worker *w = &workers[t];
    pthread_join(w->thread, NULL);
    if (w->found.result.error > whole->result.error) {
      whole->result = w->found.result;
    }
    whole->reference_error =
        fmax(whole->reference_error, w->found.reference_error);
  }
}
