// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_test.c: tests a host library's matrix product before its first use.
// Small integers make every order of additions exact. Rows have gaps between
// them, whose contents must stay.
#include <stdlib.h>

#include "stream/libraries/host_library.h"

enum { GAP = 3 };  // elements between rows

typedef struct trial {
  int64_t m, n, k;
  float alpha, beta;
} trial;

// The second is past what OpenBLAS gives to its kernels for small products.
static const trial trials[] = {{5, 3, 7, 1, 0}, {103, 101, 107, 2, 0.5f}};
enum { LONGEST = 107 + GAP };

static float number(int64_t at, int64_t kind) {
  return (float)((at * 37 + kind * 11) % 17 - 8);
}

// Element (row, column) of an operand that is transposed, or not.
static float element(const float *from, int64_t pitch, bool is_transposed,
                     int64_t row, int64_t column) {
  return is_transposed ? from[column * pitch + row]
                       : from[row * pitch + column];
}

static float expected(const host_product *p, int64_t row, int64_t column,
                      float before) {
  float sum = 0;
  for (int64_t i = 0; i < p->k; i++) {
    sum += element(p->a, p->row_a, p->is_a_transposed, row, i) *
           element(p->b, p->row_b, p->is_b_transposed, i, column);
  }
  return p->alpha * sum + (p->beta != 0 ? p->beta * before : 0);
}

static bool is_right(const host_product *p) {
  for (int64_t row = 0; row < p->m; row++) {
    for (int64_t column = 0; column < p->row_c; column++) {
      const int64_t at = row * p->row_c + column;
      const float before = 2 * number(at, 2);
      const float wanted =
          column < p->n ? expected(p, row, column, before) : before;
      if (p->c[at] != wanted) {
        return false;
      }
    }
  }
  return true;
}

static bool passes(void (*multiply)(const host_product *), const trial *t,
                   int order, float *a, float *b, float *c) {
  for (int64_t i = 0; i < LONGEST * LONGEST; i++) {
    a[i] = number(i, 0);
    b[i] = number(i, 1);
    c[i] = 2 * number(i, 2);
  }
  const bool is_a_transposed = order & 1;
  const bool is_b_transposed = order & 2;
  const host_product product = {
      .is_a_transposed = is_a_transposed,
      .is_b_transposed = is_b_transposed,
      .m = t->m,
      .n = t->n,
      .k = t->k,
      .alpha = t->alpha,
      .a = a,
      .row_a = (is_a_transposed ? t->m : t->k) + GAP,
      .b = b,
      .row_b = (is_b_transposed ? t->k : t->n) + GAP,
      .beta = t->beta,
      .c = c,
      .row_c = t->n + GAP,
  };
  multiply(&product);
  return is_right(&product);
}

bool host_library_test(void (*multiply)(const host_product *)) {
  float *memory = malloc(3 * LONGEST * LONGEST * sizeof *memory);
  bool is_good = memory != NULL;
  for (int i = 0; is_good && i < 2 * 4; i++) {
    is_good = passes(multiply, &trials[i / 4], i % 4, memory,
                     memory + LONGEST * LONGEST,
                     memory + 2 * LONGEST * LONGEST);
  }
  free(memory);
  return is_good;
}
