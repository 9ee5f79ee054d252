// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectors.h: vDSP's functions of real vectors, for one type. Included with REAL
// and VDSP(name) defined. A stride counts elements and may be negative.

typedef const REAL *VDSP(in);

// Defines name: *c = value, for every element of a, b and c.
#define TWO(name, first, second, value)                                     \
  EXPORT void VDSP(name)(VDSP(in) first, stride i##first, VDSP(in) second,  \
                         stride i##second, REAL * c, stride ic, length n) { \
    for (length i = 0; i < n; ++i, a += ia, b += ib, c += ic) {             \
      *c = (value);                                                         \
    }                                                                       \
  }
TWO(vadd, a, b, *a + *b)
TWO(vsub, b, a, *a - *b)  // the subtrahend comes first, as the divisor
TWO(vmul, a, b, *a **b)
TWO(vdiv, b, a, *a / *b)
TWO(vmax, a, b, *a > *b ? *a : *b)
TWO(vmin, a, b, *a < *b ? *a : *b)
#undef TWO

#define ONE(name, value)                                             \
  EXPORT void VDSP(name)(VDSP(in) a, stride ia, REAL * c, stride ic, \
                         length n) {                                 \
    for (length i = 0; i < n; ++i, a += ia, c += ic) {               \
      *c = (value);                                                  \
    }                                                                \
  }
ONE(vsq, *a **a)
ONE(vabs, *a < 0 ? -*a : *a)
ONE(vneg, -*a)
#undef ONE

#define SCALAR(name, value)                                           \
  EXPORT void VDSP(name)(VDSP(in) a, stride ia, VDSP(in) b, REAL * c, \
                         stride ic, length n) {                       \
    for (length i = 0; i < n; ++i, a += ia, c += ic) {                \
      *c = (value);                                                   \
    }                                                                 \
  }
SCALAR(vsadd, *a + *b)
SCALAR(vsmul, *a **b)
SCALAR(vsdiv, *a / *b)
#undef SCALAR

EXPORT void VDSP(vsma)(VDSP(in) a, stride ia, VDSP(in) b, VDSP(in) c, stride ic,
                       REAL *d, stride id, length n) {
  for (length i = 0; i < n; ++i, a += ia, c += ic, d += id) {
    *d = *a * *b + *c;
  }
}

EXPORT void VDSP(vma)(VDSP(in) a, stride ia, VDSP(in) b, stride ib, VDSP(in) c,
                      stride ic, REAL *d, stride id, length n) {
  for (length i = 0; i < n; ++i, a += ia, b += ib, c += ic, d += id) {
    *d = *a * *b + *c;
  }
}

EXPORT void VDSP(vsmsa)(VDSP(in) a, stride ia, VDSP(in) b, VDSP(in) c, REAL *d,
                        stride id, length n) {
  for (length i = 0; i < n; ++i, a += ia, d += id) {
    *d = *a * *b + *c;
  }
}

EXPORT void VDSP(vclip)(VDSP(in) a, stride ia, VDSP(in) low, VDSP(in) high,
                        REAL *d, stride id, length n) {
  for (length i = 0; i < n; ++i, a += ia, d += id) {
    *d = *a < *low ? *low : *a > *high ? *high : *a;
  }
}

EXPORT void VDSP(vfill)(VDSP(in) a, REAL *c, stride ic, length n) {
  for (length i = 0; i < n; ++i, c += ic) {
    *c = *a;
  }
}

EXPORT void VDSP(vclr)(REAL *c, stride ic, length n) {
  const REAL zero = 0;
  VDSP(vfill)(&zero, c, ic, n);
}

EXPORT void VDSP(vramp)(VDSP(in) start, VDSP(in) step, REAL *c, stride ic,
                        length n) {
  for (length i = 0; i < n; ++i, c += ic) {
    *c = *start + (REAL)i * *step;
  }
}

// --- Sums: in double, so that long vectors keep their digits -----------------

#define SUM(name, term, result)                                       \
  EXPORT void VDSP(name)(VDSP(in) a, stride ia, REAL * c, length n) { \
    double sum = 0;                                                   \
    for (length i = 0; i < n; ++i, a += ia) {                         \
      sum += (term);                                                  \
    }                                                                 \
    *c = (REAL)(result);                                              \
  }
SUM(sve, (double)*a, sum)
SUM(svesq, (double)*a **a, sum)
SUM(svemg, fabs((double)*a), sum)
SUM(meanv, (double)*a, sum / (double)n)
SUM(measqv, (double)*a **a, sum / (double)n)
SUM(rmsqv, (double)*a **a, sqrt(sum / (double)n))
#undef SUM

EXPORT void VDSP(dotpr)(VDSP(in) a, stride ia, VDSP(in) b, stride ib, REAL *c,
                        length n) {
  double sum = 0;
  for (length i = 0; i < n; ++i, a += ia, b += ib) {
    sum += (double)*a * *b;
  }
  *c = (REAL)sum;
}

EXPORT void VDSP(distancesq)(VDSP(in) a, stride ia, VDSP(in) b, stride ib,
                             REAL *c, length n) {
  double sum = 0;
  for (length i = 0; i < n; ++i, a += ia, b += ib) {
    sum += ((double)*a - *b) * ((double)*a - *b);
  }
  *c = (REAL)sum;
}

// --- Extremes: of no elements, the identity of the comparison ----------------

#define EXTREME(name, start, key, comparison)                             \
  EXPORT void VDSP(name##i)(VDSP(in) a, stride ia, REAL * c, length * at, \
                            length n) {                                   \
    REAL best = (start);                                                  \
    *at = 0;                                                              \
    for (length i = 0; i < n; ++i, a += ia) {                             \
      if ((key)comparison best) {                                         \
        best = (key);                                                     \
        *at = i * (length)ia;                                             \
      }                                                                   \
    }                                                                     \
    *c = best;                                                            \
  }                                                                       \
  EXPORT void VDSP(name)(VDSP(in) a, stride ia, REAL * c, length n) {     \
    length at;                                                            \
    VDSP(name##i)(a, ia, c, &at, n);                                      \
  }
EXTREME(maxv, (REAL)-INFINITY, *a, >)
EXTREME(minv, (REAL)INFINITY, *a, <)
EXTREME(maxmgv, 0, (*a < 0 ? -*a : *a), >)
#undef EXTREME

// --- Matrices, row by row ----------------------------------------------------

// c of m rows and n columns is a of m rows and k columns times b.
EXPORT void VDSP(mmul)(VDSP(in) a, stride ia, VDSP(in) b, stride ib, REAL *c,
                       stride ic, length m, length n, length k) {
  for (length row = 0; row < m; ++row) {
    for (length column = 0; column < n; ++column) {
      double sum = 0;
      for (length i = 0; i < k; ++i) {
        sum += (double)a[(stride)(row * k + i) * ia] *
               b[(stride)(i * n + column) * ib];
      }
      c[(stride)(row * n + column) * ic] = (REAL)sum;
    }
  }
}

// c has m rows and n columns, a has n rows.
EXPORT void VDSP(mtrans)(VDSP(in) a, stride ia, REAL *c, stride ic, length m,
                         length n) {
  for (length row = 0; row < m; ++row) {
    for (length column = 0; column < n; ++column) {
      c[(stride)(row * n + column) * ic] = a[(stride)(column * m + row) * ia];
    }
  }
}

#undef REAL
#undef VDSP
