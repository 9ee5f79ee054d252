// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accuracy.c: the mathematical functions of the library against MPFR, over all
// floats or a part of them, all halves, and many pairs of floats.
//
//   accuracy [--every N] [--pairs N] [--table] [FUNCTION...]
//
//   --every N  takes each Nth of the 2^32 floats (default 4099); 1 for all
//   --pairs N  blocks of 2^20 pairs (default 1)
//   --table    prints docs/accuracy.md instead of a count of tests
//
// Each result is compared with a reference in double precision, whose error is
// below 2^-26 ULP of a float. The worst, and what is within 2^-20 ULP of a
// bound, is decided by MPFR with 160 bits; and so that the reference need not
// be believed, MPFR checks it too, at each 4093rd argument, or at 65536 of them
// where there are more. A function
// passes if its largest error is within the specification's bound, zeros,
// infinities and NaN are right, and both tiers give the same bits.
#include "accuracy.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "device.h"

enum {
  HALVES = 1 << 16,
  CHECK_EVERY = 4093,  // of the reference, at least, where it is often asked
  TIER_EVERY = 16411,  // floats for which tiers are compared
};
static const double reference_ulp = 0x1p-20;  // how wrong it may be found

static uint32_t every = 4099;
static uint32_t pair_blocks = 1;
static bool as_table;
static uint32_t passed, failed;

static double float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static void check(bool ok, const char *space, const char *name,
                  const char *what, const worst *at) {
  *(ok ? &passed : &failed) += 1;
  if (!ok) {
    fprintf(as_table ? stderr : stdout,
            "FAILED: %s::%s, %s: %.9g at %a, %a gives %a\n", space, name, what,
            at->error, at->x, at->y, at->got);
  }
}

// --- Functions of one argument -----------------------------------------------

static bool is_sign_of_zero_stated(const subject *s, double x) {
  return x == 0 || strstr(s->name, "pi") == NULL;
}

// Zeros, infinities and NaN: the class and the sign are right.
static void check_edges(const subject *s, mtl_pipeline *pipeline) {
  static const uint32_t edges[] = {0,          0x80000000, 0x7f800000,
                                   0xff800000, 0x7fc00000, 0x3f800000,
                                   0xbf800000};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    const double x = float_of(edges[i]);
    double wanted;
    s->reference(&x, NULL, &wanted, 1);
    const double got =
        (double)*(const float *)device_run(pipeline, 1, edges[i], 1);
    const bool same_sign =
        !signbit(got) == !signbit(wanted) || !is_sign_of_zero_stated(s, x);
    const bool ok = isnan(wanted)                  ? isnan(got)
                    : wanted == 0 || isinf(wanted) ? got == wanted && same_sign
                                                   : isfinite(got);
    if (!ok) {
      check(false, s->space, s->name, "edges", &(worst){0, x, wanted, got});
      return;
    }
  }
  check(true, s->space, s->name, "edges", NULL);
}

// True if the bits are the same, or both are NaN.
static bool are_same(const void *left, const void *right, uint32_t count,
                     size_t bytes) {
  const float *a = left, *b = right;
  const _Float16 *c = left, *d = right;
  for (uint32_t i = 0; i < count; i++) {
    const bool both = bytes == sizeof *a ? a[i] != a[i] && b[i] != b[i]
                                         : c[i] != c[i] && d[i] != d[i];
    if (!both && memcmp((const char *)left + i * bytes,
                        (const char *)right + i * bytes, bytes) != 0) {
      return false;
    }
  }
  return true;
}

static void check_tiers(const char *space, const char *name, const char *type,
                        uint32_t count, uint32_t step, size_t bytes,
                        mtl_pipeline *fast_tier) {
  mtl_pipeline *slow_tier = device_function(space, name, type, 1, true);
  void *expected = malloc(count * bytes);
  if (!expected) {
    exit(2);
  }
  memcpy(expected, device_run(slow_tier, count, 0, step), count * bytes);
  const void *got = device_run(fast_tier, count, 0, step);
  check(are_same(expected, got, count, bytes), space, name, "tiers differ",
        &(worst){0});
  free(expected);
  mtl_pipeline_release(slow_tier);
}

// A bound's text for the table.
static void print_bound(const subject *s) {
  if (s->kind == BOUND_ABSOLUTE) {
    printf("absolute 2^%.0f", log2(s->bound));
  } else if (s->kind == BOUND_GROWING) {
    printf("%g + floor(2 abs(x))", s->bound);
  } else {
    printf("%g", s->bound);
  }
}

