// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blas.h: CBLAS' functions of one real type. Included with REAL, BLAS(name) and
// INDEX_BLAS(name) defined. Vectors of a negative stride begin at their end.

static const REAL *BLAS(first)(const REAL *x, int n, int incx) {
  return incx < 0 ? x - (long)(n - 1) * incx : x;
}

EXPORT REAL BLAS(dot)(int n, const REAL *x, int incx, const REAL *y, int incy) {
  double sum = 0;
  x = BLAS(first)(x, n, incx);
  y = BLAS(first)(y, n, incy);
  for (long i = 0; i < n; ++i) {
    sum += (double)x[i * incx] * y[i * incy];
  }
  return (REAL)sum;
}

EXPORT void BLAS(axpy)(int n, REAL alpha, const REAL *x, int incx, REAL *y,
                       int incy) {
  x = BLAS(first)(x, n, incx);
  y = (REAL *)BLAS(first)(y, n, incy);
  for (long i = 0; i < n; ++i) {
    y[i * incy] += alpha * x[i * incx];
  }
}

EXPORT void BLAS(copy)(int n, const REAL *x, int incx, REAL *y, int incy) {
  x = BLAS(first)(x, n, incx);
  y = (REAL *)BLAS(first)(y, n, incy);
  for (long i = 0; i < n; ++i) {
    y[i * incy] = x[i * incx];
  }
}

EXPORT void BLAS(swap)(int n, REAL *x, int incx, REAL *y, int incy) {
  x = (REAL *)BLAS(first)(x, n, incx);
  y = (REAL *)BLAS(first)(y, n, incy);
  for (long i = 0; i < n; ++i) {
    const REAL kept = x[i * incx];
    x[i * incx] = y[i * incy];
    y[i * incy] = kept;
  }
}

EXPORT void BLAS(scal)(int n, REAL alpha, REAL *x, int incx) {
  for (long i = 0; i < n && incx > 0; ++i) {
    x[i * incx] *= alpha;
  }
}

EXPORT REAL BLAS(asum)(int n, const REAL *x, int incx) {
  double sum = 0;
  for (long i = 0; i < n && incx > 0; ++i) {
    sum += fabs((double)x[i * incx]);
  }
  return (REAL)sum;
}

EXPORT REAL BLAS(nrm2)(int n, const REAL *x, int incx) {
  double norm = 0;
  for (long i = 0; i < n && incx > 0; ++i) {
    norm = hypot(norm, (double)x[i * incx]);
  }
  return (REAL)norm;
}

EXPORT int INDEX_BLAS(amax)(int n, const REAL *x, int incx) {
  int at = 0;
  double best = -1;
  for (int i = 0; i < n && incx > 0; ++i) {
    const double size = fabs((double)x[(long)i * incx]);
    if (size > best) {
      best = size;
      at = i;
    }
  }
  return at;
}

// y [m] = alpha * a x + beta * y, with a's element (i, j) at i * row + j *
// column.
static void BLAS(multiply)(int m, int n, REAL alpha, const REAL *a, long row,
                           long column, const REAL *x, int incx, REAL beta,
                           REAL *y, int incy) {
  x = BLAS(first)(x, n, incx);
  y = (REAL *)BLAS(first)(y, m, incy);
  for (long i = 0; i < m; ++i) {
    double sum = 0;
    for (long j = 0; j < n; ++j) {
      sum += (double)a[i * row + j * column] * x[j * incx];
    }
    REAL *at = y + i * incy;
    *at = alpha * (REAL)sum + (beta == 0 ? 0 : beta * *at);
  }
}

EXPORT void BLAS(gemv)(int order, int trans, int m, int n, REAL alpha,
                       const REAL *a, int lda, const REAL *x, int incx,
                       REAL beta, REAL *y, int incy) {
  const bool turned = (trans != NO_TRANS) != (order == COLUMN_MAJOR);
  const int rows = trans == NO_TRANS ? m : n, columns = m + n - rows;
  BLAS(multiply)(rows, columns, alpha, a, turned ? 1 : lda, turned ? lda : 1, x,
                 incx, beta, y, incy);
}

