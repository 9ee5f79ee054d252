// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accuracy.h: the mathematical functions of the library, their references, and
// errors in units in the last place.
#ifndef ACCURACY_H
#define ACCURACY_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Functions of many numbers are made for the processor that they run on.
#if defined __x86_64__ && defined __GLIBC__ && \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define SEVERAL_TARGETS \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SEVERAL_TARGETS
#endif

typedef enum bound_kind {
  BOUND_ULPS,      // a constant
  BOUND_GROWING,   // bound + floor(|2 x|)
  BOUND_ABSOLUTE,  // of the difference
} bound_kind;

// Results of x[count], or of x[count] and y[count], in double precision: far
// more than is measured.
typedef void reference_function(const double *x, const double *y,
                                double *results, uint32_t count);

// One function in one variant. What matters is decided by exact, of MPFR.
typedef struct subject {
  const char *name;
  const char *space;  // precise or fast
  reference_function *reference;
  int (*exact)(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);  // or NULL
  double bound;  // the specification's, section "Numerical compliance"
  bound_kind kind;
  double low, high;  // the range of |x| that the bound applies to; 0, 0: all
} subject;

typedef struct pair_subject {
  const char *name;
  const char *space;
  reference_function *reference;
  int (*exact)(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
  double bound;                           // ULP
  bool (*holds_for)(double x, double y);  // NULL: all pairs
} pair_subject;

extern const subject subjects[];
extern const size_t subject_count;
extern const pair_subject pair_subjects[];
extern const size_t pair_subject_count;

#endif