static void print_row(const subject *s, const comparison *c) {
  printf("| `%s::%s` | ", s->space, s->name);
  if (s->high == 0) {
    printf("all");
  } else {
    printf("%.3g to %.3g", s->low, s->high);
  }
  if (s->kind == BOUND_ABSOLUTE) {
    printf(" | absolute 2^%.1f", log2(c->result.error));
  } else {
    printf(" | %.3f%s", fmax(c->result.error, 0),
           s->kind == BOUND_GROWING ? " above the growth" : "");
  }
  printf(" | %.9g | ", c->result.x);
  print_bound(s);
  printf(" |\n");
  fflush(stdout);
}

static void finish_one(const comparison *c, const char *what) {
  check(c->result.error <= c->one->bound, c->one->space, c->one->name, what,
        &c->result);
  check(c->reference_error < reference_ulp, c->one->space, c->one->name,
        "the reference", &(worst){.error = c->reference_error});
}

static void measure_floats(const subject *s) {
  mtl_pipeline *pipeline =
      device_function(s->space, s->name, "float", 1, false);
  comparison c = {.one = s, .format = &format_float, .step = every};
  c.result.error = -INFINITY;
  const uint64_t total = (UINT64_C(1) << 32) / every;
  c.check_every =
      total >> 16 > CHECK_EVERY ? (uint32_t)(total >> 16) + 1 : CHECK_EVERY;
  for (uint64_t done = 0; done < total; done += BLOCK) {
    const uint32_t count =
        total - done < BLOCK ? (uint32_t)(total - done) : (uint32_t)BLOCK;
    c.first = (uint32_t)(done * every);
    c.got = device_run(pipeline, count, c.first, every);
    compare_all(&c, count);
  }
  finish_one(&c, "floats");
  if (as_table) {
    print_row(s, &c);
  }
  if (strcmp(s->space, "precise") == 0) {
    check_edges(s, pipeline);
  }
  check_tiers(s->space, s->name, "float",
              (uint32_t)((UINT64_C(1) << 32) / TIER_EVERY), TIER_EVERY,
              sizeof(float), pipeline);
  mtl_pipeline_release(pipeline);
}

// All halves. The specification bounds all functions by 1 ULP; those that it
// wants rounded correctly in single precision it wants so here.
static void measure_halves(const subject *s) {
  subject half = *s;
  half.kind = BOUND_ULPS;
  half.bound = s->bound < 1 ? s->bound : 1;
  half.low = half.high = 0;
  mtl_pipeline *pipeline = device_function(s->space, s->name, "half", 1, false);
  comparison c = {.one = &half,
                  .format = &format_half,
                  .step = 1,
                  .check_every = CHECK_EVERY};
  c.result.error = -INFINITY;
  c.got = device_run(pipeline, HALVES, 0, 1);
  compare_all(&c, HALVES);
  finish_one(&c, "halves");
  check_tiers(s->space, s->name, "half", HALVES, 1, sizeof(_Float16), pipeline);
  mtl_pipeline_release(pipeline);
}

// --- Functions of two --------------------------------------------------------

static uint64_t random_state = 88172645463325252u;

static uint32_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 16);
}

static float between(double low, double high) {
  return (float)(low + (high - low) * random_bits() * 0x1p-32);
}

// Random bits; ordinary numbers; powers near 1; whole numbers; pairs of edges.
static void fill_pair(uint32_t i, float *x, float *y) {
  static const uint32_t edges[] = {
      0,          1,          0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
      0x7fc00000, 0x3f800000, 0x3f7fffff, 0x3f800001, 0x3f000000, 0x40000000,
      0x40400000, 0x40490fdb, 0x4b000000, 0x4b800000, 0x7e800000, 0x42b17218};
  enum { EDGES = 2 * sizeof edges / sizeof *edges };
  if (i < EDGES * EDGES) {
    const uint32_t a = i / EDGES, b = i % EDGES;
    *x = (float)float_of(edges[a / 2] | a % 2 << 31);
    *y = (float)float_of(edges[b / 2] | b % 2 << 31);
    return;
  }
  switch (i % 5) {
    case 0:
      *x = (float)float_of(random_bits());
      *y = (float)float_of(random_bits());
      return;
    case 1:
      *x = exp2f(between(-20, 20));
      *y = between(-6, 6);
      return;
    case 2:
      *x = between(0.9, 1.1);
      *y = between(-900, 900);
      return;
    case 3:
      *x = -exp2f(between(-20, 20));
      *y = rintf(between(-9, 9));
      return;
    default: *x = between(-100, 100); *y = *x * between(0.5, 2);
  }
}