// y = alpha * a x + beta * y for a symmetric band matrix with k diagonals
// beside the main one, of which the upper or the lower ones are stored.
EXPORT void BLAS(sbmv)(int order, int uplo, int n, int k, REAL alpha,
                       const REAL *a, int lda, const REAL *x, int incx,
                       REAL beta, REAL *y, int incy) {
  // By rows, a stores the other triangle's columns.
  const bool upper = (uplo == UPPER) == (order == COLUMN_MAJOR);
  x = BLAS(first)(x, n, incx);
  y = (REAL *)BLAS(first)(y, n, incy);
  for (long i = 0; i < n; ++i) {
    double sum = 0;
    for (long j = i > k ? i - k : 0; j < n && j <= i + k; ++j) {
      const long low = i < j ? i : j, high = i + j - low;
      const REAL value =
          upper ? a[high * lda + k + low - high] : a[low * lda + high - low];
      sum += (double)value * x[j * incx];
    }
    REAL *at = y + i * incy;
    *at = alpha * (REAL)sum + (beta == 0 ? 0 : beta * *at);
  }
}

EXPORT void BLAS(ger)(int order, int m, int n, REAL alpha, const REAL *x,
                      int incx, const REAL *y, int incy, REAL *a, int lda) {
  const long row = order == COLUMN_MAJOR ? 1 : lda;
  const long column = order == COLUMN_MAJOR ? lda : 1;
  x = BLAS(first)(x, m, incx);
  y = BLAS(first)(y, n, incy);
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) {
      a[i * row + j * column] += alpha * x[i * incx] * y[j * incy];
    }
  }
}

// Copies what op(a) is, rows by columns, into a dense matrix.
static REAL *BLAS(dense)(const REAL *a, int rows, int columns, int lda,
                         bool turned) {
  REAL *copy = malloc((size_t)rows * (size_t)columns * sizeof *copy + 1);
  for (long i = 0; copy && i < rows; ++i) {
    for (long j = 0; j < columns; ++j) {
      copy[i * columns + j] = turned ? a[j * lda + i] : a[i * lda + j];
    }
  }
  return copy;
}

// c [m, n] += alpha * a [m, k] b [k, n], all row by row: 64 rows of b at a
// time, which stay in the cache.
static void BLAS(add_product)(int m, int n, int k, REAL alpha, const REAL *a,
                              const REAL *b, REAL *c, int ldc) {
  enum { BLOCK = 64 };
  for (long first = 0; first < k; first += BLOCK) {
    const long end = first + BLOCK < k ? first + BLOCK : k;
    for (long i = 0; i < m; ++i) {
      REAL *restrict out = c + i * ldc;
      for (long j = first; j < end; ++j) {
        const REAL factor = alpha * a[i * k + j];
        const REAL *restrict line = b + j * n;
        for (long at = 0; at < n; ++at) {
          out[at] += factor * line[at];
        }
      }
    }
  }
}

EXPORT void BLAS(gemm)(int order, int trans_a, int trans_b, int m, int n, int k,
                       REAL alpha, const REAL *a, int lda, const REAL *b,
                       int ldb, REAL beta, REAL *c, int ldc) {
  if (order == COLUMN_MAJOR) {  // the same memory by rows is all transposed
    BLAS(gemm)(ROW_MAJOR, trans_b, trans_a, n, m, k, alpha, b, ldb, a, lda,
               beta, c, ldc);
    return;
  }
  for (long i = 0; i < m && beta != 1; ++i) {
    for (long j = 0; j < n; ++j) {
      c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
    }
  }
  REAL *left = BLAS(dense)(a, m, k, lda, trans_a != NO_TRANS);
  REAL *right = BLAS(dense)(b, k, n, ldb, trans_b != NO_TRANS);
  if (left && right && alpha != 0) {
    BLAS(add_product)(m, n, k, alpha, left, right, c, ldc);
  }
  free(left);
  free(right);
}

#undef REAL
#undef BLAS
#undef INDEX_BLAS