static void measure_pairs(const pair_subject *s) {
  mtl_pipeline *tiers[2];
  float *x = device_arguments(0), *y = device_arguments(1);
  float *expected = malloc(BLOCK * sizeof *expected);
  comparison c = {.two = s,
                  .format = &format_float,
                  .x = x,
                  .y = y,
                  .check_every = CHECK_EVERY};
  bool same = expected != NULL;
  c.result.error = -INFINITY;
  for (int debug = 0; debug < 2; debug++) {
    tiers[debug] = device_function(s->space, s->name, "float", 2, debug);
  }
  for (uint32_t block = 0; same && block < pair_blocks; block++) {
    for (uint32_t i = 0; i < BLOCK; i++) {
      fill_pair(block == 0 ? i : i + BLOCK, &x[i], &y[i]);
    }
    enum { TIER_PAIRS = BLOCK / 8 };
    memcpy(expected, device_run(tiers[1], TIER_PAIRS, 0, 1),
           TIER_PAIRS * sizeof *expected);
    c.got = device_run(tiers[0], BLOCK, 0, 1);
    same = are_same(expected, c.got, TIER_PAIRS, sizeof *expected);
    compare_all(&c, BLOCK);
  }
  check(c.result.error <= s->bound, s->space, s->name, "pairs", &c.result);
  check(same, s->space, s->name, "tiers differ", &(worst){0});
  if (as_table) {
    printf("| `%s::%s` | %s | %.3f | %.9g, %.9g | %g |\n", s->space, s->name,
           s->holds_for ? "some" : "all", fmax(c.result.error, 0), c.result.x,
           c.result.y, s->bound);
  }
  free(expected);
  mtl_pipeline_release(tiers[0]);
  mtl_pipeline_release(tiers[1]);
}

// --- The program -------------------------------------------------------------

static bool is_wanted(const char *name, char **wanted) {
  bool any = false;
  for (; *wanted; wanted++) {
    if (strcmp(*wanted, name) == 0) {
      return true;
    }
    any = true;
  }
  return !any;
}

static void print_head(void) {
  printf(
      "# Accuracy\n\n"
      "Written by `accuracy --every %u --table` (tests/accuracy); `make "
      "accuracy` writes it anew, from all 2^32 floats.\nErrors are in units "
      "in the last place, against MPFR. Bounds are those of the Metal Shading "
      "Language\nSpecification, section on numerical compliance; 0.5 is "
      "correctly rounded. Fast variants are not bounded at\ninfinities, NaN "
      "and subnormal numbers. Both tiers give the same bits. Halves are "
      "within 1 ULP for all 65536 values,\nor correctly rounded where the "
      "table says 0.5 or less.\n\n"
      "| function | for abs(x) | largest error | at | bound |\n"
      "|---|---|---|---|---|\n",
      every);
}

static char **parse(char **arguments) {
  for (; *arguments && strncmp(*arguments, "--", 2) == 0; arguments++) {
    if (strcmp(*arguments, "--table") == 0) {
      as_table = true;
    } else if (strcmp(*arguments, "--every") == 0 && arguments[1]) {
      every = (uint32_t)strtoul(*++arguments, NULL, 10);
    } else if (strcmp(*arguments, "--pairs") == 0 && arguments[1]) {
      pair_blocks = (uint32_t)strtoul(*++arguments, NULL, 10);
    } else {
      fprintf(stderr, "accuracy: unknown option %s\n", *arguments);
      exit(2);
    }
  }
  every = every ? every : 1;
  return arguments;
}

int main(int count, char **arguments) {
  (void)count;
  char **wanted = parse(arguments + 1);
  device_open();
  if (as_table) {
    print_head();
  }
  for (size_t i = 0; i < subject_count; i++) {
    if (is_wanted(subjects[i].name, wanted)) {
      measure_floats(&subjects[i]);
      if (strcmp(subjects[i].space, "precise") == 0) {
        measure_halves(&subjects[i]);
      }
    }
  }
  if (as_table) {
    printf(
        "\n| function | pairs | largest error | at | bound |\n"
        "|---|---|---|---|---|\n");
  }
  for (size_t i = 0; i < pair_subject_count; i++) {
    if (is_wanted(pair_subjects[i].name, wanted)) {
      measure_pairs(&pair_subjects[i]);
    }
  }
  device_close();
  fprintf(as_table ? stderr : stdout, "%u passed, %u failed\n", passed, failed);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
